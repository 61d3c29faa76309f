"""`polhode bench`: measurements with peers in the same run, as ratios, never as tests."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from polhode.bench import bicycle, chain, directors, precision, roundoff, stabilisation, startup, step
from polhode.bench.base import Benchmark, Row
from polhode.mechanics.checks import unknown

BENCHMARKS = {
    b.name: b
    for b in (
        Benchmark("step", "Time per step, heavy top, h = 0.001, beside C++", step.measure),
        Benchmark("option", "The XLA option polhode sets, IMIDM", step.measure_option),
        Benchmark("precision", "Seconds for the same error in attitude, beside scipy's DOP853", precision.measure),
        Benchmark("startup", "The first answer", startup.measure),
        Benchmark("directors", "A step on the non-twisting frame, reduced beside full", directors.measure),
        Benchmark("bicycle", "A step of the benchmark bicycle, beside Exudyn", bicycle.measure),
        Benchmark("stabilisation", "Ways to keep joints closed, on the bicycle", stabilisation.measure),
        Benchmark("chain", "A step of a chain with sparse matrices, by the number of its rods", chain.measure),
        Benchmark("roundoff", "Round-off over ten million steps", roundoff.measure),
    )
}


def bench_command(names: list[str], as_json: bool) -> None:
    for name in names:
        if name not in BENCHMARKS:
            raise unknown("benchmark", name, BENCHMARKS)
    chosen = [BENCHMARKS[name] for name in names] or list(BENCHMARKS.values())
    measured: dict[str, list[Row]] = {}
    with Console(stderr=True).status("measuring") as status:
        for benchmark in chosen:
            status.update(f"measuring: {benchmark.title}")
            measured[benchmark.name] = benchmark.measure()
    if as_json:
        print(json.dumps({name: [asdict(row) for row in rows] for name, rows in measured.items()}))
        return
    for benchmark in chosen:
        table = Table(title=f"{benchmark.name}: {benchmark.title}", title_justify="left")
        for heading in ("what", "measured", "ratio", "target", ""):
            table.add_column(heading)
        for row in measured[benchmark.name]:
            ratio = f"{row.ratio:.2f}" if row.ratio is not None else ""
            met = "" if row.met is None else "met" if row.met else "NOT MET"
            table.add_row(row.what, row.value, ratio, row.target, met)
        Console(width=None if sys.stdout.isatty() else 130).print(table)


__all__ = ["BENCHMARKS", "bench_command"]
