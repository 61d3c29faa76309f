"""What a member of a sweep is: a problem, a method, a step; and which go together as a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from polhode.given import problem_from
from polhode.inputs.job import job_from
from polhode.model.checks import InputError, shown
from polhode.model.problem import Problem
from polhode.model.registry import DEFAULTS, method_of
from polhode.rotation import Rotation, Start

OF_RUN = ("method", "step")  # swept, but no parameters


@dataclass(frozen=True)
class Source:
    """Where problems come from: the content of an input file, or a function of the user's."""

    name: str
    content: Mapping[str, Any] | None = None
    make: Callable[..., Any] | None = None
    how: Mapping[str, Any] = field(default_factory=dict)  # until, steps, every, ... as `simulate` takes them

    def member(self, swept: Mapping[str, Any]) -> tuple[Problem, dict[str, Any]]:
        """The problem, and what else `simulate` is given."""
        problem, file = self._problem({name: value for name, value in swept.items() if name not in OF_RUN})
        given = {key: value for key, value in self.how.items() if value is not None}
        chosen = {**file, **given, **{key: swept[key] for key in OF_RUN if key in swept}}
        if {"every_seconds", "times"} & set(given):
            chosen.pop("every", None)
        if {"until", "steps"} & set(given):
            chosen = {k: v for k, v in chosen.items() if k not in ("until", "steps") or k in given}
        elif not {"until", "steps"} & set(chosen):
            chosen["until"] = problem.until
        step = chosen.get("step", problem.step)
        if step is None:
            raise InputError("step is missing: give the length of a step (s), or sweep over it")
        method = method_of(chosen.get("method") or problem.method or DEFAULTS[problem.kind], problem.kind)
        return problem, {**chosen, "step": float(step), "method": method}

    def _problem(self, parameters: Mapping[str, Any]) -> tuple[Problem, dict[str, Any]]:
        """And what the file says of its run."""
        if self.make is not None:
            made = self.make(**parameters)
            return problem_from(*made) if isinstance(made, tuple) else problem_from(made), {}
        content = deepcopy(dict(self.content or {}))
        if "problem" in content:
            content["parameters"] = {**content.get("parameters", {}), **parameters}
        else:
            for name, value in parameters.items():
                _put(content, name, value)
        job = job_from(content, self.name, {})
        if not isinstance(job.problem, Problem):
            raise InputError(f"{self.name}: a sweep is of one problem; put lists of its parameters under [sweep.over]")
        if len(job.methods) != 1 or len(job.lengths) != 1:
            raise InputError(
                f"{self.name}: [run] has one method and one step; lists of them, method and step, under [sweep.over]"
            )
        said = {"method": job.chosen()[0][0], "step": job.lengths[0], "every": job.every}
        return job.problem, said | ({"until": job.until} if job.steps is None else {"steps": job.steps})


def _put(content: dict[str, Any], name: str, value: Any) -> None:
    """The value to where `start.omega.2` leads."""
    *way, last = name.split(".")
    place: Any = content
    try:
        for key in way:
            place = place[int(key) if isinstance(place, list) else key]
        place[int(last) if isinstance(place, list) else last]  # it is there
        place[int(last) if isinstance(place, list) else last] = value
    except (KeyError, IndexError, ValueError, TypeError) as error:
        raise InputError(
            f"{shown(name)} leads to no number of the input; of a file with [body] and [start] give the way to one, as "
            "in start.omega.2, counted from 0"
        ) from error


def stacked(problems: Sequence[Problem]) -> Problem | None:
    """Problems of one body as one batch, if one program moves them all; None if they have to be run one by one."""
    first = problems[0]
    if len(problems) == 1 or not isinstance(first.system, Rotation) or first.events:
        return None
    trees = []
    for problem in problems:
        start = problem.start.on(problem.system) if isinstance(problem.start, Start) else problem.start
        trees.append((problem.system, start))
    leaves, shapes = zip(*(jax.tree.flatten(tree) for tree in trees), strict=True)
    if any(shape != shapes[0] for shape in shapes) or any(p.t0 != first.t0 for p in problems):
        return None
    if any(np.ndim(x) for own in leaves for x in own):  # an array for one member could be one number for each
        return None
    columns = [np.array([float(x) for x in column]) for column in zip(*leaves, strict=True)]
    system, start = jax.tree.unflatten(shapes[0], columns)
    return Problem(system, start, t0=first.t0)
