"""`polhode bench`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from polhode.bench import BENCHMARKS, Benchmark, Row, benchmark_of
from polhode.bench.record import keep
from polhode.cli.output import print_json
from polhode.cli.tables import show_table
from polhode.device import on_device


def bench_command(names: list[str], as_json: bool, out: Path | None = None, device: str | None = None) -> None:
    chosen = [benchmark_of(name) for name in dict.fromkeys(names)] or list(BENCHMARKS.values())
    measured: dict[str, list[Row]] = {}
    with on_device(device), Console(stderr=True).status("measuring") as status:
        for benchmark in chosen:
            status.update(f"measuring: {benchmark.title}")
            measured[benchmark.name] = benchmark.measure()
            if out is not None:
                keep(benchmark, measured[benchmark.name], out)
    if as_json:
        print_json({name: [asdict(row) for row in rows] for name, rows in measured.items()})
        return
    for benchmark in chosen:
        _show(benchmark, measured[benchmark.name])


def _show(benchmark: Benchmark, rows: list[Row]) -> None:
    lines = []
    for row in rows:
        ratio = f"{row.ratio:.2f}" if row.ratio is not None else ""
        met = "" if row.met is None else "met" if row.met else "NOT MET"
        lines.append((row.what, row.value, ratio, row.target, met))
    show_table(
        ("what", "measured", "ratio", "target", ""),
        lines,
        title=f"{benchmark.name}: {benchmark.title}",
        texts=("what", "measured", "target"),
        left=("target", ""),
    )
