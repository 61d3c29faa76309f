"""Every method keeps what it claims; identities between methods; methods under JAX."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import polhode as ph
from polhode._programs import compiler_options
from polhode.algebra import Vec3, exp
from polhode.methods import (
    AKW,
    BBTRAP,
    BBTRAPWD,
    DMV,
    IMID,
    IMIDM,
    SWC1,
    TRAP,
    TRAPM,
    Composition,
    Exact,
    Implicit,
    Method,
    Midpoint,
    MuntheKaas,
    Rattle,
    RigImp,
    Split,
    Step,
    Strang,
    SymmetricRotation,
    Tableau,
    Traits,
    all_methods,
    method_of,
)
from polhode.methods.krysl import rate
from polhode.methods.munthe_kaas import BACKWARD_EULER, FORWARD_EULER, GAUSS1, TABLEAUX, TRAPEZOID
from polhode.model import InputError
from polhode.model.problem import Problem
from polhode.rotation import Rotation, State
from polhode.solve import FixedPoint, Newton
from polhode.verify import claims, trials
from polhode.verify.motion import motion_of

# The same map as strang-dmv by another way, which `test_same_map` asks at once.
TWIN = "rattle"
# Of each family some are asked at once, cheap ones; the others in the long tests.
FAMILIES = (
    *("imid", "trapm", "swc1", "bbtrap", "bbtrapwd", "rig_neg", "rig_imp", "dmv4", "dmv6", "dmv8", "em"),
    *("mk-backward-euler", "mk-gauss1", "mk-trapezoid", "mk-rk4", "symmetric-rotation1", "symmetric-rotation2"),
)
# Made of parts that are each asked at once, in another combination; `test_vilmart` asks Nyström's schemes at once.
COMBINED = (
    *("strang-symmetric-rotation", "strang-exact", "nystrom4-exact", "nystrom4-dmv10", "rkn6-dmv10"),
    *("triple4-strang-exact", "suzuki4-strang-exact", "kahan-li8-strang-dmv", "kahan-li6-imidm"),
)
LATER = (TWIN, *FAMILIES, *COMBINED)
CLAIMS = [
    pytest.param(
        claim,
        id=str(claim),
        marks=[pytest.mark.long, pytest.mark.optimised] if method.name in LATER else [],
    )
    for method in all_methods("rotation").values()
    for claim in claims(method)
]


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim(claim: Any) -> None:
    claim.check()


# --- identities that hold to round-off ---------------------------------------------------

# Problems of the claims, so that a step of either is one program.
FREE, BODY = trials.FREE.problem, trials.BODY
LOADED, OF_ATTITUDE = (trials.trials_for(loads)[2].problem for loads in ("any", "attitude"))


@cache
def symmetric() -> Problem:
    body = ph.RigidBody((1.6, 1.6, 2.2))
    return Problem(Rotation(body), trials.START.on(body))


@dataclass(frozen=True)
class RateForwardEuler(Method):
    """Krysl (11)."""

    name = "rate-forward-euler"
    paper = "none"
    traits = Traits(order=1, energy="drifts", spatial_momentum="drifts")

    def step(self, system: Rotation, state: State, t: Any, h: Any) -> Step:
        turn = exp(h * system.omega(state.momentum))
        return Step(State(state.attitude * turn, state.momentum + h * rate(system, t, state)))


@dataclass(frozen=True)
class RateBackwardEuler(Implicit):
    """Krysl (12)."""

    name = "rate-backward-euler"
    paper = "none"
    traits = Traits(order=1, energy="drifts", spatial_momentum="drifts")

    def step(self, system: Rotation, state: State, t: Any, h: Any) -> Step:
        def end(Pi: Vec3) -> State:
            return State(state.attitude * exp(h * system.omega(Pi)), Pi)

        def residual(Pi: Vec3) -> Vec3:
            return Pi - (state.momentum + h * rate(system, t + h, end(Pi)))

        Pi, report = self.solve_momentum(system, residual, state.momentum, h)
        return Step(end(Pi), report)


def one_step(problem: Callable[[], Problem], method: Method, h: float, t: float = 0.3, start: Any = None) -> State:
    run = motion_of(method, problem).run(h, 1, 1, t0=t, start=start)
    assert run.ok
    return run.last_state


def composed(problem: Callable[[], Problem], first: Method, second: Method, h: float) -> State:
    half = one_step(problem, first, h / 2)
    return one_step(problem, second, h / 2, 0.3 + h / 2, half)


def assert_same(a: State, b: State) -> None:
    np.testing.assert_allclose(a.momentum.array, b.momentum.array, rtol=0, atol=2e-15)
    np.testing.assert_allclose(a.attitude.matrix().array, b.attitude.matrix().array, rtol=0, atol=2e-15)


FE, BE = MuntheKaas(tableau=FORWARD_EULER), MuntheKaas(tableau=BACKWARD_EULER)


@pytest.mark.parametrize(
    ("whole", "first", "second"),
    [
        pytest.param(TRAP(), RateForwardEuler(), RateBackwardEuler(), marks=pytest.mark.long),
        pytest.param(IMID(), RateBackwardEuler(), RateForwardEuler(), marks=pytest.mark.long),
        pytest.param(TRAPM(), FE, BE, marks=pytest.mark.long),
        (IMIDM(), BE, FE),
    ],
    ids=["TRAP = bE∘fE", "IMID = fE∘bE", "TRAPM = bE∘fE", "IMIDM = fE∘bE"],
)
def test_compositions_of_euler_half_steps(whole: Method, first: Method, second: Method) -> None:
    assert_same(one_step(LOADED, whole, 0.1), composed(LOADED, first, second, 0.1))


@pytest.mark.parametrize(
    ("problem", "a", "b"),
    [
        pytest.param(LOADED, MuntheKaas(tableau=GAUSS1), IMIDM(), marks=pytest.mark.long),
        pytest.param(LOADED, MuntheKaas(tableau=TRAPEZOID), BBTRAPWD(), marks=pytest.mark.long),
        (FREE, SWC1(), BBTRAP()),
        pytest.param(FREE, RigImp(), TRAPM(), marks=pytest.mark.long),
        (FREE, AKW(), Midpoint()),
        (FREE, Rattle(), DMV()),
        (OF_ATTITUDE, Rattle(), Strang(DMV())),
        (symmetric, SymmetricRotation(), Exact()),
    ],
    ids=[
        "MKRK(gauss1) = IMIDM",
        "MKRK(trapezoid) = BBTRAPWD",
        "free: SWC1 = BBTRAP",
        "free: RIG_IMP = TRAPM",
        "free: AKW = implicit midpoint",
        "free: RATTLE = DMV",
        "RATTLE = Strang with DMV",
        "symmetric body: symmetric+rotation is exact",
    ],
)
def test_same_map(problem: Callable[[], Problem], a: Method, b: Method) -> None:
    assert_same(one_step(problem, a, 0.1), one_step(problem, b, 0.1))


def test_akw_momentum_is_the_implicit_midpoint_rule_of_imid() -> None:
    """On free motion the two share the map of Π, not that of R."""
    a, b = one_step(FREE, AKW(), 0.1), one_step(FREE, IMID(), 0.1)
    np.testing.assert_allclose(a.momentum.array, b.momentum.array, rtol=0, atol=1e-15)
    assert np.abs(a.attitude.array - b.attitude.array).max() > 1e-6


# --- tableaux, solvers, registry ---------------------------------------------------------


@pytest.mark.parametrize("tableau", TABLEAUX.values(), ids=str)
def test_order_conditions(tableau: Tableau) -> None:
    a, b, c = np.array(tableau.a), np.array(tableau.b), np.array(tableau.c)
    conditions: dict[int, list[tuple[float, float]]] = {
        1: [(b.sum(), 1)],
        2: [(b @ c, 1 / 2)],
        3: [(b @ c**2, 1 / 3), (b @ a @ c, 1 / 6)],
        4: [(b @ c**3, 1 / 4), (b @ (c * (a @ c)), 1 / 8), (b @ a @ c**2, 1 / 12), (b @ a @ a @ c, 1 / 24)],
    }
    for order in range(1, tableau.order + 1):
        for computed, exact in conditions[order]:
            assert computed == pytest.approx(exact, abs=1e-15)


def test_a_wrong_tableau_is_refused() -> None:
    with pytest.raises(InputError, match="sum to 1; they sum to 0.9"):
        Tableau("x", 1, ((0.0,),), (0.9,))
    with pytest.raises(InputError, match="a must be 2 x 2"):
        Tableau("x", 1, ((0.0,),), (0.5, 0.5))


IMPLICIT = [
    m
    for m in all_methods("rotation").values()
    if isinstance(m, Implicit) and m.name not in ("mk-forward-euler", "mk-rk4", "mk-gauss2", "rattle")
]


# What a solver finds depends on the equations: for momenta and for attitudes at once, others in the long tests.
KINDS_OF_EQUATIONS = ("trap", "midpoint")
SOLVED = [m if m.name in KINDS_OF_EQUATIONS else pytest.param(m, marks=pytest.mark.long) for m in IMPLICIT]


@pytest.mark.parametrize("method", SOLVED, ids=lambda m: m.name)
@pytest.mark.parametrize("solver", [FixedPoint(), Newton(mode="fixed")], ids=["fixed point", "fixed count"])
def test_every_solver_finds_the_same_step(method: Implicit, solver: Any) -> None:
    other = type(method)(**{**method.__dict__, "solver": solver})
    problem = {"none": FREE, "attitude": OF_ATTITUDE, "any": LOADED}[method.traits.loads]
    assert_same(one_step(problem, method, 0.05), one_step(problem, other, 0.05))


def test_names() -> None:
    assert method_of("imidm") == IMIDM()
    assert method_of("RIG_POS").name == "rig_pos"
    assert method_of(AKW).name == "akw"
    with pytest.raises(InputError, match="unknown method 'imdim'; did you mean 'imid"):
        method_of("imdim")
    with pytest.raises(InputError, match="cannot import method 'no_such:Thing'"):
        method_of("no_such:Thing")
    with pytest.raises(InputError, match="is not a polhode.Method"):
        method_of("math:pi")
    with pytest.raises(InputError, match="got 3"):
        method_of(3)
    assert method_of("suzuki4-rattle").traits.order == 4
    assert method_of("nystrom4-dmv6").name == "nystrom4-dmv6"
    with pytest.raises(InputError, match="nystrom4 has order 4 .* dmv has 2"):
        method_of("nystrom4-dmv")
    with pytest.raises(InputError, match="composes symmetric methods of order 2; rig_pos is not one"):
        method_of("triple4-rig_pos")
    with pytest.raises(InputError, match="unknown method 'dmv12'; did you mean 'dmv10'"):
        method_of("strang-dmv12")
    assert MuntheKaas(solver=Newton()).options == {"solver": Newton()}


# --- under JAX ---------------------------------------------------------------------------


# Combined methods differentiate as their parts do; one of them, soon compiled, stands for all.
# An explicit one, one with functions of its own, and one with a state of its own at once, the others in the long tests.
# strang-dmv is differentiated as a whole run in `test_flow`, exact in `test_exact`, what solvers find in `test_solve`.
AT_ONCE = ("rig_pos", "symmetric-rotation", "dla")
DIFFERENTIATED = [
    *(
        m if m.name in AT_ONCE else pytest.param(m, marks=pytest.mark.long)
        for m in all_methods("rotation").values()
        if not isinstance(m, Split | Composition)
    ),
    method_of("nystrom4-dmv4"),
    pytest.param(method_of("triple4-strang-dmv"), marks=pytest.mark.long),
]


@pytest.mark.parametrize("method", DIFFERENTIATED, ids=lambda m: m.name)
def test_gradient_batch_and_vmap(method: Method) -> None:
    """The gradient of a step in the inertia, by reverse mode, against differences; batches
    by shape and by vmap against one by one."""

    load = None if method.traits.loads == "none" else trials.SHAKEN.load
    attitude = trials.START.on(BODY).attitude

    def end(moments: Any, omega: Any) -> Any:
        system = Rotation.of(Vec3.of(moments), load)
        state = State(attitude, system.momentum(Vec3.of(omega)))
        new = method.step(system, state, 0.3, 0.1).state
        return new.momentum.dot(Vec3(1.0, 2.0, 3.0)) + new.attitude.vector.dot(Vec3(-1.0, 0.5, 2.0))

    moments, omega = np.array([1.0, 1.6, 2.2]), np.array([0.7, 1.1, -0.5])
    e = 1e-5
    asked = [(moments, w) for w in (omega, 0.5 * omega, -omega)]
    beside = [(moments + sign * step, omega) for step in e * np.eye(3) for sign in (1, -1)]
    many = [jnp.asarray(x) for x in zip(*asked, *beside, strict=True)]

    options = compiler_options(briefly=True)
    both = jax.jit(jax.value_and_grad(end), compiler_options=options)
    singles = [both(m, w) for m, w in asked]
    mapped = jax.jit(jax.vmap(end), compiler_options=options)(*many)
    finite = (mapped[3::2] - mapped[4::2]) / (2 * e)
    np.testing.assert_allclose(singles[0][1], finite, atol=2e-9)
    np.testing.assert_allclose(mapped[:3], [value for value, _ in singles], atol=3e-15)
    shaped = jax.jit(end, compiler_options=options)(*many)
    np.testing.assert_allclose(shaped, mapped, atol=3e-15)


# --- a user's own ------------------------------------------------------------------------


@dataclass(frozen=True)
class Mine(Method):
    """Forward Euler, as a user would write it, claiming what it cannot keep."""

    name = "mine"
    paper = "none"
    traits = Traits(order=2, energy="exact", spatial_momentum="exact", symmetric=True)

    def step(self, system: Rotation, state: State, t: Any, h: Any) -> Step:
        Omega = system.omega(state.momentum)
        turn = exp(h * Omega)
        T = system.torque(t, state.attitude, Omega)
        return Step(State(state.attitude * turn, turn.unrotate(state.momentum + h * T)))


def test_false_claims_are_found() -> None:
    def holds(claim: Any) -> bool:
        try:
            claim.check()
        except AssertionError:
            return False
        return True

    verdicts = {claim.statement: holds(claim) for claim in claims(Mine())}
    assert verdicts == {
        "order 2, free body": False,
        "order 2, asymmetric heavy top": False,
        "order 2, torque of time": False,
        "order 2, damping": False,
        "energy exact, free body": False,
        "spatial momentum exact, free body": True,
        "momentum length exact, free body": True,
        "energy bounded, heavy top": False,
        "vertical momentum exact, heavy top": True,
        "symmetric": False,
        "not Poisson": True,
        "not symplectic": True,
    }
    run = ph.simulate(BODY, None, ph.State.of(omega=(1, 2, 3)), method=Mine(), step=0.01, steps=10, sentinels=False)
    assert run.ok
    assert "mine" in repr(run)
