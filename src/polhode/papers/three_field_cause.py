"""Why the three-field step as written goes wrong: it feels a constant in μ, which the equations of motion do not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import jax
import numpy as np

from polhode.multibody.start.consistent import consistent_start
from polhode.papers.base import Check
from polhode.papers.three_field_runs import METHODS, STEP
from polhode.problems import problem_of
from polhode.references.rolling_disk import RollingDisk, steady_spin


def cause() -> list[Check]:
    written, half = _felt(STEP), _felt(STEP / 2)
    return [
        Check("(12), (44)", "a constant added to μ leaves the equations of motion as they are; so a step as written",
              "unchanged", f"1 added to each μ changes the velocities after a step of the disk of Fig. 6 by "
              f"{written:.1e}, as the power {np.log2(written / half):.2f} of the step", written < 1e-12, expected=False,
              note="the impulse of the constraints adds up in μ, and with it a force that is not there"),
    ]  # fmt: skip


def _felt(h: float) -> float:
    """Change of the velocities after a step as written, m/s or rad/s, by 1 added to every μ before it."""
    pairs = zip(_after()(0.0, h), _after()(1.0, h), strict=True)
    return max(float(np.abs(np.subtract(a, b)).max()) for a, b in pairs)


@cache
def _after() -> Any:
    """The first step of the disk of Fig. 6, of what is added to μ and of the step."""
    tilt, method = float(np.deg2rad(20.0)), METHODS["as written"]
    spin = float(steady_spin(RollingDisk(), tilt, 1.0))
    system = problem_of("rolling-disk").problem(inclination=tilt, q0=1.0, r0=spin).system
    start, _ = consistent_start(system)

    def after(constant: float, h: float) -> Any:
        state = method.begin(system, start)
        end = method.step(system, replace(state, mu=state.mu + constant), 0.0, h).state
        return end.velocities, end.omegas

    return jax.jit(after)
