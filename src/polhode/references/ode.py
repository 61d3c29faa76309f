"""`solve`: one high-accuracy solution of an ordinary differential equation at given times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import DOP853

from polhode.model.checks import InputError, numbers

RTOL, ATOL = 3e-14, 1e-15  # scipy takes no rtol below 2.2e-14
Rate = Callable[[float, np.ndarray], Any]


def sample_times(times: Any) -> np.ndarray:
    """`times` as an array, s: one axis, not decreasing, from 0 on."""
    t = numbers("times", times)
    if t.ndim != 1 or t.size == 0 or t[0] < 0 or (np.diff(t) < 0).any():
        raise InputError(f"times must be one list of numbers that starts at 0 or later and never decreases; got {t!r}")
    return t


def solve(rate: Rate, start: Any, times: Any, *, rtol: float = RTOL, atol: float = ATOL) -> np.ndarray:
    """The solution of y' = rate(t, y), y(0) = start, at `times`: an array of shape (len(y), len(times)).

    DOP853 (Hairer, Nørsett, Wanner, Solving ODEs I, II.10). Each sample is the end of a step, because
    the interpolant inside one is of order 7 only; the proposed size is carried from sample to sample.
    """
    t = sample_times(times)
    now, y, size = 0.0, numbers("start", start), None
    samples = np.empty((y.size, t.size))
    for i, end in enumerate(t.tolist()):
        if end > now:
            first = None if size is None else min(size, end - now)
            stepper = DOP853(rate, now, y, end, first_step=first, rtol=rtol, atol=atol)
            while stepper.status == "running":
                message = stepper.step()
            if stepper.status == "failed":
                raise InputError(
                    f"the motion could not be followed beyond t = {stepper.t:.6g} s ({message}): it becomes singular "
                    "there (a body that falls flat, a mechanism at a dead point); ask for earlier times"
                )
            now, y, size = end, stepper.y, stepper.h_abs
        samples[:, i] = y
    return samples
