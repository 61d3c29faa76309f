"""`Family`: runs of problems that differ in their numbers, as one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from polhode.model.checks import InputError, ending, unknown
from polhode.model.family import Coordinate
from polhode.results.accessor import with_accessor
from polhode.results.card import card_of_family
from polhode.results.dataframe import dataframe_of
from polhode.results.dataset import attributes_of, coordinates_of
from polhode.results.plots import Plots
from polhode.results.rerun import about_rerunning
from polhode.results.scenes import animation_of
from polhode.results.store import save
from polhode.simulation import Status

_SAME = 1e-6  # of a step: times as near as this are the same
_MADE = "it was made from Python objects, which a file cannot hold"


@dataclass(frozen=True)
class Family:
    """What `simulate` returns for a batch of problems. `family.runs` are the runs, in an array of the batch's shape;
    `family["energy"]` a quantity of all of them, samples first, then members, and NaN where a member has ended before
    the others. `dataset`, `plot` and `save` are those of all."""

    runs: np.ndarray  # of Run
    dims: tuple[str, ...]
    coordinates: Mapping[str, Coordinate]
    reasons: Mapping[tuple[int, ...], str]  # of the members that failed
    recipe: dict[str, Any] | None = None
    path: Path | None = None  # where it is, if its runs were written as they went

    @property
    def first(self) -> Any:
        """The first of the runs."""
        return self.runs.flat[0]

    @property
    def ok(self) -> bool:
        """Whether every member was solved to its end."""
        return all(run.ok for run in self.runs.flat)

    @property
    def members(self) -> tuple[int, ...]:
        """The shape of the batch."""
        return self.runs.shape

    @cached_property
    def t(self) -> np.ndarray:
        """Times of the samples (s), as far as the longest member has come. A sample at which one ended before the
        others is here only if others have one at that time; it is in its own run."""
        whole = [run.t for run in self.runs.flat if run.trajectory.status is Status.OK]
        return max(whole or (_regular(run) for run in self.runs.flat), key=len)

    def __iter__(self) -> Any:
        return iter(self.first)

    def __contains__(self, name: object) -> bool:
        return name in self.first

    def __getitem__(self, name: str) -> np.ndarray:
        """(samples, *batch, ...)."""
        if not isinstance(name, str):
            raise InputError(f"a family has quantities, family['energy'], and runs, family.runs[0]; got {name!r}")
        if name not in self.first.quantities:
            raise unknown("quantity", name, self.first.quantities)
        parts = []
        for run in self.runs.flat:
            values = np.asarray(run[name], dtype=float)
            rows, own = self._rows(run)
            part = np.full((len(self.t), *values.shape[1:]), np.nan)
            part[rows] = values[own]
            parts.append(part)
        stacked = np.stack(parts, axis=1)
        return stacked.reshape(len(self.t), *self.members, *stacked.shape[2:])

    def _rows(self, run: Any) -> tuple[np.ndarray, np.ndarray]:
        """Which of the family's times are times of a run, and which of its samples those are."""
        before = np.searchsorted(run.t, self.t - _SAME * run.step).clip(0, len(run.t) - 1)
        rows = np.flatnonzero(np.abs(run.t[before] - self.t) <= _SAME * run.step)
        return rows, before[rows]

    def error_estimate(self) -> np.ndarray:
        """Of every run, in an array of the batch's shape; each takes several runs more."""
        made = np.empty(self.runs.size, dtype=object)
        made[:] = [run.error_estimate(progress=False) for run in self.runs.flat]
        return made.reshape(self.members)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            for q in self.first.quantities.values():
                if name in (q.attribute, q.name):
                    return self[q.name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @cached_property
    def dataset(self) -> Any:
        """xarray: a dimension for each of the batch's, and for every member how it ended."""
        import xarray

        variables: dict[str, Any] = {
            q.name: (("t", *self.dims, *q.dims), self[q.name], {"units": q.unit, "long_name": q.meaning})
            for q in self.first.quantities.values()
        }
        ended = np.vectorize(lambda run: run.trajectory.status.name, otypes=[str])(self.runs)
        steps = np.vectorize(lambda run: run.steps, otypes=[int])(self.runs)
        times = np.vectorize(lambda run: run.end_time, otypes=[float])(self.runs)
        variables["status"] = (self.dims, ended, {"long_name": "how the member ended"})
        variables["end_step"] = (self.dims, steps, {"units": "1", "long_name": "steps that the member took"})
        variables["end_time"] = (self.dims, times, {"units": "s", "long_name": "time at which it ended"})
        longest = next(run for run in self.runs.flat if np.array_equal(run.t[: len(self.t)], self.t))
        coords = coordinates_of(longest, len(self.t))
        coords |= {n: (c.dims, c.values, {"units": c.unit}) for n, c in self.coordinates.items()}
        return with_accessor(xarray.Dataset(variables, coords, self._attributes()))

    def _attributes(self) -> dict[str, Any]:
        of_all = attributes_of(self.first)
        worst = next((run for run in self.runs.flat if not run.ok), self.first)
        runs = list(self.runs.flat)
        return {
            **of_all,
            "members": " ".join(self.dims),
            "stands": "",
            "status": worst.trajectory.status.name,
            "steps": max(run.steps for run in runs),
            "seconds": sum(run.trajectory.seconds for run in runs),
            "iterations": float(np.mean([run.trajectory.iterations for run in runs])),
            "halvings": sum(run.halvings for run in runs),
            "renewals": sum(run.renewals for run in runs),
            "conserved": " ".join(n for n in self.first.conserved if all(n in run.conserved for run in runs)),
            "failures": [f"member {list(at)}: {why}" for at, why in self.reasons.items()],
            **about_rerunning(self.recipe, _MADE),
        }

    @cached_property
    def plot(self) -> Plots:
        """`plot()` for a page of curves, coloured by the member's coordinate; `plot.energy()` for one."""
        return Plots(self.dataset)

    def to_dataframe(self) -> Any:
        """pandas: one row for each sample of each member."""
        return dataframe_of(self.dataset)

    def animate(self, path: str | Path | None = None, *, title: str = "", **how: Any) -> Any:
        """Its members beside each other, at most twelve; else as of a run."""
        values = {name: np.broadcast_to(c.values, self.members).ravel() for name, c in self.coordinates.items()}
        titles = [", ".join(f"{name} = {own[i]:g}" for name, own in values.items()) for i in range(self.runs.size)]
        return animation_of(list(self.runs.flat), path, title, titles=titles, **how)

    def save(self, path: str | Path) -> Path:
        """To `.zarr` or `.nc`, by the ending of the name."""
        if ending(path) == ".csv":
            raise InputError("a batch does not fit into a .csv; save it as .zarr or .nc")
        return save(self.dataset, path)

    def summary(self) -> list[dict[str, Any]]:
        """The record of every run, with its parameters and, if it failed, why."""
        records = []
        for at in np.ndindex(*self.members):
            own = {n: float(np.broadcast_to(c.values, self.members)[at]) for n, c in self.coordinates.items()}
            why = {"failure": self.reasons[at]} if at in self.reasons else {}
            run: Any = self.runs[at]
            records.append({"member": list(at), "parameters": own, **run.summary(), **why})
        return records

    def _repr_html_(self) -> str:
        return card_of_family(self)

    def __repr__(self) -> str:
        worst = max((run.drift("energy") for run in self.runs.flat), default=0.0)
        lost = [f"\n  member {list(at)}: {why}" for at, why in list(self.reasons.items())[:5]]
        more = f"\n  and {len(self.reasons) - 5} more" if len(self.reasons) > 5 else ""
        by = ", ".join(self.coordinates)
        return (
            f"<polhode family of {self.runs.size} runs of {self.first.method.name}{f' by {by}' if by else ''}, to t = "
            f"{self.t[-1]:g}, {len(self.t)} samples\n  energy changed by at most {worst:.2e} of its start; "
            f"{len(self.reasons)} failed{''.join(lost)}{more}>"
        )


def _regular(run: Any) -> np.ndarray:
    """Times of its samples but for a last one that is there only because it ended there."""
    offsets = run.trajectory.offsets
    between = offsets is not None and bool(offsets[-1])
    ended = len(run.t) > 1 and run.every > 0 and (between or run.trajectory.steps[-1] % run.every != 0)
    return run.t[:-1] if ended else run.t


def gathered(problems: Any, runs: list[Any], reasons: dict[tuple[int, ...], str], recipe: Any) -> Family:
    """Those that there are; what was not run, as it was interrupted, is left out of the last dimension."""
    made = np.empty(problems.members.shape, dtype=object)
    for i, run in enumerate(runs):
        made.flat[i] = run
    if len(runs) < made.size:
        made = made.reshape(-1)[: len(runs)]
        dims = problems.dims if len(problems.dims) == 1 else ("member",)
        cut = {
            n: replace(c, dims=dims, values=np.broadcast_to(c.values, problems.members.shape).reshape(-1)[: len(runs)])
            for n, c in problems.coordinates.items()
        }
        shape = problems.members.shape
        return Family(made, dims, cut, {(int(np.ravel_multi_index(at, shape)),): w for at, w in reasons.items()}, None)
    return Family(made, problems.dims, problems.coordinates, reasons, recipe)
