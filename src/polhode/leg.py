"""`Leg`: where a run begins, and what is known of that from runs before."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from polhode.model.functions import as_arrays
from polhode.results.run import Run
from polhode.simulation import Checkpoint
from polhode.simulation.rungs import Rungs

_MOST = 64  # things known of a beginning


@dataclass(frozen=True)
class Leg:
    """Where a run begins: a run of no steps yet, or one that goes on; and where its method stands."""

    run: Run
    begin: Checkpoint
    now: Any  # the system, with users' functions as they are; that of the run, unless an event changed it
    ladder: Rungs | None = None  # of the method, if another run made it
    known: dict[Any, Any] = field(default_factory=dict, repr=False)  # of what begins here, whatever its steps are

    def know(self, name: Any, value: Any) -> None:
        """For runs that begin here, too."""
        if len(self.known) >= _MOST:
            self.known.clear()
        self.known[name] = value

    @cached_property
    def axes(self) -> Any:
        """The system, if its own axes are not those in which steps are taken."""
        return None if getattr(self.now, "axes", None) is None else self.now

    @cached_property
    def stepped(self) -> Any:
        return self.now if self.axes is None else self.now.principal

    def seen(self, state: Any) -> Any:
        """A state in which a step was taken, in the user's axes."""
        return state if self.axes is None else self.axes.from_principal(state)

    def begun(self, state: Any) -> Any:
        """A state in the user's axes as one from which the method takes a step."""
        state = state if self.axes is None else self.axes.to_principal(state)
        begun = self.run.method.begin(self.stepped, state)
        return state if begun is state else as_arrays(begun)
