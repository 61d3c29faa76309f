"""`StoredRun`: a run whose samples are in a file; they are read when they are asked for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from polhode.model.checks import InputError, unknown
from polhode.results.accessor import load
from polhode.results.gauges import drift_in
from polhode.results.observable import Observable
from polhode.results.run import Run
from polhode.results.source import Source
from polhode.results.standing import states_of
from polhode.results.store import save
from polhode.simulation import Trajectory

_READ = ("steps", "states", "offsets")


class StoredTrajectory(Trajectory):
    """What is read of it, is read once."""

    source: Source
    _from: tuple[str, float, float]

    @classmethod
    def of(cls, source: Source, kind: str, t0: float, step: float, **known: Any) -> StoredTrajectory:
        made = object.__new__(cls)
        defaults = {f.name: f.default for f in fields(Trajectory) if f.name not in _READ}
        made.__dict__.update({**defaults, "failure": {}, **known, "_from": (kind, t0, step), "source": source})
        return made

    def _read(self, name: str) -> np.ndarray:
        return np.array(self.source.read(lambda data: data[name].values))

    @cached_property
    def steps(self) -> np.ndarray:
        return np.asarray(self._read("step_count"), dtype=int)

    @cached_property
    def offsets(self) -> np.ndarray | None:
        _, t0, step = self._from
        found = self._read("t") - (t0 + self.steps * step)
        return found if np.abs(found).max(initial=0.0) > 1e-9 * step else None

    @cached_property
    def states(self) -> Any:
        """Without what a method adds of its own."""
        return states_of(self._from[0], self._read)

    @property
    def last(self) -> tuple[int, float] | None:
        if "steps" in self.__dict__:
            return super().last
        if not self.source.read(lambda data: data.sizes["t"]):
            return None
        _, t0, step = self._from
        count, t = self.source.read(lambda data: (int(data.step_count[-1]), float(data.t[-1])))
        off = t - (t0 + count * step)
        return count, off if abs(off) > 1e-9 * step else 0.0


@dataclass(frozen=True, repr=False)
class StoredRun(Run):
    """What `simulate(..., out=...)` and `resume` return. Like any run; `path` is where it is, `why` why it ended before
    its time, if it did. Larger than memory, it is looked at with `xarray.open_zarr(run.path)`."""

    path: Path = Path()
    why: str = ""
    gauges: Mapping[str, np.ndarray] = field(default_factory=dict)
    kept: tuple[str, ...] = ()  # what its motion conserves

    @property
    def _source(self) -> Source:
        return self.trajectory.source  # type: ignore[attr-defined]

    def _read(self, name: str, *row: int) -> np.ndarray:
        """Of all samples, or of one."""
        return np.asarray(self._source.read(lambda data: (data[name].isel(t=row[0]) if row else data[name]).values))

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.quantities:
            raise unknown("quantity", name, self.quantities)
        return self._read(name)

    def in_memory(self) -> Run:
        """With all samples read. An InputError where its method keeps more in a state than they hold."""
        if type(self.begun) is not type(self.now.matched(self.begun, self.now)):
            raise InputError(f"{self.method.name} goes on in the file: polhode.resume({str(self.path)!r}, until=...)")
        return self.read()

    def read(self) -> Run:
        """What the samples hold, which is all that there is to look at."""
        read = replace(self.trajectory, states=self.trajectory.states)
        return Run(**{f.name: getattr(self, f.name) for f in fields(Run)} | {"trajectory": Trajectory(**vars(read))})

    def ends(self, name: str) -> tuple[Any, Any]:
        return self._read(name, 0), self._read(name, -1)

    def most(self, name: str) -> float:
        known = self.gauges.get(f"{name}.most")
        return super().most(name) if known is None else float(known)

    def drift(self, what: Any) -> float:
        if isinstance(what, str) and f"{what}.far" in self.gauges:
            return drift_in(self.gauges, what, self.lost)
        return super().drift(what)

    @property
    def t(self) -> np.ndarray:
        return self._read("t")

    @property
    def last_state(self) -> Any:
        """As it is in the file."""
        return states_of(self.kind, lambda name: self._read(name, -1))

    @property
    def members(self) -> tuple[int, ...]:
        return self.last_state.shape

    @cached_property
    def conserved(self) -> tuple[str, ...]:
        return self.kept

    @cached_property
    def observables(self) -> dict[str, Observable]:
        return super().observables

    @cached_property
    def dataset(self) -> Any:
        return self._source.read(lambda _: load(self._source.place))

    def save(self, path: str | Path) -> Path:
        """To `.zarr`, `.nc` or `.csv`, by the ending of the name. In its own folder it is already, and stays one that
        can go on."""
        whole = self.dataset
        return Path(path) if Path(os.path.realpath(path)) == self._source.place else save(whole, path)

    def judge(self) -> Any:
        return self

    def energy_gone_wrong(self) -> str | None:
        return None

    def __getstate__(self) -> dict[str, Any]:
        raise InputError(f"a run that is in a file is sent by its path: polhode.load({str(self.path)!r})")
