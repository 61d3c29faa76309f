"""`Path`: a motion at a few times, and what the error of a motion is.

The error at a time is the largest of these numbers, the computed motion against the true one at the same time:

    of one body     the angle (rad) of the rotation that leads from one attitude to the other, and
                    |Π - Π°| / max |Π|, Π the momentum in the body, max its largest length along the run
    of a system     that angle of every body, and
                    |x - x°| / L of every body, x its centre of mass, L the largest length in the system:
                    between bodies, from a body to a joint or a contact, or a radius of gyration

In a batch every member has its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polhode.algebra import Quaternion, log
from polhode.multibody.start.nearness import extent


@dataclass(frozen=True)
class Path:
    """Arrays with the samples in front, then the members of a batch, then the bodies."""

    attitudes: np.ndarray  # (..., 4)
    beside: np.ndarray  # (..., 3) momenta or positions
    unit: Any  # of those: a length, or (members, 1, 1) the largest momentum
    fastest: float  # angular speed of a body, over all samples and members (rad/s)

    @classmethod
    def of(cls, system: Any, states: Any) -> Path:
        """Of states with the samples in front, in the axes in which steps are taken: the error is the same in all."""
        fastest = float(np.max(system.fastest(states)))
        if system.kind == "rotation":  # a body is one of one
            q, Pi = (np.asarray(x.array)[..., None, :] for x in (states.attitude, states.momentum))
            longest = np.linalg.norm(Pi, axis=-1, keepdims=True).max(axis=0)
            return cls(q, Pi, np.where(longest > 0, longest, 1.0), fastest)
        return cls(np.asarray(states.quaternions), np.asarray(states.positions), extent(system), fastest)

    @property
    def end(self) -> Path:
        """The last sample alone."""
        return replace(self, attitudes=self.attitudes[-1:], beside=self.beside[-1:])

    def to(self, other: Path) -> np.ndarray:
        """(samples, members, 2 bodies, 3): rotation vectors from these attitudes to the others', and what else
        changes, in its unit."""
        turn = Quaternion.of(self.attitudes).conjugate * Quaternion.of(other.attitudes)
        turned = np.asarray(log(turn).array)
        return np.concatenate([turned, (other.beside - self.beside) / other.unit], axis=-2)


def size(differences: np.ndarray) -> np.ndarray:
    """(samples, members): the error, if the one motion were the true one."""
    return np.linalg.norm(differences, axis=-1).max(axis=-1)
