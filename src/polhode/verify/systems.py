"""What is measured of methods for systems of bodies."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from polhode.model.method import Method
from polhode.model.problem import Problem
from polhode.results.run import Run
from polhode.verify.conservation import Course, Kept
from polhode.verify.measures import Measures
from polhode.verify.motion import motion_of
from polhode.verify.trials_of_systems import PENDULUM, ROLLING, disk, pair, pendulum

_ROUND_OFF = 1e-11  # of what a step sees to itself: gaps and slip
_ADDED_UP = 2e-10  # of what 10⁴ steps add up, energy and momenta: measured 1e-12, and 7e-11 where a step is nine
_BEFORE, _STEP = 4, 0.1  # steps before one that is taken back, and their length (s)
_MOTION = ("positions", "quaternions", "velocities", "omegas")

_HANGING = Course("double pendulum", pendulum, 0.05, 10_000, 20)
_AFLOAT = Course("pair adrift", pair, 0.05, 10_000, 20)
_ROLLING = Course("rolling disk", disk, 0.02, 10_000, 20)


def _momenta(run: Run) -> np.ndarray:
    """Linear and angular, of all bodies together."""
    linear = np.einsum("b,nbi->ni", np.asarray(run.system.masses), run["velocity"])
    return np.concatenate([linear, run["spatial_momentum"]], axis=-1)


KEPT = (
    Kept("energy", "energy", _HANGING, lambda run: run["energy"], _ADDED_UP),
    Kept("energy", "energy", _ROLLING, lambda run: run["energy"], _ADDED_UP),
    Kept("spring_energy", "energy", _AFLOAT, lambda run: run["energy"], _ADDED_UP),
    Kept("spatial_momentum", "momentum", _AFLOAT, _momenta, _ADDED_UP),
    Kept("joints", "joints", _HANGING, lambda run: run["gap"], _ROUND_OFF, scale=1.0),
    Kept("joints", "joints", _AFLOAT, lambda run: run["gap"], _ROUND_OFF, scale=1.0),
    Kept("joints", "joints", _ROLLING, lambda run: run["gap"], _ROUND_OFF, scale=1.0),
    Kept("slip", "slip", _ROLLING, lambda run: run["slip"], _ROUND_OFF, scale=1.0),
)


def symmetry_defect(method: Method) -> float:
    """How far a step forward and a step back end from where they began, in places and velocities."""
    return max(_there_and_back(method, problem) for problem in (pendulum, disk))


def _there_and_back(method: Method, problem: Callable[[], Problem]) -> float:
    """From a state that the method itself led to: a start that fulfils all constraints is a special one."""
    motion = motion_of(method, problem)
    before = motion.run(_STEP, _BEFORE, _BEFORE)
    t = _BEFORE * _STEP
    there = motion.run(_STEP, 1, 1, start=before.last_state, t0=t)
    back = motion.run(-_STEP, 1, 1, start=there.last_state, t0=t + _STEP)
    if not (before.ok and there.ok and back.ok):
        return np.inf
    ends = [
        np.concatenate([np.asarray(getattr(run.last_state, name)).ravel() for name in _MOTION])
        for run in (before, back)
    ]
    return float(np.abs(ends[1] - ends[0]).max())


MEASURES = Measures(
    trials=lambda method: (PENDULUM, ROLLING),
    kept=lambda method: KEPT,
    geometry={"symmetric": ("symmetric", symmetry_defect)},
    columns=("energy", "spring_energy", "spatial_momentum", "joints", "slip", "symmetric"),
    title="Measured: order, what systems of bodies keep over 10⁴ steps, whether a step can be taken back",
    about=(
        "Of methods that move systems of bodies. The order is the least over two rods on hinges that are not\n"
        "parallel and a rolling disk. What is kept is judged along 10⁴ steps, by the worst course: the energy of the\n"
        "rods and of the disk; that of two bodies adrift on a hinge and a spring, and both their momenta; gaps of\n"
        "joints and contact; the slip of the disk. Energies and momenta are exact if they stay within 2·10⁻¹⁰: steps\n"
        "are solved to 10⁻¹²; gaps and slip within 10⁻¹¹ m and m/s. Symmetric: a step of 0.1 s and one back end where\n"
        "they began. All these motions are regular; in chaotic ones what is bounded here may wander."
    ),
    holds=1e-10,
    broken=1e-8,
)
