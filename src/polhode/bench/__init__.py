"""Measurements with peers in the same run, as ratios, never as tests: what `polhode bench` shows."""

from __future__ import annotations

from polhode.bench import (
    batch,
    bicycle,
    chain,
    directors,
    iftomm,
    precision,
    roundoff,
    stabilisation,
    startup,
    step,
    written,
)
from polhode.bench.base import Benchmark, Row
from polhode.model.checks import unknown

BENCHMARKS = {
    b.name: b
    for b in (
        Benchmark("step", "Time per step, heavy top, h = 0.001, beside C++", step.measure, step.TINY),
        Benchmark("batch", "Time of a step for each of many bodies, beside C++", batch.measure, batch.TINY, batch.draw),
        Benchmark("option", "The XLA option polhode sets, IMIDM", step.measure_option, step.TINY_OPTION),
        Benchmark(
            "precision",
            "Seconds for the same error in attitude, beside diffrax, Numba and scipy",
            precision.measure,
            precision.TINY,
        ),
        Benchmark("startup", "The first answer", startup.measure, startup.TINY),
        Benchmark(
            "directors", "A step on the non-twisting frame, reduced beside full", directors.measure, directors.TINY
        ),
        Benchmark("bicycle", "A step of the benchmark bicycle, beside Exudyn", bicycle.measure, bicycle.TINY),
        Benchmark(
            "stabilisation",
            "Ways to keep joints closed, on the bicycle",
            stabilisation.measure,
            stabilisation.TINY,
        ),
        Benchmark(
            "chain", "A step of a chain with sparse matrices, by the number of its rods", chain.measure, chain.TINY
        ),
        Benchmark("iftomm", "Mechanisms of the IFToMM library, beside Exudyn and MuJoCo", iftomm.measure, iftomm.TINY),
        Benchmark("written", "A run written as it goes, and its sentinels", written.measure, written.TINY),
        Benchmark("roundoff", "Round-off over ten million steps", roundoff.measure, roundoff.TINY),
    )
}


def benchmark_of(name: str) -> Benchmark:
    if name not in BENCHMARKS:
        raise unknown("benchmark", name, BENCHMARKS)
    return BENCHMARKS[name]


__all__ = ["BENCHMARKS", "Benchmark", "Row", "benchmark_of"]
