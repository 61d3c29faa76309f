"""What a method conserves in the long run: values along 10⁵ steps, and a judgement of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from polhode.methods import Method
from polhode.methods.krysl import rate
from polhode.model.traits import Conserved
from polhode.problems import problem_of
from polhode.results.run import Run
from polhode.rotation import Rotation, State
from polhode.rotation.quantities import kinetic_energy
from polhode.simulation import StepError
from polhode.verify.measured import measured

STEPS = 100_000
ROUND_OFF = 1e-12  # over STEPS; the methods measure 1e-15 to 4e-13


@cache
def _long_run(method: Method, problem: str, step: float) -> Run:
    setup = problem_of(problem).problem()
    try:
        return measured(setup.body, setup.load, setup.start, method=method, step=step, steps=STEPS, every=50)
    except StepError as stop:  # it grew beyond all numbers, or could not be solved: judged by what there is
        return stop.run


def free_run(method: Method) -> Run:
    return _long_run(method, "free-body", 0.1)


def top_run(method: Method) -> Run:
    return _long_run(method, "fast-top", 0.002)


@dataclass(frozen=True)
class Deviation:
    """Relative deviations from the start, scalars or vectors, sample by sample; `stopped` is when the run ended
    before its time (s)."""

    values: np.ndarray
    stopped: float | None = None

    @classmethod
    def of(cls, values: np.ndarray, stopped: float | None = None) -> Deviation:
        start = values[0]
        return cls((values - start) / np.linalg.norm(start), stopped)

    @property
    def size(self) -> np.ndarray:
        return np.abs(self.values) if self.values.ndim == 1 else np.linalg.norm(self.values, axis=-1)

    @property
    def kind(self) -> Conserved:
        """exact: within round-off. drifts: the run did not come to its end; or the mean moves away from part to part
        of it, or has moved and settled elsewhere (a body driven into a steady spin). bounded: neither."""
        size, n = self.size, len(self.values)
        if self.stopped is not None:
            return "drifts"
        if size.max() < ROUND_OFF:
            return "exact"
        quarter = self.values[: n // 4], self.values[3 * n // 4 :]
        first, last = (part.mean(axis=0) for part in quarter)
        swing = np.ptp(quarter[1], axis=0).max()
        moved = np.linalg.norm(last - first)
        settled_elsewhere = np.linalg.norm(last) > 2 * swing
        grown = size[n // 2 :].max() > 1.2 * size[: n // 2].max()
        return "drifts" if moved > 0.2 * size.max() or settled_elsewhere or grown else "bounded"

    def __str__(self) -> str:
        half = len(self.values) // 2
        if self.stopped is not None:
            return f"largest deviation {self.size.max():.2e} until it failed after t = {self.stopped:g}"
        return f"largest deviation {self.size.max():.2e}, {self.size[:half].max():.2e} in the first half"


def _half_step_energy(run: Run) -> np.ndarray:
    half = run.state.momentum + run.step / 2 * rate(Rotation(run.body), 0.0, run.state)
    return np.asarray(kinetic_energy(run.body, State(run.state.attitude, half)))


# trait -> (what it is, where, the values)
QUANTITIES: dict[str, tuple[str, str, Callable[[Run], np.ndarray]]] = {
    "energy": ("energy", "free body", lambda run: run.kinetic),
    "spatial_momentum": ("spatial momentum", "free body", lambda run: run.spatial_momentum),
    "momentum_length": ("momentum length", "free body", lambda run: run.state.momentum.norm()),
    "top_energy": ("energy", "heavy top", lambda run: run.energy),
    "vertical_momentum": ("vertical momentum", "heavy top", lambda run: run.spatial_momentum[:, 2]),
    "half_step_energy": ("half-step energy", "free body", _half_step_energy),
}


@cache
def deviation(method: Method, trait: str) -> Deviation:
    _, where, values = QUANTITIES[trait]
    run = free_run(method) if where == "free body" else top_run(method)
    return Deviation.of(values(run), None if run.ok else float(run.t[-1]))
