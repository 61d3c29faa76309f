"""All members of a sweep as one dataset: every sample and every event of them, or an error that says what does not fit.

Members have the same samples up to where each ends; the last one may be at a time of its own, where an event stopped
it, and is then kept beside: `last_energy`, at `end_time`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import xarray

from polhode.model.checks import InputError, shortened
from polhode.model.family import RESERVED
from polhode.results.dataset import FORMAT, as_whole
from polhode.results.metadata import ForeignError, root_of
from polhode.results.quiet import quietly
from polhode.sweeps.design import Design

_SAME = 1e-6  # of a step: times as near as this are the same
_OF_MEMBER = ("status", "failed_step", "inertia")
_DROPPED = ("stop_if", "sentinels", "recipe", "stands")  # besides what belongs to the folder of a run


def gathered(design: Design, outcomes: Sequence[Mapping[str, Any]], folder: Path) -> Any:
    """One dataset of all members; None where none was run."""
    there = [o for o in outcomes if o["store"]]
    if not there:
        return None
    longest = max(there, key=lambda o: (o["end_time"], o["ok"]))
    with quietly():
        with _opened(folder, longest) as first:
            table = _Table.like(first, design.count)
            coords = {n: c for n, c in first.coords.items() if n not in ("t", "event") and not _of_members(c)}
            attributes, times = dict(as_whole(first).attrs), first.coords["t"]
        for o in there:
            with _opened(folder, o) as data:
                if other := table.take(data, o):
                    raise InputError(
                        f"member {o['member']} has {other}, so they make no one dataset; all are in {str(folder)!r}, "
                        "each to be read with polhode.load"
                    )
    called = _called(design, list(table.values))
    dims = tuple(called.get(d, d) for d in design.dims)
    variables = table.variables(dims, design.shape)
    for name, key, units in (("status", "status", ""), ("end_step", "steps", "1"), ("end_time", "end_time", "s")):
        found = np.array([np.nan if o[key] is None else o[key] for o in outcomes])
        variables[name] = (dims, found.reshape(design.shape), {"units": units, "long_name": _MEANING[name]})
    for name in design.values:
        along, found = design.coordinate(name)
        if found.ndim == len(along):
            coords[called[name]] = (tuple(called.get(d, d) for d in along), found, {})
    said = [f"member {o['member']}: {o['why']}" for o in outcomes if not o["ok"]]
    kept = {k: v for k, v in attributes.items() if k not in _DROPPED}
    swept = {"members": " ".join(dims), "failures": said, "stands": "", "format": FORMAT}
    return xarray.Dataset(variables, {"t": times, **coords}, {**kept, **swept})


_MEANING = {
    "status": "how the member ended", "end_step": "steps that the member took", "end_time": "time at which it ended",
}  # fmt: skip


@dataclass
class _Table:
    """Values of all members, by name: samples, members, what a quantity has of its own."""

    t: np.ndarray
    values: dict[str, np.ndarray]
    last: dict[str, np.ndarray]  # of every member
    own: dict[str, tuple[str, ...]]  # dimensions
    about: dict[str, dict[str, Any]]
    apart: bool = False  # whether the last sample of a member is at a time that others do not have
    events: dict[int, list[tuple[str, float]]] = field(default_factory=dict)

    @classmethod
    def like(cls, first: Any, count: int) -> _Table:
        t, names = np.asarray(first.t), _sampled(first)
        own = {n: tuple(d for d in first[n].dims if d != "t" and not _is_member(d)) for n in names}
        sizes = {n: tuple(first.sizes[d] for d in own[n]) for n in names}
        _check_memory(8 * sum((len(t) + 1) * count * int(np.prod(s)) for s in sizes.values()))
        values = {n: np.full((len(t), count, *sizes[n]), np.nan) for n in names}
        last = {n: np.full((count, *sizes[n]), np.nan) for n in names}
        return cls(t, values, last, own, {n: dict(first[n].attrs) for n in names})

    def take(self, data: Any, outcome: Mapping[str, Any]) -> str | None:
        """All samples and events of this member; or what of them has no place."""
        if set(_sampled(data)) != set(self.values):
            names = ", ".join(sorted(set(_sampled(data)) ^ set(self.values)))
            return f"other bodies, rows or observables than the first ({names})"
        member, row, near = outcome["member"], outcome["row"], _SAME * float(data.attrs["step"])
        own = np.asarray(data.t)
        if row >= 0 and not outcome["ok"]:  # lost; the others of its batch went on
            own = own[own <= outcome["end_time"] + near]
        same = min(len(own), len(self.t))
        off = np.abs(own[:same] - self.t[:same]) > near
        fits = int(off.argmax()) if off.any() else same
        if fits < len(own) - 1 or (fits < len(own) and fits < len(self.t) and self.t[fits] < own[-1]):
            return f"samples at times of its own (t = {own[fits]:.9g} s is the first of them)"
        self.apart |= fits < len(own)
        for name, values in self.values.items():
            found = np.asarray(_of(data[name], row), dtype=float)
            if found.shape[1:] != values.shape[2:]:
                return f"other bodies, rows or observables than the first ({name})"
            values[:fits, member], self.last[name][member] = found[:fits], found[len(own) - 1]
        if "event_time" in data:
            times, called = np.asarray(data.event_time, dtype=float), np.asarray(data.event)
            self.events[member] = list(zip(map(str, called), times.tolist(), strict=True))
        return None

    def variables(self, dims: tuple[str, ...], shape: tuple[int, ...]) -> dict[str, Any]:
        """As a dataset has them."""
        made: dict[str, Any] = {}
        for name, values in self.values.items():
            own, sizes, about = self.own[name], values.shape[2:], self.about[name]
            made[name] = ("t", *dims, *own), values.reshape(len(self.t), *shape, *sizes), about
            if self.apart:
                words = f"at the last sample of every member: {about.get('long_name', name)}"
                made[f"last_{name}"] = (
                    (*dims, *own),
                    self.last[name].reshape(*shape, *sizes),
                    about | {"long_name": words},
                )
        if self.events:
            most = max(map(len, self.events.values()))
            times, names = (
                np.full((int(np.prod(shape)), most), np.nan),
                np.full((int(np.prod(shape)), most), "", object),
            )
            for member, events in self.events.items():
                for k, (name, t) in enumerate(events):
                    names[member, k], times[member, k] = name, t
            about = {"units": "s", "long_name": "when events happened"}
            made["event_time"] = (*dims, "event"), times.reshape(*shape, most), about
            about = {"long_name": "which events those were, by name"}
            made["event_name"] = (*dims, "event"), names.astype(str).reshape(*shape, most), about
        return made


def _sampled(data: Any) -> list[str]:
    """Names of what has a value at every sample."""
    return [str(n) for n in data.data_vars if n not in _OF_MEMBER and data[n].dims[:1] == ("t",)]


def _of_members(variable: Any) -> bool:
    return any(map(_is_member, variable.dims))


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


def _called(design: Design, quantities: list[str]) -> dict[str, str]:
    """Names of what is swept, where a quantity, or what all datasets have, is called so too."""
    taken = set(quantities) | {f"last_{name}" for name in quantities} | {"event_name"} | RESERVED - {"member"}
    return {name: f"parameter_{name}" if name in taken else name for name in design.values}


def _check_memory(size: int) -> None:
    if size > 2**28 and 2 * size > (memory := psutil.virtual_memory().available):
        raise InputError(
            f"all members together are {size / 2**30:.3g} GiB, and this machine has {memory / 2**30:.3g} GiB free: "
            "their runs are kept in the folder of members, each by itself; save fewer samples to have them as one"
        )
