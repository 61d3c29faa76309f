"""Every kind of run goes on with the same bits: any method, axes, batches, samples at times, events."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_long_runs import killed, often, same, stop_after

import polhode as ph
from polhode.model import InputError
from polhode.model.registry import all_methods
from polhode.simulation import StepError

__all__ = ["often"]  # a fixture: small parts, and a commit after every block

TENSOR = [[1.0, 0.1, 0.0], [0.1, 1.6, 0.2], [0.0, 0.2, 2.2]]
START = ph.State.of(omega=(0.7, 1.1, -0.5))
SEVERAL = ph.State.of(omega=[(0.7, 1.1, -0.5), (0.1, 1.0, 0.0), (0.3, -0.2, 0.9)])
FREE = {"method": "dmv", "step": 0.01, "steps": 4000}
TURNS = ph.Event(lambda t, R: R[0, 0], stop=False, name="turns")
KICK = ph.Event(lambda t, R: R[0, 0], direction=1, name="kick", action=lambda t, state: _kicked(state))


def _kicked(state: Any) -> Any:
    from dataclasses import replace

    return replace(state, momentum=state.momentum * 1.01)


KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "axes of its own": ((ph.RigidBody(TENSOR), None, START), {**FREE, "every": 7}),
    "a batch": ((ph.RigidBody((1, 1.6, 2.2)), None, SEVERAL), {**FREE, "every": 7}),
    "every so many seconds": ((ph.RigidBody((1, 1.6, 2.2)), None, START), {**FREE, "every_seconds": 0.433}),
    "times": ((ph.RigidBody((1, 1.6, 2.2)), None, START), {**FREE, "times": [0.0, 1.0, 1.001, 1.002, 17.7, 40.0]}),
    "events": ((ph.RigidBody((1, 1.6, 2.2)), None, START), {**FREE, "every": 7, "events": [TURNS]}),
    "events that act": ((ph.RigidBody((1, 1.6, 2.2)), None, START), {**FREE, "every": 7, "events": [KICK]}),
    "a state of its own": ((ph.RigidBody((1, 1.6, 2.2)), None, START), {**FREE, "method": "em", "every": 7}),
}


LATER = ("axes of its own", "every so many seconds", "events")  # a batch, times and events that act ask for more


@pytest.mark.parametrize("kind", [pytest.param(k, marks=pytest.mark.long) if k in LATER else k for k in KINDS])
def test_it_goes_on_with_the_same_bits(kind: str, tmp_path: Path) -> None:
    """As if it were never cut, thrice; and what is written is what a run in memory has."""
    what, how = KINDS[kind]
    whole = ph.simulate(*what, **how, out=tmp_path / "whole.zarr")
    path = tmp_path / "run.zarr"
    given = {name: how[name] for name in ("events", "method") if name in how}
    with pytest.raises(SystemExit):
        ph.simulate(*what, **how, out=path, on_sample=stop_after(2))
    if kind != "times":  # which ends sooner
        for blocks in (1, 3):
            with pytest.raises(SystemExit):
                ph.resume(path, *what, **given, on_sample=stop_after(blocks))
    run = ph.resume(path, *what, **given)
    same(path, tmp_path / "whole.zarr")
    memory = ph.simulate(*what, **how)
    assert [(e.name, e.t) for e in run.events] == [(e.name, e.t) for e in memory.events]
    for name in memory.dataset.variables:
        if kind != "events that act" or name != "iterations":
            np.testing.assert_array_equal(memory.dataset[name], ph.load(path)[name], err_msg=str(name))
    assert run.drift("energy") == memory.drift("energy") == whole.drift("energy")
    assert json.loads(json.dumps(run.summary())) | {"seconds": 0, "iterations": 0} == json.loads(
        json.dumps(memory.summary())
    ) | {"seconds": 0, "iterations": 0}


def test_what_it_was_begun_with(tmp_path: Path) -> None:
    what, how = KINDS["events"]
    path = tmp_path / "run.zarr"
    with pytest.raises(SystemExit):
        ph.simulate(*what, **how, out=path, on_sample=stop_after(2))
    with pytest.raises(InputError, match="does not say of what it is a run .* give what simulate was given"):
        ph.resume(path)
    with pytest.raises(InputError, match=r"was begun with the events \['turns'\], and goes on with those; got \[\]"):
        ph.resume(path, *what)


def test_a_run_that_fails_is_written_up_to_there(tmp_path: Path) -> None:
    """A potential without a value beyond an angle: the sample before is the last."""
    load, path = ph.Potential(lambda R: 20 * (R[2, 2] - 0.9) ** 0.5), tmp_path / "run.zarr"
    start = ph.State.of(omega=(1.0, 0.0, 0.1))
    how = {"method": "rig_neg", "step": 1e-3, "steps": 1000}
    with pytest.raises(StepError) as memory:
        ph.simulate(ph.RigidBody((5, 5, 1)), load, start, **how)
    with pytest.raises(StepError) as file:
        ph.simulate(ph.RigidBody((5, 5, 1)), load, start, **how, out=path)
    assert str(file.value) == str(memory.value)
    np.testing.assert_allclose(file.value.run["energy"], memory.value.run["energy"], rtol=1e-14)  # other programs
    np.testing.assert_array_equal(file.value.run["momentum"], memory.value.run["momentum"])
    with pytest.raises(InputError, match="cannot go on from step"):
        ph.resume(path, ph.RigidBody((5, 5, 1)), load, start)


def test_a_run_in_a_file_goes_on_in_memory(tmp_path: Path) -> None:
    what, how = KINDS["axes of its own"]
    run = ph.simulate(*what, **how, out=tmp_path / "run.zarr")
    longer, other = ph.simulate(run, steps=500), ph.simulate(ph.simulate(*what, **how), steps=500)
    np.testing.assert_array_equal(longer["momentum"], other["momentum"])


def _case(method: Any) -> tuple[str, dict[str, Any]]:
    """A problem for it, and what it is run by."""
    if method.kind == "system":
        return "pendulum", {"method": method.name, "step": 1e-3, "steps": 1200, "every": 3}
    problem = "free-body" if method.traits.loads == "none" else "heavy-top"
    return problem, {"method": method.name, "step": 1e-3, "steps": 10_000, "every": 7}


METHODS = {name: method for kind in ("rotation", "system") for name, method in all_methods(kind).items()}


@pytest.mark.long
@pytest.mark.optimised
@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_killed_four_times(name: str, tmp_path: Path) -> None:
    """At random instants; 200 in all."""
    assert 4 * len(METHODS) >= 200
    problem, how = _case(METHODS[name])
    ph.simulate(ph.problem(problem), **how, out=tmp_path / "whole.zarr")
    count = seed = 0
    while count < 4:
        path = tmp_path / f"{seed}.zarr"
        count += killed(path, problem, how, 4 - count, seed)
        same(path, tmp_path / "whole.zarr")
        seed += 1
        assert seed < 5, "no process was killed at work"
    print(f"{name}: {count} kills in {seed} runs of {how['steps']} steps of {problem}, bits as of a run never cut")
