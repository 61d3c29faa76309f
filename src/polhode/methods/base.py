"""What a method is: a name, a paper, its traits, and `step`."""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp

from polhode.algebra import Scalar, Vec3
from polhode.model import InputError
from polhode.model.checks import double_precision
from polhode.rotation import Free, Rotation, State, from_principal, to_principal
from polhode.solve import FixedPoint, Newton, PlainNewton, Report, Residual

Conserved = Literal["exact", "bounded", "drifts"]


@dataclass(frozen=True)
class Traits:
    """What a method claims; every claim is tested, see `polhode.verify`.

    "exact" is to round-off over 10⁵ steps; "bounded" oscillates without trend; "drifts"
    moves away with time. The first group is about the free body, the second about the
    heavy symmetric top.
    """

    order: float  # math.inf: exact
    energy: Conserved
    spatial_momentum: Conserved
    momentum_length: Conserved = "exact"
    half_step_energy: bool = False  # the energy half a forward Euler step on is exact

    top_energy: Conserved = "bounded"
    vertical_momentum: Conserved = "exact"

    symmetric: bool = True  # a step forward and a step back is the identity
    poisson: bool = False  # Π₀ -> Π₁ keeps the Lie-Poisson bracket, on the free body
    symplectic: bool = False  # (R, Π) -> (R, Π) keeps the canonical form of T*SO(3)

    loads: Literal["any", "attitude", "none"] = "any"  # what they may depend on besides time
    non_twisting: bool = False  # moves bodies on the non-twisting frame too


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Step:
    """The result of a step: the new state and how its equations were solved."""

    state: State
    report: Report = field(default_factory=Report.explicit)


def _from_any_axes(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of (system, state, ...) in principal axes, for systems and states in the user's own."""

    @wraps(fn)
    def call(self: Any, system: Rotation, state: State, *args: Any, **more: Any) -> Any:
        double_precision()
        if system.axes is None:
            return fn(self, system, state, *args, **more)
        found = fn(self, system.principal, to_principal(system, state), *args, **more)
        if isinstance(found, Step):
            return replace(found, state=from_principal(system, found.state))
        return from_principal(system, found) if isinstance(found, State) else found

    call.for_principal_axes = fn  # type: ignore[attr-defined]
    return call


@dataclass(frozen=True)
class Method(ABC):
    """A one-step method for `Rotation`. Subclass it, set the four class variables and write
    `step`; it then runs, plots and is tested for its traits as the built-in ones are.

    A step is a pure function of components: it never raises, never prints, and holds no
    state of its own, so it runs under jit, vmap and grad, on a batch, and on a GPU.
    """

    name: ClassVar[str]
    paper: ClassVar[str]
    traits: ClassVar[Traits]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """What a method writes is for principal axes; who calls it may be in any."""
        super().__init_subclass__(**kwargs)
        for name in ("begin", "kinetic_energy", "step"):
            found = inspect.getattr_static(cls, name)  # of a class beside this one too
            if found is not Method.__dict__[name] and not hasattr(found, "for_principal_axes"):
                setattr(cls, name, _from_any_axes(found))

    @property
    def rungs(self) -> tuple[Method, ...]:
        """What a run tries, one after the other where steps fail: this method alone."""
        return (self,)

    @property
    def summary(self) -> str:
        """A few words for a table: the docstring up to its first full stop or colon."""
        text = " ".join((type(self).__doc__ or self.name).split())
        return re.split(r"[.:] ", text)[0].rstrip(".")

    def check_system(self, system: Rotation) -> None:
        """An InputError if this method cannot move the body, or take its load."""
        if system.twist_axis is not None and not self.traits.non_twisting:
            raise InputError(
                f"{self.name} does not keep the non-twisting constraint of a NonTwistingBody; use em or dla "
                "(`polhode methods` marks those that do)"
            )
        takes, load = self.traits.loads, system.load
        if takes == "none" and not isinstance(load, Free):
            raise InputError(
                f"{self.name} moves free bodies only; with a load use strang-{self.name} (order 2) or "
                f"nystrom4-{self.name} (order 4)"
            )
        if takes == "attitude" and load.uses_omega:
            raise InputError(
                f"{self.name} takes loads that depend on attitude and time; this one depends on the angular velocity "
                "too. Use imidm, or another method whose loads are 'any' (`polhode methods NAME` tells)"
            )

    def begin(self, system: Rotation, state: State) -> State:
        """The state a run starts from. A method that carries more than attitude and momentum
        from step to step returns a subclass of State here; all it remembers is in it."""
        return state

    def kinetic_energy(self, system: Rotation, state: State) -> Scalar:
        """The kinetic energy of a state, as this method means it."""
        return system.kinetic(state.momentum)

    def shape(self, state: State) -> tuple[int, ...]:
        """Of the batch."""
        return jnp.shape(state.momentum.x)

    def tidied(self, state: State) -> State:
        """After a step: attitudes of unit length, whose round-off would add up, and not at random."""
        return replace(state, attitude=state.attitude.renormalized())

    def kept(self, system: Rotation, state: State, t: Scalar) -> Any:
        """The numbers kept of a moment, in one array: quaternion, momentum, kinetic and potential energy."""
        components = (*state.attitude, *state.momentum)
        energies = (self.kinetic_energy(system, state), system.potential(t, state.attitude))
        return jnp.stack([*components, *(jnp.broadcast_to(e, jnp.shape(components[0])) for e in energies)])

    @abstractmethod
    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        """From `state` at time t to t + h."""

    @property
    def options(self) -> dict[str, Any]:
        """Fields that differ from their defaults, by name."""
        values = {f: getattr(self, f) for f in self.__dataclass_fields__}
        return {k: v for k, v in values.items() if v != getattr(type(self)(), k)}


@dataclass(frozen=True)
class Implicit(Method):
    """A method whose step solves equations; `solver` says how."""

    solver: Newton | FixedPoint | PlainNewton = field(default_factory=Newton)

    def solve_rotation(self, residual: Residual, guess: Vec3) -> tuple[Vec3, Report]:
        """For the rotation vector of the step, an angle."""
        return self.solver(residual, guess, guess.norm() + ANGLE_FLOOR)

    def solve_momentum(self, system: Rotation, residual: Residual, guess: Vec3, h: Scalar) -> tuple[Vec3, Report]:
        """For a body momentum; a momentum of |I|/h turns the body by an angle of 1 in a step."""
        return self.solver(residual, guess, guess.norm() + ANGLE_FLOOR * system.moments.norm() / abs(h))


# A body at rest has no scale of its own. This is a small angle for a
# step: errors are asked to be below 1e-16 of it.
ANGLE_FLOOR = 1e-7
