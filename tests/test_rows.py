"""Rows in closed form are those that differentiating φ and ψ gives."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from polhode import multibody as mb
from polhode.multibody.rows import gathered as gathered_module
from polhode.multibody.rows.differentiated_rows import DifferentiatedRows
from polhode.multibody.rows.gathered import gathered
from polhode.multibody.rows.gathering import by_bodies, by_body, by_row, by_row_and_body
from polhode.multibody.rows.group import Group

NAMES = ("one", "two")
PAIRS = (("one", "two"), ("two", "one"), ("one", mb.GROUND), (mb.GROUND, "two"))
AT, AXIS, OTHER = (0.3, -0.7, 1.1), (0.2, 0.9, -0.4), (-0.5, 0.1, 0.8)


def _joint(kind: type, **options: Any) -> Callable[..., list[mb.Constraint]]:
    return lambda: [kind(a, b, name=f"{kind.__name__} {a} {b}", **options) for a, b in PAIRS]


KINDS: dict[str, Callable[..., list[mb.Constraint]]] = {
    "ball": _joint(mb.Ball, at=AT),
    "fixed": _joint(mb.Fixed, at=AT),
    "revolute": _joint(mb.Revolute, at=AT, axis=AXIS),
    "universal": _joint(mb.Universal, at=AT, axis=AXIS),
    "prismatic": _joint(mb.Prismatic, at=AT, axis=AXIS),
    "cylindrical": _joint(mb.Cylindrical, at=AT, axis=AXIS),
    "planar": _joint(mb.Planar, at=AT, axis=AXIS),
    "distance": _joint(mb.Distance, at_a=AT, at_b=OTHER),
    "disk": lambda: [mb.RollingDisk(b, 0.7, axis=AXIS, normal=OTHER, point=AT) for b in NAMES],
    "sphere": lambda: [mb.RollingSphere(b, 0.7, normal=OTHER, point=AT) for b in NAMES],
    "disk and sphere": lambda: [mb.RollingDisk("one", 0.7), mb.RollingSphere("two", 0.4, normal=AXIS)],
}


def _rotation(random: np.random.Generator) -> np.ndarray:
    Q = np.linalg.qr(random.normal(size=(3, 3)))[0]
    return Q * np.linalg.det(Q)


def _gathered(constraints: list[mb.Constraint]) -> Any:
    labels, _, groups = gathered(constraints, [False] * len(constraints), NAMES)
    return SimpleNamespace(groups=groups, size=len(NAMES), rows=len(labels))


def _all(system: Any, q: Any, u: Any, Lam: Any) -> dict[str, Any]:
    """All that is asked of rows."""
    groups: tuple[Group, ...] = system.groups
    values = {
        "phi": by_row(system, [jnp.pad(g.phi(q, 0.0), ((0, 0), (0, g.nonholonomic))) for g in groups]),
        "psi": by_row(system, [g.psi(q, u, 0.0) for g in groups]),
        "A": by_row_and_body(system, [g.blocks(q, 0.0) for g in groups]),
        "slope of psi": by_row_and_body(system, [g.psi_slope(q, u, 0.0) for g in groups]),
        "slope of rates": by_body(system, [g.rate_slope(q, u, 0.0, Lam[g.rows[:, : g.holonomic]]) for g in groups]),
        "slope of wrenches": by_bodies(system, [g.wrench_slope(q, u, 0.0, Lam[g.rows]) for g in groups]),
        "singular": jnp.stack([jnp.min(jnp.asarray(g.singular(q, 0.0))) for g in groups]).min(),
    }
    return values


# One of each kind of row, all in one program: of two bodies either way round, or on the ground by one end or the other;
# each by itself, by every end, is long.
KINDS["each kind"] = lambda: [
    *KINDS["ball"](),
    *KINDS["prismatic"]()[:2],
    KINDS["prismatic"]()[3],
    *KINDS["distance"]()[:3],
    *KINDS["disk"](),
]


@pytest.mark.parametrize(
    "kind", ["each kind", *(pytest.param(k, marks=pytest.mark.long) for k in KINDS if k != "each kind")]
)
def test_closed_forms_are_the_derivatives(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    bodies = {
        name: mb.Body(name, 1.0, (0.1, 0.2, 0.25), position=random.normal(size=3), attitude=random.normal(size=4))
        for name in NAMES
    }
    constraints = [c.bind(bodies) for c in KINDS[kind]()]
    closed = _gathered(constraints)
    assert not any(isinstance(g, DifferentiatedRows) for g in closed.groups)
    for closed_form in ("Joint", "RollingDisk", "RollingSphere"):
        monkeypatch.setattr(gathered_module, closed_form, type(None))
    differentiated = _gathered(constraints)
    assert all(isinstance(g, DifferentiatedRows) for g in differentiated.groups)
    q = (random.normal(size=(2, 3)), np.stack([_rotation(random) for _ in NAMES]))
    u, Lam = random.normal(size=(2, 6)), random.normal(size=closed.rows)
    found, expected = (
        jax.jit(lambda system=system: _all(system, q, u, Lam), compiler_options={"xla_backend_optimization_level": 0})()
        for system in (closed, differentiated)
    )
    for name in expected:
        np.testing.assert_allclose(found[name], expected[name], atol=1e-13, err_msg=name)
    assert np.abs(expected["A"]).max() > 0.1
    assert np.abs(expected["slope of psi"]).max() > 0.1 or kind == "sphere"


@mb.tree
class LongHinge(mb.Revolute):
    """A user's own joint, made of one of ours."""

    def phi(self, view: mb.View) -> Any:
        return [2.0 * row for row in super().phi(view)]


def test_a_joint_that_was_changed_is_differentiated() -> None:
    body = mb.Body("one", 1.0, (0.1, 0.2, 0.25))
    system = mb.System([body], constraints=[LongHinge("ground", "one", at=(0, 0, 0), axis=(0, 0, 1))])
    assert [type(g) for g in system.groups] == [DifferentiatedRows]
