"""`polhode bench`."""

from __future__ import annotations

import sys
from dataclasses import asdict

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from polhode.bench import BENCHMARKS, Benchmark, Row, benchmark_of
from polhode.cli.output import print_json


def bench_command(names: list[str], as_json: bool) -> None:
    chosen = [benchmark_of(name) for name in dict.fromkeys(names)] or list(BENCHMARKS.values())
    measured: dict[str, list[Row]] = {}
    with Console(stderr=True).status("measuring") as status:
        for benchmark in chosen:
            status.update(f"measuring: {benchmark.title}")
            measured[benchmark.name] = benchmark.measure()
    if as_json:
        print_json({name: [asdict(row) for row in rows] for name, rows in measured.items()})
        return
    console = Console(width=None if sys.stdout.isatty() else 130)
    for benchmark in chosen:
        console.print(_table(benchmark, measured[benchmark.name]))


def _table(benchmark: Benchmark, rows: list[Row]) -> Table:
    table = Table(title=f"{benchmark.name}: {benchmark.title}", title_justify="left")
    for heading in ("what", "measured", "ratio", "target", ""):
        table.add_column(heading)
    for row in rows:
        ratio = f"{row.ratio:.2f}" if row.ratio is not None else ""
        met = "" if row.met is None else "met" if row.met else "NOT MET"
        table.add_row(*map(escape, (row.what, row.value, ratio, row.target, met)))
    return table
