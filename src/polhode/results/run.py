"""`Run`: a trajectory with its names, units, invariants, plots and files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.methods import Method
from polhode.results.sending import Sendable
from polhode.rotation import RigidBody, State
from polhode.rotation.invariants import angular_velocity, spatial_momentum
from polhode.rotation.loads import Load
from polhode.simulation import Status, Trajectory

if TYPE_CHECKING:
    import xarray

    from polhode.results.plots import Plots


@dataclass(frozen=True)
class Observable:
    """A named quantity along a run."""

    values: np.ndarray  # (samples, *batch)
    unit: str
    meaning: str


@dataclass(frozen=True)
class Run(Sendable):
    """What `simulate` returns. `dataset` for the numbers, `plot` to look at them, `save` to keep them."""

    described = ("body", "load", "method")
    told = ("conserved",)

    body: RigidBody
    load: Load | None
    method: Method
    step: float
    trajectory: Trajectory
    recipe: dict[str, Any] | None = None  # enough to run it again, where that is possible

    @property
    def ok(self) -> bool:
        return self.trajectory.status is Status.OK

    @property
    def state(self) -> State:
        """Every sample: components of shape (samples, *batch), in the user's body frame."""
        return self.trajectory.state

    @property
    def t(self) -> np.ndarray:
        """Times of the samples (s)."""
        return self.trajectory.steps * self.step

    @property
    def steps(self) -> int:
        return int(self.trajectory.steps[-1])

    @cached_property
    def omega(self) -> np.ndarray:
        """Body angular velocity (rad/s), shape (samples, *batch, 3)."""
        return angular_velocity(self.body, self.state).array

    @property
    def kinetic(self) -> np.ndarray:
        return self.trajectory.kinetic

    @property
    def potential(self) -> np.ndarray:
        return self.trajectory.potential

    @property
    def energy(self) -> np.ndarray:
        """Kinetic plus potential energy (J); the Hamiltonian under a potential."""
        return self.kinetic + self.potential

    @cached_property
    def spatial_momentum(self) -> np.ndarray:
        """Shape (samples, *batch, 3)."""
        return spatial_momentum(self.state).array

    @property
    def attitude(self) -> np.ndarray:
        """Rotation matrices, shape (samples, *batch, 3, 3)."""
        return self.state.attitude.matrix().array

    @cached_property
    def observables(self) -> dict[str, Observable]:
        """What this kind of body has besides attitude, momentum and energy."""
        if self.body.twist_axis is None:
            return {}
        R = self.attitude
        defect = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(axis=(-1, -2))
        return {
            "twist_rate": Observable(self.omega[..., 2], "rad/s", "w∥ = ω · d3, the non-twisting residual"),
            "constraint_violation": Observable(defect, "1", "largest entry of DᵀD - 1, D = (d1 d2 d3)"),
        }

    @cached_property
    def conserved(self) -> tuple[str, ...]:
        """What the motion itself conserves, of energy, kinetic, spatial_momentum, vertical_momentum and, of a
        non-twisting body, nonholonomic_momentum. A drift of anything else says nothing of the method."""
        from polhode.results.conserved import conserved_by_body

        return conserved_by_body(self)

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """xarray: named coordinates, units, and attributes enough to run it again."""
        from polhode.results.dataset import dataset_of

        return dataset_of(self)

    @cached_property
    def plot(self) -> Plots:
        """`plot.energy()`, `.momentum()`, `.attitude()`, `.tip()`, `.polhode()`; `plot()` for those that fit."""
        from polhode.results.plots import Plots

        return Plots(self.dataset)

    def save(self, path: str | Path) -> Path:
        """To `.zarr`, `.nc` or `.csv`, by the ending of the name."""
        from polhode.results.store import save

        return save(self.dataset, path)

    def animate(self, path: str | Path, *, title: str = "", max_frames: int = 5001) -> Path:
        """A 3D animation in one HTML page that needs no network: the ellipsoid of inertia, turning. Of more samples
        than `max_frames`, that many are shown, evenly thinned."""
        from polhode.results.animation import animate
        from polhode.results.scenes import scene_of_body

        return animate(scene_of_body(self, title), path, max_frames=max_frames)

    def drift(self, values: np.ndarray) -> float:
        """Largest deviation from the start over the samples, relative to the size at the start."""
        start = values[0]
        vector = values.ndim > np.ndim(self.potential)
        deviation = values - start
        size = np.hypot.reduce(start, axis=-1) if vector else np.abs(start)  # `hypot`, for what overflows when squared
        far = np.hypot.reduce(deviation, axis=-1) if vector else np.abs(deviation)
        return float(np.max(far / np.where(size == 0, 1.0, size)))

    def summary(self) -> dict[str, Any]:
        """The record that `polhode run --json` prints for this run."""
        momenta = {}
        if self.body.twist_axis is not None:
            momenta = {"nonholonomic_momentum": {"drift": self.drift(self.state.momentum.array[..., :2])}}
        last = State(*(_last(part) for part in (self.state.attitude, self.state.momentum)))
        return {
            "method": self.method.name,
            "step": self.step,
            "steps": self.steps,
            "seconds": self.trajectory.seconds,
            "final": {
                "t": float(self.t[-1]),
                "attitude": last.attitude.matrix().array.tolist(),
                "momentum": last.momentum.array.tolist(),
                "omega": angular_velocity(self.body, last).array.tolist(),
                "observables": {name: np.asarray(o.values[-1]).tolist() for name, o in self.observables.items()},
            },
            "energy": {
                "start": np.asarray(self.energy[0]).tolist(),
                "end": np.asarray(self.energy[-1]).tolist(),
                "drift": self.drift(self.energy),
            },
            "spatial_momentum": {"drift": self.drift(self.spatial_momentum)},
            **momenta,
            "conserved": list(self.conserved),
            "iterations": self.trajectory.iterations,
            "ok": self.ok,
        }

    def __repr__(self) -> str:
        s = self.summary()
        batch = self.potential.shape[1:]
        kept = "nonholonomic_momentum" if self.body.twist_axis is not None else "spatial_momentum"
        return (
            f"<polhode run: {self.method.name}, {self.steps} steps of {self.step:g} s to t = {self.t[-1]:g}"
            f"{f', batch {batch}' if batch else ''}, {len(self.t)} samples\n"
            f"  {self._told('energy', s)}, {self._told(kept, s)}, "
            f"{s['iterations']:.2g} iterations a step, {s['seconds']:.3g} s\n"
            f"  {self.trajectory.status.value}>"
        )

    def _told(self, name: str, summary: dict[str, Any]) -> str:
        """How far a quantity went: drift where the motion conserves it, and no fault of the method's where not."""
        words = "drift" if name in self.conserved else "changed by the load by"
        return f"{name.replace('_', ' ')} {words} {summary[name]['drift']:.2e}"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>{self.dataset._repr_html_()}"


def _last(part: Any) -> Any:
    return type(part)(*(component[-1] for component in part))
