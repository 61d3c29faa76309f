"""All runs of one mechanism that the tests ask for, made once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from scipy.spatial.transform import Rotation

from zoo import ZOO
from zoo.lagrange import Lagrange, Motion
from zoo.mechanism import Mechanism
from zoo.runs import Run, run

SCALES: dict[str, dict[str, float]] = {
    "a millionth of the length": {"length": 1e-6},
    "a million times the length": {"length": 1e6},
    "a millionth of the mass": {"mass": 1e-6},
    "a million times the mass": {"mass": 1e6},
    "a thousandth of the time": {"time": 1e-3},
    "a thousand times the time": {"time": 1e3},
}
TURN = Rotation.from_rotvec([0.4, -0.7, 0.5]).as_matrix()
SHIFT = np.array([3.0, -2.0, 1.0])


@dataclass(frozen=True)
class Study:
    """Times are quarters of steps: the reference is asked for all of them at once."""

    m: Mechanism
    begin: Motion
    ends: Motion  # after each step
    middles: Motion
    half_middles: Motion

    @classmethod
    def of(cls, m: Mechanism) -> Study:
        n = m.count
        assert n % 2 == 0
        quarters = np.concatenate([np.arange(2 * n + 1), np.arange(2 * n + 2, 4 * n + 1, 2)])
        motion = Lagrange(m).motion(quarters * (m.step / 4))
        place = {q: i for i, q in enumerate(quarters.tolist())}

        def at(wanted: np.ndarray) -> Motion:
            chosen = [place[q] for q in wanted.tolist()]
            return Motion(*(getattr(motion, f)[chosen] for f in Motion.__dataclass_fields__))

        steps = np.arange(n)
        return cls(m, at(np.zeros(1, int)), at(4 * steps + 4), at(4 * steps + 2), at(2 * steps + 1))

    @cached_property
    def whole(self) -> Run:
        return run(self.m, self.begin, self.middles, self.m.step)

    @cached_property
    def half(self) -> Run:
        return run(self.m, self.begin, self.half_middles, self.m.step / 2)

    @cached_property
    def turned(self) -> Run:
        return run(self.m, self.begin, self.middles, self.m.step, turn=TURN, shift=SHIFT)

    @cached_property
    def reordered(self) -> Run:
        """With other names too."""
        return run(self.m, self.begin, self.middles, self.m.step, order=1)

    def scaled(self, scale: str) -> Run:
        return run(self.m, self.begin, self.middles, self.m.step, **SCALES[scale])

    @cached_property
    def rate(self) -> float:
        """The fastest thing there is, 1/s: turning, moving its own length (1), or changing either."""
        moving = (np.abs(self.ends.omegas).max(), np.abs(self.ends.velocities).max())
        return float(max(*moving, np.sqrt(np.abs(self.ends.accelerations).max())))

    @cached_property
    def kinetic(self) -> float:
        """The most kinetic energy, and what gravity or springs can make of it in one unit of length, on the way."""
        masses = np.array([mass for mass, _ in self.m.bodies.values()])
        J = np.array([np.diag(i) if np.ndim(i) == 1 else i for _, i in self.m.bodies.values()])
        turning = np.einsum("tni,nij,tnj->t", self.ends.omegas, J, self.ends.omegas)
        return float((0.5 * (np.einsum("n,tni->t", masses, self.ends.velocities**2) + turning)).max())

    def error(self, got: Run, every: int) -> np.ndarray:
        """Of places (lengths) and attitudes (rad) after each step of the reference that both have, the worst body."""
        count = len(got.positions) // every
        seen = np.ones((len(self.m.bodies), 1, 3))
        for i, name in enumerate(self.m.bodies):
            if name in self.m.axial:
                seen[i] = np.eye(3)[self.m.axial[name]]
        place = np.abs(got.positions[every - 1 :: every] - self.ends.positions[:count])
        attitude = np.abs(got.rotations[every - 1 :: every] - self.ends.rotations[:count]) * seen
        return np.maximum(place.max(axis=(1, 2)), attitude.max(axis=(1, 2, 3)))


@cache
def study(name: str) -> Study:
    return Study.of(next(m for m in ZOO if m.name == name))
