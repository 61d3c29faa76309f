"""A batch of problems, or of steps, run member by member: each gives the bits that it would give alone."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any

import numpy as np

from polhode._notices import warn, warn_once
from polhode._programs import platform
from polhode._signals import Team, watched
from polhode.model.checks import InputError, numbers, positive, shown
from polhode.model.family import Coordinate, Problems, check_alike
from polhode.results.family import Family, gathered
from polhode.results.rerun import NOT_AGAIN
from polhode.simulation import Interrupted, Progress, StepError
from polhode.simulation.tiles import cores
from polhode.together import ApartError, AtOnce, moved_together

_TOLD = 3  # members that failed, in a warning
_WHOLE = 1e-9
_AHEAD = 4  # runs for each thread that are asked for before the next one is done
_LOOK = 0.1  # s, between looks at signals


def family_of(
    simulate: Callable[..., Any],
    problems: Problems,
    how: dict[str, Any],
    progress: bool | None,
    where: Callable[[int], dict[str, Any]] = lambda number: {},
) -> Family:
    """Every member by `simulate(problem, **how)`, on all cores, or all by one kernel on a GPU; `where` it is written,
    by its number. One that fails keeps its samples, and the others go on."""
    _check_times(problems, how)
    runs: list[Any] = []
    reasons: dict[tuple[int, ...], str] = {}
    places = list(np.ndindex(*problems.members.shape))
    calls = _calls(simulate, problems, how, progress, where)
    with Progress(problems.members.size, f"{problems.members.size} runs", progress, "runs") as bar:
        try:
            for at, finish in zip(places, _under_way(calls, problems, how), strict=True):
                try:
                    runs.append(finish())
                except StepError as error:
                    runs.append(error.run)
                    reasons[at] = str(error)
                bar.advance(len(runs))
        except KeyboardInterrupt as stop:
            _interrupted(problems, runs, reasons, stop)
    if reasons:
        told = "; ".join(f"member {list(at)}: {why}" for at, why in list(reasons.items())[:_TOLD])
        warn(f"{len(reasons)} of {len(runs)} members failed; they keep their samples up to there. {told}")
    return gathered(problems, runs, reasons, _recipe(problems, runs, how))


def _calls(
    simulate: Callable[..., Any], problems: Problems, how: dict[str, Any], progress: bool | None, where: Any
) -> list[Callable[[], Any]]:
    """What to call for the run of each."""
    pairs = zip(problems.members.flat, _own(problems, how), strict=True)
    given = [(problem, {**own, **where(k)}) for k, (problem, own) in enumerate(pairs)]
    if platform() != "cpu":
        try:
            if "out" in given[0][1]:
                raise ApartError("each is written by itself as it goes")
            return moved_together(problems, how, progress)
        except ApartError as error:
            warn_once(f"members of this family run one by one, on the cores of the CPU and not by a kernel: {error}")
        except Interrupted as stop:
            raise Interrupted(str(stop), gathered(problems, stop.run, {}, None), stop.signum) from stop
        simulate = partial(simulate, device="cpu")
    return [partial(simulate, problem, progress=False, **own) for problem, own in given]


def _under_way(
    calls: Sequence[Callable[[], Any]], problems: Problems, how: dict[str, Any]
) -> Iterator[Callable[[], Any]]:
    """What to call for the run of each, in their order. The first, which compiles, runs by itself; the others in as
    many threads as there are cores, unless functions of the user's, which may not know of threads, are called on the
    way."""
    yield calls[0]
    if cores() == 1 or how.get("on_sample") is not None or _acting(problems, how):
        yield from calls[1:]
        return
    team = Team()
    with watched() as signals, ThreadPoolExecutor(cores(), "polhode-run") as threads:
        signals.keep()
        waiting = deque(calls[1:])
        running: deque[Future[Any] | AtOnce] = deque()
        try:
            while waiting or running:
                while waiting and len(running) < _AHEAD * cores():
                    call = waiting.popleft()
                    running.append(call if isinstance(call, AtOnce) else threads.submit(team.call, call))
                first = running[0]
                if isinstance(first, Future):
                    while not wait([first], timeout=_LOOK).done:
                        team.came = team.came or signals.came
                running.popleft()
                yield first.result if isinstance(first, Future) else first
        finally:
            team.came = team.came or signals.came or (signal.SIGINT if running else None)
            for future in running:
                if isinstance(future, Future):
                    future.cancel()


def _acting(problems: Problems, how: dict[str, Any]) -> bool:
    """Whether events change the motion, by functions that Python calls."""
    given = problems.first.events if how.get("events") is None else how["events"]
    return any(getattr(event, "action", None) is not None for event in np.atleast_1d(np.array(given or (), object)))


def _check_times(problems: Problems, how: dict[str, Any]) -> None:
    """An InputError where members would be saved at different times."""
    if how.get("times") is not None or how.get("every_seconds") is not None:
        return
    said = "a batch is saved at times that all members have: give times=[...] or every_seconds="
    if how.get("tolerance") is not None:
        raise InputError(f"with a tolerance every member takes steps of its own; {said}")
    own = {(problem.step if how.get("step") is None else None, problem.t0) for problem in problems.members.flat}
    if len(own) > 1:
        raise InputError(f"the members have steps, or times at the start, of their own; {said}")


def by_steps(problem: Any, steps: Any) -> Problems:
    """The same problem with every one of these steps."""
    lengths = numbers("step", steps)
    if lengths.ndim != 1 or not len(lengths):
        raise InputError(f"step is one length (s), or a list of them; got {shown(steps)}")
    for h in lengths:
        positive("step", h)
    members = np.empty(len(lengths), dtype=object)
    members[:] = [problem] * len(lengths)
    check_alike(members)
    return Problems(members, ("step",), {"step": Coordinate(("step",), lengths, "s")})


def _own(problems: Problems, how: dict[str, Any]) -> list[dict[str, Any]]:
    """What each member is given: with other steps, samples at the same times."""
    if problems.dims != ("step",):
        return [how] * problems.members.size
    lengths = problems.coordinates["step"].values
    if how.get("steps") is not None:
        raise InputError("with a list of steps give until, as so many steps of each end at different times")
    ratios = lengths.max() / lengths
    if how.get("times") is None and how.get("every_seconds") is None:
        off = np.abs(ratios - np.round(ratios)) > _WHOLE * ratios
        if off.any():
            raise InputError(
                f"samples of these steps are at different times: {lengths.max():g} is not a whole number of steps of "
                f"{lengths[off][0]:g}; give times=[...] or every_seconds="
            )
        every = how.get("every") or 1
        return [{**how, "step": float(h), "every": every * round(r)} for h, r in zip(lengths, ratios, strict=True)]
    return [{**how, "step": float(h)} for h in lengths]


def _interrupted(problems: Problems, runs: list[Any], reasons: dict[tuple[int, ...], str], stop: Any) -> None:
    if isinstance(stop, Interrupted):
        runs.append(stop.run)
    if not runs:
        raise stop
    message = f"interrupted in run {len(runs)} of {problems.members.size}; those before are the `run` of this interrupt"
    signum = getattr(stop, "signum", signal.SIGINT)
    raise Interrupted(message, gathered(problems, runs, reasons, None), signum) from stop


def _recipe(problems: Problems, runs: list[Any], how: dict[str, Any]) -> dict[str, Any] | None:
    """As of the first run, with the parameters of all."""
    recipe = runs[0].recipe
    if recipe is None or NOT_AGAIN in recipe or problems.content is None or how.get("tolerance") is not None:
        return None
    return {**recipe, **problems.content}
