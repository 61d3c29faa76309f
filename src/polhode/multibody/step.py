"""What a method for systems of bodies is, and what its step returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import jax.numpy as jnp

from polhode.multibody.state import State
from polhode.multibody.system import System
from polhode.multibody.tree import tree
from polhode.solve import Report

PAPER = "Paraskevopoulos, Natsiavas, a three-field method for nonholonomic multibody systems"


@tree
class Step:
    """The result of a step: the new state, how its equations were solved, and into how many
    parts the step was halved (1 if it was not)."""

    state: State
    report: Report
    parts: Any = field(default_factory=lambda: jnp.asarray(1))


@dataclass(frozen=True)
class Method(ABC):
    """A one-step method. A step never raises, prints or keeps anything: it runs under jit and vmap."""

    name: ClassVar[str]
    paper: ClassVar[str] = PAPER
    order: ClassVar[int] = 2

    def prepare(self, system: System, state: State, t: Any = 0.0) -> State:
        """A consistent start, with what this method needs besides."""
        return state

    @abstractmethod
    def step(self, system: System, state: State, t: Any, h: Any) -> Step:
        """From `state` at time t to t + h."""
