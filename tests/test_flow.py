"""`flow`: the steps of `simulate` as a pure function; its derivatives against differences and the exact solution."""

from __future__ import annotations

import re
import runpy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from pages import run_page

import polhode as ph
from polhode import multibody as mb
from polhode.model.functions import as_arrays
from polhode.model.registry import method_of
from polhode.multibody.start.traced_start import traced_start
from polhode.simulation.flow import _divided

SOON = {"xla_backend_optimization_level": 0}  # compiled soon, not well
MOMENTS = np.array([1.0, 1.7, 2.2])
TENSOR = np.array([[1.0, 0.2, 0.1], [0.2, 1.7, -0.3], [0.1, -0.3, 2.2]])
TURN, OMEGA = np.array([0.3, 0.1, 0.2]), np.array([0.7, 1.1, -0.5])
START = ph.State.of(attitude=ph.exp(TURN), omega=OMEGA)
long = pytest.mark.long


def weight(w: Any) -> ph.Potential:
    return ph.Potential(lambda R, t, w: w * (1.0 + 0.2 * t) * R[2, 2], w=w)


def numbers(state: Any) -> Any:
    return jnp.concatenate([jnp.ravel(x) for x in jax.tree.leaves(state)])


def apart(f: Any, x: Any, e: float = 1e-5) -> np.ndarray:
    """Central differences of a number."""
    return np.array([float(f(x + e * d) - f(x - e * d)) / (2 * e) for d in np.eye(len(x))])


def leaves_close(one: Any, other: Any, *, atol: float) -> None:
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=0.0, atol=atol * (1.0 + np.abs(b).max()))


@pytest.mark.parametrize("name", ["strang-dmv", pytest.param("em", marks=long)])
def test_the_steps_of_simulate(name: str) -> None:
    """In the user's axes, with states of a method's own, whether or not the steps divide into equal parts (23 do
    not). Measured: 1.1e-15 after 23 steps."""
    system = ph.Rotation(ph.RigidBody(TENSOR), weight(2.0))
    run = ph.simulate(system, START, method=name, step=0.1, steps=24)
    at = lambda i: jax.tree.map(lambda x: x[i], run.trajectory.states)  # noqa: E731
    leaves_close(ph.flow(system, START, method=name, step=0.1, steps=23), at(23), atol=1e-14)
    kept = ph.flow(system, START, method=name, step=0.1, steps=24, every=6)
    leaves_close(kept, at(slice(0, None, 6)), atol=1e-14)
    leaves_close(ph.flow(system, START, method=name, step=0.1, steps=0), at(0), atol=1e-15)


def test_a_problem_brings_what_is_not_said() -> None:
    problem = replace(ph.problem("heavy-top"), method="mk-forward-euler")
    last = ph.simulate(problem, steps=5).last_state
    leaves_close(ph.flow(problem, steps=5), last, atol=1e-13)
    later = replace(problem, system=ph.Rotation(problem.body, weight(2.0)), t0=0.7)
    leaves_close(ph.flow(later, steps=5), ph.simulate(later, steps=5).last_state, atol=1e-13)


REVERSED = [
    "strang-dmv",
    *(pytest.param(name, marks=long) for name in ("imidm", "dmv4", "dla")),
    *(pytest.param(name, marks=long) for name in ("akw", "rig_imp", "mk-forward-euler", "three-rotation")),
    *(pytest.param(name, marks=long) for name in ("mk-gauss1", "exact", "dmv", "dmv10", "rattle", "em")),
    *(pytest.param(name, marks=long) for name in ("nystrom4-dmv4", "kahan-li6-imidm", "triple4-strang-dmv")),
    *(pytest.param(name, marks=long) for name in ("mk-gauss2", "mk-rk4", "nystrom4-exact", "symmetric-rotation")),
]


