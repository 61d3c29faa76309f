"""Time of a step for each of many bodies, beside a C++ program with vector instructions on the same cores."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np

from polhode._programs import platform
from polhode.algebra import exp
from polhode.api import simulate
from polhode.bench import batch_gpu, bicycles_gpu
from polhode.bench.base import Row, python
from polhode.bench.native import built
from polhode.model.problem import Problem
from polhode.rotation import Potential, RigidBody, Rotation, State
from polhode.simulation import tiles

BODIES = (1_000, 10_000, 100_000, 1_000_000)
TINY = {"bodies": (100,), "work": 2_000, "repeats": 1, "methods": ("dmv",)}
TARGETS = {"dmv": 2.0, "imidm": 3.0}  # of C++
_SECOND_CORE = 0.85
_OPTIONS = ("-ffast-math", "-pthread")


def problem_for(method: str, bodies: int) -> tuple[Problem, float]:
    """As in the C++ program, and the step: free bodies, or heavy tops, each a little faster than the one before."""
    near = 1.0 + 1e-3 * (np.arange(bodies) % 1000)[:, None] / 1000
    if method == "dmv":
        body, load, momentum, h = RigidBody((0.9144, 1.098, 1.66)), None, np.array([0.4165, 0.907, 0.0577]), 0.01
    else:
        body, load, h = RigidBody((5.0, 5.0, 1.0)), Potential(_weight), 0.001
        momentum = np.array([0.0, 0.0, 50.0])
    return Problem(Rotation(body, load), State.of(attitude=exp((0.05, 0.0, 0.0)), momentum=momentum * near)), h


def _weight(R: Any) -> Any:
    return 20.0 * R[2, 2]


@dataclass(frozen=True)
class Time:
    """Seconds, and those of all cores together: of a machine that others use too, the latter say more."""

    wall: float
    cores: float

    def least(self, other: Time) -> Time:
        return Time(min(self.wall, other.wall), min(self.cores, other.cores))

    def each(self, count: int) -> str:
        return f"{self.wall / count * 1e9:.3g} ns, {self.cores / count * 1e9:.3g} ns of cores"


def time_of(method: str, bodies: int, steps: int) -> Time:
    problem, h = problem_for(method, bodies)
    before = time.process_time()
    run = simulate(problem, method=method, step=h, steps=steps, every=steps)
    return Time(run.trajectory.seconds, time.process_time() - before)


def native_time(program: str, method: str, bodies: int, steps: int) -> Time:
    call = [program, method, str(bodies), str(steps), str(tiles.cores())]
    wall, cores, _ = subprocess.run(call, capture_output=True, text=True, check=True).stdout.split()
    return Time(float(wall), float(cores))


def measure(
    bodies: Sequence[int] = BODIES,
    work: int = 40_000_000,
    repeats: int = 5,
    methods: Sequence[str] = tuple(TARGETS),
) -> list[Row]:
    """`work`: steps of all bodies together. The least of several runs, ours and C++ in turn. On a GPU what is
    measured there."""
    if platform() == "gpu":
        return [*batch_gpu.measure(), *bicycles_gpu.measure()]
    with tempfile.TemporaryDirectory() as folder:
        why = built("batch", _OPTIONS, folder)
        program = str(Path(folder) / "batch")
        rows = []
        for method in methods:
            for count in bodies:
                rows += _compared(method, count, max(work // count, 2), repeats, program, why, TARGETS[method])
            rows.append(_second_core(method, max(bodies), max(work // max(bodies), 2), repeats))
    return rows


def _compared(
    method: str, bodies: int, steps: int, repeats: int, program: str, why: str | None, target: float
) -> list[Row]:
    ours = partial(time_of, method, bodies, steps)
    ours()  # compiles
    mine, other = in_turn(repeats, ours, partial(native_time, program, method, bodies, steps) if why is None else ours)
    work, what = steps * bodies, f"{method}, {bodies:,} bodies"
    said = f"at most {target:g} of C++"
    if why is not None:
        return [Row(f"C++, {what}", why), Row(what, mine.each(work), None, said, None, mine.wall / work * 1e9)]
    ratio = mine.wall / other.wall
    return [
        Row(f"C++, {what}", other.each(work), 1.0, number=other.wall / work * 1e9),
        Row(what, mine.each(work), ratio, said, ratio <= target, mine.wall / work * 1e9),
        Row(f"{what}: cores' time", "as above", mine.cores / other.cores),
    ]


def in_turn(repeats: int, first: Callable[[], Time], second: Callable[[], Time]) -> tuple[Time, Time]:
    """The least of each, called in turn: what else the machine does disturbs both alike."""
    pairs = [(first(), second()) for _ in range(repeats)]
    one, other = zip(*pairs, strict=True)
    return reduce(Time.least, one), reduce(Time.least, other)


def _second_core(method: str, bodies: int, steps: int, repeats: int) -> Row:
    what = f"{method}, {bodies:,} bodies: a core among {tiles.cores()}, of one alone"
    if tiles.cores() == 1 or not hasattr(os, "sched_setaffinity"):
        return Row(what, "not measured: one core here, or no way to have one alone")

    one, every = (min(_apart(method, bodies, steps, core) for _ in range(repeats)) for core in ("one", "every"))
    share = one / every / tiles.cores()
    return Row(what, f"{share:.0%}", None, f"above {_SECOND_CORE:.0%}", share > _SECOND_CORE)


def _apart(method: str, bodies: int, steps: int, cores: str) -> float:
    """Seconds in a process of its own, on one core or on every: threads keep the cores that they began with."""
    code = (
        "import os\n"
        f"if {cores == 'one'}: os.sched_setaffinity(0, {{min(os.sched_getaffinity(0))}})\n"
        "from polhode.bench.batch import time_of\n"
        f"print([time_of({method!r}, {bodies}, {steps}).wall for _ in range(2)][-1])"
    )
    return float(python("-c", code))


def draw(rows: list[Row], path: str) -> Any:
    """Body-steps a second by the number of bodies."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    ax = figure.add_subplot()
    lines: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        name, _, bodies = row.what.rpartition(", ")
        if row.number:
            lines.setdefault(name, []).append((int(bodies.split()[0].replace(",", "")), 1e3 / row.number))
    for name, points in lines.items():
        ax.plot(*zip(*points, strict=True), "o--" if name.startswith("C++") or "by hand" in name else "o-", label=name)
    ax.set(xscale="log", yscale="log", xlabel="bodies", ylabel="million body-steps a second")
    ax.legend()
    figure.savefig(path)
    return figure
