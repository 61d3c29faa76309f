"""Numbers along the motion of a system, for events: a function of a view, a formula, or the force of a contact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polhode.model.checks import unknown
from polhode.model.functions import one_number
from polhode.model.pytree import Code, Static, tree
from polhode.multibody.describe.views import OfView
from polhode.multibody.start.traced_start import multipliers_at

_NORMAL = {".height": ".slip 1", ".distance": ".slip along"}  # rows that hold what rolls on a surface; one beside them


@tree
class WatchedNumber:
    """A function of a view that returns one number."""

    fn: Code[Callable[..., Any]]

    def value(self, system: Any, state: Any, t: Any) -> Any:
        return self.fn(system.view(state, t))


def watched_number(system: Any, fn: Any) -> Any:
    """The function of an event as it is now, a pytree with `value(system, state, t)`; or what the function's object
    makes of the system."""
    if hasattr(fn, "of_system"):
        return fn.of_system(system)

    def number(view: Any) -> Any:
        return one_number("an Event", fn(view))

    return WatchedNumber(OfView.of("an Event", number, system.names, {}, ()))


@tree
class ForceOfRow:
    """The force of a row in a state, N; as a push if that is its sign."""

    row: Static[int]
    push: Static[float]

    def value(self, system: Any, state: Any, t: Any) -> Any:
        return self.push * multipliers_at(system, state, t)[self.row]


@tree
class NormalForce:
    """That of a contact, by its name, or by that of the body that rolls."""

    contact: Static[str]

    def of_system(self, system: Any) -> ForceOfRow:
        names = system.row_names
        rows = {
            row.removesuffix(end): i
            for i, row in enumerate(names)
            for end, beside in _NORMAL.items()
            if row.endswith(end) and row.removesuffix(end) + beside in names
        }
        found = [name for name in rows if self.contact in (name, name.split(" ")[-1])]
        if not found:
            raise unknown("contact", self.contact, list(rows))
        inside = [getattr(c, "inside", False) for c in system.constraints if c.name == found[0]]
        return ForceOfRow(rows[found[0]], -1.0 if any(inside) else 1.0)
