"""A saved run that goes on from its end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from polhode.api import simulate
from polhode.model.checks import InputError, shown
from polhode.results.run import Run
from polhode.results.standing import read, standing
from polhode.results.store import load
from polhode.running import first_leg, recipe_for
from polhode.simulation import Plan, Progress, Status


def _is_where(run: Run, state: Any) -> bool:
    """Whether a run stands at its last sample."""
    end = run.trajectory.end
    at = end is not None and abs(run.t0 + end.done * run.step + end.offset - run.t[-1]) < 1e-9 * run.step
    last = jax.tree.leaves(run.last_state)
    return at and all(
        np.allclose(a, b, rtol=1e-9, atol=1e-9) for a, b in zip(jax.tree.leaves(state), last, strict=True)
    )


def _spoilt(path: Path, why: Exception) -> InputError:
    return InputError(f"{path}: how its run went is not in it, or spoilt ({shown(str(why))}); run it from its start")


def _about(dataset: Any, path: Path) -> dict[str, Any]:
    """How far it went: a file may say anything."""
    try:
        steps, step, t = int(dataset.attrs["steps"]), float(dataset.attrs["step"]), float(dataset.t[-1])
        if steps < 0 or not step > 0 or not np.isfinite([step, t]).all() or len(dataset.t) != len(dataset.step_count):
            raise ValueError(f"{steps} steps of {step} to {t}")
    except (AttributeError, KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
        raise _spoilt(path, error) from error
    return {"steps": steps, "step": step, "t": t}


def gone_on(job: Any, method: Any, path: Path, progress: bool | None) -> Run | None:
    """The run of the file, gone on to the job's `until`; None where that is not later, or where it can only be made
    from its start: it failed, or had events, or is a batch, or its method remembers more than a file holds."""
    dataset = load(path)
    about = _about(dataset, path)
    stands, step, status = dataset.attrs.get("stands"), about["step"], dataset.attrs.get("status")
    if not stands or job.problem.events or job.until is None or not job.until > about["t"] + 1e-9 * step:
        return None
    if status not in (Status.OK.name, Status.STOPPED.name, Status.INTERRUPTED.name):
        return None
    plan = Plan.of(step, None, about["steps"], job.every)
    leg = first_leg(job.problem, None, method, plan, Progress(plan.total, "", progress))
    if type(leg.begin.state) is not type(leg.now.matched(leg.begin.state, leg.now)):
        return None  # its method keeps more in every state than a file holds
    end = read(stands, leg.begin.state, str(path))
    try:
        run = standing(leg.run, dataset, end)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise _spoilt(path, error) from error
    if not 0 <= end.rung < len(method.rungs) or not _is_where(run, leg.seen(end.state)):
        raise InputError(f"{path}: where its run stands is not where its samples end; run it from its start")
    recipe = recipe_for(job.problem, method, plan, job.known_as(method))
    return simulate(replace(run, recipe_of=recipe), until=job.until, progress=progress)
