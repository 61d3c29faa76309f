"""`Course`: when a run was looked at, how far it came, and how that went."""

from __future__ import annotations

import numpy as np

from polhode.simulation import Happened, LostMember, Status, Trajectory


class Course:
    """Of a run, a dataclass that holds these."""

    trajectory: Trajectory
    step: float
    t0: float

    @property
    def ok(self) -> bool:
        return self.trajectory.status in (Status.OK, Status.STOPPED) and not self.lost

    @property
    def t(self) -> np.ndarray:
        """Times of the samples (s)."""
        t = self.t0 + self.trajectory.steps * self.step
        return t if self.trajectory.offsets is None else t + self.trajectory.offsets

    @property
    def end_sample(self) -> float:
        """Time of the last of them (s)."""
        steps, offset = self.trajectory.last or (0, 0.0)
        return float(self.t0 + steps * self.step + offset)

    @property
    def steps(self) -> int:
        """How many it took, those after the last sample too."""
        return self.trajectory.ended[0]

    @property
    def end_time(self) -> float:
        """When it ended (s): with samples at times of their own, later than the last of them."""
        steps, offset = self.trajectory.ended
        return self.t0 + steps * self.step + offset

    @property
    def halvings(self) -> int:
        """How many steps were halved, into however many parts, because their equations were not solved whole."""
        return self.trajectory.halvings

    @property
    def renewals(self) -> int:
        """How many solutions, of steps or of their parts, needed the whole Jacobian at every iterate."""
        return self.trajectory.renewals

    @property
    def events(self) -> tuple[Happened, ...]:
        """Those that happened, in their order: `name`, `t` (s) and `state`, before its action if there was one."""
        return self.trajectory.events

    @property
    def lost(self) -> tuple[LostMember, ...]:
        """Members of a batch that failed: `member`, `step`, `t` (s), `why`. Their samples from there on are NaN."""
        return self.trajectory.lost
