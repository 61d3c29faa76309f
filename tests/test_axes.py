"""A step called by the user: states are in the user's own axes, whatever the tensor."""

from typing import Any

import jax
import numpy as np
import pytest

import polhode as ph
from polhode.methods import all_methods

TENSOR = np.array([[5.0, 0.3, 0.2], [0.3, 4.0, 0.1], [0.2, 0.1, 3.0]])
BODY = ph.RigidBody(TENSOR)
GRAVITY = ph.Potential(lambda R: 20.0 * R[2, 2] + 3.0 * R[0, 1])
START = ph.State.of(attitude=ph.exp((0.3, 0.1, 0.0)), omega=(1.0, 2.0, 0.5))
LATER = ("imidm", "akw", "exact", "kahan-li6-imidm")
NAMES = ("dmv10", "em", "rig_pos", "strang-dmv", *(pytest.param(name, marks=pytest.mark.long) for name in LATER))


@pytest.mark.parametrize("name", NAMES)
def test_a_step_is_the_one_that_simulate_takes(name: str) -> None:
    method = all_methods("rotation")[name]
    load = None if method.traits.loads == "none" else GRAVITY
    system, state = ph.Rotation(BODY, load), START.on(BODY)
    began = method.begin(system, state)
    step = method.step(system, began, 0.0, 0.01)
    run = ph.simulate(BODY, load, START, method=method, step=0.01, steps=1)
    assert np.asarray(step.state.momentum.array) == pytest.approx(run.state.momentum.array[-1], abs=1e-14)
    assert np.asarray(step.state.attitude.array) == pytest.approx(run.state.attitude.array[-1], abs=1e-14)
    assert float(step.state.kinetic(system)) == pytest.approx(run.kinetic[-1], rel=1e-14)
    assert float(system.kinetic(began.momentum)) == pytest.approx(run.kinetic[0], rel=1e-14)


class Doubled:
    """Not a method by itself."""

    def begin(self, system: Any, state: Any) -> Any:
        return ph.State(state.attitude, system.moments)


class WithMixin(Doubled, ph.methods.IMIDM):
    name = "with-mixin"


def test_what_a_method_has_from_beside_is_in_principal_axes_too() -> None:
    system, state = ph.Rotation(BODY, GRAVITY), START.on(BODY)
    moments = WithMixin().begin(system, state).momentum
    assert np.asarray(system.to_principal(ph.State(state.attitude, moments)).momentum.array) == pytest.approx(
        system.moments.array
    )


def test_an_energy_of_a_methods_own_is_that_of_its_state() -> None:
    with pytest.raises(TypeError, match=r"returns a State of its own from `begin`, with a method `kinetic\(system\)`"):

        class Own(ph.methods.IMIDM):
            def kinetic_energy(self, system: Any, state: Any) -> Any:
                return 0.0


def test_quantities_of_a_system_are_in_the_users_axes() -> None:
    system, state = ph.Rotation(BODY, GRAVITY), START.on(BODY)
    omega = np.array([1.0, 2.0, 0.5])
    assert np.asarray(state.momentum.array) == pytest.approx(TENSOR @ omega)
    assert np.asarray(system.omega(state.momentum).array) == pytest.approx(omega)
    assert np.asarray(system.momentum(system.omega(state.momentum)).array) == pytest.approx(TENSOR @ omega)


def test_against_euler_integrated_by_others() -> None:
    """After many steps, with dopri on Π' = Π × I⁻¹Π in the same axes."""
    from scipy.integrate import solve_ivp

    inverse = np.linalg.inv(TENSOR)
    Pi = TENSOR @ np.array([1.0, 2.0, 0.5])
    truth = solve_ivp(lambda t, y: np.cross(y, inverse @ y), (0.0, 1.0), Pi, method="DOP853", rtol=1e-13, atol=1e-13)
    system, method = ph.Rotation(BODY), all_methods("rotation")["dmv10"]
    step = jax.jit(lambda state: method.step(system, state, 0.0, 0.05).state)
    state: Any = START.on(BODY)
    for _ in range(20):
        state = step(state)
    assert np.asarray(state.momentum.array) == pytest.approx(truth.y[:, -1], abs=1e-11)  # 3e-13
