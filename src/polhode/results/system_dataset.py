"""The motion of a system as an xarray Dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray

from polhode.results.dataset import FORMAT
from polhode.results.rerun import about_rerunning

if TYPE_CHECKING:
    from polhode.results.system_run import SystemRun


def dataset_of(run: SystemRun) -> xarray.Dataset:
    vector = ("t", "body", "axis")

    def variable(dims: tuple[str, ...], values: Any, units: str, meaning: str) -> Any:
        return dims, np.asarray(values), {"units": units, "long_name": meaning}

    own = {
        "position": variable(vector, run.positions, "m", "centre of mass, space axes"),
        "attitude": variable(
            ("t", "body", "quaternion"), run.quaternions, "1", "attitude, body to space, as w, x, y, z"
        ),
        "velocity": variable(vector, run.velocities, "m/s", "of the centre of mass, space axes"),
        "omega": variable(vector, run.omegas, "rad/s", "angular velocity, body axes"),
        "force": variable(
            ("t", "row"), run.multipliers, "N or N m", "of each row, half a step back; the first at the start"
        ),
        "kinetic": variable(("t",), run.kinetic, "J", "kinetic energy"),
        "potential": variable(("t",), run.potential, "J", "potential energy"),
        "energy": variable(("t",), run.energy, "J", "total energy"),
        "slip": variable(("t",), run.slip, "m/s or rad/s", "largest residual of nonholonomic rows"),
        "gap": variable(("t",), run.gap, "m or rad", "largest residual of holonomic rows"),
        "trace": variable(
            ("t", "point", "axis"),
            np.stack(list(run.traces.values()), axis=1) if run.traces else np.zeros((len(run.t), 0, 3)),
            "m",
            "points followed, space axes",
        ),
    }
    coords = {
        "t": ("t", run.t, {"units": "s", "long_name": "time"}),
        "step_count": ("t", run.trajectory.steps, {"units": "1", "long_name": "steps taken"}),
        "body": ("body", np.array(list(run.system.names), dtype=str)),
        "row": ("row", np.array(list(run.system.row_names), dtype=str)),
        "point": ("point", np.array(list(run.traces), dtype=str)),
        "axis": ("axis", ["x", "y", "z"]),
        "quaternion": ("quaternion", ["w", "x", "y", "z"]),
    }
    taken = own.keys() | coords.keys()
    watched = {
        (f"observable_{name}" if name in taken else name): variable(("t",), o.values, o.unit, o.meaning)
        for name, o in run.observables.items()
    }
    return xarray.Dataset(own | watched, coords, _attributes(run))


def _attributes(run: SystemRun) -> dict[str, Any]:
    from polhode import __version__

    return {
        "format": FORMAT,
        "polhode_version": __version__,
        "method": run.method.name,
        "method_options": repr(run.method.options),
        "step": run.step,
        "steps": run.steps,
        "observables": list(run.observables),
        "conserved": " ".join(run.conserved),
        "up": run.system.up,
        "masses": np.asarray(run.system.masses).tolist(),
        "status": run.trajectory.status.name,
        "seconds": run.trajectory.seconds,
        "iterations": run.trajectory.iterations,
        "halvings": run.halvings,
        "renewals": run.renewals,
        **about_rerunning(run.recipe, "it was made from Python objects, which a file cannot hold"),
    }
