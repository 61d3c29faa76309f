"""What a dataset says of the members of a batch: how each ended, and its inertia where they differ in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.simulation import Status

_CODES = (Status.OK, Status.NOT_CONVERGED, Status.NOT_FINITE)


def of_members(run: Any, dims: tuple[str, ...]) -> dict[str, Any]:
    """Variables along these dimensions; none where there is no batch."""
    if not dims:
        return {}
    status, step = np.zeros(run.members, np.int64), np.full(run.members, -1)
    for lost in run.lost:
        status[lost.member], step[lost.member] = _CODES.index(lost.status), lost.step
    found = {
        "status": (dims, status, {
            "long_name": "how the motion of a member ended",
            "flag_values": list(range(len(_CODES))),
            "flag_meanings": " ".join(code.name for code in _CODES),
        }),
        "failed_step": (dims, step, {"units": "1", "long_name": "step in which a member was lost, -1 if it was not"}),
    }  # fmt: skip
    inertia = getattr(run.known, "tensor", np.eye(3))
    if np.ndim(inertia) > 2:
        about = {"units": "kg m2", "long_name": "inertia in the body frame"}
        found["inertia"] = ((*dims, "row", "column"), np.broadcast_to(inertia, (*run.members, 3, 3)), about)
    return found
