"""Random mechanisms: trees and loops of random joints, masses within 10⁴, starts that close by construction.

A tree grows body by body, each on a random joint to one before it or to the ground; a loop is closed by one more
joint (or a rod), fixed to both bodies where they happen to be. Velocities are drawn at random and projected by
`consistent_start`. What must hold for any of them: every row, energy to order four, and a step solved.

Every new structure compiles for seconds, so CI tries one and `make test-long` many. Numbers are drawn after the
structure, and three sets of them share its program.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jax import lax
from scipy.spatial.transform import Rotation
from zoo.lagrange import BRIEFLY
from zoo.runs import METHODS

from polhode import multibody as mb
from polhode.model.functions import as_arrays

STEP, COUNT, MEMBERS = 0.005, 30, 3
JOINTS = ("Ball", "Revolute", "Universal", "Prismatic", "Cylindrical", "Planar")
CLOSINGS = ("Distance", "Ball", "Revolute", "Cylindrical", "Planar")
# freedoms that are left: a loop takes 6 less than its closing joint leaves
FREEDOMS = {"Ball": 3, "Revolute": 1, "Universal": 2, "Prismatic": 1, "Cylindrical": 2, "Planar": 3, "Distance": 5}


@dataclass(frozen=True)
class Plan:
    """What shapes the program: parents (-1 is the ground) and joints of a tree, and (a, b, joint) of loops."""

    tree: tuple[tuple[int, str], ...]
    loops: tuple[tuple[int, int, str], ...] = ()
    blades: tuple[int, ...] = ()  # bodies on a knife edge

    @property
    def freedoms(self) -> int:
        left = sum(FREEDOMS[joint] for _, joint in self.tree)
        return left - sum(6 - FREEDOMS[joint] for _, _, joint in self.loops) - len(self.blades)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    size = draw(st.integers(1, 4))
    tree = tuple((draw(st.integers(-1, i - 1)), draw(st.sampled_from(JOINTS))) for i in range(size))
    plan = Plan(tree)
    if size > 1 and draw(st.booleans()):
        b = draw(st.integers(1, size - 1))
        a = draw(st.integers(-1, b - 1))
        joint = draw(st.sampled_from([j for j in CLOSINGS if plan.freedoms - 6 + FREEDOMS[j] >= 1] or ["Distance"]))
        plan = replace(plan, loops=((a, b, joint),))
    if plan.freedoms >= 2 and draw(st.booleans()):
        plan = replace(plan, blades=(draw(st.integers(0, size - 1)),))
    return plan


def system_of(plan: Plan, seed: int) -> mb.System:
    """Numbers of all kinds from the seed: masses from 0.01 to 100, links of about one."""
    rng = np.random.default_rng(seed)
    names = [f"b{i}" for i in range(len(plan.tree))]
    where: list[np.ndarray] = []
    bodies, constraints = [], []

    def called(i: int) -> str:
        return "ground" if i < 0 else names[i]

    def joined(kind: str, a: int, b: int, at: np.ndarray, label: str) -> Any:
        if kind == "Distance":
            ends = {"at_a": rng.normal(size=3), "at_b": 0.3 * rng.normal(size=3)}
            return mb.Distance(called(a), called(b), name=label, **ends)
        options: dict[str, Any] = {}
        if kind != "Ball":
            axis = rng.normal(size=3)
            options["axis"] = axis
            if kind == "Universal":
                options["axis_b"] = np.cross(axis, rng.normal(size=3))
        return getattr(mb, kind)(called(a), called(b), at=at, name=label, **options)

    for i, (parent, kind) in enumerate(plan.tree):
        joint = (np.zeros(3) if parent < 0 else where[parent]) + 0.5 * _way(rng)
        where.append(joint + 0.5 * _way(rng))
        mass = 10.0 ** rng.uniform(-2, 2)
        moments = mass * (0.05 + 0.04 * rng.random(3))
        turn = Rotation.from_rotvec(rng.normal(size=3)).as_matrix()
        motion: dict[str, Any] = {"velocity": rng.normal(size=3), "omega": rng.normal(size=3)}
        bodies.append(mb.Body(names[i], mass, moments, position=where[i], attitude=turn, **motion))
        constraints.append(joined(kind, parent, i, joint, f"tree {i}"))
    for j, (a, b, kind) in enumerate(plan.loops):
        constraints.append(joined(kind, a, b, where[b] + 0.5 * _way(rng), f"loop {j}"))
    for i in plan.blades:
        constraints.append(mb.KnifeEdge(names[i], 0.3 * rng.normal(size=3), rng.normal(size=3), name=f"blade {i}"))
    return mb.System(bodies, forces=[mb.Gravity(3.0 * _way(rng))], constraints=constraints)


def _way(rng: np.random.Generator) -> np.ndarray:
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def program(method: mb.ThreeField, system: mb.System, start: mb.State, h: Any) -> Any:
    def one(state: mb.State, n: Any) -> Any:
        result = method.step(system, state, n * h, h)
        psi, phi = mb.residuals(system, result.state, (n + 1.0) * h)
        kinetic, potential = mb.energy(system, result.state)
        return result.state, (result.report, result.state, psi, phi, kinetic, potential)

    return mb.energy(system, start), lax.scan(one, start, jnp.arange(COUNT) * 1.0)[1]


def check(plan: Plan, seeds: tuple[int, ...]) -> None:
    compiled: dict[Any, Any] = {}
    for seed in seeds:
        made = system_of(plan, seed)
        start, _ = mb.consistent_start(made)
        given = (as_arrays(made.bare()), as_arrays(start), np.float64(STEP))
        for method in METHODS:
            shape = method, jax.tree.structure(given)
            if shape not in compiled:
                compiled[shape] = jax.jit(partial(program, method)).lower(*given).compile(compiler_options=BRIEFLY)
            (first, level), out = jax.tree.map(np.asarray, compiled[shape](*given))
            report, states, psi, phi, kinetic, potential = out
            if report.converged.all():
                break
        assert report.converged.all(), (seed, report.error.max())
        # As in the zoo: w from the motion, sizes from places; (2hw)⁴(1 + wt)/720 of the most kinetic energy.
        rates = (np.abs(states.omegas).max(), np.abs(states.velocities).max())
        change = np.abs(np.diff(states.omegas, axis=0)).max() / STEP, np.abs(np.diff(states.velocities, axis=0)).max()
        w = float(max(*rates, np.sqrt(max(change[0], change[1] / STEP))))
        size = 1.0 + float(np.abs(states.positions).max())
        holonomic = np.array(made.holonomic, dtype=bool)
        assert np.abs(phi[:, holonomic]).max(initial=0.0) < 1e-12 * size
        assert np.abs(psi[:, ~holonomic]).max(initial=0.0) < 1e-12 * size * max(w, 1.0)
        most = max(float(kinetic.max()), float(first))
        drift = np.abs(kinetic + potential - first - level).max()
        levels = float(np.abs(potential).max())
        assert drift < (2 * w * STEP) ** 4 * (1 + w * STEP * COUNT) / 720 * most + 1e-13 * COUNT * (most + levels)


LIMITS = settings(suppress_health_check=list(HealthCheck), database=None)


def test_a_few_random_mechanisms() -> None:
    check(Plan(((-1, "Revolute"), (0, "Universal")), blades=(1,)), tuple(range(MEMBERS)))


@pytest.mark.long
@settings(LIMITS, max_examples=100)
@given(plans(), st.integers(0, 1000))
def test_many_random_mechanisms(plan: Plan, seed: int) -> None:
    jax.clear_caches()  # hundreds of programs are compiled here, and a process has room for some 65,000 maps of memory
    check(plan, tuple(range(seed, seed + MEMBERS)))