@pytest.mark.parametrize("name", REVERSED)
def test_derivatives_in_reverse(name: str) -> None:
    """By attitude, angular velocity, moments, a parameter of the load, the step and t0, against differences: measured
    2e-10 off, of 7."""
    free = method_of(name).traits.loads == "none"

    def end(x: Any) -> Any:
        turn, omega, moments, (w, step, t0) = jnp.split(x, (3, 6, 9))
        if name in ("imidm", "strang-dmv"):
            body = ph.RigidBody(jnp.asarray(TENSOR) * (1.0 + moments[0]) + jnp.diag(moments))
        else:
            body = ph.RigidBody(MOMENTS * (1.0 + moments))
        system = ph.Rotation(body, None if free else weight(2.0 + w))
        start = ph.State(ph.exp(TURN + turn), system.momentum(ph.Vec3.of(OMEGA + omega)))
        problem = ph.Problem(system, start, t0=0.3 + t0)
        last = ph.flow(problem, method=name, step=0.1 * (1.0 + step), steps=3)
        return numbers((last.attitude, last.momentum)) @ np.arange(1.0, 8.0)

    both = jax.jit(jax.value_and_grad(end), compiler_options=SOON)
    x = jnp.zeros(12)
    np.testing.assert_allclose(both(x)[1], apart(lambda x: both(x)[0], x), atol=3e-9)
    assert (np.abs(both(x)[1])[: 9 if free else 12] > 1e-6).all()


@long
def test_derivatives_of_the_exact_solution() -> None:
    """A free body after 20 steps of order 10, by start, moments and step, in reverse: measured 2e-15 off, of 2."""

    def states(move: Any, x: Any) -> Any:
        turn, omega, moments, t = jnp.split(x, (3, 6, 9))
        body = ph.RigidBody(MOMENTS * (1.0 + moments))
        start = ph.State(ph.exp(TURN + turn), ph.Rotation(body).momentum(ph.Vec3.of(OMEGA + omega)))
        return numbers(move(body, start, 1.0 + t[0]))

    def by_steps(body: Any, start: Any, t: Any) -> Any:
        return ph.flow(ph.Rotation(body), start, method="dmv10", step=t / 20, steps=20)

    x = jnp.zeros(10)
    back = jax.jit(jax.grad(lambda x, w: states(by_steps, x) @ w), compiler_options=SOON)
    # One by one: XLA evaluates the long formulas of `exact` again and again for ten tangents side by side.
    along = jax.jit(lambda d: jax.jvp(partial(states, ph.exact), (x,), (d,))[1], compiler_options=SOON)
    steps = np.array([back(x, w) for w in np.eye(7)])
    np.testing.assert_allclose(steps, np.array([along(d) for d in np.eye(10)]).T, atol=1e-11)


def test_forward_mode_and_members() -> None:
    """Forward mode is reverse mode; members of a vmap, and of a batch, are separate runs."""
    move = partial(ph.flow, method="mk-forward-euler", step=0.1, steps=6)
    system = ph.Rotation(ph.RigidBody(MOMENTS))

    def end(omega: Any) -> Any:
        return numbers(move(system, ph.State(ph.exp(TURN), system.momentum(ph.Vec3.of(omega))), every=3))

    x = jnp.asarray(OMEGA)
    found = jax.jit(lambda x: (end(x), jax.jacfwd(end)(x), jax.jacrev(end)(x)), compiler_options=SOON)
    _, forward, reverse = found(x)
    np.testing.assert_allclose(forward, reverse, atol=1e-14)
    many = jnp.stack([x, 0.5 * x, -x])
    each = np.array([found(omega)[0] for omega in many])
    np.testing.assert_allclose(jax.jit(jax.vmap(end), compiler_options=SOON)(many), each, atol=1e-15)
    batch = move(system, ph.State.of(attitude=ph.exp(TURN), omega=np.asarray(many)), every=3)
    np.testing.assert_allclose(batch.momentum.array, each.reshape(3, 7, 3)[:, 4:].transpose(2, 0, 1), atol=1e-15)


def test_numbers_that_a_function_closes_over_have_derivatives() -> None:
    """Second ones too, forward over reverse."""

    def end(w: Any) -> Any:
        system = ph.Rotation(ph.RigidBody(MOMENTS), ph.Torque(lambda t: (w * t, 0.0, w)))
        return ph.flow(system, START, method="mk-forward-euler", step=0.1, steps=4).momentum.x

    def three(w: Any) -> Any:
        (value, slope), (_, curved) = jax.jvp(jax.value_and_grad(end), (w,), (1.0,))
        return value, slope, curved

    found = jax.jit(three, compiler_options=SOON)
    up, at, down = (found(w) for w in (2.001, 2.0, 1.999))
    for i in (0, 1):
        assert float(at[i + 1]) == pytest.approx(float(up[i] - down[i]) / 0.002, rel=1e-5)


