"""What a method for systems of bodies is, and what its step returns."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import jax.numpy as jnp

from polhode.model.pytree import tree
from polhode.multibody.describe.state import State
from polhode.multibody.step.recording import layout, row_of
from polhode.multibody.system import System
from polhode.solve import Report

PAPER = (
    "Natsiavas, Passas, Paraskevopoulos: a time-stepping method for multibody systems involving nonholonomic "
    "constraints"
)


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

    @property
    def rungs(self) -> tuple[Method, ...]:
        """What a run tries: this method in a form that is cheap and may fail where another does not, then the next,
        to the end of the run."""
        return (self,)

    @property
    def summary(self) -> str:
        """A few words for a table: the docstring up to its first full stop or colon."""
        text = " ".join((type(self).__doc__ or self.name).split())
        return re.split(r"[.:] ", text)[0].rstrip(".")

    @property
    def options(self) -> dict[str, Any]:
        """Fields that differ from their defaults, by name."""
        values = {f: getattr(self, f) for f in self.__dataclass_fields__}
        return {k: v for k, v in values.items() if v != getattr(type(self)(), k)}

    # What the driver asks of a method, besides `step`.

    def begin(self, system: System, state: State) -> State:
        return self.prepare(system, state)

    def shape(self, state: State) -> tuple[int, ...]:
        return ()

    def tidied(self, state: State) -> State:
        return state  # `carried` keeps attitudes at unit length

    def kept(self, system: System, state: State, t: Any) -> Any:
        return row_of(system, state, t)

    def layout(self, system: System) -> dict[str, tuple[slice, tuple[int, ...]]]:
        """Where each quantity stands in what is kept."""
        return layout(system)
