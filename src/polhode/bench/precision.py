"""Seconds for the same error in attitude: a free body and a heavy top, beside general solvers in the same process.

Every solver is called warm, with the largest step or tolerance that reaches the error asked for, from a ladder of
them; of the methods of polhode the fastest counts, by a whole call of `simulate`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from polhode.algebra import Quaternion
from polhode.api import simulate
from polhode.bench.base import Row, best_of
from polhode.papers.reference import reference
from polhode.peers.installed import available
from polhode.peers.one_body import Body, diffrax_of, dop853, numba_rk4
from polhode.problems import problem_of
from polhode.simulation.flow import flow

ERRORS = (1e-3, 1e-6, 1e-9, 1e-11)
_TOLERANCES = tuple(10.0**-k for k in np.arange(2.0, 14.01, 0.5))
_STEPS = tuple(sorted({round(2.0 ** (k / 2)) for k in range(40)}))


@dataclass(frozen=True)
class Case:
    """A problem, methods for it, and how many times faster than the general solvers `simulate` is to be where the
    error is 1e-9 or less."""

    problem: str
    until: float
    methods: Sequence[str]
    ahead: float


CASES = (
    Case("free-body", 100.0, ("exact", "dmv10", "dmv8", "dmv6", "dmv4"), 3.0),
    Case("heavy-top", 10.0, ("strang-exact", "nystrom4-exact", "rkn6-exact", "nystrom4-dmv10", "imidm"), 2.0),
)
TINY = {
    "cases": (Case("free-body", 0.1, ("dmv10",), 3.0), Case("heavy-top", 0.1, ("imidm",), 2.0)),
    "errors": (1e-3, 1e-6),
    "repeats": 1,
}


def measure(cases: Sequence[Case] = CASES, errors: Sequence[float] = ERRORS, repeats: int = 20) -> list[Row]:
    return [row for case in cases for row in _rows(case, errors, repeats)]


def _rows(case: Case, errors: Sequence[float], repeats: int) -> list[Row]:
    problem = problem_of(case.problem).problem()
    start = problem.system.begun(problem.start)[1]
    weight = 0.0 if case.problem == "free-body" else 20.0
    body = Body(
        tuple(map(float, problem.body.moments)),  # type: ignore[arg-type]
        weight,
        tuple(map(float, start.attitude)),  # type: ignore[arg-type]
        tuple(map(float, start.momentum)),  # type: ignore[arg-type]
        case.until,
    )
    omega = tuple(p / i for p, i in zip(body.momentum, body.moments, strict=True))
    exact = reference(body.moments, weight, body.attitude, omega, case.until)

    def ours(method: str) -> Callable[[int], np.ndarray]:
        def solve(steps: int) -> np.ndarray:
            run = simulate(problem, method=method, step=case.until / steps, steps=steps, every=steps)
            return run.state.attitude.array[-1]

        return solve

    rows: list[Row] = []
    mine = {name: _Ladder(ours(name), _STEPS, exact.attitude) for name in case.methods}
    general = {name: _Ladder(solve, rungs, exact.attitude) for name, solve, rungs in _general(body)}
    scipy = _Ladder(dop853(body), _TOLERANCES, exact.attitude)
    for error in errors:
        what = f"{case.problem} to t = {case.until:g}, error {error:.0e}"
        best, steps, seconds = _fastest(mine, error, repeats)
        if best is None:
            rows.append(Row(what, "no method got there"))
            continue
        peer, _, peer_seconds = _fastest(general, error, repeats)
        wanted = case.ahead if error <= 1e-9 else 1.0
        for by, ours_seconds in (("simulate", seconds), ("flow", _flowing(problem, best, case.until, steps, repeats))):
            value = f"{best} in {steps} steps {ours_seconds * 1e3:.3f} ms"
            if peer is None:
                rows.append(Row(f"{what}, {by}", value))
                continue
            ratio = peer_seconds / ours_seconds
            value += f"; {peer} {peer_seconds * 1e3:.3f} ms"
            rows.append(Row(f"{what}, {by}", value, ratio, f"{wanted:g} times faster", ratio >= wanted))
        _, by_scipy = scipy.seconds(error, 3)
        if by_scipy is not None:
            least = 30.0 if error > 1e-8 else 100.0
            ratio = by_scipy / seconds
            value = f"{best} {seconds * 1e3:.3f} ms; DOP853 {by_scipy * 1e3:.1f} ms"
            rows.append(Row(f"{what}, simulate and scipy", value, ratio, f"{least:g} times faster", ratio >= least))
    rows += [
        Row(f"{case.problem}: {name}", "not installed: pip install 'polhode[peers]'")
        for name, version in available().items()
        if name in ("diffrax", "numba") and version is None
    ]
    return rows


def _general(body: Body) -> Iterable[tuple[str, Any, Sequence[Any]]]:
    have = available()
    if have["diffrax"]:
        for solver in ("Tsit5", "Dopri8"):
            yield f"diffrax {solver}", diffrax_of(body, solver), _TOLERANCES
    if have["numba"]:
        yield "Numba RK4", numba_rk4(body), _STEPS


class _Ladder:
    """A solver, and the errors it makes with the rungs that were asked for so far."""

    def __init__(self, solve: Callable[[Any], np.ndarray], rungs: Sequence[Any], exact: np.ndarray) -> None:
        self._solve, self._rungs, self._exact = solve, rungs, exact
        self._errors: dict[Any, float] = {}

    def _error(self, rung: Any) -> float:
        if rung not in self._errors:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")  # of steps too long for a method, which the error shows
                self._errors[rung] = self._found(rung)
        return self._errors[rung]

    def _found(self, rung: Any) -> float:
        try:
            q = self._solve(rung)
        except Exception:  # a step too long for a method
            return np.inf
        R = Quaternion.of(q / np.linalg.norm(q)).matrix().array
        return float(np.abs(np.asarray(R) - self._exact).max())

    def seconds(self, error: float, repeats: int) -> tuple[Any, float | None]:
        """With the first rung that makes no larger error, and after which none does; None if there is no such."""
        for i, rung in enumerate(self._rungs):
            if self._error(rung) <= error and (i + 1 == len(self._rungs) or self._error(self._rungs[i + 1]) <= error):
                self._solve(rung)
                return rung, best_of(repeats, lambda: self._solve(rung))  # noqa: B023
        return None, None


def _fastest(ladders: dict[str, _Ladder], error: float, repeats: int) -> tuple[str | None, Any, float]:
    """Its name, its rung and the seconds."""
    times = [(name, *ladder.seconds(error, repeats)) for name, ladder in ladders.items()]
    found = [(name, rung, seconds) for name, rung, seconds in times if seconds is not None]
    return min(found, key=lambda x: x[2]) if found else (None, None, np.inf)


def _flowing(problem: Any, method: str, until: float, steps: int, repeats: int) -> float:
    """Seconds of the same steps by a compiled `flow`, as other solvers are called."""
    end = jax.jit(lambda h: flow(problem, method=method, step=h, steps=steps).attitude.array)
    end(until / steps)
    return best_of(repeats, lambda: np.asarray(end(until / steps)))
