"""The records of `polhode run --json`: what was run, beside what came of it."""

from __future__ import annotations

from typing import Any

from polhode import __version__
from polhode.inputs import Job
from polhode.results.family import Family


def records_of(job: Job, run: Any) -> list[dict[str, Any]]:
    """One for each member of a batch, else one."""
    if not isinstance(run, Family):
        return [_about(job.name, job.problem) | run.summary()]
    about = [_about(job.name, member) for member in job.problem.members.flat]
    return [
        {**a, **record, "parameters": a["parameters"] | record["parameters"]}
        for a, record in zip(about, run.summary(), strict=False)  # one that was interrupted has fewer
    ]


def _about(name: str, problem: Any) -> dict[str, Any]:
    """The parameters of a built-in problem; the tables of a file that describes its own."""
    content = problem.content or {}
    return {"version": __version__, "problem": name, "parameters": content.get("parameters", content)}
