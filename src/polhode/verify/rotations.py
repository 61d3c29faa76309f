"""What is measured of methods for one rotating body."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from polhode.methods.krysl import rate
from polhode.model.method import Method
from polhode.model.problem import Problem
from polhode.problems import problem_of
from polhode.results.run import Run
from polhode.rotation import Rotation, State
from polhode.rotation.loads import Load
from polhode.rotation.quantities import kinetic_energy
from polhode.verify.conservation import Course, Kept
from polhode.verify.measures import Measures
from polhode.verify.structure import invariant_defects, poisson_defect, symmetry_defect, symplectic_defect
from polhode.verify.trials import any_load_of, load_of, trials_for

_ROUND_OFF = 1e-12  # over 10⁵ steps; the methods measure 1e-15 to 4e-13


@cache
def _free_body() -> Problem:
    return problem_of("free-body").problem()


def _fast_top(load_of_weight: Callable[[float], Load]) -> Problem:
    """With its load in the form of the trials, so that their program takes its steps."""
    top = problem_of("fast-top").problem()
    return replace(top, system=Rotation(top.body, load_of_weight(top.system.load.parameters["weight"])))


@cache
def _top() -> Problem:
    return _fast_top(lambda weight: load_of(weight, 0.0))


@cache
def _top_of_any_load() -> Problem:
    return _fast_top(lambda weight: any_load_of(weight, 0.0, 0.0))


def _half_step_energy(run: Run) -> np.ndarray:
    half = run.state.momentum + run.step / 2 * rate(Rotation(run.body), 0.0, run.state)
    return np.asarray(kinetic_energy(run.body, State(run.state.attitude, half)))


FREE = Course("free body", _free_body, 0.1, 100_000, 50)
TOP = Course("heavy top", _top, 0.002, 100_000, 50)
OF_FREE = (
    Kept("energy", "energy", FREE, lambda run: run.kinetic, _ROUND_OFF),
    Kept("spatial_momentum", "spatial momentum", FREE, lambda run: run.spatial_momentum, _ROUND_OFF),
    Kept("momentum_length", "momentum length", FREE, lambda run: run.state.momentum.norm(), _ROUND_OFF),
)
OF_TOP = (
    Kept("top_energy", "energy", TOP, lambda run: run.energy, _ROUND_OFF),
    Kept("vertical_momentum", "vertical momentum", TOP, lambda run: run.spatial_momentum[:, 2], _ROUND_OFF),
)
OF_TOP_OF_ANY_LOAD = tuple(replace(kept, course=replace(TOP, problem=_top_of_any_load)) for kept in OF_TOP)
HALF_STEP = Kept("half_step_energy", "half-step energy", FREE, _half_step_energy, _ROUND_OFF)


def kept_by(method: Method) -> list[Kept]:
    traits = method.traits
    loaded = {"none": (), "attitude": OF_TOP, "any": OF_TOP_OF_ANY_LOAD}[traits.loads]
    return [*OF_FREE, *loaded, *((HALF_STEP,) if traits.half_step_energy else ())]


MEASURES = Measures(
    trials=lambda method: trials_for(method.traits.loads),
    kept=kept_by,
    geometry={
        "Poisson": ("poisson", poisson_defect),
        "symplectic": ("symplectic", symplectic_defect),
        "symmetric": ("symmetric", symmetry_defect),
    },
    columns=("Qy", "C", "H", "Poisson", "symplectic", "symmetric"),
    title="Measured: order, exact invariants of the free body, geometry of a step",
    about=(
        "Table 2 of Vilmart (2013) for methods that move one body. The order is the least over a free body and, for\n"
        "methods that take loads, an asymmetric heavy top, a torque of time and damping; Qy, C, H are exact on the\n"
        "free body over 10⁵ steps; Poisson, symplectic and symmetric come from the Jacobian of one step."
    ),
    holds=1e-12,
    broken=1e-10,
    invariants=invariant_defects,
    exact={"Qy": "spatial_momentum", "C": "momentum_length", "H": "energy"},
)
