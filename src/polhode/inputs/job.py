"""`Job`: everything a run needs, from an input file, a problem's name or a saved run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from polhode.algebra import exp
from polhode.api import simulate
from polhode.inputs.events import events_of
from polhode.inputs.going_on import gone_on
from polhode.inputs.saved import SavedMethod, read_recipe
from polhode.inputs.schema import BodyTable, InputFile, LoadTable, RunTable, StartTable, check, read_toml
from polhode.model import InputError
from polhode.model.checks import ending, nearest, numbers, shown
from polhode.model.method import Method
from polhode.model.problem import Problem
from polhode.model.registry import method_of
from polhode.problems import PROBLEMS, problem_of
from polhode.results.run import Run
from polhode.rotation import NonTwistingBody, Potential, RigidBody, Rotation, Start, State, Torque
from polhode.rotation.formulas import PotentialFormula, TorqueFormula
from polhode.rotation.inertia import UnphysicalError
from polhode.rotation.loads import Load


@dataclass(frozen=True)
class Job:
    """What to run: a problem, with every method and every step."""

    name: str
    problem: Any  # Problem, or Problems
    methods: tuple[str | SavedMethod, ...]
    lengths: tuple[float, ...]  # of a step
    until: float | None
    steps: int | None
    every: int
    tolerance: float | None = None  # in the place of lengths
    saved: Path | None = None  # a run that goes on, where `until` is later than its end

    def override(
        self,
        methods: Iterable[str] = (),
        lengths: Iterable[float] = (),
        until: float | None = None,
        every: int | None = None,
        tolerance: float | None = None,
    ) -> Job:
        """With what the command line says instead."""
        methods, lengths = tuple(methods), tuple(lengths)
        if self.saved is not None and self.steps is not None and until is None and (lengths or tolerance is not None):
            until = self.steps * self.lengths[0]  # as long as it was, in other steps
        further = self.saved is not None and until is not None and not (methods or lengths or every or tolerance)
        job = replace(
            self,
            methods=methods or self.methods,
            every=self.every if every is None else every,
            saved=self.saved if further else None,
        )
        if tolerance is not None and lengths:
            raise InputError("give --step or --tolerance, which chooses the step, not both")
        if tolerance is not None or lengths:
            job = replace(job, lengths=tuple(lengths), tolerance=tolerance)
        return job if until is None else replace(job, until=until, steps=None)

    def chosen(self) -> list[tuple[Method, Any]]:
        """Every method with every step, or None where a tolerance chooses it; unknown ones are refused before anything
        runs."""
        if not self.methods:
            raise InputError(f"{self.name}: [run] method is an empty list; name one method or more")
        lengths = self.lengths if self.tolerance is None else (None,)
        if not lengths:
            raise InputError(f"{self.name}: [run] step is missing; give one there or with --step, or a tolerance")
        return [(self._method(given), h) for given in self.methods for h in lengths]

    def _find(self, given: Any) -> Method:
        return method_of(given, self.problem.kind)

    def _method(self, given: str | SavedMethod) -> Method:
        return given.made(self._find) if isinstance(given, SavedMethod) else self._find(given)

    def known_as(self, method: Method) -> str | None:
        """`module:name` of an instance in a module of the user's, from where it can be had again."""
        for given in self.methods:
            name = given.data if isinstance(given, SavedMethod) else given
            if isinstance(name, str) and ":" in name and self._method(given) is method:
                return name
        return None

    def run(self, method: Any, step: float | None, *, progress: bool | None = None, **written: Any) -> Run:
        """`written`: out, force, stop_if, sentinels, as `simulate` takes them."""
        found = self._find(method)
        if self.saved is not None and (run := gone_on(self, found, self.saved, progress)) is not None:
            return run
        how: dict[str, Any] = {"until": self.until, "steps": self.steps, "every": self.every, "progress": progress}
        how |= {"tolerance": self.tolerance, **written}
        return simulate(self.problem, method=found, step=step, method_path=self.known_as(found), **how)


def job_of(source: str, settings: Mapping[str, Any] | None = None, *, trust: bool = False) -> Job:
    """From a `.toml` file, a saved `.zarr`, `.nc` or `.csv`, or the name of a problem. With `trust` what a
    saved run names is imported, if its method is not polhode's own."""
    settings = settings or {}
    path = Path(source)
    if ending(path) == ".toml" or (os.path.isfile(source) and ending(path) not in (".nc", ".csv")):
        return job_from(read_toml(path), source, settings)
    if ending(path) in (".zarr", ".nc", ".csv"):
        recipe, method = read_recipe(path, trust=trust)
        job = job_from(recipe, source, settings)
        job = job if method is None else replace(job, methods=(method,))
        return job if settings else replace(job, saved=path)
    if source not in PROBLEMS:
        no = "a folder, not" if os.path.isdir(source) else "neither"
        said = f"{shown(source)} is {no} a file nor a built-in problem{nearest(source, PROBLEMS)}"
        raise InputError(f"{said} Problems: {', '.join(PROBLEMS)}; files end in .toml")
    return job_from({"problem": source}, source, settings)


