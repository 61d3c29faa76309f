"""Time per step of one trajectory, beside a C++ program written for the purpose."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from polhode._startup import LOOP_OPTION
from polhode.api import simulate
from polhode.bench.base import Row, python
from polhode.methods import all_methods, method_of
from polhode.problems import problem_of

STEPS = 100_000
REPEATS = 5
NATIVE = Path(__file__).parents[3] / "benchmarks" / "native" / "imidm.cpp"
TINY = {"steps": 50, "repeats": 1, "methods": ("imidm", "em", "dmv")}  # em begins its state, dmv takes no load
TINY_OPTION = {"steps": 50, "repeats": 1}


def nanoseconds(method: str, steps: int = STEPS, repeats: int = REPEATS) -> float:
    """Per step of a run at h = 0.001, compilation not counted: the heavy top, without its weight where the method
    takes no load."""
    setup = problem_of("heavy-top").problem()
    load = None if _free(method) else setup.load
    runs = [
        simulate(setup.body, load, setup.start, method=method, step=0.001, steps=steps, every=steps)
        for _ in range(1 + repeats)
    ]
    return min(run.trajectory.seconds for run in runs[1:]) / steps * 1e9


def _free(method: str) -> bool:
    return method_of(method).traits.loads == "none"


def native_nanoseconds(steps: int, repeats: int) -> float | str:
    """The same of the C++ program; or why it was not measured."""
    compiler = shutil.which("g++")
    if compiler is None:
        return "not measured: no g++ here"
    if not NATIVE.exists():
        return "not measured: its source is not beside the package"
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "imidm")
        build = [compiler, "-O3", "-march=native", str(NATIVE), "-o", program]
        made = subprocess.run(build, capture_output=True, text=True, check=False)
        if made.returncode:
            return f"not measured: g++ failed: {made.stderr.strip().partition(chr(10))[0]}"
        times = []
        for _ in range(repeats):
            done = subprocess.run([program, str(steps), "0.001"], capture_output=True, text=True, check=True)
            times.append(float(done.stdout.split()[0]))
    return min(times) / steps * 1e9


def measure(steps: int = STEPS, repeats: int = REPEATS, methods: Iterable[str] | None = None) -> list[Row]:
    native = native_nanoseconds(steps, repeats)
    peer = native if isinstance(native, float) else None
    rows = [Row("C++, IMIDM", f"{peer:.0f} ns", 1.0) if peer else Row("C++, IMIDM", str(native))]
    for name in methods or ("imidm", *(n for n in all_methods("rotation") if n != "imidm")):
        ns = nanoseconds(name, steps, repeats)
        ratio = ns / peer if peer else None
        target = "at most 1.5 of C++" if name == "imidm" else ""
        what = f"{name}, free body" if _free(name) else name
        rows.append(Row(what, f"{ns:.0f} ns", ratio, target, ratio <= 1.5 if ratio and target else None))
    return rows


def measure_option(steps: int = STEPS, repeats: int = REPEATS) -> list[Row]:
    """The same step with and without polhode's XLA option, each in a fresh process."""
    code = f"from polhode.bench.step import nanoseconds; print(nanoseconds('imidm', {steps}, {repeats}))"
    times = [
        float(python("-c", code, XLA_FLAGS=f"--xla_backend_extra_options={LOOP_OPTION}={limit}"))
        for limit in (1048576, 1024)
    ]
    ours, default = times
    return [
        Row("with the option", f"{ours:.0f} ns", 1.0),
        Row("XLA's default", f"{default:.0f} ns", default / ours, "the option pays", default > ours),
    ]
