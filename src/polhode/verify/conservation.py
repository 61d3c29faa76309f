"""What a method conserves in the long run: values along many steps, and a judgement of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np

from polhode.model.method import Method
from polhode.model.problem import Problem
from polhode.model.traits import Conserved
from polhode.results.run import Run
from polhode.verify.motion import motion_of


@dataclass(frozen=True)
class Course:
    """A long motion, in which a method shows what it keeps."""

    name: str
    problem: Callable[[], Problem]
    step: float  # s
    steps: int
    every: int

    def run(self, method: Method) -> Run:
        return _run(method, self)


@cache
def _run(method: Method, course: Course) -> Run:
    return motion_of(method, course.problem).run(course.step, course.steps, course.every)


@dataclass(frozen=True)
class Kept:
    """A quantity that a method may keep along a course: how it is read from a run, and from which deviation on it is
    more than round-off. Deviations are relative to its size at the start, unless there is a `scale`."""

    trait: str
    what: str
    course: Course
    values: Callable[[Run], np.ndarray]
    round_off: float
    scale: float | None = None

    def __str__(self) -> str:
        return f"{self.what}, {self.course.name}"


@dataclass(frozen=True)
class Deviation:
    """Relative deviations from the start, scalars or vectors, sample by sample; `stopped` is when the run ended
    before its time (s)."""

    values: np.ndarray
    stopped: float | None = None
    round_off: float = 1e-12

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
        if size.max() < self.round_off:
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


@cache
def deviation(method: Method, kept: Kept) -> Deviation:
    run = kept.course.run(method)
    values = kept.values(run)
    scale = np.linalg.norm(values[0]) if kept.scale is None else kept.scale
    stopped = None if run.ok else float(run.t[-1])
    return Deviation((values - values[0]) / scale, stopped, kept.round_off)


def worst(deviations: Iterable[Deviation]) -> Conserved:
    """Of several courses."""
    kinds: tuple[Conserved, ...] = ("exact", "bounded", "drifts")
    return max((d.kind for d in deviations), key=kinds.index)
