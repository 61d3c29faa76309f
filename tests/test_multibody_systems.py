"""Systems that the multibody tests share, a loop to run them, and what their description refuses."""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode import multibody as mb
from polhode.model import InputError

G = 9.81


def roll(view: mb.View) -> Any:
    R = view.rotation("rear frame")
    return jnp.arctan2(R[2, 1], R[2, 2])


def bicycle(speed: float, roll_rate: float) -> mb.System:
    """Meijaard et al. 2007: z down, x forward, upright and straight."""
    w, c, tilt = 1.02, 0.08, math.pi / 10
    rear, front, down = 0.3, 0.35, (0, 0, -1)

    def body(name: str, mass: float, inertia: Any, x: float, z: float, spin: float = 0.0) -> mb.Body:
        velocity = (speed, -roll_rate * z, 0)
        return mb.Body(name, mass, inertia, position=(x, 0, z), velocity=velocity, omega=(roll_rate, spin, 0))

    bodies = [
        body("rear wheel", 2.0, (0.0603, 0.12, 0.0603), 0, -rear, -speed / rear),
        body("rear frame", 85.0, [[9.2, 0, 2.4], [0, 11, 0], [2.4, 0, 2.8]], 0.3, -0.9),
        body("front frame", 4.0, [[0.05892, 0, -0.00756], [0, 0.06, 0], [-0.00756, 0, 0.00708]], 0.9, -0.7),
        body("front wheel", 3.0, (0.1405, 0.28, 0.1405), w, -front, -speed / front),
    ]
    steer = (w + c - 0.8 * math.tan(tilt), 0, -0.8)
    return mb.System(
        bodies,
        forces=[mb.Gravity((0, 0, G))],
        constraints=[
            mb.Revolute("rear frame", "rear wheel", at=(0, 0, -rear), axis=(0, 1, 0)),
            mb.Revolute("rear frame", "front frame", at=steer, axis=(math.sin(tilt), 0, math.cos(tilt))),
            mb.Revolute("front frame", "front wheel", at=(w, 0, -front), axis=(0, 1, 0)),
            mb.RollingDisk("rear wheel", rear, normal=down),
            mb.RollingDisk("front wheel", front, normal=down),
        ],
        observables={"roll": roll},
    )


def disk(theta: float, psi_rate: float, theta_rate: float, phi_rate: float) -> mb.System:
    """m = a = 1, A = 1/4, C = 1/2; R = Rx(θ) at the start, ω = ψ' e_z + θ' e_x + φ' n."""
    R = Rotation.from_euler("X", theta).as_matrix()
    n = R @ [0, 1, 0]
    e = np.array([0, 0, 1]) - n * n[2]
    e /= np.linalg.norm(e)
    omega = np.array([theta_rate, 0, psi_rate]) + phi_rate * n
    body = mb.Body(
        "disk",
        1.0,
        (0.25, 0.5, 0.25),
        position=(0, 0, e[2]),
        attitude=R,
        velocity=np.cross(omega, e),
        omega=R.T @ omega,
        shape=mb.shapes.Disk(1.0),
    )
    return mb.System([body], forces=[mb.Gravity((0, 0, -G))], constraints=[mb.RollingDisk("disk", 1.0)])


def cyclic_disk(theta: float = 0.2, r: float = -2.25) -> mb.System:
    """The steady motion: (C + ma²)qr = Aq² tan θ - mga sin θ, the smaller q."""
    q = min(np.roots([0.25 * math.tan(theta), -1.5 * r, -G * math.sin(theta)]).real, key=abs)
    psi_rate = q / math.cos(theta)
    return disk(theta, psi_rate, 0.0, r - psi_rate * math.sin(theta))


