"""A run as an xarray Dataset: a loop over its quantities, with names, units, and the recipe it was made from."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode import __version__
from polhode.results.members import of_members
from polhode.results.rerun import about_rerunning
from polhode.results.standing import written

FORMAT = "polhode trajectory 3"
WITHOUT_KIND = "polhode trajectory 2"  # and the dimension of batches was called body
WITHOUT_CHECKSUMS = "polhode trajectory 1"  # either
GROWN = "polhode trajectory 4"  # written as it went, with checksums of its chunks
FORMATS = (FORMAT, WITHOUT_KIND, WITHOUT_CHECKSUMS, GROWN)
_OF_A_FOLDER = ("finished", "plan", "fingerprint", "watched", "made_of", "chain", "tail", "checkpoint", "checksum",
                "failure", "still")  # fmt: skip
_LABELS = {"axis": ("x", "y", "z"), "quaternion": ("w", "x", "y", "z")}


def dataset_of(run: Any) -> Any:
    import xarray

    variables = {
        q.name: (("t", *members_of(run), *q.dims), run[q.name], {"units": q.unit, "long_name": q.meaning})
        for q in run.quantities.values()
    }
    return xarray.Dataset(variables, coordinates_of(run, len(run.t)), attributes_of(run)).merge(at_its_end(run))


def members_of(run: Any) -> tuple[str, ...]:
    """Names of the dimensions of a batch."""
    count = len(run.members)
    return ("member",) if count == 1 else tuple(f"member{i}" for i in range(count))


def at_its_end(run: Any) -> Any:
    """What is known when a run has ended: events, and how members fared."""
    import xarray

    variables, coords = of_members(run, members_of(run)), {}
    if run.events:
        times = np.array([event.t for event in run.events])
        variables["event_time"] = (("event",), times, {"units": "s", "long_name": "when events happened"})
        coords["event"] = ("event", np.array([event.name for event in run.events], dtype=str))
    return xarray.Dataset(variables, coords)


def before_its_start(run: Any) -> Any:
    """A dataset without samples."""
    import xarray

    sizes = {name: len(values) for name, values in {**run.known.labels, **_LABELS}.items()}
    variables = {
        q.name: (
            ("t", *members_of(run), *q.dims),
            np.zeros((0, *run.members, *(sizes[d] for d in q.dims))),
            {"units": q.unit, "long_name": q.meaning},
        )
        for q in run.quantities.values()
    }
    return xarray.Dataset(variables, coordinates_of(run, 0), attributes_of(run))


def coordinates_of(run: Any, samples: int) -> dict[str, Any]:
    """Of the first so many samples."""
    labels = {**run.known.labels, **_LABELS}
    return {
        "t": ("t", run.t[:samples], {"units": "s", "long_name": "time"}),
        "step_count": ("t", run.trajectory.steps[:samples], {"units": "1", "long_name": "steps taken"}),
        **{name: (name, np.array(list(values), dtype=str)) for name, values in labels.items()},
    }


def attributes_of(run: Any) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "kind": run.kind,
        "polhode_version": __version__,
        "method": run.method.name,
        "method_options": repr(run.method.options),
        "step": run.step,
        "steps": run.steps,
        **run.known.describe(),
        **_changed(run),
        "observables": [q.given for q in run.quantities.values() if q.given],
        "conserved": " ".join(run.conserved),
        "status": run.trajectory.status.name,
        "seconds": run.trajectory.seconds,
        "iterations": run.trajectory.iterations,
        "halvings": run.halvings,
        "renewals": run.renewals,
        "stands": "" if run.changes else written(run.trajectory.end),
        **({} if run.estimate is None else run.estimate.attributes()),
        **about_rerunning(run.recipe, "it was made from Python objects, which a file cannot hold"),
    }


def _changed(run: Any) -> dict[str, str]:
    """Whose the attributes of the system are, where events made others of it."""
    if not run.changes:
        return {}
    since = ", ".join(str(first) for first, _ in run.changes)
    return {"system_meaning": f"that of the start; events made another of it, from sample {since} on (counted from 0)"}


def as_now(dataset: Any) -> Any:
    """A dataset from a file of one of the formats before, in the words of this one."""
    if "kind" in dataset.attrs:
        return dataset
    rotation = "inertia" in dataset.attrs
    old = [d for d in dataset.dims if rotation and (d == "body" or str(d).startswith("batch"))]
    names = {d: str(d).replace("batch", "member").replace("body", "member") for d in old}
    return dataset.rename_dims(names).assign_attrs(kind="rotation" if rotation else "system")


def as_whole(dataset: Any) -> Any:
    """As it is saved: of this format, whichever it was read from, and without what belongs to a folder that grows."""
    if dataset.attrs.get("format") not in FORMATS:
        return dataset
    without = _OF_A_FOLDER if dataset.attrs["format"] == GROWN else ()
    kept = {name: value for name, value in dataset.attrs.items() if name not in without}
    dataset = as_now(dataset).copy()
    dataset.attrs = {**kept, "kind": dataset.attrs["kind"], "format": FORMAT}
    return dataset
