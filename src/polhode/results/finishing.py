"""The last commit of a run that was written as it went: what is known only when it has ended."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import Any

import numpy as np

from polhode.results.dataset import at_its_end
from polhode.results.growing import Growing
from polhode.results.judgement import SPREAD
from polhode.results.planting import planted
from polhode.results.standing import states_of, written
from polhode.results.tree import Tree
from polhode.simulation import Trajectory

END = "end"  # the mark of a run that has ended


def finished(run: Any, sink: Growing, trajectory: Trajectory, why: str) -> tuple[str, ...]:
    """Names of what the motion conserves. `trajectory`: how it went, without its samples; `why`: it ended so."""
    sink.close()
    tree, run = sink.tree, replace(run, trajectory=trajectory)
    kept = () if any(event.acted for event in sink.events) or not sink.samples else _conserved(run, tree, sink.samples)
    small = at_its_end(run)
    if small.variables:
        place = tree.hidden / "new"
        shutil.rmtree(place, ignore_errors=True)
        planted(small, place)
        tree.graft(place)
        shutil.rmtree(place)
    last = trajectory.ended if trajectory.end is not None else sink.last or (0, 0.0)
    about = {"finished": 1, "status": trajectory.status.name, "conserved": " ".join(kept), "why": why,
             "stands": written(trajectory.end), **sink.progress(), "steps": last[0]}  # fmt: skip
    if trajectory.failure:
        about["failure"] = json.dumps(trajectory.failure)
    sink.finish({**sink.attributes, **about}, END)
    return kept


def _conserved(run: Any, tree: Tree, samples: int) -> tuple[str, ...]:
    """By samples that are read again: as many as of a run in memory."""
    which = np.linspace(0, samples - 1, SPREAD).round().astype(int)
    found: dict[str, list[np.ndarray]] = {}
    for part in np.unique(which // tree.rows).tolist():
        for name, values in tree.part(part).items():
            found.setdefault(name, []).append(values[which[which // tree.rows == part] % tree.rows])
    both = {name: np.concatenate(parts) for name, parts in found.items()}
    return run.now.conserved(states_of(run.kind, both.__getitem__), both["t"])
