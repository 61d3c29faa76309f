"""Where a saved run stands: all that it takes to go on from a file as if it had never stopped."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from polhode.algebra import Quaternion, Vec3
from polhode.model.checks import InputError, shortened
from polhode.multibody.describe.state import State as SystemState
from polhode.rotation.state import State
from polhode.simulation import Checkpoint, Status, Trajectory

_MOST = 20_000  # numbers of a state that are kept in a file


def written(end: Checkpoint | None) -> str:
    """As text, every bit of it; nothing where there is none, or where it is large."""
    leaves = [] if end is None else [np.asarray(x, dtype=float) for x in jax.tree.leaves(end.state)]
    if end is None or sum(x.size for x in leaves) > _MOST:
        return ""
    numbers = [{"shape": list(x.shape), "hex": x.astype("<f8").tobytes().hex()} for x in leaves]
    return json.dumps({"done": end.done, "offset": end.offset.hex(), "rung": end.rung, "careful": end.careful,
                       "state": numbers})  # fmt: skip


def read(text: Any, like: Any, source: str) -> Checkpoint:
    """What was written, as a state `like` this one."""
    try:
        data = json.loads(text)
        leaves = [np.frombuffer(bytes.fromhex(x["hex"]), "<f8").reshape(x["shape"]).copy() for x in data["state"]]
        wanted, tree = jax.tree.flatten(like)
        if [np.shape(x) for x in wanted] != [x.shape for x in leaves]:
            raise ValueError("it is of another system")
        state = jax.tree.unflatten(tree, leaves)
        counts = [int(data[name]) for name in ("done", "rung", "careful")]
        return Checkpoint(state, counts[0], float.fromhex(data["offset"]), counts[1], counts[2])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"{source}: where its run stands is not in it, or spoilt ({shortened(error)}); run it from its start"
        ) from error


def standing(run: Any, dataset: Any, end: Checkpoint) -> Any:
    """A run that has come to its first step, as far as the one that was saved."""
    counts = dataset.step_count.values.astype(int)
    offsets = dataset.t.values - (run.t0 + counts * run.step)
    trajectory = Trajectory(
        counts,
        _states(dataset),
        Status[str(dataset.attrs["status"])],
        float(dataset.attrs["seconds"]),
        float(dataset.attrs["iterations"]),
        0.0,
        int(dataset.attrs["renewals"]),
        int(dataset.attrs["halvings"]),
        offsets=offsets if np.abs(offsets).max() > 1e-9 * run.step else None,
        end=end,
    )
    return replace(run, trajectory=trajectory)


def _states(dataset: Any) -> Any:
    """Of every sample, without what a method adds of its own."""
    return states_of(dataset.attrs["kind"], lambda name: np.array(dataset[name].values, dtype=float))


def states_of(kind: str, values: Callable[[str], np.ndarray]) -> Any:
    """From the variables of a dataset, by name."""
    if kind == "rotation":
        return jax.tree.map(np.asarray, State(Quaternion.of(values("attitude")), Vec3.of(values("momentum"))))
    return SystemState(*map(values, ("position", "attitude", "velocity", "omega", "force")))
