"""Chains and trees with sparse matrices: the motion of dense ones, in arrays that grow with the bodies alone."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse as sp
from jax.extend.core import jaxprs_in_params

import polhode as ph
from polhode import multibody as mb
from polhode.bench.chain import exponent
from polhode.model.functions import as_arrays
from polhode.multibody.rows import rank
from polhode.multibody.rows.gathering import by_body
from polhode.multibody.start import least_motion
from polhode.multibody.step.force_slopes import force_slopes
from polhode.multibody.step.pattern import pattern
from polhode.multibody.step.sparse_equations import from_the_tips
from polhode.problems import problem_of
from polhode.problems.chain import moments
from polhode.references import pendulum
from polhode.solve.colours import Colours
from polhode.solve.sparse import SparseSolver

QUICK: Any = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}  # to compile, not to run
H = 0.01


def chain(bodies: float, **given: Any) -> mb.System:
    return problem_of("chain").problem(bodies=bodies, **given).system


def tree(count: int) -> mb.System:
    """A hub on the ground with arms of two rods, one of them on a spring; no two alike, all moving."""
    random = np.random.default_rng(1)
    bodies = [mb.Body("hub", 2.0, (0.3, 0.4, 0.5), omega=(0.3, -0.2, 0.4))]
    joints: list[mb.Constraint] = [mb.Ball("ground", "hub", at=(0.0, 0.0, 0.0), name="foot")]
    for i in range(count):
        turn = 2 * np.pi * i / count
        at = np.array([np.cos(turn), np.sin(turn), 0.1 * i])
        for name, to, out in ((f"near {i}", "hub", 1.0), (f"far {i}", f"near {i}", 2.0)):
            bodies.append(mb.Body(name, random.uniform(0.5, 1.5), (0.1, 0.12, 0.15), position=(out + 0.5) * at))
            joints.append(mb.Revolute(to, name, at=out * at, axis=random.normal(size=3), name=f"{name} joint"))
    forces = [mb.Gravity(), mb.Spring("far 0", "near 1", 3.0, 0.2), mb.Damper("far 1", "ground", 0.4)]
    shuffled = [bodies[i] for i in random.permutation(len(bodies))]
    return mb.System(shuffled, forces=forces, constraints=joints)


def afloat(count: int) -> mb.System:
    """Bodies in a row on ball joints and one spring, that nothing else touches."""
    random = np.random.default_rng(2)
    bodies = [
        mb.Body(f"{i}", 1.0 + 0.3 * i, (0.1, 0.12, 0.15), position=(i, 0, 0), omega=random.normal(size=3))
        for i in range(count)
    ]
    joints = [mb.Ball(f"{i}", f"{i + 1}", at=(i + 0.5, 0, 0)) for i in range(count - 1)]
    return mb.System(bodies, forces=[mb.Spring("0", "2", 3.0, 0.2, at_a=(0, 0.1, 0))], constraints=joints)


SYSTEMS: dict[str, Callable[[int], mb.System]] = {"chain": chain, "tree": tree, "afloat": afloat}


@cache
def ran(method: ph.Method, system: str, count: int, steps: int) -> Any:
    """The last state and whether every step converged, compiled quickly."""
    made = SYSTEMS[system](count)
    state, _ = mb.consistent_start(made)

    def run(made: mb.System, state: mb.State) -> Any:
        def step(state: mb.State, n: Any) -> Any:
            result = method.step(made, state, n * H, H)
            return result.state, result.report.converged

        return jax.lax.scan(step, state, jnp.arange(steps))

    return made, *jax.jit(run).lower(made, state).compile(compiler_options=QUICK)(made, state)


@pytest.mark.parametrize(
    ("system", "count", "steps"),
    [
        ("afloat", 3, 50),
        pytest.param("chain", 5, 20, marks=pytest.mark.long),
        pytest.param("chain", 10, 20, marks=pytest.mark.long),
        pytest.param("tree", 2, 10, marks=pytest.mark.long),
    ],
)
def test_it_moves_as_the_dense_step_does(system: str, count: int, steps: int) -> None:
    _, dense, ok = ran(mb.ThreeField().rungs[0], system, count, steps)
    _, sparse, ok_sparse = ran(mb.ThreeFieldSparse(), system, count, steps)
    assert ok.all()
    assert ok_sparse.all()
    for name in ("positions", "quaternions", "velocities", "omegas"):
        # chains after 60 steps: at most 9.6e-14, of velocities of some 5
        np.testing.assert_allclose(getattr(sparse, name), getattr(dense, name), atol=1e-12, err_msg=name)
    for name in ("multipliers",):
        # chains after 60 steps: 1.8e-12 of 88 N
        size = np.abs(getattr(dense, name)).max()
        np.testing.assert_allclose(getattr(sparse, name), getattr(dense, name), atol=1e-12 * size, err_msg=name)


@pytest.mark.parametrize("method", [mb.ThreeField().rungs[0], mb.ThreeFieldSparse()], ids=lambda m: m.name)
def test_what_floats_keeps_both_momenta(method: ph.Method) -> None:
    made, end, _ = ran(method, "afloat", 3, 50)
    first, _ = mb.consistent_start(made)
    for momentum in (mb.linear_momentum, mb.angular_momentum):
        np.testing.assert_allclose(momentum(made, end), momentum(made, first), rtol=0, atol=1e-13)


def test_one_rod_is_a_physical_pendulum() -> None:
    """Order 2 towards the exact motion, and its energy, through `simulate`."""
    across, _, _ = moments(1.0, 1.0)
    exact = pendulum.motion(pendulum.Pendulum(1.0, 0.5, across, 9.81), 1.0, angle=1.0)
    errors = []
    for h in (0.02, 0.01):
        run = ph.simulate(chain(1), method="three-field-sparse", step=h, until=1.0)
        tip = np.array([run.observables["tip_x"].values[-1], run.observables["tip_z"].values[-1]])
        errors.append(np.abs(tip - 2 * exact.position).max())
        assert np.ptp(run.energy) < 1e-10  # J, of 4.9; 2.8e-11 at h = 0.02, where three-field has 2.9e-11
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.02)


def largest(bodies: int) -> int:
    """The most numbers in any array of a traced step."""
    system = chain(bodies)
    state = system.start
    found = 0

    def look(jaxpr: Any) -> None:
        nonlocal found
        for equation in jaxpr.eqns:
            found = max([found, *(v.aval.size for v in equation.outvars)])
            for sub in jaxprs_in_params(equation.params):
                look(sub)

    step = partial(mb.ThreeFieldSparse().step, h=H)
    look(jax.make_jaxpr(lambda system, state: step(system, state, 0.0).state)(system, state).jaxpr)
    return found


def test_no_array_of_a_step_grows_faster_than_the_bodies() -> None:
    assert largest(80) < 2.1 * largest(40)


def test_bodies_come_after_those_that_hang_on_them() -> None:
    system = tree(5)
    place = {system.names[b]: i for i, b in enumerate(from_the_tips(system))}
    assert sorted(place.values()) == list(range(system.size))
    assert all(place[f"far {i}"] < place[f"near {i}"] < place["hub"] for i in range(5))


def test_sums_over_a_body_with_many_constraints() -> None:
    system = tree(11)
    blocks = [np.random.default_rng(2).normal(size=(len(g.bodies), len(g.bodies[0]), 6)) for g in system.groups]
    expected = np.zeros((system.size + 1, 6))  # and of the ground
    for g, block in zip(system.groups, blocks, strict=True):
        np.add.at(expected, np.array(g.bodies), block)
    np.testing.assert_allclose(by_body(system, [jnp.asarray(b) for b in blocks]), expected[:-1], atol=1e-14)  # 2e-15


def test_rows_are_found_independent_without_dense_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as m:
        m.setattr(sp.csr_array, "toarray", lambda self: pytest.fail("a dense matrix was made"))
        assert chain(21).redundant == tree(3).redundant == ()
    monkeypatch.setattr(rank, "_all_far", lambda W: False)
    assert chain(22).redundant == ()


def test_a_sparse_start_is_the_dense_one(monkeypatch: pytest.MonkeyPatch) -> None:
    system = tree(3)
    dense, change = mb.consistent_start(system)
    monkeypatch.setattr(least_motion, "_MANY", 0)
    sparse, _ = mb.consistent_start(system)
    assert np.abs(change.velocity).max() > 0.01  # 0.032 m/s: there was something to change
    for a, b in zip(jax.tree.leaves(dense), jax.tree.leaves(sparse), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12 * (1 + np.abs(a).max()))


def test_a_singular_matrix_gives_no_number() -> None:
    at = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    solver = SparseSolver(*at, 2)
    np.testing.assert_allclose(solver(jnp.array([2.0, 1.0, 1.0, 3.0]), jnp.array([3.0, 4.0])), [1.0, 1.0], rtol=1e-15)
    assert np.isnan(solver(jnp.array([1.0, 1.0, 1.0, 1.0]), jnp.ones(2))).all()
    assert np.isnan(solver(jnp.array([jnp.nan, 1.0, 1.0, 1.0]), jnp.ones(2))).all()


def test_a_force_is_differentiated_among_its_own_bodies() -> None:
    system = tree(3)
    q, u = (jnp.asarray(system.start.positions), system.start.rotations), jnp.zeros((system.size, 6))
    spring, damper = jax.jit(lambda q, u: force_slopes(system, q, u, 0.0), compiler_options=QUICK)(q, u)
    assert {system.names[i] for i in spring[1]} == {"far 0", "near 1"}
    assert damper[2].shape == (1, 6, 1, 6)
    assert np.abs(damper[3]).max() == pytest.approx(0.4, rel=1.0)


def braced() -> mb.System:
    """A window in space, three rows of which follow from the others, with a spring across and a damper."""
    upright: Any = {"velocity": (0.5, 0, 0), "omega": (0, 0, -1.0)}
    bodies = [mb.Body(f"u{i}", 1.0, (0.09, 0.01, 0.1), position=(i, 0.5, 0), **upright) for i in range(2)]
    bodies += [mb.Body("c", 2.0, (0.01, 0.19, 0.2), position=(0.5, 1, 0), velocity=(1.0, 0, 0))]
    joints = [mb.Revolute("ground", f"u{i}", at=(i, 0, 0), axis=(0, 0, 1)) for i in range(2)]
    joints += [mb.Revolute(f"u{i}", "c", at=(i, 1, 0), axis=(0, 0, 1)) for i in range(2)]
    forces = [mb.Gravity((0, -9.81, 0)), mb.Spring("u0", "u1", 5.0, 0.3), mb.Damper("ground", "c", 0.2)]
    return mb.System(bodies, forces=forces, constraints=joints)


@pytest.mark.slow
def test_rows_may_follow_from_others() -> None:
    """The motion and the multipliers of `three-field`, to a hundred times the tolerance of its equations a step."""
    system = braced()
    assert len(system.redundant) == 3
    whole = mb.ThreeField().rungs[1]  # which takes these steps where the first rung fails
    dense, sparse = (ph.simulate(system, method=m, step=H, steps=40) for m in (whole, "three-field-sparse"))
    assert np.abs(dense.positions - sparse.positions).max() < 1e-11
    assert np.abs(dense.velocities - sparse.velocities).max() < 1e-9
    assert np.abs(dense.multipliers - sparse.multipliers).max() < 1e-6 * np.abs(dense.multipliers).max()
    assert sparse.gap.max() < 1e-12
    assert (sparse.renewals, sparse.halvings) == (40, 0)


@pytest.mark.long
def test_the_whole_jacobian_by_colours() -> None:
    """Every number of it, and none is left out; `test_rows_may_follow_from_others` would need more steps, or fail."""
    system = as_arrays(braced().bare())
    state = mb.consistent_start(braced())[0]
    places: list[Any] = []

    @partial(jax.jit, compiler_options=QUICK)
    def both(system: Any, state: Any) -> tuple[Any, ...]:
        scaled: Any = mb.ThreeFieldSparse()._equations(system, state, 0.0, H).scaled()
        guess = scaled.guess()
        y = guess + 0.01 * np.random.default_rng(2).normal(size=len(guess))
        (_, share), moved = jax.linearize(scaled._with_share, y)
        values, *places[:] = scaled._entries(y, share, moved)
        return y, jax.jacfwd(lambda y: scaled.residual(y)[0])(y), values, share

    y, dense, values, shares = both(system, state)
    at, to, size = places
    whole = sp.coo_array((np.asarray(values), (at, to)), shape=(size, size)).toarray()
    n = len(y)
    found = whole[:n, :n] - whole[:n, n:] @ whole[n:, :n]  # the shares eliminated
    # What is taken off is a share of a momentum whose own change is left out: less than the share, 1e-2 here.
    share = float(jnp.abs(shares).max())
    assert share < 1e-2
    assert np.abs(found - dense).max() < 2 * share + 1e-12


def test_colours_do_not_grow_with_the_bodies() -> None:
    few, many = (problem_of("windows").problem(windows=n).system for n in (8, 16))
    assert Colours(pattern(few, both=True)).count == Colours(pattern(many, both=True)).count < 100  # measured 76


def test_what_it_cannot_do_is_said() -> None:
    for bodies in (0, 2.5, -1):
        with pytest.raises(ph.InputError, match="a whole number of rods, 1 or more; got"):
            chain(bodies)
    with pytest.raises(ph.InputError, match="'both', 'kappa' or 'none'; got 'projection'"):
        mb.ThreeFieldSparse(stabilisation="projection")


def test_the_benchmark_fits_a_power() -> None:
    assert exponent({10: 3.0, 20: 6.0, 40: 12.0}) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_factors_are_freed_in_whatever_thread_they_are_asked_for() -> None:
    """SciPy keeps what another thread frees: some 0.5 MB of factors each time, here."""
    n = 400
    random = sp.random(n, n, 0.02, random_state=1).tocoo()
    rows, columns = np.r_[random.row, np.arange(n)], np.r_[random.col, np.arange(n)]
    solver = SparseSolver(rows, columns, n)

    def ask(k: int) -> None:
        solver._called(np.r_[random.data, np.full(n, 5.0 + k)], np.ones(n))

    def held() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def from_new_threads(numbers: range) -> None:
        for k in numbers:
            thread = threading.Thread(target=ask, args=(k,))
            thread.start()
            thread.join()

    from_new_threads(range(20))
    before = held()
    from_new_threads(range(20, 220))
    assert held() - before < 20e6