@partial(jax.jit, static_argnames=("method",))
def run(method: ph.Method, system: mb.System, state: mb.State, h: Any, n: Any) -> dict[str, Any]:
    """n steps of the first rung of a method, as in a run while they are solved: the last state and the extremes on the
    way. h and n are numbers, so one program serves all."""
    method = method.rungs[0]

    def total(state: mb.State, t: Any) -> Any:
        return sum(mb.energy(system, state, t))

    def body(i: Any, s: dict[str, Any]) -> dict[str, Any]:
        result = method.step(system, s["state"], i * h, h)
        t = (i + 1) * h
        psi, phi = mb.residuals(system, result.state, t)
        E = total(result.state, t)
        rolling = jnp.where(jnp.array(system.holonomic, dtype=bool), 0.0, psi) if system.rows else psi
        return {
            "state": result.state,
            "least": jnp.minimum(s["least"], E),
            "most": jnp.maximum(s["most"], E),
            "phi": jnp.maximum(s["phi"], jnp.max(jnp.abs(phi), initial=0.0)),
            "psi": jnp.maximum(s["psi"], jnp.max(jnp.abs(psi), initial=0.0)),
            "slip": jnp.maximum(s["slip"], jnp.max(jnp.abs(rolling), initial=0.0)),
            "ok": s["ok"] & result.report.converged,
            "iterations": s["iterations"] + result.report.iterations,
            "halvings": s["halvings"] + result.report.halvings,
        }

    E = total(state, 0.0)
    zero = jnp.asarray(0.0)
    start = {
        "state": state,
        "least": E,
        "most": E,
        "phi": zero,
        "psi": zero,
        "slip": zero,
        "ok": jnp.asarray(True),
        "iterations": jnp.asarray(0),
        "halvings": jnp.asarray(0),
    }
    out = lax.fori_loop(0, n, body, start)
    return {**out, "p_E": 100 * (out["most"] - out["least"]) / abs(E)}  # (60), in %


def order(method: ph.Method, system: mb.System, h: float, n: int, *, halvings: int = 2) -> dict[str, float]:
    """The observed order at time n h of positions, velocities and half-step multipliers, from h, h/2, h/4, ..."""
    start, _ = mb.consistent_start(system)
    states = [
        run(method, system, method.begin(system, start), h / 2**j, n * 2**j)["state"] for j in range(halvings + 1)
    ]
    orders = {}
    for name in ("positions", "quaternions", "velocities", "omegas"):
        values = [np.asarray(getattr(s, name)) for s in states]
        gaps = [np.abs(a - b).max() for a, b in itertools.pairwise(values)]
        orders[name] = math.log2(gaps[-2] / gaps[-1])
    return orders


WHEEL: dict[str, Any] = {"mass": 1.0, "inertia": (0.25, 0.5, 0.25), "position": (0, 0, 1)}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: mb.Body("wheel", 0.0, (1, 1, 1)), "body 'wheel': mass must be one positive number; got 0.0"),
        (lambda: mb.Body("wheel", 1.0, (1, 1, 5)), "body 'wheel': no body has principal moments"),
        (lambda: mb.Body("ground", 1.0, (1, 1, 1)), "give this body another name"),
        (lambda: mb.System([]), "at least one body"),
        (lambda: mb.System([mb.Body("a", 1, (1, 1, 1)), mb.Body("a", 1, (1, 1, 1))]), "called 'a'"),
        (
            lambda: mb.System([mb.Body("wheel", **WHEEL)], constraints=[mb.Ball("wheel", "grund", at=(0, 0, 0))]),
            "unknown body 'grund'; did you mean 'ground'?",
        ),
        (
            lambda: mb.System([mb.Body("wheel", **WHEEL)], constraints=[mb.Revolute("ground", "wheel", at=(0, 0, 0))]),
            "needs an axis",
        ),
        (
            lambda: mb.System([mb.Body("wheel", **WHEEL)], constraints=[mb.Ball("ground", "wheel")]),
            "either at=",
        ),
        (
            lambda: mb.System([mb.Body("w", **WHEEL)], constraints=[mb.RollingDisk("w", 1.0, axis=(0, 0, 1))]),
            "lies flat",
        ),
        (
            lambda: mb.System([mb.Body("w", **WHEEL)], constraints=[mb.RollingSphere("w", -1.0)]),
            "radius must be one positive number; got -1.0",
        ),
        (
            lambda: mb.System([mb.Body("w", **WHEEL)], constraints=[mb.Holonomic(lambda v: v.t, "clock")]),
            "asks the view for no body",
        ),
        (
            lambda: mb.System([mb.Body("w", **WHEEL)], forces=[mb.Force("w", lambda v: v.t)]),
            "three components",
        ),
        (
            lambda: mb.System([mb.Body("w", **WHEEL)], observables={"x": lambda v: v.position("wheel")[0]}),
            "unknown body 'wheel'",
        ),
    ],
)
def test_what_a_description_refuses(make: Any, words: str) -> None:
    with pytest.raises(InputError) as error:
        make()
    assert words in str(error.value)


