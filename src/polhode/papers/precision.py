"""Work and precision: the error of a method against the time it takes, over a range of steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from polhode.methods import Method, method_of
from polhode.problems import Problem
from polhode.results.style import COLOURS, MARKERS, house_style
from polhode.rotation import Rotation
from polhode.simulation.loop import run_block

_TIMED_STEPS = 5000


@dataclass(frozen=True)
class Work:
    """Seconds and errors of one method, for numbers of steps that double."""

    seconds: np.ndarray
    errors: np.ndarray


def measure(method: Method, setup: Problem, until: float, exact: np.ndarray, least: int, most: int) -> Work:
    """From `least` steps on, doubled until the error is at round-off."""
    arrays = lambda tree: jax.tree.map(lambda x: np.asarray(x, dtype=float), tree)  # noqa: E731
    system, state = arrays(Rotation(setup.body, setup.load)), arrays(setup.start.on(setup.body))
    seconds: list[float] = []
    errors: list[float] = []

    def run(h: float, n: int) -> Any:
        return jax.block_until_ready(run_block(method, system, state, np.int64(0), 0.0, h, np.int64(1), np.int64(n)))

    run(until / least, 0)
    calling = min(_timed(lambda: run(until / least, 0)) for _ in range(5))  # a call without a step
    n = least
    while n <= most:
        h = until / n
        block = run(h, n)
        many = max(n, _TIMED_STEPS)  # few steps take less time than calling does: time more, and divide
        if bool(block.ok) and bool(run(h, many).ok):
            R = jax.tree.map(np.asarray, block.state.attitude).matrix().array
            errors.append(float(np.abs(R - exact).max()))
            taken = min(_timed(lambda h=h, many=many: run(h, many)) for _ in range(3))  # type: ignore[misc]
            seconds.append(max(taken - calling, 0.1 * taken) * n / many)
            if errors[-1] < 1e-12 or (len(errors) > 2 and errors[-1] > errors[-2] and errors[-1] < 1e-8):
                break  # at round-off
        n *= 2
    return Work(np.array(seconds), np.array(errors))


def _timed(run: Callable[[], Any]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def measure_all(
    names: Iterable[str], setup: Problem, until: float, exact: np.ndarray, least: int, most: int
) -> dict[str, Work]:
    return {name: measure(method_of(name), setup, until, exact, least, most) for name in names}


def fastest(works: dict[str, Work], error: float) -> dict[str, float]:
    """Seconds to an error, by interpolation between steps, for every method that gets there."""
    times = {}
    for name, work in works.items():
        good = [i for i in range(len(work.errors)) if work.errors[i] <= error]
        if good and good[0] > 0:
            i = good[0]
            x = np.log([work.errors[i], work.errors[i - 1]])
            times[name] = float(np.exp(np.interp(np.log(error), x, np.log(work.seconds[[i, i - 1]]))))
        elif good:
            times[name] = float(work.seconds[good[0]])
    return dict(sorted(times.items(), key=lambda item: item[1]))


def draw(panels: dict[str, dict[str, Work]]) -> Any:
    with house_style() as Figure:
        figure = Figure(figsize=(12, 7.6))
        for ax, (title, works) in zip(figure.subplots(1, len(panels)), panels.items(), strict=True):
            for i, (name, work) in enumerate(works.items()):
                ax.loglog(
                    work.seconds * 1e3,
                    work.errors,
                    label=name,
                    color=COLOURS[i % len(COLOURS)],
                    linestyle=("-", "--", ":")[i // len(COLOURS)],
                    marker=MARKERS[i % len(MARKERS)],
                    markersize=4,
                    linewidth=1,
                )
            ax.set(title=title, xlabel="CPU time (ms)", ylabel="error in attitude at the end", ylim=(1e-14, 3))
            ax.legend(fontsize=7.5, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.1))
        return figure
