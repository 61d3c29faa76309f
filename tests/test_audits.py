"""Audits of methods that do not get through: they are certified, and the answer is no."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import jax.numpy as jnp
import numpy as np
import pytest

import polhode as ph
from polhode.verify.order import Convergence


@dataclass(frozen=True)
class Euler(ph.Method):
    """Forward Euler, whose energy grows beyond all numbers in 10⁵ steps."""

    name: ClassVar[str] = "euler"
    traits: ClassVar = ph.Traits(order=1, energy="drifts", spatial_momentum="drifts", symmetric=False)

    def step(self, system, state, t, h):  # type: ignore[no-untyped-def]
        w = system.omega(state.momentum)
        turn = state.momentum.cross(w) + system.torque(t, state.attitude, w)
        return ph.Step(ph.State(state.attitude * ph.exp(w * h), state.momentum + h * turn))


def test_a_method_that_blows_up_is_certified_not_to_keep_anything(tmp_path: Path) -> None:
    certificate = ph.audit(Euler)
    assert not any(certificate.yes(what) for what in ("Qy", "C", "H", "Poisson", "symplectic", "symmetric"))
    assert 0.9 < certificate.order < 1.1
    assert {d.kind for d in certificate.deviations.values()} == {"drifts"}
    assert "until it failed after t = 720" in str(certificate)
    broken = [c.split(":")[0] for c in certificate.contradictions]
    assert broken == [
        "momentum length exact, free body",
        "energy bounded, heavy top",
        "vertical momentum exact, heavy top",
    ]
    json.dumps(certificate.record, allow_nan=False)
    certificate.plot(tmp_path / "euler.png")


def test_a_method_that_comes_near_with_no_number_of_steps_has_no_order() -> None:
    steps = np.array([4, 8, 16])
    assert Convergence(steps, np.full(3, np.nan)).order == 0.0
    assert Convergence(steps, np.array([3.0, 2.0, 1.0])).order == 0.0
    assert Convergence(steps, np.array([1e-15, 1e-15, 1e-15])).order == np.inf
    assert Convergence(steps, np.array([1e-2, 1e-3, 1.25e-4])).order == 3.0


def test_an_energy_that_grows_though_nothing_drives_the_body_is_warned_of() -> None:
    """The trapezoidal rule bounds the energy by that of half a step on, which long steps make as large as they like."""
    body, start = ph.RigidBody((1, 2, 2.5)), ph.State.of(omega=[(1, 0.5, 0.3), (1e-3, 0, 0)])
    with pytest.warns(UserWarning, match=r"trap: the energy changed by 37\.5 J, more than the 0\.863 J .* by up to 3"):
        run = ph.simulate(body, None, start, method="trap", step=50, steps=10)
    assert run.energy[:, 0].max() > 40 * run.energy[0, 0]  # 44
    ph.simulate(body, None, start, method="trap", step=2.0, steps=10)  # a few per cent, as it claims
    push = ph.Torque(lambda t, R, omega: jnp.array([1.0, 0, 0]))
    ph.simulate(body, push, start, method="imidm", step=0.1, steps=100)  # driven: no fault of the method
