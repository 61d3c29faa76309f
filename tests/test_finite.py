"""A run whose energies are not finite is not OK, though every step of it was solved."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import polhode as ph
import polhode.results.parts as results
from polhode.methods import DMV
from polhode.model import InputError
from polhode.problems import problem_of
from polhode.rotation.formulas import PotentialFormula
from polhode.simulation import Status, StepError

BODY = ph.RigidBody((1, 2, 3))
LOG = ph.Potential(PotentialFormula.parse("0.001*log(R33)"))  # its torque stays finite where R33 is negative
START = ph.State.of(attitude=ph.exp((0.5, 0, 0)), omega=(1, 0.1, 0))
EXPLICIT = "rig_neg"  # of which a program is a third as long in the making

FILE = """
[body]
inertia = [1, 2, 3]
[start]
attitude = { exp = [0.5, 0, 0] }
omega = [1, 0.1, 0]
[load]
potential = "0.001*log(R33)"
[run]
method = "rig_neg"
step = 0.01
until = 3
"""


def test_an_energy_that_is_not_finite_is_an_error_that_names_it() -> None:
    with pytest.raises(
        StepError,
        match=r"rig_neg: the potential energy is nan at t = 1.07 \(step 107\); .*up to t = 1.06 are kept.*log",
    ) as e:
        ph.simulate(BODY, LOG, START, method=EXPLICIT, step=0.01, until=3)
    run = e.value.run
    assert run.trajectory.status is Status.NOT_FINITE
    assert not run.ok
    assert run.steps == 106
    assert len(run.t) == 107
    assert np.isfinite(run.energy).all()
    assert run.attitude[-1, 2, 2] > 0


def test_the_sample_at_the_end_is_looked_at_too() -> None:
    with pytest.raises(StepError, match=r"nan at t = 1.5 \(step 150\); the samples up to t = 1 are kept") as e:
        ph.simulate(BODY, LOG, START, method=EXPLICIT, step=0.01, steps=150, every=100)
    assert e.value.run.trajectory.steps.tolist() == [0, 100]


ENDS = ph.Potential(lambda R, t, end: R[2, 2] + jnp.sqrt(end - t), end=np.nextafter(0.1 + 12 * 0.1, 0))
AT_ONE = ph.Potential(lambda R: jax.lax.stop_gradient(jnp.arccos(R[2, 2])))
ASLANT = [[2, 0.5, 0], [0.5, 2.5, 0], [0, 0, 3]]


@pytest.mark.parametrize("members", [(), (2,)], ids=["one", "batch"])
@pytest.mark.parametrize(
    ("inertia", "load", "attitude", "omega", "how"),
    [
        ((1, 2, 2.5), ENDS, (1, 0, 0, 0), (0.3, 0.2, 1), {"steps": 12, "t0": 0.1}),
        (ASLANT, AT_ONE, (0, np.cos(0.55), np.sin(0.55), 0), (0, 0, 1), {"steps": 3}),
    ],
    ids=["a time rounded twice", "axes turned back"],
)
def test_what_is_judged_are_the_samples_there_are(
    inertia: Any, load: Any, attitude: Any, omega: Any, how: Any, members: tuple[int, ...]
) -> None:
    """Where steps are taken, both energies have a value at the last sample."""
    omega = np.broadcast_to(np.array(omega, float), (*members, 3))
    with pytest.raises(StepError, match="potential energy is nan"):
        ph.simulate(ph.RigidBody(inertia), load, ph.State.of(attitude=attitude, omega=omega), step=0.1, **how)


class Spoilt(DMV):
    """It begins with nothing that it could go on from."""

    def begin(self, system: Any, state: Any) -> Any:
        return replace(state, momentum=np.nan * state.momentum)


@pytest.mark.parametrize("members", [(), (3,)], ids=["one", "batch"])
def test_what_a_method_begins_with_is_not_finite(members: tuple[int, ...]) -> None:
    start = ph.State.of(omega=np.ones((*members, 3)))
    with pytest.raises(StepError, match="the kinetic energy is nan at t = 0 .*; no sample is before it"):
        ph.simulate(BODY, None, start, method=Spoilt(), step=0.1, steps=3)


def test_only_saved_samples_are_judged_and_in_the_first_blocks_as_in_later_ones() -> None:
    once = ph.Potential(lambda R, t: jnp.where(abs(t - 300.0) < 0.004, jnp.inf, 0.0) * jnp.ones_like(R[2, 2]))
    with pytest.raises(StepError, match=r"potential energy is inf at t = 300 \(step 30000\)"):
        ph.simulate(BODY, once, START, method=EXPLICIT, step=0.01, steps=40_000)
    assert ph.simulate(BODY, once, START, method=EXPLICIT, step=0.01, steps=40_000, every=7).ok


def test_a_first_step_that_fails_leaves_the_start() -> None:
    wall = ph.Torque(lambda t: (jnp.where(t > 0, jnp.nan, 0.0), 0.0, 0.0))
    with pytest.raises(StepError, match="failed in step 1, from t = 0") as e:
        ph.simulate(BODY, wall, START, step=0.01, steps=10)
    assert e.value.run.trajectory.steps.tolist() == [0]


def test_a_batch_names_its_members() -> None:
    start = ph.State.of(attitude=ph.exp((0.5, 0, 0)), omega=[[1, 0.1, 0], [2, 0.1, 0], [1, 0.1, 0]])
    with pytest.raises(StepError, match=r"\(step 107; members \[\[0\], \[2\]\] of the batch\)") as e:
        ph.simulate(BODY, LOG, start, method=EXPLICIT, step=0.01, until=3)
    assert e.value.run.energy.shape == (107, 3)


def test_the_command_line_exits_1_and_keeps_the_samples(polhode: Any) -> None:
    Path("log.toml").write_text(FILE)
    code, out, err = polhode("run", "log.toml", "--out", "log.nc")
    assert code == 1
    assert "(stopped)" in out
    assert "nan" not in out
    assert "the potential energy is nan at t = 1.07" in err
    assert ph.load("log.nc").attrs["status"] == "NOT_FINITE"
    assert ph.load("log.nc").sizes["t"] == 107


@pytest.mark.parametrize(("name", "says"), [("potential", "the potential energy is"), ("gap", "the gap is")])
def test_energies_and_residuals_of_systems(name: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    system = problem_of("pendulum").problem().system
    really = results.looked_at

    def spoilt(quantities: Any, system: Any, states: Any, t: Any) -> Any:
        values = really(quantities, system, states, t)
        if name in values and len(t) > 6:
            values[name] = np.where(np.arange(len(t)) == 6, np.nan, values[name])
        return values

    monkeypatch.setattr(results, "looked_at", spoilt)
    with pytest.raises(StepError, match=rf"{says} nan at t = 0.06 \(step 6\); the samples up to t = 0.05") as e:
        ph.simulate(system, step=0.01, steps=20)
    assert e.value.run.steps == 5


def test_a_system_whose_energy_is_not_finite_at_the_start_is_refused() -> None:
    body = ph.multibody.Body("a", mass=1.0, inertia=(1, 1, 1), velocity=(1e200, 0, 0))
    with pytest.raises(InputError, match="the kinetic energy at the start must be finite; got"):
        ph.simulate(ph.multibody.System([body]), step=0.01, steps=1)


def test_a_step_that_fails_before_the_next_sample_keeps_those_before(tmp_path: Path) -> None:
    """In the first step, and late in a run that saves seldom."""
    body, start = ph.RigidBody((5, 5, 1)), ph.State.of(attitude=ph.exp((0.5, 0, 0)), omega=(0, 0.1, 5))

    def load(strong: float, growth: float) -> ph.Potential:
        return ph.Potential(lambda R, t: strong * R[2, 2] ** 2 + 20 * R[2, 2] * (1 + jnp.exp(growth * (t - 1.7))))

    with pytest.raises(StepError) as first:
        ph.simulate(body, load(1e9, 0.0), start, step=0.5, until=5, every=2)
    assert len(first.value.run.t) >= 1
    with pytest.raises(StepError) as late:
        ph.simulate(body, load(0.0, 40.0), start, step=0.001, until=40, every=500)
    assert late.value.run.steps > 1500
    assert list(late.value.run.trajectory.steps[:4]) == [0, 500, 1000, 1500]
    late.value.run.save(tmp_path / "late.nc")
