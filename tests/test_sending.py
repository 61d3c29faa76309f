"""Runs and errors sent to another process, as a pool does."""

import copy
import multiprocessing
import pickle
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import pytest
import xarray

import polhode as ph
from polhode import multibody as mb
from polhode.model import InputError
from polhode.problems import problem_of
from polhode.results.sending import Lost
from polhode.rotation.formulas import PotentialFormula
from polhode.simulation import StepError

TOP = ph.RigidBody((5, 5, 1))
START = ph.State.of(attitude=ph.exp((0.05, 0, 0)), omega=(0, 0, 50))
BAD = {"step": 0.01, "steps": 200}


def weight(R: Any) -> Any:
    return 20 * R[2, 2]


def failed() -> StepError:
    load = ph.Potential(PotentialFormula.parse("0.001*log(R33)"))
    start = ph.State.of(attitude=ph.exp((0.5, 0, 0)), omega=(1, 0.1, 0))
    with pytest.raises(StepError) as e:
        ph.simulate(ph.RigidBody((1, 2, 3)), load, start, **BAD)
    return e.value


def job(kind: str) -> Any:
    if kind == "input":
        raise InputError("not so")
    if kind == "fails":
        raise failed()
    return ph.simulate(TOP, ph.Potential(lambda R: 20 * R[2, 2]), START, step=0.01, steps=10)


def same(a: Any, b: Any) -> None:
    xarray.testing.assert_identical(a.dataset, b.dataset)
    assert a.trajectory.status is b.trajectory.status
    assert a.recipe == b.recipe
    assert repr(a) == repr(b)


@pytest.mark.parametrize("twin", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_errors_survive(twin: Any) -> None:
    error = failed()
    error.add_note("of a user")
    got = twin(error)
    assert type(got) is StepError
    assert str(got) == str(error)
    assert got.__notes__ == ["of a user"]
    same(got.run, error.run)
    stop = twin(ph.Interrupted("stopped", error.run, 15))
    assert (str(stop), stop.signum.name, stop.run.steps) == ("stopped", "SIGTERM", error.run.steps)
    assert str(twin(InputError("not so"))) == "not so"


def test_a_pool_with_failing_jobs_ends_and_has_the_runs() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        results = [pool.apply_async(job, (kind,)) for kind in ("fails", "works", "input")]
        with pytest.raises(StepError, match="the potential energy is nan") as e:
            results[0].get(120)
        run = results[1].get(60)
        with pytest.raises(InputError, match="not so"):
            results[2].get(60)
    assert np.isfinite(e.value.run.energy).all()
    assert e.value.run.t[-1] == pytest.approx(1.06)
    np.testing.assert_array_equal(run.dataset.energy, job("works").energy)


def test_a_run_with_a_lambda_is_sent_without_it_and_says_so() -> None:
    run = ph.simulate(TOP, ph.Potential(lambda R: 20 * R[2, 2]) + ph.Potential(weight), START, step=0.01, steps=10)
    got = pickle.loads(pickle.dumps(run))
    same(got, run)
    lost, kept = (part.fn for part in got.load.parts)
    assert kept is weight
    assert "test_sending.py, line" in repr(lost)
    with pytest.raises(InputError, match="the function <lambda> of .*test_sending.py, line .* was not sent along"):
        ph.simulate(got.body, got.load, START, step=0.01, steps=10)
    same(pickle.loads(pickle.dumps(got)), run)
    assert copy.copy(run).load is run.load
    assert copy.deepcopy(run).load.parts[0].fn is run.load.parts[0].fn  # here it need not be lost
    same(copy.deepcopy(run), run)


def test_what_was_looked_at_is_not_sent() -> None:
    run = ph.simulate(TOP, None, START, step=0.01, steps=1000)
    before = len(pickle.dumps(run))
    assert run.plot.dataset is run.dataset
    assert len(pickle.dumps(run)) == before < 1001 * 10 * 8 + 2000


def test_a_method_that_cannot_be_sent_keeps_its_name() -> None:
    @dataclass(frozen=True)
    class Mine(ph.methods.IMIDM):
        name = "mine"

    run = ph.simulate(TOP, None, START, method=Mine(), step=0.01, steps=10)
    got = pickle.loads(pickle.dumps(run))
    assert isinstance(got.method, Lost)
    same(got, run)
    with pytest.raises(InputError, match="was not sent along"):
        got.method.step(None, None, 0, 0.1)


def test_what_cannot_be_found_here_does_not_lose_the_run() -> None:
    run = ph.simulate(TOP, ph.Potential(weight), START, step=0.01, steps=10)
    data = pickle.dumps(run).replace(b"test_sending", b"test_sendinG")
    got = pickle.loads(data)
    np.testing.assert_array_equal(got.energy, run.energy)
    with pytest.raises(InputError, match="the system was not sent along.*test_sendinG"):
        assert got.load


def test_a_system_is_sent_without_its_lambdas() -> None:
    system = problem_of("pendulum").problem().system
    seen = {"height": lambda view: view.position(0)[2]}
    run = ph.simulate(system, step=0.01, steps=5)
    got = pickle.loads(pickle.dumps(run))
    same(got, run)
    assert jax.tree.leaves(got.system.masses)[0] == system.masses[0]
    odd = ph.simulate(mb.System([mb.Body("a", 1.0, (1, 1, 1))], observables=seen), step=0.01, steps=1)
    assert list(pickle.loads(pickle.dumps(odd)).observables) == ["height"]
