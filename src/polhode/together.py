"""Members of a batch of systems moved together, by one kernel on a GPU: from their starts to runs that are judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import jax
import numpy as np

from polhode._notices import warn
from polhode._signals import watched
from polhode.asked import moment_of, plan_of
from polhode.device import on_cpu
from polhode.kernel import UnwritableError
from polhode.kernel.cuda import why_not
from polhode.leg import Leg
from polhode.model.checks import InputError
from polhode.model.family import Problems
from polhode.model.method import Method
from polhode.model.problem import Problem
from polhode.model.pytree import changed
from polhode.model.registry import DEFAULTS, method_of
from polhode.multibody.start.starts import starts_of
from polhode.results.checks import Overseer
from polhode.results.glances import nothing_wrong_in
from polhode.results.room import later
from polhode.results.run import Run
from polhode.running import first_leg, moved, recipe_for
from polhode.simulation import Checkpoint, Interrupted, Plan, Progress, Status, Trajectory, integrate
from polhode.simulation.rungs import CAREFUL
from polhode.simulation.systems_on_gpu import Alike, ByKernel, SystemsOnGpu
from polhode.turning import ended_well

_FIRST_BLOCK = 4  # steps; see `first_steps`
_NOT_YET = {
    "tolerance": "steps are chosen for each member by itself",
    "events": "events are looked for by Python",
    "on_sample": "on_sample is called with the samples of each member",
    "stop_if": "stop_if ends each member by itself",
    "times": "samples between steps are taken by each member itself",
    "every_seconds": "samples between steps are taken by each member itself",
}


class AtOnce(partial[Run]):
    """A call that takes no time."""


class ApartError(Exception):
    """Members cannot be moved together; the message says why."""


def program_of(method: Method, alike: Alike) -> SystemsOnGpu:
    """An `ApartError` where no kernel can be made."""
    if (why := why_not()) is not None:
        raise ApartError(why)
    try:
        return SystemsOnGpu(alike.kernel(method), alike)
    except UnwritableError as error:
        raise ApartError(f"{method.name} holds {error}") from error


def moved_together(problems: Problems, how: dict[str, Any], progress: bool | None) -> list[Callable[[], Run]]:
    """What to call for the run of each member, in their order; an `ApartError` where each is to move by itself.
    Members whose steps the kernel does not solve go on by themselves, as they would alone, and so do those of whose
    samples there is something to say. `Interrupted`, whose `run` is a list of runs, where a signal came."""
    method = _method(problems, how)
    given = [one if how["t0"] is None else replace(one, t0=moment_of("t0", how["t0"])) for one in problems.members.flat]
    plan = _plan(given[0], how)
    whole = Whole(given, method, plan, how, progress)
    whole.move()
    return [whole.call(k) for k in range(len(given))]


def _method(problems: Problems, how: dict[str, Any]) -> Method:
    if problems.kind != "system":
        raise ApartError("they are runs of one body each; many bodies are one run, by leading axes of their start")
    for name, why in _NOT_YET.items():
        if how.get(name) is not None:
            raise ApartError(why)
    if problems.dims == ("step",):
        raise ApartError("each has steps of its own")
    members = list(problems.members.flat)
    if any(one.events for one in members):
        raise ApartError(_NOT_YET["events"])
    first, *rest = (method_of(how["method"] or one.method or DEFAULTS[one.kind], one.kind) for one in members)
    if any(other != first for other in rest):
        raise ApartError("each has a method of its own")
    return first


def _plan(problem: Problem, how: dict[str, Any]) -> Plan:
    step = problem.step if how["step"] is None else how["step"]
    if step is None:
        raise InputError("step is missing: give the length of a step (s), simulate(..., step=0.01), or a tolerance")
    until = problem.until if how["until"] is None and how["steps"] is None else how["until"]
    return plan_of(step, until, how["steps"], problem.t0, {n: how[n] for n in ("every", "every_seconds", "times")})


class Whole:
    """All members: their starts, one kernel, and what becomes of each."""

    def __init__(
        self, problems: list[Problem], method: Method, plan: Plan, how: dict[str, Any], progress: bool | None
    ) -> None:
        self.problems, self.method, self.plan, self.how, self.progress = problems, method, plan, how, progress
        self.legs = self._legs()
        try:
            self.alike = Alike([leg.now for leg in self.legs], [leg.begin.state for leg in self.legs])
        except InputError as error:
            raise ApartError(error.args[0]) from error
        self.program = program_of(method, self.alike)

    def _legs(self) -> list[Leg]:
        """Starts of all; of those that are no other problem than one before, its start."""
        distinct = {id(one): one for one in self.problems}
        t0 = self.problems[0].t0
        if any(one.t0 != t0 for one in distinct.values()):
            raise ApartError("each has a time of its own at the start")
        made: dict[int, Leg] = {}
        with on_cpu():
            own = [one for one in distinct.values() if one.start is None]
            for one, found in zip(own, starts_of([one.system for one in own], float(t0)) if own else (), strict=True):
                if found is not None:
                    made[id(one)] = self._leg(one, *found)
            for key, one in distinct.items():
                if key not in made:
                    made[key] = first_leg(one, None, self.method, self.plan, Progress(1, "", False))
        return [made[id(one)] for one in self.problems]

    def _leg(self, problem: Problem, now: Any, state: Any) -> Leg:
        """As `first_leg` makes it, of a start that was found."""
        self.method.check(now)
        nothing = Trajectory(np.zeros(1, int), jax.tree.map(lambda x: x[None], state), Status.OK, 0.0, 0.0, 0.0)
        run = Run(problem.system, self.method, self.plan.step, nothing, now, None, float(problem.t0), self.plan.apart,
                  begun=state)  # fmt: skip
        leg = Leg(run, Checkpoint(state), now)
        return changed(leg, begin=Checkpoint(leg.begun(state)))

    def move(self) -> None:
        """All, to the end of the plan, or to where a step of theirs is not solved."""
        first, start = self.legs[0], self.alike.start
        bar = Progress(self.plan.total, f"{self.method.name}  h = {self.plan.step:g}", self.progress)
        count = len(self.legs)
        with watched() as signals:
            found = integrate(
                self.method, first.now, Checkpoint(start), self.plan, t0=first.run.t0,
                later=self._later, first_block=_FIRST_BLOCK, progress=bar, signals=signals,
                rungs=ByKernel(self.program),
            )  # fmt: skip
            came = signals.came
        self.found, self.lost = found, {record.member[0]: record.step for record in found.lost}
        t = first.run.t0 + found.steps * self.plan.step
        self.states = jax.tree.map(lambda x: np.ascontiguousarray(np.moveaxis(np.asarray(x), 1, 0)), found.states.state)
        with on_cpu():
            fine = nothing_wrong_in(self.method, self.alike.system, self.alike.own, self.states, found.steps, t)
        self.fine = fine & (self.program.tally[2:] == 0).all(axis=0)
        self.end = None if found.end is None else jax.tree.map(np.asarray, found.end.state.state)
        if came is not None:
            at = found.end.done if found.end is not None else 0
            message = f"interrupted at step {at}; the family up to there is the `run` of this interrupt"
            raise Interrupted(message, [self._so_far(k) for k in range(count)], came)
        if self.lost:
            warn(
                f"{len(self.lost)} of {count} members have steps that the kernel does not solve; these go on by "
                "themselves, on the CPU, from there"
            )

    def _later(self) -> int:
        """Numbers a sample takes besides its own."""
        with on_cpu():
            return len(self.legs) * later(self.legs[0].run)

    def _so_far(self, k: int) -> Run:
        """The run of a member as far as the kernel moved it."""
        found, leg = self.found, self.legs[k]
        taken = self.lost[k] - 1 if k in self.lost else found.end.done if found.end is not None else 0
        count = int(np.searchsorted(found.steps, taken, side="right"))
        iterations, worst, renewals, halvings = self.program.tally[:, k].tolist()
        states = jax.tree.map(lambda x: x[k, :count], self.states)
        if k in self.lost:  # there the next rung takes over, if there is one
            climbs = len(self.method.rungs) > 1
            end = Checkpoint(self.program.stayed[k], taken, 0.0, int(climbs), taken + CAREFUL if climbs else 0)
        else:
            end = Checkpoint(jax.tree.map(lambda x: x[k].copy(), self.end), taken)
        trajectory = Trajectory(
            found.steps[:count], states, Status.OK if k in self.lost else found.status,
            found.seconds / len(self.legs), iterations / max(taken, 1), worst, int(renewals), int(halvings), end=end,
        )  # fmt: skip
        recipe = partial(recipe_for, self.problems[k], self.method, self.plan, self.how["method_path"], None)
        run = changed(leg.run, trajectory=trajectory, recipe_of=recipe, every=self.plan.apart)
        if self.fine[k] and k not in self.lost:
            run.__dict__["nothing_wrong"] = True
        return run

    def call(self, k: int) -> Callable[[], Run]:
        """For the run of a member."""
        return AtOnce(self._so_far, k) if self.fine[k] and k not in self.lost else partial(self._run, k)

    def _run(self, k: int) -> Run:
        """To its end and judged, as `simulate` gives it."""
        run, sentinels = self._so_far(k), self.how["sentinels"]
        with on_cpu(), watched() as signals:
            if k in self.lost:
                leg = Leg(run, run.trajectory.end, run.now)  # type: ignore[arg-type]
                run = moved(leg, self.plan, Progress(1, "", False), signals, run.recipe_of, asked=(None, sentinels))
            else:
                run = run.judge()
                run = Overseer(self.legs[k].run, None, True, None).judged(run) if sentinels else run
            return ended_well(run, signals)