def compiled(f: Any, *args: Any) -> int:
    """Bytes that a program needs beside its arguments and results."""
    analysis: Any = jax.jit(f, compiler_options=SOON).lower(*args).compile().memory_analysis()
    return analysis.temp_size_in_bytes


def test_reverse_mode_takes_memory_as_the_root_of_the_steps() -> None:
    """Four times the steps take twice the memory (measured: 1.99, 0.21 and 0.42 MB); a plain loop takes
    600 times as much."""
    system, method = ph.Rotation(ph.RigidBody(MOMENTS)), method_of("mk-forward-euler")
    state = jax.tree.map(jnp.asarray, START.on(system))

    def by_flow(state: Any, steps: int) -> Any:
        return ph.flow(system, state, method=method, step=0.1, steps=steps).momentum.x

    def plainly(state: Any, steps: int) -> Any:
        def one(state: Any, _: Any) -> Any:
            return method.step(system, state, 0.0, 0.1).state, None

        return jax.lax.scan(one, state, None, steps)[0].momentum.x

    few, many = 10**6, 4 * 10**6
    sizes = [compiled(jax.grad(partial(by_flow, steps=n)), state) for n in (few, many)]
    assert 1.8 < sizes[1] / sizes[0] < 2.2
    assert compiled(jax.grad(partial(plainly, steps=few)), state) > 500 * sizes[0]


def test_steps_are_divided_into_parts_of_about_their_root() -> None:
    for count in (*range(1, 200), 997, 10**4, 10**4 + 7, 2 * 4999):
        near = int(np.sqrt(count))
        length, times = _divided(count, near)
        assert (times - 1) * length < count <= times * length
        assert near / 2 - 1 <= length <= 2 * near


def test_a_step_that_fails_is_not_silent() -> None:
    """Outside of transformations an error names it; inside, all is NaN from there on, and the derivatives are."""
    push = ph.Torque(lambda t, c: (jnp.where(t > 0.35, jnp.sqrt(c), c), 0.0, 0.0), c=-1.0)
    system = ph.Rotation(ph.RigidBody(MOMENTS), push)
    move = partial(ph.flow, method="mk-forward-euler", step=0.1, steps=6)
    with pytest.raises(ph.StepError, match=r"mk-forward-euler failed in step 5, from t = 0\.4 with step 0\.1"):
        move(system, START)

    def ends(c: Any) -> Any:
        return move(system.replaced(load=ph.Torque(push.fn, c=c)), START, every=2)

    def turned(c: Any) -> Any:
        kept = ends(c)
        return kept.attitude.w[-1], kept

    slope, kept = jax.jit(jax.grad(turned, has_aux=True), compiler_options=SOON)(-1.0)
    for x in jax.tree.leaves(kept):
        assert np.isfinite(x).tolist() == [True, True, True, False]
    assert np.isnan(slope)
    both = jax.jit(jax.vmap(ends), compiler_options=SOON)(jnp.array([-1.0, 1.0])).momentum.array
    assert np.isfinite(both).all(axis=-1).tolist() == [[True, True, True, False], [True] * 4]


def test_what_cannot_be_is_named() -> None:
    system = ph.Rotation(ph.RigidBody(MOMENTS), weight(2.0))
    for match, options in (
        ("steps must be a multiple of every, here of 3; got 10", {"step": 0.1, "steps": 10, "every": 3}),
        ("step is missing", {"steps": 10}),
        ("step must be one positive number", {"step": -0.1, "steps": 10}),
        ("steps must be a whole number", {"step": 0.1, "steps": 1.5}),
        ("dmv moves free bodies only", {"step": 0.1, "steps": 1, "method": "dmv"}),
    ):
        with pytest.raises(ph.InputError, match=match):
            ph.flow(system, START, **options)
    with pytest.raises(ph.InputError, match="start must come from State.of"):
        ph.flow(system, step=0.1, steps=1)
    with pytest.raises(ph.InputError, match=r"flow moves a Rotation\(body, load\), a System or a problem"):
        ph.flow(ph.RigidBody(MOMENTS), START, step=0.1, steps=1)
    for name in ("three-field-sparse", "triple4-three-field-sparse"):
        with pytest.raises(ph.InputError, match=f"{name} calls back to the host .* no derivatives"):
            ph.flow(ph.problem("pendulum"), method=name, steps=1)

    def energy(i: Any) -> Any:
        return ph.simulate(ph.RigidBody((i, 2.0, 2.5)), None, START, step=0.1, steps=1).energy[-1]

    for call in (jax.grad(energy), jax.jit(energy)):
        with pytest.raises(ph.InputError, match=r"simulate .* not inside of jit, vmap or grad.*polhode\.flow"):
            call(1.0)
    with pytest.raises(ph.InputError, match=r"polhode\.flow"):
        jax.jit(lambda h: ph.simulate(system, START, step=h, steps=1).energy[-1])(0.1)


