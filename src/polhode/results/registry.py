"""The registry of plots: what each needs, and when it belongs on the page of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Names = tuple[str, ...]


def _once(dataset: Any) -> Sequence[Names]:
    return [()]


def _together(dataset: Any, *names: str) -> Sequence[Names]:
    return []


def _always(dataset: Any) -> bool:
    return True


@dataclass(frozen=True)
class Plot:
    """`draw(dataset, ax, *names)`. `panels(dataset)`: the names for each panel on the page of a run, none where it says
    nothing there. `apart(dataset, *names)`: the names for each of several panels, where one cannot show them all.
    `there(dataset)`: whether it has something to draw, of the variables that it needs."""

    name: str
    needs: Names
    draw: Callable[..., None]
    projection: str | None = None
    title: str = ""
    panels: Callable[[Any], Sequence[Names]] = _once
    apart: Callable[..., Sequence[Names]] = _together
    there: Callable[[Any], bool] = _always


PLOTS: dict[str, Plot] = {}


def plot(*needs: str, **options: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator that registers `def NAME(dataset, ax, *names)` as a plot of datasets that have these variables."""

    def registered(draw: Callable[..., None]) -> Callable[..., None]:
        PLOTS[draw.__name__] = Plot(draw.__name__, needs, draw, **options)
        return draw

    return registered


def conserved(dataset: Any, name: str) -> bool:
    """Whether the motion conserves it; a file that does not say is not taken to."""
    return name in dataset.attrs.get("conserved", "").split()


def never(dataset: Any) -> Sequence[Names]:
    """On no page unless it is asked for."""
    return []


def where(condition: Callable[[Any], bool]) -> Callable[[Any], Sequence[Names]]:
    return lambda dataset: [()] if condition(dataset) else []
