"""A run as an xarray Dataset: names, units, frames, and the recipe it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray

from polhode.results.rerun import about_rerunning
from polhode.rotation.invariants import casimir

if TYPE_CHECKING:
    from polhode.results.run import Run

FORMAT = "polhode trajectory 2"
FORMAT_BEFORE = "polhode trajectory 1"  # without checksums


def dataset_of(run: Run) -> xarray.Dataset:
    batch = tuple(f"batch{i}" for i in range(run.potential.ndim - 1)) if run.potential.ndim > 2 else ("body",)
    scalar = ("t", *batch[: run.potential.ndim - 1])
    vector = (*scalar, "axis")

    def variable(dims: tuple[str, ...], values: Any, units: str, meaning: str) -> Any:
        return dims, np.asarray(values), {"units": units, "long_name": meaning}

    return xarray.Dataset(
        {
            "attitude": variable(
                (*scalar, "quaternion"), run.state.attitude.array, "1", "attitude, body to space, as w, x, y, z"
            ),
            "momentum": variable(vector, run.state.momentum.array, "kg m2/s", "angular momentum, body frame"),
            "omega": variable(vector, run.omega, "rad/s", "angular velocity, body frame"),
            "spatial_momentum": variable(vector, run.spatial_momentum, "kg m2/s", "angular momentum, space frame"),
            "vertical_momentum": variable(
                scalar, run.spatial_momentum[..., 2], "kg m2/s", "angular momentum about the vertical"
            ),
            "kinetic": variable(scalar, run.kinetic, "J", "kinetic energy"),
            "potential": variable(scalar, run.potential, "J", "potential energy"),
            "energy": variable(scalar, run.energy, "J", "total energy"),
            "casimir": variable(scalar, casimir(run.state), "kg2 m4/s2", "half the squared length of the momentum"),
            **{name: variable(scalar, o.values, o.unit, o.meaning) for name, o in run.observables.items()},
        },
        coords={
            "t": ("t", run.t, {"units": "s", "long_name": "time"}),
            "step_count": ("t", run.trajectory.steps, {"units": "1", "long_name": "steps taken"}),
            "axis": ("axis", ["x", "y", "z"]),
            "quaternion": ("quaternion", ["w", "x", "y", "z"]),
        },
        attrs=_attributes(run),
    )


def _attributes(run: Run) -> dict[str, Any]:
    from polhode import __version__

    return {
        "format": FORMAT,
        "polhode_version": __version__,
        "method": run.method.name,
        "method_options": repr(run.method.options),
        "step": run.step,
        "steps": run.steps,
        "inertia": run.body.tensor.ravel().tolist(),
        "body": type(run.body).__name__,
        "load": repr(run.load),
        "conserved": " ".join(run.conserved),
        "status": run.trajectory.status.name,
        "seconds": run.trajectory.seconds,
        "iterations": run.trajectory.iterations,
        **about_rerunning(run.recipe, "it was made from a Python function, which a file cannot hold"),
    }