def test_steps_that_are_halved_have_forward_mode_only() -> None:
    def end(w: Any) -> Any:
        system = ph.Rotation(ph.RigidBody(MOMENTS), ph.Torque(lambda t, w: (w, 0.0, t), w=w))
        return ph.flow(system, START, method="halving-mk-forward-euler", step=0.1, steps=4).momentum.x

    found = jax.jit(jax.jacfwd(lambda w: (end(w),) * 2, has_aux=True), compiler_options=SOON)
    (_, down), (slope, _), (_, up) = (found(w) for w in (1.999, 2.0, 2.001))
    assert float(slope) == pytest.approx(float(up - down) / 0.002, abs=1e-6)
    for call in (jax.grad(end), jax.jit(jax.grad(end)), lambda w: jax.vmap(jax.grad(end))(jnp.array([w, w]))):
        with pytest.raises(ph.InputError, match="halving-mk-forward-euler has no reverse mode"):
            call(2.0)


def test_a_traced_inertia_is_the_same_body() -> None:
    given = ph.RigidBody(TENSOR)
    traced: list[ph.RigidBody] = []
    jax.make_jaxpr(lambda x: traced.append(ph.RigidBody(x)))(TENSOR)
    assert traced[0].axes is not None

    @jax.jit
    def momentum(x: Any) -> Any:
        return ph.Rotation(ph.RigidBody(x)).momentum(ph.Vec3.of(OMEGA)).array, START.on(ph.RigidBody(x)).momentum.array

    for found in momentum(TENSOR):
        np.testing.assert_allclose(found, given.tensor @ OMEGA, rtol=1e-14)
    with pytest.raises(ph.InputError, match=r"got shape \(2,\)"):
        jax.jit(lambda x: ph.RigidBody(x).tensor)(np.ones(2))
    with pytest.raises(ph.InputError, match=r"body 'a': inertia must be numbers.*replaced\(inertias"):
        jax.jit(lambda x: mb.Body("a", 1.0, x).tensor)(np.ones(3))


# Systems of bodies.


def test_a_traced_start_is_the_consistent_one() -> None:
    """Positions and velocities moved onto the constraints, and multipliers, as for `simulate`: measured 2e-15 off. What
    cannot be closed is NaN."""
    system = ph.problem("pendulum").system
    move = jax.jit(lambda s: traced_start(as_arrays(system.bare().replaced(start=s))), compiler_options=SOON)
    first = system.start
    rng = np.random.default_rng(3)
    off = replace(
        first,
        positions=first.positions + 1e-4 * rng.normal(size=first.positions.shape),
        velocities=first.velocities + 1e-4 * rng.normal(size=first.velocities.shape),
    )
    leaves_close(move(off), mb.consistent_start(system.replaced(start=off))[0], atol=1e-12)
    far = replace(first, positions=first.positions + np.array([[30.0, 40.0, 5.0]]))
    assert np.isnan(numbers(move(far))).all()


def test_the_steps_of_simulate_for_a_system() -> None:
    """From a traced start by a traced step, by the method that compiles in half the time."""
    problem = ph.problem("simple-pendulum")
    flow, run = partial(ph.flow, method="mm-dae", steps=6), ph.simulate(problem, method="mm-dae", steps=6)
    kept = jax.jit(lambda s, h: flow(problem, s, step=h, every=3))(problem.system.start, problem.step)
    leaves_close(kept, jax.tree.map(lambda x: x[::3], run.trajectory.states), atol=1e-12)


