"""The motion of a system as an xarray Dataset."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray

from polhode.results.dataset import FORMAT

if TYPE_CHECKING:
    from polhode.results.system_run import SystemRun


def dataset_of(run: SystemRun) -> xarray.Dataset:
    vector = ("t", "body", "axis")

    def variable(dims: tuple[str, ...], values: Any, units: str, meaning: str) -> Any:
        return dims, np.asarray(values), {"units": units, "long_name": meaning}

    names = [name for name, _ in run.system.observables]
    taken = {"position", "attitude", "velocity", "omega", "force", "kinetic", "potential", "energy", "slip", "gap"}
    return xarray.Dataset(
        {
            "position": variable(vector, run.positions, "m", "centre of mass, space axes"),
            "attitude": variable(
                ("t", "body", "quaternion"), run.quaternions, "1", "attitude, body to space, as w, x, y, z"
            ),
            "velocity": variable(vector, run.velocities, "m/s", "of the centre of mass, space axes"),
            "omega": variable(vector, run.omegas, "rad/s", "angular velocity, body axes"),
            "force": variable(("t", "row"), run.multipliers, "N or N m", "of each constraint row, half a step back"),
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
            **{
                (name if name not in taken else f"observable_{name}"): variable(("t",), o.values, o.unit, o.meaning)
                for name, o in run.observables.items()
            },
        },
        coords={
            "t": ("t", run.t, {"units": "s", "long_name": "time"}),
            "step_count": ("t", run.trajectory.steps, {"units": "1", "long_name": "steps taken"}),
            "body": ("body", list(run.system.names)),
            "row": ("row", list(run.system.row_names)),
            "point": ("point", list(run.traces)),
            "axis": ("axis", ["x", "y", "z"]),
            "quaternion": ("quaternion", ["w", "x", "y", "z"]),
        },
        attrs=_attributes(run, names),
    )


def _attributes(run: SystemRun, observables: list[str]) -> dict[str, Any]:
    from polhode import __version__

    return {
        "format": FORMAT,
        "polhode_version": __version__,
        "method": run.method.name,
        "method_options": repr(run.method.options),
        "step": run.step,
        "steps": run.steps,
        "observables": observables,
        "conserved": " ".join(run.conserved),
        "up": run.system.up,
        "masses": np.asarray(run.system.masses).tolist(),
        "status": run.trajectory.status.name,
        "seconds": run.trajectory.seconds,
        "iterations": run.trajectory.iterations,
        "halvings": run.halvings,
        "recipe": json.dumps(run.recipe) if run.recipe else "",
        "recipe_meaning": "the input file as JSON; `polhode run` on this file makes the run again"
        if run.recipe
        else "made from Python objects, which a file cannot hold",
    }
