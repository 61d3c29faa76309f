"""Benchmarks of the IFToMM library (González, Dopico, Luaces, Cuadrado 2006): three-field beside Exudyn and MuJoCo.

Each code is told the same mechanism and takes the same steps; errors are against the independent solutions of
`polhode.references`. Seconds are those of the steps alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from polhode.api import simulate
from polhode.bench.base import Row
from polhode.bench.told import mechanism_of
from polhode.model.checks import InputError
from polhode.multibody import System
from polhode.peers import available, exudyn, mujoco
from polhode.peers.runs import Bodies, Cost
from polhode.problems import problem_of
from polhode.references import bricard, governor, pendulum, squeezer, windows
from polhode.results import Run
from polhode.simulation import StepError

SAMPLES = 250  # of a whole run
TINY = {"names": ("A01",), "part": 0.01}
NAMES = ("A01", "A02-2", "A02-5", "A03", "A04", "A05")  # A02-40 takes Exudyn half an hour
MANY = 5  # windows from which on sparse matrices are faster


class Expected(NamedTuple):
    point: np.ndarray  # (n, k), m
    energy: np.ndarray  # (n,), J, up to a constant; without the work of a torque


def _pendulum(t: np.ndarray) -> Expected:
    swing = pendulum.motion(pendulum.Pendulum(1.0, 1.0, 0.0), t, angle=-np.pi / 2)
    return Expected(swing.position, swing.energy)


def _windows(t: np.ndarray, count: int) -> Expected:
    falling = windows.motion(windows.Windows(count), t)
    return Expected(falling.corner, falling.energy)


def _squeezer(t: np.ndarray) -> Expected:
    turning = squeezer.motion(squeezer.Squeezer(), t)
    return Expected(turning.joint, np.zeros_like(t))  # the torque's work is taken off what a code has


def _bricard(t: np.ndarray) -> Expected:
    swing = bricard.motion(bricard.Bricard(), t)
    return Expected(swing.joint, swing.energy)


def _governor(t: np.ndarray) -> Expected:
    spinning = governor.motion(governor.Governor(), governor.GovernorStart(), t)
    return Expected(spinning.height[:, None], spinning.energy)


@dataclass(frozen=True)
class Case:
    title: str
    problem: str
    step: float
    until: float
    expected: Callable[[np.ndarray], Expected]
    body: int  # the point compared: of this body,
    at: tuple[float, float, float]  # in its axes from the centre of mass, m,
    axes: tuple[int, ...]  # these coordinates
    parameters: Mapping[str, float] = field(default_factory=dict)
    torque: float = 0.0  # about z on the first body, N m
    integrator: str = "RK4"  # of MuJoCo
    method: str = "three-field"


def _of_windows(count: int) -> Case:
    return Case(
        f"A02, {count} windows", "windows", 0.01, 10.0, partial(_windows, count=count), 0, (0.5, 0.0, 0.0), (0, 1),
        {"windows": count}, method="three-field-sparse" if count >= MANY else "three-field",
    )  # fmt: skip


CASES = {
    "A01": Case("A01, simple pendulum", "simple-pendulum", 0.01, 10.0, _pendulum, 0, (0.0, 0.0, 0.0), (0, 1)),
    "A02-2": _of_windows(2),
    "A02-5": _of_windows(5),
    "A02-40": _of_windows(40),
    "A03": Case("A03, squeezer", "squeezer", 2e-5, 0.05, _squeezer, 0, (0.007 - 0.00092, 0.0, 0.0), (0, 1),
                torque=0.033),
    "A04": Case("A04, Bricard", "bricard", 0.01, 10.0, _bricard, 1, (0.0, -0.5, 0.0), (0, 1, 2)),
    # RK4 is explicit, and these dampers are stiff
    "A05": Case("A05, governor", "governor", 1e-3, 10.0, _governor, 1, (0.0, 0.0, 0.0), (2,), integrator="implicit"),
}  # fmt: skip


def measure(names: Iterable[str] = NAMES, part: float = 1.0) -> list[Row]:
    """`part` of each run, from its start."""
    return [row for name in names for row in _compare(CASES[name], part)]


def _compare(case: Case, part: float) -> list[Row]:
    steps = round(part * case.until / case.step)
    every = max(1, steps // SAMPLES)
    steps -= steps % every
    system = problem_of(case.problem).problem(**case.parameters).system
    mechanism = mechanism_of(system)
    times = case.step * every * np.arange(steps // every + 1)
    whole = case.expected(times)

    def row(code: str, bodies: Bodies, cost: Cost, ours: float | None, ending: str) -> Row:
        expected = whole if len(bodies.times) == len(times) else case.expected(bodies.times)
        off = np.abs(point_of(case, bodies) - expected.point).max()
        energy = energy_of(case, mechanism.energy(bodies), bodies) - expected.energy
        each = cost.seconds_per_step
        value = f"energy {np.abs(energy - energy[0]).max():.0e} J, point {off:.0e} m, {1e6 * each:.0f} µs a step"
        return Row(f"{case.title}: {code}", value + ending, None if ours is None else each / ours)

    what, ours = f"{case.method}, h = {case.step:g} s", None
    bodies, cost, ending = _polhode(system, case.method, case.step, steps, every)
    if cost.steps:
        ours = cost.seconds_per_step
        rows = [row(what, bodies, cost, None, ending)]
    else:
        rows = [Row(f"{case.title}: {what}", "none: the first step was not solved")]
    for code, run in _peers(case, mechanism, steps, every):
        if run is None:
            rows.append(Row(f"{case.title}: {code}", "not installed: pip install 'polhode[peers]'"))
            continue
        try:
            bodies, cost = run()
        except InputError as error:
            rows.append(Row(f"{case.title}: {code}", f"none: {error.args[0].partition(';')[0]}"))
            continue
        rows.append(row(code, bodies, cost, ours, ""))
    return rows


def point_of(case: Case, bodies: Bodies) -> np.ndarray:
    """The point compared, over the times, (n, k), m."""
    point = bodies.position[:, case.body] + bodies.attitude[:, case.body] @ np.array(case.at)
    return point[:, case.axes]


def energy_of(case: Case, energy: np.ndarray, bodies: Bodies) -> np.ndarray:
    """Less what the torque has put in, J."""
    crank = np.unwrap(np.arctan2(bodies.attitude[:, 0, 1, 0], bodies.attitude[:, 0, 0, 0]))
    return energy - case.torque * crank


def bodies_of(run: Run) -> Bodies:
    R = np.asarray(run.attitude)
    omega = (R @ np.asarray(run.omegas)[..., None])[..., 0]
    return Bodies(np.asarray(run.t), np.asarray(run.positions), np.asarray(run.velocities), R, omega)


def _polhode(system: System, method: str, step: float, steps: int, every: int) -> tuple[Bodies, Cost, str]:
    """Timed the second time, when all is compiled."""
    ending = ""
    for _ in range(2):
        try:
            run = simulate(system, method=method, step=step, steps=steps, every=every)
        except StepError as error:
            run, ending = error.run, f", stopped at t = {error.run.t[-1]:.3g} s"
    return bodies_of(run), Cost(run.steps, run.trajectory.seconds), ending


def _peers(case: Case, mechanism: Any, steps: int, every: int) -> list[tuple[str, Callable[[], Any] | None]]:
    how: dict[str, Any] = {"step": case.step, "until": case.step * steps, "every": every}
    runs: dict[str, Callable[[], Any]] = {
        "Exudyn": partial(exudyn.mechanism_motion, mechanism, **how),
        "MuJoCo": partial(mujoco.motion, mechanism, **how, integrator=case.integrator),
    }
    installed = available()
    return [(name, run if installed[name.lower()] else None) for name, run in runs.items()]
