"""The methods of the three-field paper, and their runs in one form, beside which a peer's run can stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

import jax
import numpy as np

from polhode.api import simulate
from polhode.multibody import MMDAE, System, ThreeField, ThreeFieldLiteral
from polhode.papers.base import Check, agreeing_digits
from polhode.problems import problem_of
from polhode.results.run import Run
from polhode.simulation import StepError
from polhode.solve.dense_newton import DenseNewton

STEP = 0.01
NEW = "three-field"

METHODS: dict[str, Any] = {
    NEW: ThreeField(),
    "as written": ThreeFieldLiteral(),
    "as written, c from the metric": ThreeFieldLiteral(c="metric", mu_0="zero"),
    "MM-DAE": MMDAE(),
    "MM-DAE, λ₀ = 0": MMDAE(consistent=False),
    "MM-DAE, tolerance 1e-3": MMDAE(solver=DenseNewton(tolerance=1e-3)),
}
SIDE_BY_SIDE = (NEW, "as written", "MM-DAE")

Line = tuple[str, np.ndarray, np.ndarray]  # label, x, y


class Track(NamedTuple):
    """One motion by one method or peer, sampled at multiples of one time from 0 on."""

    label: str
    t: np.ndarray  # s
    values: Mapping[str, np.ndarray]  # by name: observables, and x, y of a contact
    energy: np.ndarray  # J
    gap: np.ndarray  # largest |φ| of the holonomic rows, m or rad
    slip: np.ndarray  # largest |ψ| of the others, m/s
    ending: str = ""  # why it ended early

    @property
    def variation(self) -> float:
        """p_E of (60), percent."""
        return float(100 * np.ptp(self.energy) / abs(self.energy[0]))

    def line(self, name: str) -> Line:
        return self.label, self.t, self.values[name]

    def path(self) -> Line:
        return self.label, self.values["x"], self.values["y"]

    def energy_change(self) -> Line:
        return self.label, self.t, self.energy - self.energy[0]

    def gap_line(self) -> Line:
        return self.label, self.t, self.gap

    def slip_line(self) -> Line:
        return self.label, self.t, self.slip

    def error(self, name: str, exact: np.ndarray, every: int = 1) -> Line:
        """Off `exact`, which has one in `every` of the samples, or more than this run reached."""
        got = self.values[name][::every]
        return self.label, self.t[::every], np.abs(got - exact[: len(got)])

    def off(self, name: str, exact: np.ndarray, every: int = 1) -> float:
        return float(self.error(name, exact, every)[2].max())

    def kept(self) -> str:
        stopped = f", stopped at t = {self.t[-1]:.3g} s: {self.ending}" if self.ending else ""
        return f"p_E {self.variation:.0e} %, gap {self.gap.max():.0e} m, slip {self.slip.max():.0e} m/s{stopped}"


def run(problem: str, method: str = NEW, *, until: float, step: float = STEP, **parameters: float) -> Run:
    """A run; what there is of it where a step fails."""
    try:
        return simulate(_system(problem, **parameters), method=METHODS[method], step=step, until=until)
    except StepError as error:
        return error.run


def _system(problem: str, **parameters: float) -> System:
    """The numbers of this start in the first system of its problem: compiled once, since nothing else differs."""
    system = problem_of(problem).problem(**parameters).system
    first = _first(problem)
    if system.redundant != first.redundant:
        return system
    return jax.tree.unflatten(jax.tree.structure(first), jax.tree.leaves(system))


@cache
def _first(problem: str) -> System:
    return problem_of(problem).problem().system


def track(problem: str, method: str = NEW, **options: float) -> Track:
    return track_of(run(problem, method, **options), method)


def track_of(motion: Run, label: str) -> Track:
    values = {name: seen.values for name, seen in motion.observables.items()}
    if "contact" in motion.traces:
        values |= dict(zip("xy", motion.traces["contact"].T, strict=False))
    ending = "" if motion.ok else motion.trajectory.status.value
    return Track(label, motion.t, values, motion.energy, motion.gap, motion.slip, ending)


def ledger(tracks: Iterable[Track]) -> str:
    """For captions: how each kept energy and constraints."""
    return "; ".join(f"{m.label}: {m.kept()}" for m in tracks) + "."


def beside(
    where: str, claim: str, printed: str, tracks: Iterable[Track], offs: Iterable[float], bound: float, unit: str, *,
    above: bool = False, new: Track,
) -> list[Check]:  # fmt: skip
    """A check for each track: off by less than `bound`; with `above` the paper says more, and it is not so."""
    return [
        Check(where, f"{m.label}: {claim}", printed, f"within {off:.1e} {unit}; {m.kept()}",
              off > bound if above else off < bound, expected=not above, note=f"{NEW}: {new.kept()}")
        for m, off in zip(tracks, offs, strict=True)
    ]  # fmt: skip


def printed_digits(where: str, claim: str, printed: str, value: float) -> Check:
    digits = agreeing_digits(printed, value)
    return Check(where, claim, printed, f"{value:.6f}", digits == sum(c.isdigit() for c in printed), digits=digits)
