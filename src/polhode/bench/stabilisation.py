"""Ways to keep joints closed, in one table: the bicycle at v = 4.6 m/s, h = 0.01, 20 s."""

from __future__ import annotations

from collections.abc import Iterable

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
TINY = {"problem": "pendulum", "until": 0.1, "names": ("both levels, no work (default)", "MM-DAE")}


def measure(problem: str = "bicycle", until: float = 20.0, names: Iterable[str] = tuple(METHODS)) -> list[Row]:
    system = problem_of(problem).problem().system
    rows = []
    for name in names:
        try:
            run = simulate(system, method=METHODS[name], step=0.01, until=until, every=10)
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
