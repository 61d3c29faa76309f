"""A run in a few numbers: the record that `polhode run --json` prints, and the lines at a prompt."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.algebra import Quaternion


def summary(run: Any) -> dict[str, Any]:
    """Plain data."""
    first, last = run.ends("energy")
    record: dict[str, Any] = {
        "method": run.method.name,
        "step": run.step,
        "steps": run.steps,
        "seconds": run.trajectory.seconds,
        "final": _final(run),
        "energy": {
            "start": np.asarray(first).tolist(),
            "end": np.asarray(last).tolist(),
            "drift": run.drift("energy"),
        },
        "spatial_momentum": {"drift": run.drift("spatial_momentum")},
    }
    if "twist_rate" in run:
        record["nonholonomic_momentum"] = {"drift": run.drift("nonholonomic_momentum")}
    if "gap" in run:
        record["bodies"] = list(run.known.names)
        record["constraints"] = {name: run.most(name) for name in ("slip", "gap")}
        record |= {"halvings": run.halvings, "renewals": run.renewals}
    if run.lost:
        record["lost"] = [{"member": list(x.member), "step": x.step, "t": x.t, "why": x.why} for x in run.lost]
    if run.events:
        record["events"] = [{"name": event.name, "t": event.t} for event in run.events]
    if run.estimate is not None:
        record["error"] = run.estimate.record()
    return record | {"conserved": list(run.conserved), "iterations": run.trajectory.iterations, "ok": run.ok}


def _final(run: Any) -> dict[str, Any]:
    """The last sample; of several bodies, lists in the order of `bodies`."""
    end = {name: run.ends(name)[1] for name in ("attitude", "omega", "momentum", "position", "velocity") if name in run}
    if "momentum" not in run:
        end["momentum"] = np.einsum("bij,bj->bi", run.known.inertias, end["omega"])
    end["attitude"] = Quaternion.of(end["attitude"]).matrix().array
    last = {name: end[name] for name in ("attitude", "momentum", "omega", "position", "velocity") if name in end}
    one = "position" in run and run.known.size == 1
    return {
        "t": run.end_sample,
        **{name: np.asarray(values[0] if one else values).tolist() for name, values in last.items()},
        "observables": {q.given: np.asarray(run.ends(q.name)[1]).tolist() for q in run.quantities.values() if q.given},
    }


def described(run: Any) -> str:
    """A few lines."""
    s = summary(run)
    of = f", {run.known.size} bodies, {run.known.rows} rows" if "gap" in run else ""
    batch = f", batch {run.members}" if run.members else ""
    batch += f", {len(run.lost)} of its members lost" if run.lost else ""
    if "gap" in run:
        kept = f"slip at most {s['constraints']['slip']:.1e}, gaps at most {s['constraints']['gap']:.1e}"
    else:
        kept = _told(run, "nonholonomic_momentum" if "twist_rate" in run else "spatial_momentum", s)
    said = "" if run.estimate is None else f"; error at the end {np.max(run.estimate.error):.2g}, estimated"
    return (
        f"<polhode run: {s['method']}{of}, {run.steps} steps of {run.step:g} s to t = {run.end_time:g}{batch}, "
        f"{len(run.t)} samples\n"
        f"  {_told(run, 'energy', s)}, {kept}, {s['iterations']:.2g} iterations a step, {s['seconds']:.3g} s\n"
        f"  {run.trajectory.status.value}{' of those left' if run.lost else ''}{said}>"
    )


def _told(run: Any, name: str, s: dict[str, Any]) -> str:
    """How far a quantity went: drift where the motion conserves it, and no fault of the method's where not."""
    changed = "changed by the forces by" if "gap" in run else "changed by the load by"
    return f"{name.replace('_', ' ')} {'drift' if name in run.conserved else changed} {s[name]['drift']:.2e}"
