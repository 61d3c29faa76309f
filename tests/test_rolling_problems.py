"""Every multibody problem against its exact or independent reference: order 2, energy, constraints."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import polhode as ph
from polhode.problems import problem_of
from polhode.references import (
    bicycle,
    bicycle_linear,
    chaplygin_ball,
    chaplygin_sleigh,
    four_bar,
    knife_edge,
    pendulum,
    rattleback,
    rolling_disk,
    rolling_sphere,
)
from polhode.references.bicycle_parameters import Bicycle


@dataclass(frozen=True)
class Compared:
    """A problem with parameters; the reference's values of some observables at given times."""

    name: str
    parameters: dict[str, Any]
    reference: Callable[[Any], dict[str, np.ndarray]]
    step: float
    until: float
    error: float  # of all observables with this step: a bound
    energy: float  # largest relative drift: a bound

    def __str__(self) -> str:
        return f"{self.name} {' '.join(f'{k}={v}' for k, v in self.parameters.items())}".strip()

    def run(self, divide: int = 1, method: Any = "three-field") -> ph.Run:
        n = round(self.until / self.step) * divide
        system = problem_of(self.name).problem(**self.parameters).system
        return ph.simulate(system, method=method, step=self.step / divide, steps=n, every=n // 10)

    def errors(self, run: ph.Run) -> float:
        exact = self.reference(run.t)
        return max(_apart(name, run.observables[name].values, values) for name, values in exact.items())


_ANGLES = ("heading", "crank", "coupler", "rocker", "yaw", "angle")


def _apart(name: str, a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference; of angles, the shorter way round."""
    return float(np.abs(np.angle(np.exp(1j * (a - b))) if name in _ANGLES else a - b).max())


def _fields(motion: Any, *names: str) -> dict[str, np.ndarray]:
    return {name: getattr(motion, name) for name in names}


def _bicycle(speed: float, roll_rate: float) -> Callable[[Any], dict[str, np.ndarray]]:
    def values(t: Any) -> dict[str, np.ndarray]:
        m = bicycle.motion(Bicycle(), bicycle.BicycleStart(speed, roll_rate), t)
        return {
            "roll": m.coordinates["roll"],
            "steer": m.coordinates["steer"],
            "forward_speed": m.speed,
            "yaw": m.coordinates["yaw"],
        }

    return values


def _disk(theta: float, p: float, q: float, r: float) -> Callable[[Any], dict[str, np.ndarray]]:
    start = rolling_disk.DiskStart(theta=theta, p=p, q=q, r=r)
    return lambda t: _fields(
        rolling_disk.motion(rolling_disk.RollingDisk(), start, t), "theta", "p", "q", "r", "x", "y"
    )


def _ball(t: Any) -> dict[str, np.ndarray]:
    m = chaplygin_ball.motion(
        chaplygin_ball.ChaplyginBall(1.0, 0.5, (0.06, 0.08, 0.1)), chaplygin_ball.BallStart((1.0, 2.0, 3.0)), t
    )
    K = m.contact_momentum
    return {"x": m.position[:, 0], "y": m.position[:, 1], "momentum_x": K[:, 0], "momentum_z": K[:, 2]}


def _four_bar(t: Any) -> dict[str, np.ndarray]:
    bar = four_bar.FourBar(1.0, 2.5, 2.0, 2.2, (1.0, 2.0, 1.5))
    angles = four_bar.motion(bar, t, angle=0.5, rate=0.0).angles
    return {name: angles[:, i] for i, name in enumerate(("crank", "coupler", "rocker"))}


# Measured, errors and energy drifts in this order: sphere 9.1e-5, 8e-14; disks 9.8e-4, 4e-15 and 2.9e-3, 3e-15;
# bicycle 1.2e-3, 9e-15; sleigh 2.4e-4, 2e-14; knife edge 6.3e-4, 1e-11; rattleback 1.0e-2, 3e-13;
# ball 5.0e-6, 8e-15; pendulum 2.9e-3, 5e-13; four-bar 4.1e-4, 2e-13.
CASES = [
    Compared("rolling-sphere", {}, lambda t: {"z": rolling_sphere.motion(rolling_sphere.RollingSphere(), t).height},
             0.01, 10.0, 1.1e-4, 1e-12),
    Compared("rolling-disk", {}, _disk(np.deg2rad(1.0), 0.0, 0.0, -2.25), 0.01, 5.0, 1.2e-3, 1e-13),
    Compared("rolling-disk", {"inclination": 0.3, "p0": 0.2, "q0": 1.0, "r0": -2.0}, _disk(0.3, 0.2, 1.0, -2.0),
             0.01, 3.0, 3.5e-3, 1e-13),
    Compared("bicycle", {"speed": 4.6, "roll_rate": 0.5}, _bicycle(4.6, 0.5), 0.01, 5.0, 1.4e-3, 1e-13),
    Compared("chaplygin-sleigh", {"speed": -1.0, "spin": 0.5},
             lambda t: _fields(chaplygin_sleigh.motion(
                 chaplygin_sleigh.ChaplyginSleigh(), chaplygin_sleigh.SleighStart(), t),
                 "speed", "omega", "heading", "x", "y"), 0.01, 5.0, 3e-4, 1e-12),
    Compared("knife-edge", {"speed": 0.3, "heading": 0.2},
             lambda t: _fields(knife_edge.motion(knife_edge.KnifeEdge(slope=0.3),
                                                 knife_edge.KnifeStart(0.3, 1.0, 0.2), t), "x", "y", "speed"),
             0.01, 5.0, 8e-4, 5e-11),
    Compared("rattleback", {}, lambda t: _fields(rattleback.motion(rattleback.Rattleback(), rattleback.RattlebackStart(
        (0.0, 0.0, -5.0), (np.cos(0.005), np.sin(0.005), 0.0, 0.0)), t), "spin"), 0.0005, 1.5, 1.2e-2, 2e-12),
    Compared("chaplygin-ball", {}, _ball, 0.01, 5.0, 6e-6, 1e-13),
    Compared("pendulum", {"angle": 1.0}, lambda t: _fields(pendulum.motion(
        pendulum.Pendulum(1.0, 1.0, 0.1), t, angle=1.0), "angle", "rate"), 0.01, 5.0, 3.5e-3, 2e-12),
    Compared("four-bar", {}, _four_bar, 0.005, 2.0, 5e-4, 1e-12),
]  # fmt: skip


# What takes most steps, and a ball on a plane, as in the zoo.
LONG = ("rattleback", "chaplygin-ball")
IN_TURN = [pytest.param(c, marks=pytest.mark.long if c.name in LONG else (), id=str(c)) for c in CASES]
# By the programs that users have in long runs one with a joint, and with `make test-long` one with a contact, as the
# bicycle in `test_multibody_steps`; the others by the one that is compiled soon.
OPTIMISED = [pytest.param(CASES[-2], marks=pytest.mark.optimised, id=f"{CASES[-2]} optimised")]
OPTIMISED += [pytest.param(CASES[0], marks=[pytest.mark.optimised, pytest.mark.long], id=f"{CASES[0]} optimised")]


@pytest.mark.slow
@pytest.mark.parametrize("case", [*IN_TURN, *OPTIMISED])
def test_problem_against_its_reference(case: Compared) -> None:
    coarse, fine = case.run(), case.run(2)
    errors = case.errors(coarse), case.errors(fine)
    assert errors[0] < case.error
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.1)
    assert coarse.drift(coarse.energy) < case.energy
    assert coarse.gap.max() < 1e-12
    assert coarse.slip.max() < 1e-11
    assert coarse.ok


def _changes(case: Compared, steps: int) -> dict[str, np.ndarray]:
    """The largest changes from h to h/3 and from h/3 to h/9, (2, components), relative to the largest component.

    Steps end together, and so do their middles, where multipliers belong: nothing is interpolated."""
    system, thirds = problem_of(case.name).problem(**case.parameters).system, (1, 3, 9)
    runs = [ph.simulate(system, step=case.step / n, steps=steps * n) for n in thirds]
    found = {}
    for name in ("positions", "quaternions", "velocities", "omegas", "multipliers"):
        first = [(n + 1) // 2 if name == "multipliers" else 0 for n in thirds]
        h, h3, h9 = (getattr(run, name)[k::n] for run, n, k in zip(runs, thirds, first, strict=True))
        changes = np.array([np.abs(h - h3).max(axis=0).ravel(), np.abs(h3 - h9).max(axis=0).ravel()])
        found[name] = changes / np.abs(h).max()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("case", IN_TURN)
def test_every_component_and_every_multiplier_is_of_order_2(case: Compared) -> None:
    """Those that are constant, or zero as in a planar motion, change by round-off and have no order: by 4e-14 at
    most, and the others by 1e-8 at least."""
    for name, changes in _changes(case, 200).items():
        coarse, fine = changes[:, changes[0] > 1e-10]
        assert coarse.size, name
        # 1.995 to 2.006 on the sphere, 1.998 to 2.007 on the bicycle, 1.999 to 2.001 elsewhere
        assert np.log(coarse / fine) / np.log(3) == pytest.approx(2, abs=0.01), name


SPEEDS = [
    pytest.param(speed, marks=() if speed in (0.0, 2.0, 10.0) else pytest.mark.long)
    for speed in (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0)
]


@pytest.mark.slow
@pytest.mark.parametrize("speed", SPEEDS)
def test_bicycle_linearised_at_every_speed(speed: float) -> None:
    """The growth of a small roll over a short time, against exp(At) of the published linear model."""
    from scipy.linalg import expm

    system = problem_of("bicycle").problem(speed=speed, roll_rate=1e-5).system
    run = ph.simulate(system, step=0.0025, until=1.0, every=40)
    A = bicycle_linear.state_matrix(Bicycle(), speed)
    exact = np.array([expm(A * t) @ [0.0, 0.0, 1e-5, 0.0] for t in run.t])
    scale = np.abs(exact[:, :2]).max()
    errors = [np.abs(run.observables[name].values - exact[:, i]).max() for i, name in enumerate(("roll", "steer"))]
    assert max(errors) < 3e-4 * scale  # 5.1e-5 at 2 m/s to 2.7e-4 at 10 m/s


@pytest.mark.slow
@pytest.mark.parametrize("step", [0.01, 0.0001])
def test_a_bicycle_at_rest(step: float) -> None:
    """Round-off in the positions, over a short step, is large beside no velocity at all; steps are solved still."""
    run = ph.simulate(problem_of("bicycle").problem(speed=0.0, roll_rate=0.0).system, step=step, steps=100)
    assert abs(run.observables["roll"].values).max() < 1e-20  # 5.8e-30 and 1.3e-35
    assert run.drift(run.energy) < 1e-15


@pytest.mark.long
def test_a_composition_has_order_4_on_the_bicycle() -> None:
    system = problem_of("bicycle").problem(speed=4.6, roll_rate=0.5).system
    ends = []
    for n in (50, 100, 200):
        run = ph.simulate(system, method="triple4-three-field", step=1.0 / n, steps=n, every=n)
        ends.append(np.concatenate([run.positions[-1].ravel(), run.omegas[-1].ravel()]))
    order = np.log2(np.linalg.norm(ends[0] - ends[1]) / np.linalg.norm(ends[1] - ends[2]))
    assert order == pytest.approx(4, abs=0.25)