@long
def test_the_steps_of_simulate_for_a_system_by_every_way_in() -> None:
    """Bit by bit where it was measured; also inside of a jit that knows nothing of it, and, by a method that compiles
    in half the time, with a traced step and from a traced start."""
    problem = ph.problem("simple-pendulum")
    last = ph.simulate(problem, steps=6).last_state
    leaves_close(ph.flow(problem, steps=6), last, atol=1e-14)
    inside = jax.jit(lambda x: ph.flow(problem, steps=6).positions + x)(0.0)
    np.testing.assert_allclose(inside, last.positions, atol=1e-14)
    flow, run = partial(ph.flow, method="mm-dae", steps=6), ph.simulate(problem, method="mm-dae", steps=6)
    kept = jax.jit(lambda h: flow(problem.system, step=h, every=3))(problem.step)
    leaves_close(kept, jax.tree.map(lambda x: x[::3], run.trajectory.states), atol=1e-14)
    from_start = jax.jit(lambda s: flow(problem, s))(problem.system.start)
    leaves_close(from_start, run.last_state, atol=1e-12)


CHORD = mb.ThreeField(solver=mb.Chord())  # compiled in two thirds of the time
SYSTEMS = [("simple-pendulum", mb.MMDAE()), ("pendulum", CHORD), ("rolling-disk", CHORD)]
SYSTEMS += [("pendulum", mb.MMDAE()), ("pendulum", mb.ThreeFieldLiteral()), ("pendulum", mb.ThreeField())]
SYSTEMS += [("rolling-disk", mb.MMDAE()), ("rolling-disk", mb.ThreeFieldLiteral())]


@pytest.mark.parametrize(
    ("name", "method"),
    [pytest.param(*each, marks=long) for i, each in enumerate(SYSTEMS)],
    ids=lambda x: getattr(x, "name", x),
)
def test_derivatives_of_a_system_in_reverse(name: str, method: Any) -> None:
    """By masses, inertias, velocities, positions and the step, against differences: measured 3e-9 off, of 3. Changes of
    the start that its constraints do not allow are projected, in the differences too."""
    system = ph.problem(name).system
    first = mb.consistent_start(system)[0]

    def end(x: Any) -> Any:
        moved = system.replaced(masses=system.masses * (1.0 + x[0]), inertias=system.inertias * (1.0 + x[1]))
        start = replace(
            first,
            velocities=first.velocities + x[2] * jnp.array([0.3, -0.2, 0.5]),
            omegas=first.omegas + x[2] * jnp.array([0.1, 0.2, -0.4]),
            positions=first.positions + x[3] * jnp.array([0.1, 0.2, -0.3]),
        )
        last = ph.flow(moved, start, method=method, step=0.02 * (1.0 + x[4]), steps=4)
        seen = numbers((last.positions, last.omegas, 0.01 * last.multipliers))
        return seen @ jnp.arange(1.0, 1.0 + len(seen))

    both = jax.jit(jax.value_and_grad(end), compiler_options=SOON)
    x = jnp.zeros(5)
    np.testing.assert_allclose(both(x)[1], apart(lambda x: both(x)[0], x), rtol=1e-6, atol=2e-8)
    assert np.isfinite(both(x)[0])
    assert (np.abs(both(x)[1][2:]) > 1e-3).all()


@long
def test_derivatives_by_all_numbers_of_a_system_at_once() -> None:
    """Parameters of a force and of a constraint too, against differences: measured 2e-11 off; members of a vmap are
    separate runs."""

    def spring(view: Any, k: Any, length: Any) -> Any:
        d = view.position("bob")
        return 0.5 * k * (jnp.sqrt(d @ d) - length) ** 2

    def track(view: Any, c: Any) -> Any:
        return view.position("bob")[0] - c * view.position("bob")[1] ** 2 - 1.0

    bob = mb.Body("bob", 0.3, (0.01, 0.012, 0.015), position=(1, 0, 0), velocity=(0, 0.3, 0), omega=(0.1, 0.2, 0.3))
    forces = [mb.Potential(spring, k=30.0, length=0.9), mb.Gravity((0, 0, -9.81))]
    system = as_arrays(mb.System([bob], forces=forces, constraints=[mb.Holonomic(track, name="track", c=0.2)]))
    move = partial(ph.flow, method="mm-dae", step=0.02, steps=4)

    def end(system: Any) -> Any:
        last = move(system)
        return last.positions[0] @ jnp.arange(1.0, 4.0) + jnp.sum(last.omegas)

    both = jax.jit(jax.value_and_grad(end), compiler_options=SOON)
    slope = both(system)[1]
    leaves, tree = jax.tree.flatten(system)
    named = {jax.tree_util.keystr(path): i for i, (path, _) in enumerate(jax.tree_util.tree_leaves_with_path(system))}
    for name, i in named.items():
        if np.size(leaves[i]) == 1:
            up, down = (
                both(jax.tree.unflatten(tree, [x + e * (j == i) for j, x in enumerate(leaves)]))[0]
                for e in (1e-5, -1e-5)
            )
            found = float(np.ravel(jax.tree.leaves(slope)[i])[0])
            assert found == pytest.approx(float(up - down) / 2e-5, abs=1e-9), name
    assert abs(slope.groups[0].kind.parameters["c"][0]) > 1e-4
    assert abs(slope.forces[0].parameters["length"]) > 1e-4
    first = mb.consistent_start(system)[0]
    omegas = jax.jit(lambda w: move(system, replace(first, omegas=w * first.omegas)).omegas, compiler_options=SOON)
    by = jnp.array([0.5, 1.0, 2.0])
    np.testing.assert_allclose(jax.vmap(omegas)(by), jnp.stack([omegas(w) for w in by]), atol=1e-15)


