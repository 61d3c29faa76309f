"""`Sweep`: what became of every member, and all of them as one dataset with named dimensions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import xarray

from polhode.model.checks import InputError, shortened
from polhode.model.family import RESERVED
from polhode.results.dataset import FORMAT
from polhode.results.metadata import ForeignError, root_of
from polhode.results.plots import Plots
from polhode.results.quiet import quietly
from polhode.results.store import load
from polhode.sweeps.design import Design

_SAME = 1e-6  # of a step: times as near as this are the same
_OF_MEMBER = ("status", "failed_step", "inertia")


@dataclass(frozen=True)
class Sweep:
    """What `sweep` returns. `sweep.dataset` holds all members; `sweep.failed` those that failed, with the reason."""

    path: Path
    design: Design
    outcomes: tuple[Mapping[str, Any], ...]  # of every member, in their order

    @property
    def ok(self) -> bool:
        """Whether every member came to its end."""
        return not self.failed

    @cached_property
    def failed(self) -> dict[int, str]:
        """Members that failed, by number, and why."""
        return {o["member"]: o["why"] for o in self.outcomes if not o["ok"]}

    @cached_property
    def dataset(self) -> Any:
        """xarray: the dimensions of the design, those of a run behind them."""
        return load(self.path)

    @cached_property
    def plot(self) -> Plots:
        """`plot()` for a page of curves, coloured by the first coordinate; `plot.energy()` for one."""
        return Plots(self.dataset)

    def summary(self) -> list[dict[str, Any]]:
        """A record of every member: what is swept, how it ended, and why if it failed."""
        records = []
        for o in self.outcomes:
            own = {"member": o["member"], "parameters": self.design.member(o["member"])}
            records.append({**own, **{k: o[k] for k in ("ok", "status", "steps", "end_time", "why")}})
        return records

    def __repr__(self) -> str:
        words = [f"\n  member {i}: {why}" for i, why in list(self.failed.items())[:5]]
        more = f"\n  and {len(self.failed) - 5} more" if len(self.failed) > 5 else ""
        by = ", ".join(self.design.values)
        return (
            f"<polhode sweep of {self.design.count} runs over {by}, in {str(self.path)!r}; {len(self.failed)} failed"
            f"{''.join(words)}{more}>"
        )


def gathered(design: Design, outcomes: Sequence[Mapping[str, Any]], folder: Path) -> Any:
    """One dataset of all members; None where none was run."""
    there = [o for o in outcomes if o["store"]]
    if not there:
        return None
    longest = max(there, key=lambda o: (o["ok"], o["end_time"]))
    with quietly():
        with _opened(folder, longest) as first:
            t, shape = np.asarray(first.t), (len(first.t), design.count)
            names = [str(n) for n in first.data_vars if n not in _OF_MEMBER and first[n].dims[:1] == ("t",)]
            own = {n: [d for d in first[n].dims if d != "t" and not _is_member(d)] for n in names}
            sizes = {n: tuple(first.sizes[d] for d in own[n]) for n in names}
            _check_memory(8 * sum(shape[0] * shape[1] * int(np.prod(s)) for s in sizes.values()))
            values = {n: np.full((*shape, *sizes[n]), np.nan) for n in names}
            about = {n: dict(first[n].attrs) for n in names}
            coords = {n: c for n, c in first.coords.items() if n != "t" and not any(map(_is_member, c.dims))}
            attributes, times = dict(first.attrs), first.coords["t"]
        for o in there:
            with _opened(folder, o) as data:
                rows, taken = _rows(t, np.asarray(data.t), float(data.attrs["step"]))
                for n in names:
                    found = np.asarray(_of(data[n], o["row"]), dtype=float)[taken] if n in data else np.empty(0)
                    if found.shape[1:] != values[n].shape[2:] or n not in data:
                        raise InputError(
                            f"member {o['member']} has other bodies, rows or observables than the first ({n}), so they "
                            f"make no one dataset; all are in {str(folder)!r}"
                        )
                    values[n][rows, o["member"]] = found
    called = _called(design, names)
    dims = tuple(called.get(d, d) for d in design.dims)
    variables: dict[str, Any] = {
        n: (("t", *dims, *own[n]), v.reshape(len(t), *design.shape, *v.shape[2:]), about[n]) for n, v in values.items()
    }
    for name, key, units in (("status", "status", ""), ("end_step", "steps", "1"), ("end_time", "end_time", "s")):
        found = np.array([np.nan if o[key] is None else o[key] for o in outcomes])
        variables[name] = (dims, found.reshape(design.shape), {"units": units, "long_name": _MEANING[name]})
    for name in design.values:
        along, found = design.coordinate(name)
        if found.ndim == len(along):
            coords[called[name]] = (tuple(called.get(d, d) for d in along), found, {})
    said = [f"member {o['member']}: {o['why']}" for o in outcomes if not o["ok"]]
    dropped = (
        "plan",
        "fingerprint",
        "watched",
        "finished",
        "chain",
        "tail",
        "stop_if",
        "sentinels",
        "recipe",
        "stands",
    )
    kept = {k: v for k, v in attributes.items() if k not in dropped}
    swept = {"members": " ".join(dims), "failures": said, "stands": "", "format": FORMAT}
    return xarray.Dataset(variables, {"t": times, **coords}, {**kept, **swept})


_MEANING = {
    "status": "how the member ended", "end_step": "steps that the member took", "end_time": "time at which it ended",
}  # fmt: skip


@contextmanager
def _opened(folder: Path, outcome: Mapping[str, Any]) -> Iterator[Any]:
    """For reading: whatever it makes the libraries raise, is said."""
    store = folder / outcome["store"]
    try:
        root_of(store)
        with xarray.open_zarr(store, chunks=None, decode_times=False) as data:
            yield data
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        if isinstance(error, InputError) and not isinstance(error, ForeignError):
            raise
        raise InputError(
            f"the run of member {outcome['member']} cannot be read ({shortened(error)}); remove {str(store)!r} and the "
            ".json of its group, and the same command runs it again"
        ) from error


def _is_member(dim: Any) -> bool:
    return str(dim).startswith("member")


def _of(variable: Any, row: int) -> Any:
    """Of one member."""
    dims = [d for d in variable.dims if _is_member(d)]
    return variable.isel({dims[0]: row}) if dims else variable


def _rows(t: np.ndarray, own: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Which of the times a member has, and which of its samples those are."""
    before = np.searchsorted(own, t - _SAME * step).clip(0, len(own) - 1)
    rows = np.flatnonzero(np.abs(own[before] - t) <= _SAME * step)
    return rows, before[rows]


def _called(design: Design, quantities: list[str]) -> dict[str, str]:
    """Names of what is swept, where a quantity, or what all datasets have, is called so too."""
    taken = set(quantities) | RESERVED - {"member"}
    return {name: f"parameter_{name}" if name in taken else name for name in design.values}


def _check_memory(size: int) -> None:
    if size > 2**28 and 2 * size > (memory := psutil.virtual_memory().available):
        raise InputError(
            f"all members together are {size / 2**30:.3g} GiB, and this machine has {memory / 2**30:.3g} GiB free: "
            "their runs are kept in the folder of members, each by itself; save fewer samples to have them as one"
        )
