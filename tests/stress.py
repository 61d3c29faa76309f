"""References of many digits for bodies under stress, and how a run fared against them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import mpmath as mp
import numpy as np

import polhode as ph
from polhode.model import InputError
from polhode.simulation import StepError

DIGITS = 60


@dataclass(frozen=True)
class Outcome:
    """How a run fared: `error` of its last attitude (rad) where it came to its end; else what was said."""

    error: float | None
    said: str = ""
    run: Any = None

    @property
    def refused(self) -> bool:
        return self.error is None


def turned(moments: Sequence[float], momentum: Sequence[float], t: Any) -> list[Any]:
    """The quaternion at time t of a free body that starts at the identity, by Taylor series of Euler's equations, in
    60 digits; t is a number of mpmath or a float, taken as it is."""
    with mp.workdps(DIGITS):
        I = [mp.mpf(x) for x in moments]
        state = [mp.mpf(1), mp.mpf(0), mp.mpf(0), mp.mpf(0), *(mp.mpf(x) for x in momentum)]
        t = mp.mpf(t)
        rate = max(abs(y) for y in state[4:]) * max(1 / x for x in I)
        count = int(mp.ceil(2 * abs(t) * rate)) + 1
        for _ in range(count):
            state = _taylor(I, state, t / count)
        return state[:4]


def _taylor(I: list[Any], state: list[Any], h: Any) -> list[Any]:
    """One step. The equations are products, so that their coefficients follow one from the other."""
    series = [[x] for x in state]
    for n in range(60):
        q, y = series[:4], series[4:]
        w = [[c / i for c in yj] for yj, i in zip(y, I, strict=True)]

        def at(a: list[Any], b: list[Any], n: int = n) -> Any:
            return mp.fdot(a[: n + 1], b[n::-1])

        new = [
            -(at(q[1], w[0]) + at(q[2], w[1]) + at(q[3], w[2])) / 2,
            (at(q[0], w[0]) + at(q[2], w[2]) - at(q[3], w[1])) / 2,
            (at(q[0], w[1]) + at(q[3], w[0]) - at(q[1], w[2])) / 2,
            (at(q[0], w[2]) + at(q[1], w[1]) - at(q[2], w[0])) / 2,
            at(y[1], w[2]) - at(y[2], w[1]),
            at(y[2], w[0]) - at(y[0], w[2]),
            at(y[0], w[1]) - at(y[1], w[0]),
        ]
        for each, value in zip(series, new, strict=True):
            each.append(value / (n + 1))
    return [reduce(lambda total, c: total * h + c, reversed(each)) for each in series]


def spun(moments: Sequence[float], momentum: Sequence[float], t: Any) -> list[Any]:
    """The same of a body whose first two moments are equal, in closed form: for any number of turns."""
    with mp.workdps(DIGITS):
        I, _, I3 = (mp.mpf(x) for x in moments)
        y, t = [mp.mpf(x) for x in momentum], mp.mpf(t)
        length = mp.sqrt(mp.fdot(y, y))
        about, own = length * t / I / 2, (1 / I3 - 1 / I) * y[2] * t / 2
        c, s, C, S = mp.cos(about), mp.sin(about), mp.cos(own), mp.sin(own)
        x = [s * each / length for each in y]
        return [c * C - x[2] * S, x[0] * C + x[1] * S, x[1] * C - x[0] * S, x[2] * C + c * S]


def run_of(
    moments: Sequence[float], momentum: Sequence[float], method: str, step: float, steps: int, truth: Any = turned
) -> Outcome:
    """From the identity; of a step that is refused, and of a notice, what they say."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            body = ph.RigidBody(moments, allow_unphysical=True)
            start = ph.State.of(momentum=momentum)
            run = ph.simulate(body, None, start, method=method, step=step, steps=steps, every=steps, progress=False)
        except (InputError, StepError) as error:
            return Outcome(None, str(error))
    said = "; ".join(str(w.message) for w in heard)
    with mp.workdps(DIGITS):
        where = truth(moments, momentum, mp.mpf(step) * steps)
        here = [float(np.asarray(x)[-1]) for x in run.state.attitude]
        apart = [mp.mpf(a) - b for a, b in zip(here, where, strict=True)]
        other = [mp.mpf(a) + b for a, b in zip(here, where, strict=True)]
        far = 2 * min(mp.sqrt(mp.fdot(apart, apart)), mp.sqrt(mp.fdot(other, other)))
    return Outcome(float(far), said, run)


