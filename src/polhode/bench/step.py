"""Time per step of one trajectory, beside a C++ program written for the purpose."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import jax
import numpy as np

from polhode._startup import LOOP_OPTION
from polhode.bench.base import Row, best_of
from polhode.mechanics import System
from polhode.methods import all_methods
from polhode.problems import problem_of
from polhode.simulation.loop import run_block

STEPS = 100_000
NATIVE = Path(__file__).parents[3] / "benchmarks" / "native" / "imidm.cpp"


def nanoseconds(method_name: str) -> float:
    """Per step on the heavy top at h = 0.001, compilation not counted."""
    setup = problem_of("heavy-top").setup()
    arrays = lambda tree: jax.tree.map(lambda x: np.asarray(x, dtype=float), tree)  # noqa: E731
    system, state = arrays(System.of(setup.body, setup.load)), arrays(setup.start.on(setup.body))
    method = all_methods()[method_name]

    def run() -> None:
        jax.block_until_ready(run_block(method, system, state, np.int64(0), 0.0, 0.001, np.int64(1), np.int64(STEPS)))

    run()
    return best_of(5, run) / STEPS * 1e9


def native_nanoseconds() -> float | None:
    """The same of the C++ program; None without its source or a compiler."""
    compiler = shutil.which("g++")
    if compiler is None or not NATIVE.exists():
        return None
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "imidm"
        subprocess.run([compiler, "-O3", "-march=native", str(NATIVE), "-o", str(program)], check=True)
        times = [
            float(
                subprocess.run(
                    [program, str(STEPS), "0.001"], check=True, capture_output=True, text=True
                ).stdout.split()[0]
            )
            for _ in range(5)
        ]
    return min(times) / STEPS * 1e9


def measure() -> list[Row]:
    peer = native_nanoseconds()
    rows = [
        Row("C++, IMIDM", f"{peer:.0f} ns" if peer else "not measured: no g++, or no source beside the package", 1.0)
    ]
    for name in ("imidm", *(n for n in all_methods() if n != "imidm")):
        ns = nanoseconds(name)
        ratio = ns / peer if peer else None
        target = "at most 1.5 of C++" if name == "imidm" else ""
        rows.append(Row(name, f"{ns:.0f} ns", ratio, target, ratio <= 1.5 if ratio and target else None))
    return rows


def measure_option() -> list[Row]:
    """The same step with and without polhode's XLA option, each in a fresh process."""
    code = "from polhode.bench.step import nanoseconds; print(nanoseconds('imidm'))"
    times = {}
    for label, limit in (("with the option", 1048576), ("XLA's default", 1024)):
        flags = f"--xla_backend_extra_options={LOOP_OPTION}={limit}"
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "XLA_FLAGS": flags},
            check=True,
            capture_output=True,
            text=True,
        )
        times[label] = float(done.stdout)
    best = times["with the option"]
    return [
        Row(
            label, f"{ns:.0f} ns", ns / best, "the option pays" if ns != best else "", ns > best if ns != best else None
        )
        for label, ns in times.items()
    ]
