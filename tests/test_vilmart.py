"""What Vilmart's paper builds on the free body: orders in many digits, coefficients, loads refused, audits."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from pictures import check_figure

import polhode as ph
from polhode.algebra import Quaternion, Vec3
from polhode.methods import PreprocessedDMV, ThreeRotation, method_of
from polhode.methods.with_potential import SCHEMES
from polhode.model import InputError
from polhode.model.composition import WEIGHTS
from polhode.papers.vilmart_round_off import growth, round_off_run
from polhode.papers.vilmart_table import our_table, printed_table
from polhode.rotation import Rotation, State


@pytest.mark.parametrize("moments", [(3, 5, 7), (2, 2, 3), (1, 1, 1), (11, 20, 30)])
def test_table_1_in_exact_arithmetic(moments: Any) -> None:
    I = tuple(Fraction(m, 8) for m in moments)
    for H, C in ((Fraction(2, 7), Fraction(5, 3)), (Fraction(9), Fraction(1, 11))):
        assert printed_table(I, H, C) == our_table(I, H, C)  # type: ignore[arg-type]


def in_digits(method: Any, steps: int, until: Any) -> list[Any]:
    """The end of a free motion on mpmath numbers: quaternion and momentum."""
    mp = mpmath.mpf
    system = Rotation.of(Vec3(mp("0.376"), mp("0.627"), mp(1)), Rotation(ph.RigidBody((1, 1, 1))).load)
    state = State(Quaternion(mp(1), mp(0), mp(0), mp(0)), Vec3(mp("0.1"), mp("0.6"), mp("-0.8")))
    for _ in range(steps):
        state = method.step(system, state, mp(0), until / steps).state
    return [*state.attitude, *state.momentum]


@pytest.mark.parametrize("order", [4, 6, 8, 10])
def test_order_of_preprocessed_dmv_in_forty_digits(order: int) -> None:
    """Where double precision hides it. Measured slopes 4.00, 6.01, 8.01, 10.01."""
    with mpmath.workdps(40):
        until = mpmath.mpf("0.8")
        exact = in_digits(PreprocessedDMV(high_order=10), 256, until)
        errors = [
            max(abs(a - b) for a, b in zip(in_digits(PreprocessedDMV(high_order=order), n, until), exact, strict=True))
            for n in (16, 32)
        ]
        assert float(mpmath.log(errors[0] / errors[1], 2)) == pytest.approx(order, abs=0.05)


def test_the_limit_of_preprocessed_dmv_is_the_exact_solution() -> None:
    with mpmath.workdps(30):
        ours = [float(v) for v in in_digits(PreprocessedDMV(), 64, mpmath.mpf("0.8"))]
    body = ph.RigidBody((0.376, 0.627, 1.0))
    state = ph.exact(body, ph.State.of(momentum=(0.1, 0.6, -0.8)), 0.8)
    np.testing.assert_allclose([*state.attitude, *state.momentum], ours, atol=3e-15)


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=lambda s: s.name)
def test_schemes_are_symmetric_and_consistent(scheme: Any) -> None:
    kicks = [stage.kick for stage in scheme.stages]
    moves = [stage.move for stage in scheme.stages[:-1]]
    assert sum(kicks) == pytest.approx(1, abs=1e-14)
    assert sum(moves) == pytest.approx(1, abs=1e-14)
    np.testing.assert_allclose(kicks, kicks[::-1])
    np.testing.assert_allclose(moves, moves[::-1])


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=lambda w: w.name)
def test_weights_are_palindromes_that_cancel_odd_powers(weights: Any) -> None:
    g = np.array(weights.fractions)
    np.testing.assert_allclose(g, g[::-1])
    for power in range(1, weights.order, 2):
        assert (g**power).sum() == pytest.approx(1.0 if power == 1 else 0.0, abs=1e-14)


def test_exact_as_a_function_of_time() -> None:
    body = ph.RigidBody(np.array([[2.0, 0.3, -0.2], [0.3, 2.5, 0.1], [-0.2, 0.1, 3.0]]))
    start = ph.State.of(attitude=ph.exp((0.2, 0.1, 0.3)), omega=(1.0, 0.4, -0.3))
    t = np.linspace(-3, 7, 11)
    states = ph.exact(body, start, t)
    run = ph.simulate(body, None, start, method="dmv10", step=0.01, until=7.0, every=100)
    np.testing.assert_allclose(states.momentum.array[3:], run.state.momentum.array, atol=1e-13)
    np.testing.assert_allclose(states.attitude.matrix().array[3:], run.attitude, atol=1e-13)
    back = ph.exact(body, State(*(type(p)(*(c[0] for c in p)) for p in (states.attitude, states.momentum))), 3.0)
    np.testing.assert_allclose(back.momentum.array, start.on(body).momentum.array, atol=1e-14)
    one = ph.exact(body, start, 2.0)
    assert one.momentum.array.shape == (3,)
    batch = ph.exact(body, ph.State.of(omega=np.eye(3)), np.zeros((2, 4)))
    assert batch.momentum.array.shape == (2, 4, 3, 3)
    with pytest.raises(InputError, match="t must be finite"):
        ph.exact(body, start, float("nan"))
    with pytest.raises(InputError, match="start must come from"):
        ph.exact(body, (1, 2, 3), 1.0)


def test_loads_that_a_method_cannot_take_are_refused_before_the_run() -> None:
    body, start = ph.RigidBody((5, 5, 1)), ph.State.of(omega=(0, 0, 5))
    gravity, friction = ph.Potential(lambda R: R.m33), ph.Torque(lambda t, R, w: -0.1 * w)
    with pytest.raises(InputError, match="dmv moves free bodies only; with a load use strang-dmv"):
        ph.simulate(body, gravity, start, method="dmv", step=0.1, steps=1)
    with pytest.raises(InputError, match="depends on the angular velocity"):
        ph.simulate(body, gravity + friction, start, method="strang-exact", step=0.1, steps=1)
    assert ph.simulate(body, gravity, start, method="strang-exact", step=0.1, steps=1).ok


@pytest.mark.optimised  # many steps
def test_round_off_of_dmv10_grows_like_a_root() -> None:
    """Over 10⁷ steps; the paper's recomputation takes 10⁸. Measured exponents 0.45 to 0.55."""
    run = round_off_run(10**7)
    assert growth(run.energy) < 0.7
    for i in range(3):
        assert growth(run.spatial_momentum[:, i]) < 0.7
    assert run.drift(run.spatial_momentum) < 1e-12
    assert run.drift(run.energy) < 1e-12


