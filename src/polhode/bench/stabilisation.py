"""Ways to keep joints closed, in one table: the bicycle at v = 4.6 m/s, h = 0.01, 20 s."""

from __future__ import annotations

import numpy as np

from polhode.api import simulate
from polhode.bench.base import Row
from polhode.multibody import MMDAE, MultibodyMethod, ThreeField, ThreeFieldLiteral
from polhode.problems import problem_of
from polhode.simulation import StepError

METHODS: dict[str, MultibodyMethod] = {
    "both levels, no work (default)": ThreeField(),
    "both levels": ThreeField(conserving=False),
    "ψ + φ/h = 0": ThreeField(stabilisation="kappa", conserving=False),
    "ψ + φ/h = 0, no work": ThreeField(stabilisation="kappa"),
    "projection, no work": ThreeField(stabilisation="projection"),
    "velocities alone": ThreeField(stabilisation="none", conserving=False),
    "as written": ThreeFieldLiteral(),
    "MM-DAE": MMDAE(),
}


def measure() -> list[Row]:
    system = problem_of("bicycle").system(speed=4.6, roll_rate=0.5)
    rows = []
    for name, method in METHODS.items():
        try:
            run = simulate(system, method=method, step=0.01, until=20.0, every=10)
            ending = ""
        except StepError as error:
            run, ending = error.run, f", stopped at t = {error.run.t[-1]:.3g} s"
        rows.append(
            Row(
                name,
                f"p_E {100 * np.ptp(run.energy) / run.energy[0]:.1e} %, gap {run.gap.max():.0e} m, "
                f"slip {run.slip.max():.0e} m/s, {run.trajectory.iterations:.1f} iterations{ending}",
            )
        )
    return rows
