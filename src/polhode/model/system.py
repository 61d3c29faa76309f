"""What a system is to everything outside of a step."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from polhode.model.quantity import Quantity

T = TypeVar("T", bound=type)


class System(Protocol):
    """A pytree whose numbers are leaves. One rotating body with its load is one, `Rotation`; bodies that move together
    are another, `multibody.System`."""

    kind: ClassVar[str]  # "rotation" or "system"

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """All that can be looked at in a motion of it."""

    def plain(self) -> Any:
        """The same without what a user wrote: enough for labels and for quantities of saved numbers."""

    def begun(self, start: Any, t0: Any = 0.0) -> tuple[Any, Any]:
        """The system as it is now, with users' functions traced and numbers as arrays; and a state of it, made of what
        a user says of the start at t0 (s), and checked. Both in the user's axes."""

    def watched(self, fn: Any) -> Any:
        """A user's function of an event as it is now, a pytree with `value(system, state, t)`."""

    def acted(self, state: Any, t: float) -> Any:
        """A state that a user's action returned at t (s), made one that a run can go on from, without what a method
        adds."""

    def differs(self, other: Any) -> str | None:
        """In words, why a run of this system cannot go on with another; None if it can."""

    def matched(self, states: Any, of: Any) -> Any:
        """States `of` a system that it can go on with, or that went on with it, as states of this one."""

    def fits(self, method: Any) -> None:
        """An InputError if the method, one of its kind, cannot move it."""

    def look(self, state: Any, t0: float) -> None:
        """Before a run from t0 (s): an InputError where what users' functions give there cannot be used; warnings of
        odd starts."""

    def fastest(self, state: Any) -> Any:
        """The largest angular speed of a body (rad/s)."""

    @property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """Names along the dimensions of its quantities: of bodies, of rows."""

    def describe(self) -> dict[str, Any]:
        """Attributes of a dataset."""

    def conserved(self, states: Any, t: np.ndarray) -> tuple[str, ...]:
        """Names of what nature conserves in this motion, sampled at t (s); the system as `begun` gave it."""

    def why_failed(self, state: Any, t: float, h: float) -> str | None:
        """In words, what no step of h (s) from t (s) can follow, if it is one of the known things."""


def described(cls: T) -> T:
    """What a kind of system does not say of what every system has is said by `System`."""
    for name, said in vars(System).items():
        own = vars(cls).get(name)
        if not name.startswith("_") and own is not None and not own.__doc__:
            own.__doc__ = said.__doc__
    return cls