def test_growth_tells_a_walk_from_a_drift() -> None:
    steps = np.random.default_rng(1).normal(size=20_000)
    assert growth(np.cumsum(steps)) == pytest.approx(0.5, abs=0.1)
    assert growth(np.cumsum(steps + 1)) == pytest.approx(1.0, abs=0.1)


def test_audit_of_a_users_method_from_python_and_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    certificate = ph.audit(ThreeRotation())
    assert certificate.order == pytest.approx(2, abs=0.05)
    assert [certificate.yes(x) for x in ("Qy", "C", "H", "Poisson", "symplectic", "symmetric")] == [
        True, True, False, True, True, True,
    ]  # fmt: skip
    assert certificate.contradictions == []
    assert "symplectic: yes" in str(certificate)
    figure = certificate.plot(tmp_path / "audit.png")
    assert len(figure.axes) == 2
    check_figure(figure)

    (tmp_path / "liar.py").write_text(
        "from dataclasses import dataclass\n"
        "from polhode.methods import ThreeRotation, Traits\n"
        "@dataclass(frozen=True)\n"
        "class Liar(ThreeRotation):\n"
        "    name = 'liar'\n"
        "    traits = Traits(order=4, energy='exact', spatial_momentum='exact', loads='none')\n"
    )
    monkeypatch.chdir(tmp_path)
    from polhode.cli.audit import audit_command

    with pytest.raises(SystemExit) as end:
        audit_command(["liar:Liar"], None, True)
    assert end.value.code == 1
    (record,) = json.loads(capsys.readouterr().out)
    broken = [c.split(":")[0] for c in record["contradictions"]]
    assert broken == ["order 4, free body", "energy exact, free body", "not Poisson", "not symplectic"]
    audit_command(["three-rotation"], tmp_path / "a.svg", False)
    assert "three-rotation" in capsys.readouterr().out
    assert (tmp_path / "a.svg").exists()


@pytest.mark.long
def test_an_energy_whose_error_is_below_round_off_in_short_steps_only() -> None:
    assert not ph.audit("kahan-li6-imidm").yes("H")


@pytest.mark.parametrize("kinetic", ["dmv10", pytest.param("exact", marks=pytest.mark.long)])
def test_strang_and_nystrom_beat_each_other_by_order(kinetic: str) -> None:
    """The heavy top of the paper, one step length: each order is worth its factor."""
    from polhode.verify.trials import TRIALS

    R = TRIALS[1].reference()[0]
    errors = [
        np.abs(
            ph.simulate(
                TRIALS[1].body, TRIALS[1].load, TRIALS[1].start, method=method_of(name), step=0.05, until=2.0
            ).attitude[-1]
            - R
        ).max()
        for name in (f"strang-{kinetic}", f"nystrom4-{kinetic}", f"rkn6-{kinetic}")
    ]
    assert errors[0] > 100 * errors[1] > 10_000 * errors[2]  # measured 1.2e-3, 8e-7, 1e-10
