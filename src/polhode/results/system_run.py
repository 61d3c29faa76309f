"""`SystemRun`: the motion of a multibody system, with names, observables, forces, plots, files, animation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.algebra import Quaternion
from polhode.multibody import MultibodyMethod, State, System
from polhode.multibody.step.recording import layout
from polhode.results.run import Observable
from polhode.results.sending import Sendable
from polhode.simulation import Status
from polhode.simulation.systems import SystemTrajectory

if TYPE_CHECKING:
    import xarray

    from polhode.results.system_plots import SystemPlots

_AT_A_TIME = 4096  # samples


@dataclass(frozen=True)
class SystemRun(Sendable):
    """What `simulate` returns for a system. Arrays have the samples first, then the bodies or rows."""

    described = ("system", "method")
    told = ("conserved",)

    system: System
    method: MultibodyMethod
    step: float
    trajectory: SystemTrajectory
    recipe: dict[str, Any] | None = None

    @property
    def ok(self) -> bool:
        return self.trajectory.status is Status.OK

    @property
    def t(self) -> np.ndarray:
        """Times of the samples (s)."""
        return self.trajectory.steps * self.step

    @property
    def steps(self) -> int:
        return int(self.trajectory.steps[-1])

    def _kept(self, name: str) -> np.ndarray:
        where, shape = layout(self.system)[name]
        return self.trajectory.values[:, where].reshape(len(self.trajectory.steps), *shape)

    @property
    def positions(self) -> np.ndarray:
        """Of the centres of mass, space axes (m), (samples, bodies, 3)."""
        return self._kept("positions")

    @property
    def quaternions(self) -> np.ndarray:
        """w, x, y, z, body to space, (samples, bodies, 4)."""
        return self._kept("quaternions")

    @property
    def velocities(self) -> np.ndarray:
        """Space axes (m/s)."""
        return self._kept("velocities")

    @property
    def omegas(self) -> np.ndarray:
        """Angular velocities, body axes (rad/s)."""
        return self._kept("omegas")

    @property
    def multipliers(self) -> np.ndarray:
        """Forces (N) and torques (N m) of the constraint rows, half a step before each sample; the first are those
        of the start itself, from its accelerations."""
        return self._kept("multipliers")

    @property
    def kinetic(self) -> np.ndarray:
        return self._kept("kinetic")

    @property
    def potential(self) -> np.ndarray:
        return self._kept("potential")

    @property
    def energy(self) -> np.ndarray:
        return self.kinetic + self.potential

    @property
    def slip(self) -> np.ndarray:
        """Largest |ψ| of the nonholonomic rows (m/s, rad/s)."""
        return self._kept("slip")

    @property
    def gap(self) -> np.ndarray:
        """Largest |φ| of the holonomic rows (m, rad): how far joints and contacts are apart."""
        return self._kept("gap")

    @property
    def halvings(self) -> int:
        """How many steps were halved, into however many parts, because their equations were not solved whole."""
        return int(self._kept("halvings")[-1])

    @property
    def renewals(self) -> int:
        """How many solutions needed the whole Jacobian at every iterate, as one matrix did not do: one a step, or one
        for each part of a halved step."""
        return int(self._kept("renewals")[-1])

    @property
    def last_state(self) -> State:
        """The last sample as a step takes it."""
        names = ("positions", "quaternions", "velocities", "omegas", "multipliers")
        none = np.zeros(self.system.rows)
        kept = {name: self._kept(name)[-1] for name in names}
        return State(**kept, mu=none, lam=none)

    @property
    def attitude(self) -> np.ndarray:
        """Rotation matrices, (samples, bodies, 3, 3)."""
        return np.asarray(Quaternion.of(self.quaternions).matrix().array)

    @cached_property
    def observables(self) -> dict[str, Observable]:
        values = self._kept("observables")
        units = self.system.observable_units
        return {name: Observable(values[:, i], units[i], name) for i, (name, _) in enumerate(self.system.observables)}

    @cached_property
    def traces(self) -> dict[str, np.ndarray]:
        """Points that the system says are worth following, by name, (samples, 3): a contact, a tip."""
        values = self._kept("traces")
        return {name: values[:, i] for i, (name, _) in enumerate(self.system.traces)}

    @cached_property
    def angular_momentum(self) -> np.ndarray:
        """About the origin, space axes, (samples, 3)."""
        mass, J = np.asarray(self.system.masses), np.asarray(self.system.inertias)
        r, q, v, omega = self.positions, self.quaternions, self.velocities, self.omegas
        parts = []
        for first in range(0, len(r), _AT_A_TIME):  # the matrices of all samples would take more than the samples
            now = slice(first, first + _AT_A_TIME)
            R = np.asarray(Quaternion.of(q[now]).matrix().array)
            spin = np.einsum("nbij,bjk,nbk->ni", R, J, omega[now])
            parts.append(spin + np.cross(r[now], mass[:, None] * v[now]).sum(axis=1))
        return np.concatenate(parts)

    @cached_property
    def conserved(self) -> tuple[str, ...]:
        """("energy",) where the motion conserves it, else (): under a damper or a drive its change is no drift."""
        from polhode.results.conserved import conserved_by_system

        return conserved_by_system(self)

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """xarray: bodies, rows and observables by name, with units."""
        from polhode.results.system_dataset import dataset_of

        return dataset_of(self)

    @cached_property
    def plot(self) -> SystemPlots:
        """`plot.observables()`, `plot.energy()`, `plot.path()`, `plot.constraints()`, `plot()` for what there is."""
        from polhode.results.system_plots import SystemPlots

        return SystemPlots(self.dataset)

    def save(self, path: str | Path) -> Path:
        """To `.zarr`, `.nc` or `.csv`, by the ending of the name."""
        from polhode.results.store import save

        return save(self.dataset, path)

    def animate(self, path: str | Path, *, title: str = "", max_frames: int = 5001) -> Path:
        """A 3D animation in one HTML page that needs no network. Of more samples than `max_frames`, that many are
        shown, evenly thinned."""
        from polhode.results.animation import animate
        from polhode.results.scenes import scene_of_system

        return animate(scene_of_system(self, title), path, max_frames=max_frames)

    def drift(self, values: np.ndarray) -> float:
        """Largest deviation from the start over the samples, relative to the size at the start."""
        size = np.linalg.norm(values[0])
        far = np.abs(values - values[0]) if values.ndim == 1 else np.linalg.norm(values - values[0], axis=-1)
        return float(far.max() / (size or 1.0))

    def summary(self) -> dict[str, Any]:
        """The record that `polhode run --json` prints for this run."""
        momentum = np.einsum("bij,bj->bi", np.asarray(self.system.inertias), self.omegas[-1])
        one = self.system.size == 1

        def per_body(values: np.ndarray) -> Any:
            """Of the one body, or a list in the order of `bodies`."""
            return (values[0] if one else values).tolist()

        return {
            "method": self.method.name,
            "step": self.step,
            "steps": self.steps,
            "seconds": self.trajectory.seconds,
            "final": {
                "t": float(self.t[-1]),
                "attitude": per_body(np.asarray(Quaternion.of(self.quaternions[-1]).matrix().array)),
                "momentum": per_body(momentum),
                "omega": per_body(self.omegas[-1]),
                "position": per_body(self.positions[-1]),
                "velocity": per_body(self.velocities[-1]),
                "observables": {name: float(o.values[-1]) for name, o in self.observables.items()},
            },
            "bodies": list(self.system.names),
            "energy": {
                "start": float(self.energy[0]),
                "end": float(self.energy[-1]),
                "drift": self.drift(self.energy),
            },
            "spatial_momentum": {"drift": self.drift(self.angular_momentum)},
            "constraints": {"slip": float(self.slip.max()), "gap": float(self.gap.max())},
            "conserved": list(self.conserved),
            "halvings": self.halvings,
            "renewals": self.renewals,
            "iterations": self.trajectory.iterations,
            "ok": self.ok,
        }

    def __repr__(self) -> str:
        s = self.summary()
        return (
            f"<polhode run: {self.method.name}, {self.system.size} bodies, {self.system.rows} rows, {self.steps} steps "
            f"of {self.step:g} s to t = {self.t[-1]:g}, {len(self.t)} samples\n"
            f"  energy {'drift' if 'energy' in self.conserved else 'changed by the forces by'} "
            f"{s['energy']['drift']:.2e}, slip at most {s['constraints']['slip']:.1e}, gaps at most "
            f"{s['constraints']['gap']:.1e}, {s['iterations']:.2g} iterations a step, {s['seconds']:.3g} s\n"
            f"  {self.trajectory.status.value}>"
        )

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>{self.dataset._repr_html_()}"
