"""What is given to `simulate`, as a problem; and batches of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polhode.model.checks import InputError
from polhode.model.family import Problems, batch_of
from polhode.model.problem import Problem
from polhode.multibody import System
from polhode.results.family import Family
from polhode.rotation import RigidBody, Rotation, Start


def problem_from(what: Any, load: Any = None, start: Any = None) -> Problem:
    """Whatever is given to `simulate`, as a problem."""
    if isinstance(what, Problem):
        if load is not None or start is not None:
            raise InputError("a problem brings its own load and start; give simulate(problem, step=...)")
        return what
    if isinstance(what, System):
        if load is not None or start is not None:
            raise InputError("a System brings its own forces and start; give simulate(system, method=..., step=...)")
        return Problem(what)
    if isinstance(what, Rotation):
        if start is None and load is not None:
            load, start = None, load  # simulate(rotation, start)
        if load is not None:
            raise InputError("a Rotation brings its own load; give simulate(rotation, start, step=...)")
        return Problem(what, start)
    if isinstance(what, Family):
        raise InputError("a Family goes on run by run: [simulate(run, until=...) for run in family.runs.flat]")
    if not isinstance(what, RigidBody):
        raise InputError(
            f"body must be a RigidBody or a multibody.System; got {what!r}. Example: RigidBody(inertia=(5, 5, 1))"
        )
    return Problem(Rotation(what, load), start.on(what) if isinstance(start, Start) else start)


def batch(make: Callable[..., Any], **parameters: Any) -> Problems:
    """A batch of anything that `simulate` runs: `make(mass=..., ...)`, a function of yours that returns a System, a
    Problem, or (body, load, start), is called for every member of these parameters, which go together as numpy's
    arrays do. `simulate(batch(...), step=...)` gives a `Family`; with one list of numbers its name is that of the
    dimension: `batch(lambda length: pendulum(length), length=[1.0, 1.5, 2.0])`."""

    def made(given: Any) -> Problem:
        if isinstance(given, tuple) and len(given) not in (2, 3):
            raise InputError(
                f"the function of batch returns a system, a problem, or (body, load, start); got {given!r:.80}"
            )
        return problem_from(*given) if isinstance(given, tuple) else problem_from(given)

    return batch_of(make, made, **parameters)
