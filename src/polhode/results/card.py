"""A run as a notebook shows it: a small picture, what was conserved, and its quantities at a click."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np

from polhode.model.html import folded, table
from polhode.results.frames import Stage
from polhode.results.scenes import scene_of
from polhode.results.style import house_style

_INCHES, _DPI = 2.2, 100
_JUDGED = ("energy", "spatial_momentum", "vertical_momentum", "nonholonomic_momentum")
_ROWS = 12  # members of a family


def card_of(run: Any) -> str:
    """HTML with nothing to load."""
    batch = f", a batch of {' × '.join(map(str, run.members))}" if run.members else ""
    title = f"{run.method.name}: {run.steps:,} steps of {run.step:g} s to t = {run.end_time:g} s{batch}"
    end = run.trajectory.status.value + (f"; {len(run.lost)} members were lost" if run.lost else "")
    about = table(("", ""), _told(run), title) + f"<div>{end}, in {run.trajectory.seconds:.3g} s</div>"
    picture = "" if run.members else f'<img alt="the bodies, half way" src="{_picture(run)}">'
    front = (
        f'<div style="display: flex; flex-wrap: wrap; gap: 1em; align-items: center">{picture}<div>{about}</div></div>'
    )
    return front + folded("quantities", run.dataset._repr_html_())


def card_of_family(family: Any) -> str:
    """A row for each of the first members."""
    names = list(family.coordinates)
    rows = [
        (*(f"{record['parameters'][name]:g}" for name in names), record["steps"], f"{record['energy']['drift']:.1e}",
         "" if record["ok"] else record.get("failure", "failed"))
        for record in family.summary()[:_ROWS]
    ]  # fmt: skip
    count = family.runs.size
    more = f"<div>and {count - _ROWS:,} more</div>" if count > _ROWS else ""
    title = f"{count:,} runs of {family.first.method.name} to t = {family.t[-1]:g} s"
    return (
        table((*names, "steps", "energy, changed by", ""), rows, title)
        + more
        + folded("quantities", family.dataset._repr_html_())
    )


def _told(run: Any) -> list[tuple[str, str]]:
    """What the motion conserves, and by how much the run changed it; what it does not, by how much it changed."""
    rows = []
    for name in _JUDGED:
        if name in run:
            how = "kept to" if name in run.conserved else "changed by the load, by"
            rows.append((name.replace("_", " "), f"{how} {run.drift(name):.1e}"))
    for name, words in (("slip", "m/s or rad/s"), ("gap", "m or rad")):
        if name in run:
            rows.append((name, f"at most {np.max(run[name]):.1e} {words}"))
    rows += [(event.name, f"at t = {event.t:.6g} s") for event in run.events[:3]]
    return [*rows, ("iterations a step", f"{run.trajectory.iterations:.2g}")]


def _picture(run: Any) -> str:
    scene = scene_of(run, "")
    with house_style() as Figure:
        figure = Figure(figsize=(_INCHES, _INCHES), dpi=_DPI, layout="none")
        Stage(scene).draw(figure.add_axes((0, 0, 1, 1)), float(scene.times[len(scene.times) // 2]))
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=_DPI, transparent=False)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