BODY, MOMENTUM = (3.0, 2.5, 1.0), (0.5, 2.0, 0.7)
SPEED = 1.1  # rad/s, at most
QUICK = ("exact", "dmv10", "imidm")
ALL = (*QUICK, "akw", "three-rotation", "symmetric-rotation", "mk-rk4", "rig_neg", "trap", "swc1", "midpoint", "dmv",
       "mk-gauss2", "bbtrap", "em")  # fmt: skip
ROUND_OFF = 2e-14  # rad, of a step
RATE = 1e-15  # of itself, by which a step may leave a rate wrong, as `free_motion` says; the rest of a run goes on so
UNKNOWN = 0.5  # rad: an angle that is not known to this, is not known


@dataclass(frozen=True)
class Trial:
    """A run of the table: `angle` that a step turns by, at most."""

    sweep: str
    value: float
    moments: tuple[float, float, float]
    momentum: tuple[float, float, float]
    step: float
    steps: int
    angle: float
    truth: Any = turned


def trials() -> list[Trial]:
    found = []
    for h in (1e-12, 1e-9, 1e-6, 1e-3, 1e-1, 10.0, 30.0, 1e2, 1e3, 1e6):
        truth = turned if h < 1 else _exactly
        found.append(Trial("step (s)", h, BODY, MOMENTUM, h, 8, h * SPEED, truth))
    for c in (1e-150, 1e-100, 1e-50, 1e50, 1e100, 1e150):
        y = tuple(c * each for each in MOMENTUM)
        found.append(Trial("momentum (N m s)", c, BODY, y, 0.1 / c, 8, 0.1 * SPEED))  # type: ignore[arg-type]
    for r in (1e-3, 1e-6, 1e-9, 1e-12):
        y = (0.5, 2.0, 0.7)
        found.append(Trial("inertia 1 : 1 - r/2 : r", r, (1.0, 1.0 - r / 2, r), y, 0.1 * r, 20, 0.07))
        y = (1e-3 * r, 2e-3 * r, r)
        found.append(Trial("inertia 1 : 1 : r, nearly about 3", r, (1.0, 1.0, r), y, 0.1, 20, 0.1, spun))
    for apart in (1e-6, 1e-12, 1e-15):
        found.append(Trial("inertia 1 : 1 + r : 1.5", apart, (1.0, 1.0 + apart, 1.5), MOMENTUM, 0.1, 8, 0.25))
    for turns in (1e1, 1e3, 1e6, 1e9, 1e15):
        h = 2 * np.pi * turns / SPEED
        found.append(Trial("turns a step", turns, (2.0, 2.0, 1.0), MOMENTUM, h, 4, 2 * np.pi * turns, spun))
    return found


def _exactly(moments: Any, momentum: Any, t: Any) -> Any:
    """By `ph.exact`, which other trials hold against many digits."""
    return [float(x) for x in ph.exact(ph.RigidBody(moments), ph.State.of(momentum=momentum), float(t)).attitude]


def verdict(trial: Trial, method: str) -> tuple[str, Outcome]:
    """right: within what the order of the method says, and the rounding of the angle; error, notice: what polhode says
    instead; WRONG: neither."""
    found = run_of(trial.moments, trial.momentum, method, trial.step, trial.steps, trial.truth)
    if found.refused:
        return "error", found
    order = found.run.method.order
    most = trial.steps * (ROUND_OFF + RATE * trial.angle * trial.steps)
    if trial.angle < np.pi and not np.isinf(order):
        most += trial.steps * trial.angle ** (order + 1)
    assert found.error is not None
    if found.error <= most < UNKNOWN or (found.error <= most and trial.angle < np.pi):
        return "right", found
    return ("notice", found) if found.said else ("WRONG", found)


def table(methods: Sequence[str]) -> str:
    """As Markdown."""
    rows = [["sweep", "value", *methods], ["---"] * (2 + len(methods))]
    rows += [[t.sweep, f"{t.value:g}", *(verdict(t, method)[0] for method in methods)] for t in trials()]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


if __name__ == "__main__":
    print(table(ALL))