def test_the_root_of_dense_newton_has_derivatives() -> None:
    """Forward and in reverse, by one linear system, with the whole Jacobian or with part of it kept."""

    def root(b: Any, frozen: bool) -> Any:
        def evaluate(x: Any, at: Any) -> tuple[Any, Any]:
            left = x + 0.1 * jnp.sin(at) * b - jnp.array([b, 2.0 * b])
            return left, jnp.linalg.norm(left)

        x, report = mb.DenseNewton(tolerance=1e-14, limit=40, frozen=frozen)(evaluate, lambda x: x[::-1], jnp.zeros(2))
        return x, report.converged

    for frozen in (False, True):
        of = lambda b, frozen=frozen: root(b, frozen)[0]  # noqa: E731
        x, forward, reverse = jax.jit(lambda b, f=of: (f(b), jax.jacfwd(f)(b), jax.jacrev(f)(b)))(0.7)
        run = jax.jit(partial(root, frozen=frozen))
        assert bool(run(0.7)[1])
        np.testing.assert_allclose(x, run(0.7)[0], rtol=1e-15)
        np.testing.assert_allclose(forward, reverse, rtol=1e-14)
        np.testing.assert_allclose(forward, (run(0.70001)[0] - run(0.69999)[0]) / 2e-5, rtol=1e-8)


# The page.

DOCS = Path(__file__).parents[1] / "docs"


@long
def test_the_page_on_flow(tmp_path: Path) -> None:
    """Its programs run; what it shows of the example stands there."""
    names, _ = run_page("flow", tmp_path)
    assert abs(names["slope"]["weight"] - (names["tilt"](20.01) - names["tilt"](19.99)) / 0.02) < 1e-6
    assert names["slopes"].shape == (11, 3, 3)
    (shown,) = re.findall(r"```py\n(.*?)```", (DOCS / "flow.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    assert shown in (DOCS / "estimation.py").read_text(encoding="utf-8")


@long
def test_the_example_estimates_as_well_as_it_says() -> None:
    """The truth is within four sigma (measured: 2.6), and other noise scatters as one sigma says: measured
    0.73 to 1.15 of it; with 200 draws 0.94 to 1.11."""
    off, sigma, _, left = runpy.run_path(str(DOCS / "estimation.py"))["repeated"](20)
    assert (np.abs(off) < 4 * sigma).all()
    scatter = off.std(axis=0) / sigma.mean(axis=0)
    assert (scatter > 0.5).all()
    assert (scatter < 2).all()
    assert 0.5 < left.min() < left.max() < 1.5


def test_a_batch_of_problems_is_refused() -> None:
    mass: Any = np.array([1.0, 2.0])
    bodies = [mb.Body("b", mass=mass, inertia=(0.1, 0.1, 0.1))]
    tops = ph.problem("heavy-top", spin=[1.0, 2.0])
    for several in (tops, mb.System(bodies)):
        with pytest.raises(ph.InputError, match=r"flow moves one problem; got a batch of shape \(2,\)\. Take jax"):
            ph.flow(several, step=0.01, steps=3)
    one = [ph.flow(problem, step=0.01, steps=3).momentum.x for problem in tops.members.flat]
    assert one[0] != one[1]
