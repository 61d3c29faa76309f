"""Every benchmark runs, small; what is not installed is said; one JSON document and nothing else."""

from __future__ import annotations

import io
import json
import math
import os
import sys
from contextlib import redirect_stdout
from typing import Any

import pytest

import polhode.cli.bench as command
from polhode.bench import BENCHMARKS, Benchmark, Row, batch, bicycle, startup, step
from polhode.bench.base import cache, python


def here(*arguments: str, **_: str) -> str:
    """What `python` gives, by this process, which is there and has compiled much of it, and may use the same cores
    again afterwards."""
    kind, code, *rest = arguments
    if kind != "-c":
        return python(*arguments)
    said, cores = io.StringIO(), os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said):
        patch.setattr(sys, "argv", [kind, *rest])
        exec(code, {"__name__": "__main__"})
    if cores:
        os.sched_setaffinity(0, cores)
    return said.getvalue()


@pytest.mark.parametrize("name", BENCHMARKS)
def test_benchmark(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is to run in new processes runs here, but for `polhode --help`."""
    for module in (batch, bicycle, startup, step):
        monkeypatch.setattr(module, "python", here)
    check(name)


@pytest.mark.long
@pytest.mark.parametrize("name", ["batch", "bicycle", "option", "startup"])
def test_benchmark_in_new_processes(name: str) -> None:
    check(name)


def check(name: str) -> None:
    benchmark = BENCHMARKS[name]
    rows = benchmark.measure(**benchmark.tiny)
    assert len({row.what for row in rows}) == len(rows) > 1
    for row in rows:
        assert row.what
        assert row.value
        assert "nan" not in row.value
        assert row.ratio is None or (math.isfinite(row.ratio) and row.ratio > 0)
        assert row.met is None or row.target


def test_a_body_that_may_not_be_loaded_is_named_free() -> None:
    assert [row.what for row in step.measure(steps=10, repeats=1, methods=("imidm", "dmv"))][1:] == [
        "imidm",
        "dmv, free body",
    ]


def test_without_a_compiler_the_row_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    first, second = step.measure(steps=10, repeats=1, methods=("imidm",))
    assert first == Row("C++, IMIDM", "not measured: no g++ here")
    assert (second.ratio, second.met) == (None, None)
    broken = tmp_path / "g++"
    broken.write_text("#!/bin/sh\necho cannot find crt1.o >&2\nexit 1\n")
    broken.chmod(0o755)
    assert step.native_nanoseconds(10, 1) == "not measured: g++ failed: cannot find crt1.o"
    monkeypatch.setattr(step, "NATIVE", tmp_path / "imidm.cpp")
    assert step.native_nanoseconds(10, 1) == "not measured: its source is not beside the package"


def test_without_exudyn_the_row_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bicycle, "available", lambda: {"exudyn": None})
    assert bicycle._exudyn(1.0, 0.1, 1) == [Row("Exudyn", "not installed: pip install 'polhode[peers]'")]


def test_why_a_process_failed_is_told() -> None:
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        python("-c", "1 / 0")


def test_a_cache_is_empty_unless_only_that_it_runs_is_asked() -> None:
    with cache() as there:
        assert os.listdir(there["JAX_COMPILATION_CACHE_DIR"]) == []
    assert not os.path.exists(there["JAX_COMPILATION_CACHE_DIR"])
    with cache(empty=False) as there:
        assert there == {}


def test_bench_command(polhode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    times = []

    def measure() -> list[Row]:
        times.append(1)
        return [
            Row("a [b] c", "not installed: pip install 'polhode[peers]'", math.nan, "[at most] 2", False),
            Row("fine", "1 s", math.inf, "2 s", True),
        ]

    monkeypatch.setitem(BENCHMARKS, "fake", Benchmark("fake", "A fake", measure, {}))
    assert command.benchmark_of("fake").measure is measure
    code, out, err = polhode("bench", "fake", "fake", "--json")
    assert (code, err, len(times)) == (0, "", 1)

    def refuse(constant: str) -> Any:
        raise AssertionError(f"{constant} is not JSON")

    first, second = json.loads(out, parse_constant=refuse)["fake"]
    assert (first["ratio"], first["met"], second["ratio"], second["met"]) == (None, False, None, True)
    code, out, _ = polhode("bench", "fake")
    assert code == 0
    for shown in ("a [b] c", "'polhode[peers]'", "[at most] 2", "NOT MET"):
        assert shown in out
    code, out, err = polhode("bench", "fake", "fakes")
    assert (code, out) == (2, "")
    assert "unknown benchmark 'fakes'; did you mean 'fake'?" in err
    assert len(times) == 2
