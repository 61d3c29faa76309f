"""How long the first answer takes: cold, from the disk cache, and `--help`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from polhode.bench.base import Row, best_of, cache, python

TINY = {"methods": ("mk-rk4",), "systems": {"pendulum": 3.0}, "chains": (1,), "repeats": 1, "empty": False}
SYSTEMS = {"pendulum": 3.0, "bicycle": 6.0}  # s that the first ten steps may take, imports included
CHAINS = (10, 30, 100)
ALIKE = 1.5  # times as long as the shortest chain
_BODY = """
import time, sys
import polhode as ph
top = ph.RigidBody((5, 5, 1))
gravity = ph.Potential(lambda R: 20 * R[2, 2])
start = ph.State.of(attitude=ph.exp((0.05, 0, 0)), omega=(0, 0, 50))
began = time.perf_counter()
ph.simulate(top, gravity, start, method=sys.argv[1], step=1e-3, steps=1000, every=10)
print(time.perf_counter() - began)
"""
_SYSTEM = """
import sys
import polhode as ph
ph.simulate(ph.problem(sys.argv[1]), step=0.01, steps=10)
"""
_CHAIN = """
import sys
import polhode as ph
ph.simulate(ph.problem("chain", bodies=int(sys.argv[1])), method="three-field-sparse", step=0.005, steps=100)
"""


def measure(
    methods: Iterable[str] = ("imidm", "swc1", "mk-gauss2"),
    systems: dict[str, float] = SYSTEMS,
    chains: Sequence[int] = CHAINS,
    repeats: int = 3,
    empty: bool = True,
) -> list[Row]:
    """`empty`: whether there is nothing in the cache at first."""
    rows = []
    for method in methods:
        with cache(empty) as there:
            first = float(python("-c", _BODY, method, **there))
            again = best_of(repeats, lambda: python("-c", _BODY, method, **there))  # noqa: B023  (called at once)
        rows += [
            Row(f"{method}: first call, compilation included", f"{first:.2f} s", None, "under 3 s", first < 3),
            _again(method, again),
        ]
    for name, limit in systems.items():
        with cache(empty) as there:
            first = best_of(1, lambda: python("-c", _SYSTEM, name, **there))  # noqa: B023
            again = best_of(repeats, lambda: python("-c", _SYSTEM, name, **there))  # noqa: B023
        what = f"{name}: first ten steps, imports and compilation included"
        rows += [Row(what, f"{first:.2f} s", None, f"at most {limit:g} s", first <= limit), _again(name, again)]
    times = {}
    for bodies in chains:
        with cache(empty) as there:
            times[bodies] = best_of(1, lambda: python("-c", _CHAIN, str(bodies), **there))  # noqa: B023
        ratio = times[bodies] / times[chains[0]]
        what = f"chain of {bodies}: first hundred steps"
        rows.append(Row(what, f"{times[bodies]:.2f} s", ratio, f"at most {ALIKE:g} times", ratio <= ALIKE))
    help_ = best_of(repeats, lambda: python("-m", "polhode", "--help"))
    rows.append(Row("polhode --help", f"{help_:.2f} s", None, "under 0.3 s", help_ < 0.3))
    return rows


def _again(what: str, seconds: float) -> Row:
    what = f"{what}: new process, from the disk cache, imports included"
    return Row(what, f"{seconds:.2f} s", None, "under 1.5 s", seconds < 1.5)
