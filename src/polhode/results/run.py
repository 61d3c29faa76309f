"""`Run`: the states of a motion, and all that can be looked at in them: numbers, plots, files, an animation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import jax
import numpy as np

from polhode.accuracy import ErrorEstimate
from polhode.algebra import Quaternion
from polhode.algebra.library import here
from polhode.model.checks import InputError, unknown
from polhode.model.method import Method
from polhode.model.quantity import Quantity
from polhode.results.accessor import with_accessor
from polhode.results.card import card_of
from polhode.results.course import Course
from polhode.results.dataframe import dataframe_of
from polhode.results.dataset import dataset_of
from polhode.results.error_of import error_of
from polhode.results.glance import nothing_wrong
from polhode.results.judgement import conserved_along, drift_of, energy_gone_wrong, up_to_what_has_no_value
from polhode.results.observable import Observable
from polhode.results.parts import mapped, over_parts
from polhode.results.plots import Plots
from polhode.results.scenes import animation_of, scene_of
from polhode.results.sending import Lost, Sendable
from polhode.results.still import still
from polhode.results.store import save
from polhode.results.summary import described, summary
from polhode.simulation import Trajectory

_JUDGED = ("kinetic", "potential", "slip", "gap")  # must be finite


@dataclass(frozen=True)
class Run(Sendable, Course):
    """What `simulate` returns. `run["energy"]`, or `run.energy`, is a quantity at every sample, `list(run)` names all;
    `dataset` holds them, `plot` shows, `save` keeps them: samples first, then members of a batch. `step`, `t0` in s."""

    described = ("system", "method", "now", "changes")
    told = ("conserved", "_plain", "_judged", "_looked")

    system: Any
    method: Method
    step: float
    trajectory: Trajectory
    now: Any = field(repr=False)  # the system with users' functions as they were
    recipe_of: Any = field(default=None, repr=False)  # `recipe`, or a function that works it out
    t0: float = 0.0
    every: int = 1  # steps between samples; 0 where they are at times of their own
    every_seconds: float | None = None  # or seconds, where those are no whole number of steps
    changes: tuple[tuple[int, Any], ...] = field(default=(), repr=False)  # from which sample on, and the system then
    begun: Any = field(default=None, repr=False)  # the start as the first step sees it
    estimate: ErrorEstimate | None = None  # of its error, if it was run to a tolerance

    @cached_property
    def recipe(self) -> dict[str, Any] | None:
        """Enough to run it again, where that is possible."""
        return self.recipe_of() if callable(self.recipe_of) else self.recipe_of

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"recipe_of": self.recipe}

    @property
    def kind(self) -> str:
        """Of system: "rotation" or "system"."""
        return self.known.kind

    @property
    def state(self) -> Any:
        """Every sample: a state whose arrays have the samples in front. Those of a GPU are brought here."""
        return here(self.trajectory.states)

    @property
    def last_state(self) -> Any:
        """As a step takes it."""
        return here(jax.tree.map(lambda x: x[-1], self.trajectory.states))

    @property
    def members(self) -> tuple[int, ...]:
        """The shape of the batch; () if there is none."""
        return self.trajectory.states.shape[1:] if self.kind == "rotation" else self.last_state.shape

    @cached_property
    def _plain(self) -> Any:
        return self.system.plain()

    @property
    def known(self) -> Any:
        """The system; or, where what a user wrote was not sent along with this run, the system without it."""
        return self._plain if isinstance(self.system, Lost) else self.system

    @cached_property
    def quantities(self) -> dict[str, Quantity]:
        """All that can be looked at, by name."""
        return {q.name: q for q in self.known.quantities}

    def __iter__(self) -> Any:
        return iter(self.quantities)

    def __contains__(self, name: object) -> bool:
        return name in self.quantities

    def __getitem__(self, name: str) -> np.ndarray:
        if not isinstance(name, str):
            raise InputError(f"a run has quantities by name, run['energy'], and run['energy'][0]; got {name!r}")
        if name not in self.quantities:
            raise unknown("quantity", name, self.quantities)
        q = self.quantities[name]
        if name in self.__dict__.get("_judged", ()):  # also where what a user wrote was not sent along
            return self._judged[name]
        if q.made_of:
            return sum(self[part] for part in q.made_of)  # type: ignore[return-value]
        if name in _JUDGED:
            return (self._judged_whole if q.whole else self._judged)[name]
        return self._whole(q) if q.whole and q.of is not None else self._looked[name]

    def _whole(self, q: Quantity) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):  # `judge` looks at what must be finite
            if not self.changes or "row" in q.dims:
                return np.asarray(q.of(self.known, self.state, self.t))  # type: ignore[misc]
            return over_parts(self, lambda *part: {q.name: np.asarray(q.of(*part))})[q.name]  # type: ignore[misc]

    def in_memory(self) -> Run:
        """This one; of a run in a file, one whose samples are read."""
        end = self.trajectory.end
        if end is not None and not self.changes and type(end.state) is not type(self.trajectory.states):
            raise InputError(f"{self.method.name} keeps more in a state than was read: run it again, to a later time")
        return self

    def ends(self, name: str) -> tuple[Any, Any]:
        """A quantity at the first sample and at the last."""
        values = self[name]
        return values[0], values[-1]

    def most(self, name: str) -> float:
        """The largest value of a quantity."""
        return float(self[name].max())

    def __getattr__(self, name: str) -> Any:
        """Quantities by name, or by the name they have as an attribute."""
        if not name.startswith("_"):
            for q in self.quantities.values():
                if name in (q.attribute, q.name):
                    return self[q.name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _mapped(self, judged: bool) -> list[Quantity]:
        return [q for q in self.quantities.values() if q.of and not q.whole and (q.name in _JUDGED) == judged]

    @cached_property
    def _judged(self) -> dict[str, np.ndarray]:
        found = self._mapped(True)
        return mapped(self, found) if found else {}

    @cached_property
    def _judged_whole(self) -> dict[str, np.ndarray]:
        return {name: self._whole(self.quantities[name]) for name in self.judged if self.quantities[name].whole}

    @cached_property
    def _looked(self) -> dict[str, np.ndarray]:
        return mapped(self, self._mapped(False))

    def look(self, at: Quantity | Callable[[Any, Any, Any], Any]) -> np.ndarray:
        """Anything else at every sample: a function of (system, state, t), written for one sample with jax.numpy."""
        q = at if isinstance(at, Quantity) else Quantity("looked at", at, "", "")
        return mapped(self, [q])[q.name]

    @property
    def attitude(self) -> np.ndarray:
        """Rotation matrices, body to space, (samples, *batch, 3, 3), of a system (samples, bodies, 3, 3)."""
        return np.asarray(Quaternion.of(self["attitude"]).matrix().array)

    @cached_property
    def observables(self) -> dict[str, Observable]:
        """What the system says is worth watching, by name."""
        watched = [q for q in self.quantities.values() if q.given]
        return {q.given: Observable(self[q.name], q.unit, q.meaning) for q in watched}

    @cached_property
    def traces(self) -> dict[str, np.ndarray]:
        """Points that the system says are worth following, by name, (samples, 3): a contact, a tip."""
        names = self.known.labels.get("point", ())
        return {name: self["trace"][:, i] for i, name in enumerate(names)}

    @cached_property
    def conserved(self) -> tuple[str, ...]:
        """What the motion itself conserves, by name. A drift of anything else says nothing of the method."""
        return conserved_along(self)

    @property
    def judged(self) -> tuple[str, ...]:
        """Quantities that must have a value at every sample."""
        return tuple(name for name in _JUDGED if name in self.quantities)

    nothing_wrong = cached_property(nothing_wrong)  # of a large batch
    judge, drift, energy_gone_wrong = up_to_what_has_no_value, drift_of, energy_gone_wrong

    def error_estimate(self, *, progress: bool | None = None) -> ErrorEstimate:
        """At the end and the largest on the way, from runs with other steps: three to nine times the steps of this."""
        return self.estimate or error_of(self, progress)

    body = property(lambda self: self.system.body, doc="The body, of one that rotates.")
    load = property(lambda self: self.system.load, doc="Its load.")

    @cached_property
    def dataset(self) -> Any:
        """xarray: named coordinates, units, and attributes enough to run it again."""
        return with_accessor(dataset_of(self))

    @cached_property
    def plot(self) -> Plots:
        """`plot()` for those that fit this run; `plot.energy()`, and others that `plot` lists, for one."""
        return Plots(self.dataset)

    def to_dataframe(self) -> Any:
        """pandas: one row a sample; columns as in a .csv, the index is time (s), of a batch time and member."""
        return dataframe_of(self.dataset)

    def save(self, path: str | Path) -> Path:
        """To `.zarr`, `.nc` or `.csv`, by the ending of the name."""
        return save(self.dataset, path)

    def animate(self, path: str | Path | None = None, *, beside: Any = (), title: str = "", **how: Any) -> Any:
        """A 3D animation: `.html`, a page that needs no network; `.gif` or `.mp4`, a film (`seconds=`, `fps=`); `.glb`,
        for other tools. Without a path, for the last line of a notebook's cell (`height=`). Runs `beside` this one are
        shown beside it, with the same time and camera, and called by their `titles=`. Of more samples than
        `max_frames=`, 5001 unless said, that many are shown, evenly thinned."""
        others = [beside] if isinstance(beside, Run) else list(beside) if isinstance(beside, list | tuple) else [beside]
        return animation_of((self, *others), path, title, **how)

    def still(self, at: float | None = None, *, path: str | Path | None = None) -> Any:
        """The bodies at a time (s), half way unless said, as the animation shows them: a figure, written to a path."""
        return still(scene_of(self, ""), at, path)

    def summary(self) -> dict[str, Any]:
        """The record that `polhode run --json` prints for this run."""
        return summary(self)

    def __repr__(self) -> str:
        return described(self)

    def _repr_html_(self) -> str:
        return card_of(self)
