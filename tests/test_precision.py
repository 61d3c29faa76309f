"""JAX's 64-bit mode, switched off by someone else: refused, not computed in float32 in silence."""

from collections.abc import Callable
from typing import Any

import jax
import pytest

import polhode as ph
from polhode import multibody as mb

TOP = ph.RigidBody((5.0, 5.0, 1.0))
START = ph.State.of(omega=(0.0, 0.1, 5.0))
BODY = mb.Body("ball", 1.0, (1.0, 1.0, 1.0))
SYSTEM = mb.System([BODY])

CALLS: dict[str, Callable[[], Any]] = {
    "simulate": lambda: ph.simulate(TOP, None, START, step=0.1, steps=1),
    "simulate exactly": lambda: ph.simulate(TOP, None, START, method="exact", step=0.1, steps=1),
    "simulate a system": lambda: ph.simulate(SYSTEM, step=0.1, steps=1),
    "exact": lambda: ph.exact(TOP, START, 1.0),
    "a system": lambda: mb.System([BODY]),
    "a consistent start": lambda: mb.consistent_start(SYSTEM),
    "a step": lambda: ph.methods.IMIDM().step(ph.Rotation(TOP), START.on(TOP), 0.0, 0.1),
}


@pytest.mark.parametrize("call", CALLS)
def test_without_64_bits_nothing_is_computed(call: str) -> None:
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(ph.InputError, match=r"64-bit mode.*jax_enable_x64"):
            CALLS[call]()
    finally:
        jax.config.update("jax_enable_x64", True)
    with jax.enable_x64(False), pytest.raises(ph.InputError, match="64-bit mode"):
        CALLS[call]()


def test_with_64_bits_again_all_is_as_before() -> None:
    run = ph.simulate(TOP, None, START, method="exact", step=0.1, steps=3)
    assert run.energy[-1] == pytest.approx(run.energy[0], rel=1e-15)


def test_inside_of_a_transformation_simulate_points_to_flow() -> None:
    def energy(weight: Any) -> Any:
        load = ph.Potential(lambda R, weight: weight * R[2, 2], weight=weight)
        return ph.simulate(TOP, load, START, step=0.1, steps=1).energy[-1]

    for call in (jax.grad(energy), jax.jit(energy)):
        with pytest.raises(ph.InputError, match=r"not inside of jit, vmap or grad.*polhode\.flow"):
            call(1.0)
    with pytest.raises(ph.InputError, match=r"not inside of jit"):
        jax.jit(lambda m: ph.simulate(SYSTEM.replaced(masses=m), step=0.1, steps=1).energy[-1])(SYSTEM.masses)