def job_from(data: dict[str, Any], source: str, settings: Mapping[str, Any]) -> Job:
    """From what an input file holds."""
    file = check(data, source)
    if file.problem is None:
        if settings or file.parameters:
            raise InputError(f"{source}: parameters belong to built-in problems; this input has no `problem`")
        return _from_tables(file, data, source)
    extra = [name for name in ("body", "start", "load") if getattr(file, name) is not None]
    if extra:
        raise InputError(f"{source}: `problem` brings its own {', '.join(extra)}; remove the one or the other")
    problem = problem_of(file.problem).problem(**{**(file.parameters or {}), **settings})
    problem = _with_events(problem, events_of(file.event, problem.system), data.get("event"))
    run = _checked(file.run, source)
    return Job(
        problem.name,
        problem,
        _tuple(run.method) if "method" in run.model_fields_set else (problem.method,),
        () if run.tolerance is not None else _tuple(problem.step if run.step is None else run.step),
        problem.until if run.until is None and run.steps is None else run.until,
        run.steps,
        run.every,
        run.tolerance,
    )


def _from_tables(file: InputFile, data: dict[str, Any], source: str) -> Job:
    if file.body is None or file.start is None:
        missing = "body" if file.body is None else "start"
        raise InputError(f"{source}: the table [{missing}] is missing (or name a built-in `problem`)")
    run = _checked(file.run, source)
    if run.until is None and run.steps is None:
        raise InputError(f"{source}: [run] needs until (seconds) or steps (how many)")
    content = {k: v for k, v in data.items() if k != "run"}
    system = Rotation(_body(file.body), _load(file.load))
    events = events_of(file.event, system)
    return Job(
        Path(source).stem,
        Problem(system, _start(file.start), name=Path(source).stem, content=content, events=events),
        _tuple(run.method),
        () if run.step is None else _tuple(run.step),
        run.until,
        run.steps,
        run.every,
        run.tolerance,
    )


def _with_events(problem: Any, events: tuple[Any, ...], tables: Any) -> Any:
    if not events:
        return problem
    content = problem.content and {**problem.content, "event": tables}
    if isinstance(problem, Problem):
        return replace(problem, events=events, content=content)
    members = np.empty_like(problem.members)
    members.flat = [_with_events(member, events, tables) for member in problem.members.flat]
    return replace(problem, members=members, content=content)


def _checked(run: RunTable, source: str) -> RunTable:
    if run.step is not None and run.tolerance is not None:
        raise InputError(f"{source}: [run] has step and tolerance, which chooses the step; remove one")
    return run


def _body(table: BodyTable) -> RigidBody:
    shapes = ("inertia", "box", "ellipsoid", "cylinder", "points")
    name = _one_of("body", table, shapes)
    value = getattr(table, name)
    kind = NonTwistingBody if table.non_twisting else RigidBody
    if name == "inertia":
        try:
            body = kind(value, allow_unphysical=table.allow_unphysical)
        except UnphysicalError as error:
            raise InputError(
                f"{error.args[0]}. If this is meant, write allow_unphysical = true under [body]"
            ) from error
        if body.tensor.shape != (3, 3):
            raise InputError(f"inertia under [body] is of one body, not a batch; got {shown(value)}")
        return body
    return getattr(kind, name)(**value.model_dump())


def _start(table: StartTable) -> Start:
    attitude: Any = None
    if table.attitude is not None:
        kind = _one_of("start.attitude", table.attitude, ("exp", "quaternion", "matrix", "directors"))
        attitude = getattr(table.attitude, kind)
        if kind == "directors":
            return _turning(table, directors=attitude)
        if kind == "exp":
            with np.errstate(over="ignore", invalid="ignore"):  # an angle of 1e200 names no attitude, and is refused
                attitude = exp(numbers("start.attitude.exp", attitude, (3,)))
        elif kind == "quaternion":
            attitude = numbers("start.attitude.quaternion", attitude, (4,))
        else:
            attitude = numbers("start.attitude.matrix", attitude, (3, 3))
    return _turning(table, attitude=attitude)


def _turning(table: StartTable, **where: Any) -> Start:
    kind = _one_of("start", table, ("omega", "momentum", "spatial_momentum"))
    return State.of(**where, **{kind: getattr(table, kind)})


def _load(table: LoadTable | None) -> Load | None:
    loads: list[Load] = []
    if table is not None and table.potential is not None:
        loads.append(Potential(PotentialFormula.parse(str(table.potential))))
    if table is not None and table.torque is not None:
        if len(table.torque.value) != 3:
            raise InputError(f"load.torque.value must be three expressions; got {len(table.torque.value)}")
        loads.append(Torque(TorqueFormula.parse(str(v) for v in table.torque.value), frame=table.torque.frame))
    if not loads:
        return None
    return loads[0] if len(loads) == 1 else loads[0] + loads[1]


def _one_of(where: str, table: Any, names: tuple[str, ...]) -> str:
    given = [name for name in names if getattr(table, name) is not None]
    if len(given) != 1:
        raise InputError(f"[{where}] needs exactly one of {', '.join(names)}; it has {', '.join(given) or 'none'}")
    return given[0]


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list) else (value,)
