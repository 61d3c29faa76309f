"""Every method for systems keeps what it claims; one that claims too much, or too little, is found out."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polhode as ph
from polhode.model import InputError
from polhode.model.method import Method
from polhode.model.registry import all_methods, method_of
from polhode.multibody import MultibodyMethod
from polhode.verify import Claim, claims

# What asks the rolling disk alone, and so one program; the others take minutes, with `make test-long`.
QUICK = ("three-field: order 2, rolling disk", "three-field: slip exact, rolling disk")
CLAIMS = [
    pytest.param(
        claim,
        id=str(claim),
        marks=[] if str(claim) in QUICK else [pytest.mark.long],
    )
    for method in all_methods("system").values()
    for claim in claims(method)
]


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim(claim: Claim) -> None:
    claim.check()


@dataclass(frozen=True)
class Liar(MultibodyMethod):
    """Another method, by its programs, that says one thing of itself which is not so."""

    honest: Method
    trait: str
    claimed: Any
    name = "liar"

    @property
    def traits(self) -> ph.Traits:  # type: ignore[override]
        return replace(self.honest.traits, **{self.trait: self.claimed})

    @property
    def rungs(self) -> tuple[Method, ...]:
        return self.honest.rungs

    def step(self, system: Any, state: Any, t: Any, h: Any) -> Any:
        return self.honest.step(system, state, t, h)


@pytest.mark.parametrize(
    ("trait", "claimed", "broken"),
    [
        pytest.param("order", 3, ["order 3, double pendulum", "order 3, rolling disk"], marks=pytest.mark.long),
        pytest.param("order", 1, ["order 1, double pendulum", "order 1, rolling disk"], marks=pytest.mark.long),
        pytest.param("energy", "drifts", ["energy drifts, double pendulum and rolling disk"], marks=pytest.mark.long),
        pytest.param("spring_energy", "exact", ["energy exact, pair adrift"], marks=pytest.mark.long),
        pytest.param("spatial_momentum", "bounded", ["momentum bounded, pair adrift"], marks=pytest.mark.long),
        pytest.param(
            "joints",
            "drifts",
            ["joints drifts, double pendulum and pair adrift and rolling disk"],
            marks=pytest.mark.long,
        ),
        ("slip", "bounded", ["slip bounded, rolling disk"]),
        pytest.param("symmetric", False, ["not symmetric"], marks=pytest.mark.long),
    ],
)
def test_a_wrong_trait_is_found(trait: str, claimed: Any, broken: list[str]) -> None:
    honest = method_of("three-field")
    true = {claim.statement for claim in claims(honest)}
    wrong = [claim for claim in claims(Liar(honest, trait, claimed)) if claim.statement not in true]
    assert [claim.statement for claim in wrong] == broken
    for claim in wrong:
        with pytest.raises(AssertionError, match=f"liar: {claim.statement}"):
            claim.check()


IMPULSES = '''
from dataclasses import dataclass, replace
import jax.numpy as jnp
from polhode import Step, Traits
from polhode.multibody import MultibodyMethod
from polhode.multibody.rows import assembly
from polhode.multibody.rows.momenta import carried, mass_inverse, momentum, motion, over_mass, pose

@dataclass(frozen=True)
class Impulses(MultibodyMethod):
    """Euler's step with impulses on the rows, as games take it, that claims to keep everything."""

    name = "impulses"
    traits = Traits(order=2, energy="exact", spring_energy="exact", spatial_momentum="exact")

    def step(self, system, state, t, h):
        q, u, inverse = pose(state), motion(state), mass_inverse(system)
        spin = jnp.cross(momentum(system, u)[:, 3:], u[:, 3:])
        force = assembly.forces(system, q, u, t) + jnp.pad(spin, ((0, 0), (3, 0)))
        pushed = u + h * over_mass(inverse, force)
        A = assembly.rows(system, q, t)
        MA = over_mass(inverse, A)
        impulse = -jnp.linalg.solve(jnp.einsum("kbi,lbi->kl", A, MA), jnp.einsum("kbi,bi->k", A, pushed))
        u = pushed + jnp.einsum("k,kbi->bi", impulse, MA)
        r, quaternions = carried(state, h * u)
        new = replace(state, positions=r, quaternions=quaternions, velocities=u[:, :3], omegas=u[:, 3:])
        return Step(replace(new, multipliers=impulse / h))
'''


def test_a_method_of_ones_own_from_the_command_line(polhode: Any, tmp_path: Path) -> None:
    (tmp_path / "games.py").write_text(IMPULSES)
    given = ["run", "pendulum", "--method", "games:Impulses", "--until", "1", "--json"]
    code, out, err = polhode(*given)  # it says of joints that they stay closed
    assert (code, "it keeps joints and contacts closed" in err) == (1, True)
    code, out, _ = polhode(*given, "--no-sentinels")
    assert (code, json.loads(out)[0]["method"]) == (0, "impulses")
    code, out, _ = polhode("audit", "games:Impulses", "dmv")
    assert code == 1
    assert [line.split(": ")[1] for line in out.splitlines() if "CONTRADICTED" in line] == [
        "order 2, double pendulum",
        "order 2, rolling disk",
        "energy exact, double pendulum and rolling disk",
        "energy exact, pair adrift",
        "momentum exact, pair adrift",
        "joints exact, double pendulum and pair adrift and rolling disk",
        "slip exact, rolling disk",
        "symmetric",
    ]
    assert out.index("Qy") < out.index("spatial momentum") < out.index("impulses: audit")  # a table for each kind


@pytest.mark.long
def test_a_certificate_of_a_system(tmp_path: Path) -> None:
    certificate = ph.audit("three-field")
    assert certificate.contradictions == []
    assert [certificate.cell(c) for c in certificate.measures.columns] == ["exact", "drifts", *["exact"] * 3, "yes"]
    assert certificate.yes("slip")
    assert not certificate.yes("spring_energy")
    with pytest.raises(InputError, match="unknown property 'Poisson'"):
        certificate.yes("Poisson")
    assert "joints (rolling disk): exact" in str(certificate)
    record = certificate.record
    assert record["ticks"] == {c: c != "spring_energy" for c in certificate.measures.columns}
    assert record["conserved"]["slip, rolling disk"]["largest"] < 1e-13  # measured 3e-15
    assert set(record["defects"]) == {"symmetric"}
    json.dumps(record, allow_nan=False)
    assert len(certificate.plot(tmp_path / "audit.png").axes) == 2


def test_quotients_of_systems_by_the_names_of_their_quantities() -> None:
    for of in ("attitude", "position", "kinetic", "angle"):
        q = ph.quotient("pendulum", "three-field", 0.02, until=1.0, of=of)
        assert q.order[-1] == pytest.approx(2, abs=0.05), of
        assert np.isfinite(q.values[1:]).all()
    with pytest.raises(InputError, match=r"unknown quantity 'momentum'; did you mean 'spatial_momentum'"):
        ph.quotient("pendulum", "three-field", 0.02, until=1.0, of="momentum")
