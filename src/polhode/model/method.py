"""What a method is: a name, a paper, its traits, and `step`."""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import wraps
from typing import Any, ClassVar

import jax

from polhode.model.checks import InputError, double_precision
from polhode.model.html import table
from polhode.model.traits import Traits
from polhode.solve import Report


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Step:
    """The result of a step: the new state and how its equations were solved."""

    state: Any
    report: Report = field(default_factory=Report.explicit)


# What systems of a kind are called, and what moves them.
KINDS = {
    "rotation": ("one rotating body", "imidm, or another that `polhode methods` lists"),
    "system": ("systems of bodies (polhode.multibody)", "three-field, or another for systems in `polhode methods`"),
}


def _from_any_axes(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of (system, state, ...) in the axes in which steps are written, for those of the user's own."""

    @wraps(fn)
    def call(self: Any, system: Any, state: Any, *args: Any, **more: Any) -> Any:
        double_precision()
        if getattr(system, "axes", None) is None:
            return fn(self, system, state, *args, **more)
        found = fn(self, system.principal, system.to_principal(state), *args, **more)
        if isinstance(found, Step):
            return replace(found, state=system.from_principal(found.state))
        return system.from_principal(found)

    call.for_principal_axes = fn  # type: ignore[attr-defined]
    return call


@dataclass(frozen=True)
class Method(ABC):
    """A one-step method for systems of one kind. Subclass it, set the class variables and write
    `step`; it then runs, plots and is tested for its traits as the built-in ones are.

    A step is a pure function: it never raises, never prints, and holds no
    state of its own, so it runs under jit, vmap and grad, on a batch, and on a GPU.
    """

    name: ClassVar[str]
    paper: ClassVar[str]
    traits: ClassVar[Traits]
    kind: ClassVar[str] = "rotation"  # of system that it moves: "rotation", one body; or "system", many

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """What a method writes is for principal axes; who calls it may be in any."""
        super().__init_subclass__(**kwargs)
        if hasattr(cls, "kinetic_energy"):
            raise TypeError(
                f"{cls.__name__}.kinetic_energy is never asked for: a method that means another kinetic energy returns "
                "a State of its own from `begin`, with a method `kinetic(system)`"
            )
        for name in ("begin", "step"):
            found = inspect.getattr_static(cls, name)  # of a class beside this one too
            if found is not Method.__dict__[name] and not hasattr(found, "for_principal_axes"):
                setattr(cls, name, _from_any_axes(found))

    @property
    def rungs(self) -> tuple[Method, ...]:
        """What a run tries, one after the other where steps fail: a form that is cheap and may fail where another does
        not, then the next; of most methods themselves alone."""
        return (self,)

    @property
    def order(self) -> float:
        """Of its traits: the error falls as h to this power."""
        return self.traits.order

    @property
    def summary(self) -> str:
        """A few words for a table: the docstring up to its first full stop or colon."""
        text = " ".join((type(self).__doc__ or self.name).split())
        return re.split(r"[.:] ", text)[0].rstrip(".")

    @property
    def options(self) -> dict[str, Any]:
        """Fields that differ from their defaults, by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != _default(f)}

    def _repr_html_(self) -> str:
        traits = [(name.replace("_", " "), value) for name, value in self.traits.__dict__.items()]
        told = [("paper", getattr(self, "paper", "none is named")), *traits]
        return table((), told, f"{self.name}: {self.summary}")

    def check(self, system: Any) -> None:
        """An InputError if this method cannot move the system."""
        if system.kind != self.kind:
            what, _ = KINDS[self.kind]
            this, instead = KINDS[system.kind]
            raise InputError(f"{self.name} moves {what}, and this is {this}. Use {instead}")
        system.fits(self)

    def begin(self, system: Any, state: Any) -> Any:
        """The state a run starts from. A method that carries more than the motion
        from step to step returns a subclass of State here; all it remembers is in it. Of a state that was begun, it
        is that state."""
        return state

    @abstractmethod
    def step(self, system: Any, state: Any, t: Any, h: Any) -> Step:
        """From `state` at time t to t + h (s)."""

    def tidied(self, state: Any) -> Any:
        """After a step: without the round-off that would add up."""
        return state.tidied()

    def why_failed(self, system: Any, state: Any, t: float, h: float) -> str | None:
        """In words, why no step of h (s) could be taken from there, if this method can tell."""
        return None


def _default(f: Any) -> Any:
    return f.default if f.default_factory is MISSING else f.default_factory()
