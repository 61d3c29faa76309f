"""Gebhardt & Romero (2020), section 6: a body on the non-twisting frame, thrown, pushed, and both.

The push is a material moment -f(t)(m1 d1 + m2 d2), f a hat of height 1 over the first second
(116). The printed amplitudes of (115) and (118) are twenty times too large; with those below
every digit of the paper's tables comes out.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from polhode.algebra import Vec3
from polhode.model.problem import Problem
from polhode.problems.base import BuiltIn, Parameter
from polhode.rotation import NonTwistingBody, Rotation, State, Torque


def hat(t: Any, m1: Any, m2: Any) -> Vec3:
    """-f(t)(m1, m2, 0), f(t) = 2t, then 2 - 2t, then 0 (116)."""
    f = jnp.maximum(0.0, jnp.minimum(2.0 * t, 2.0 - 2.0 * t))
    return Vec3(-f * m1, -f * m2, 0.0 * f)


def _make(inertia: tuple[float, ...], omega: tuple[float, ...], push: tuple[float, ...]) -> Problem:
    J11, J22, J33, J12 = inertia
    body = NonTwistingBody([[J11, J12, 0.0], [J12, J22, 0.0], [0.0, 0.0, J33]])
    load = Torque(hat, m1=push[0], m2=push[1]) if any(push) else None
    return Problem(Rotation(body, load), State.of(omega=(*omega, 0.0)))


def _case(number: int, title: str, omega: tuple[float, float], push: tuple[float, float]) -> BuiltIn:
    return BuiltIn(
        f"nontwisting-{number}",
        f"Body on the non-twisting frame: {title}",
        "nontwisting",
        (
            Parameter("inertia", (3.0, 4.0, 5.0, -1 / 7), "kg m²", "J11, J22, J33, J12; J13 = J23 = 0"),
            Parameter("omega", omega, "rad/s", "ω⊥ at the start, on d1 and d2"),
            Parameter("push", push, "N m", "moment on d1 and d2 at t = 0.5 s, a hat over the first second"),
        ),
        _make,
        0.005,
        5.0,
        "em",
    )


NONTWISTING = (
    _case(1, "thrown", (6.0, -18.0), (0.0, 0.0)),
    _case(2, "pushed from rest", (0.0, 0.0), (123.625, 53.75)),
    _case(3, "thrown and pushed", (1.5, 4.5), (61.8125, 26.875)),
)
