"""The second quotient of precision: is a computed motion as accurate as its method promises?

Kreiss & Ortiz (2014); Gebhardt & Romero (2020), appendix A. No exact solution is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from polhode._notices import warn
from polhode.api import simulate
from polhode.model import InputError
from polhode.model.checks import positive, unknown, whole
from polhode.model.method import Method
from polhode.model.problem import Problem
from polhode.model.registry import method_of
from polhode.problems import problem as problem_named
from polhode.results.panels import written_to
from polhode.results.run import Run
from polhode.results.style import COLOURS, house_style, plain
from polhode.simulation import count_steps

Reader = Callable[[Run], np.ndarray]


@dataclass(frozen=True)
class Quotient:
    """Q(t) = |ξ(h) - ξ(h/2)| / |ξ(h/2) - ξ(h/4)|, 2ⁿ + O(h) for a method of order n (120), at times t (s)."""

    label: str
    expected: float  # the order the method claims
    solution: Callable[[int], np.ndarray]  # ξ with a step of h/k at the times below
    t: np.ndarray

    def _at(self, k: int) -> np.ndarray:
        a, b, c = (self.solution(m * k) for m in (1, 2, 4))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.linalg.norm(a - b, axis=-1) / np.linalg.norm(b - c, axis=-1)

    @cached_property
    def values(self) -> np.ndarray:
        """Q at every saved time; NaN at the start, where all solutions are one."""
        return self._at(1)

    @property
    def order(self) -> np.ndarray:
        """The observed order log₂ Q, right to O(h)."""
        return np.log2(self.values)

    @cached_property
    def extrapolated_order(self) -> np.ndarray:
        """The observed order from Q with h, h/2 and h/4, whose errors in h and h² cancel:
        (8 p(h/4) - 6 p(h/2) + p(h))/3, right to O(h³). Five runs in all."""
        p = [np.log2(self._at(k)) for k in (1, 2, 4)]
        return (8 * p[2] - 6 * p[1] + p[0]) / 3

    def plot(self, path: str | Path | None = None, *, ax: Any = None) -> Any:
        """Q over time beside 2ⁿ of the order claimed."""
        with house_style() as Figure:
            if ax is None:
                ax = Figure(figsize=(6.5, 4.2)).add_subplot()
            ax.axhline(2**self.expected, color="0.6", linewidth=0.8, linestyle="--", label=f"2^{self.expected:g}")
            ax.plot(self.t[1:], self.values[1:], color=COLOURS[0], linewidth=1.0, label=plain(self.label))
            ax.set(title="Second quotient of precision", xlabel="t (s)", ylabel="Q (1)")
            ax.legend()
            if path is not None:
                written_to(ax.figure, path)
            return ax.figure


def quotient(
    problem: str | Problem,
    method: str | Method,
    step: float,
    *,
    until: float | None = None,
    every: int = 1,
    of: str | Reader = "attitude",
    decimals: int | None = None,
    **parameters: Any,
) -> Quotient:
    """The second quotient of precision of a method on a problem, from runs `until` a time (s) with a `step` h (s), h/2
    and h/4.

    problem     a built-in problem's name (with its parameters by name), or a Problem
    of          "attitude" (nine components of the directors of each body), the name of another quantity of its
                runs, as "momentum" of one body and "position" of many, or a function of a Run that returns one
                row a sample
    decimals    round ξ to so many first, as some published results were
    """
    known = problem_named(problem, **parameters) if isinstance(problem, str) else problem
    until = known.until if until is None else until
    if until is None:
        raise InputError("this problem does not say how long to run; give until")
    names = [quantity.name for quantity in known.system.quantities]
    if isinstance(of, str) and of not in names:
        raise unknown("quantity", of, names)
    read = _reader(of) if isinstance(of, str) else of
    chosen, h = method_of(method, known.kind), positive("step", step)
    every = whole("every", every, 1)
    found: dict[int, np.ndarray] = {}
    steps, notice = count_steps(h, until, None)
    if notice:
        warn(notice)

    def run(k: int) -> Run:
        return simulate(known, method=chosen, step=h / k, steps=steps * k, every=every * k)

    def solution(k: int) -> np.ndarray:
        if k not in found:
            values = read(run(k))
            found[k] = values if decimals is None else np.round(values, decimals)
        return found[k]

    t = np.append(np.arange(0, steps, every), steps)[: len(solution(1))] * h
    return Quotient(f"{chosen.name}, h = {h:g} s", chosen.traits.order, solution, t)


def _reader(name: str) -> Reader:
    """A row a sample, of a quantity of runs."""

    def read(run: Run) -> np.ndarray:
        values = run.attitude if name == "attitude" else run[name]
        return values.reshape(len(run.t), -1)

    return read