def test_contradictory_rows_are_named() -> None:
    body = mb.Body("w", **WHEEL)
    rows = [mb.Holonomic(lambda v, z=z: v.position("w")[2] - z, f"height {z}") for z in (1, 2)]
    with pytest.raises(InputError, match="contradict each other: height 1, height 2"):
        mb.consistent_start(mb.System([body], constraints=rows))
    moves = [mb.Nonholonomic(lambda v, u=u: v.velocity("w")[0] - u, f"speed {u}") for u in (1, 2)]
    with pytest.raises(InputError, match="contradict each other at the start: speed 1, speed 2"):
        mb.consistent_start(mb.System([body], constraints=moves))


def test_a_start_beyond_repair_names_the_row() -> None:
    body = mb.Body("w", **WHEEL)
    system = mb.System([body], constraints=[mb.Holonomic(lambda v: v.position("w")[2] ** 2 + 1.0, "never")])
    with pytest.raises(InputError, match="violates 'never' by"):
        mb.consistent_start(system)


def test_a_start_is_projected_and_the_change_reported() -> None:
    body = mb.Body(
        "w", mass=2.0, inertia=(0.25, 0.5, 0.25), position=(0, 0, 1.1), velocity=(1, 0, 0.2), omega=(0, 1, 0)
    )
    system = mb.System([body], constraints=[mb.RollingDisk("w", 1.0)])
    state, correction = mb.consistent_start(system)
    psi, phi = mb.residuals(system, state)
    assert np.abs(psi).max() < 1e-15  # 0
    assert np.abs(phi).max() < 1e-15  # 0
    assert correction.shift[0, 2] == pytest.approx(-0.1, abs=1e-14)
    assert correction.phi[0] == pytest.approx(0.1, abs=1e-14)
    assert correction.velocity[0, 2] == pytest.approx(-0.2, abs=1e-14)
    assert "w: moved by 0.1 m" in str(correction)


def test_redundant_rows_are_named_and_carry_least_multipliers() -> None:
    """A door on two ball joints: they share its weight evenly."""
    door = mb.Body("door", 3.0, (0.4, 0.4, 0.1), position=(0.5, 0, 0))
    hinges = [mb.Ball("ground", "door", at=(0, 0, z), name=name) for z, name in ((0.5, "upper"), (-0.5, "lower"))]
    system = mb.System([door], forces=[mb.Gravity((0, 0, -G))], constraints=hinges)
    assert [system.row_names[i] for i in system.redundant] == ["lower.z"]
    state, correction = mb.consistent_start(system)
    assert correction.redundant == ("lower.z",)
    vertical = [state.multipliers[system.row_names.index(f"{name}.z")] for name in ("upper", "lower")]
    assert np.allclose(np.abs(vertical), 3.0 * G / 2, rtol=1e-12)  # 14.715 each
    out = run(mb.ThreeField(), system, state, 0.01, 100)
    assert out["ok"]
    after = [out["state"].multipliers[system.row_names.index(f"{name}.z")] for name in ("upper", "lower")]
    assert np.allclose(np.abs(after), 3.0 * G / 2, rtol=1e-13)  # 5.1e-15
    assert out["phi"] < 1e-15  # 5.6e-17
