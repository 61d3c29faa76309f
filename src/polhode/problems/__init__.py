"""The systems of the papers and of the IFToMM library, by name."""

from __future__ import annotations

from typing import Any

from polhode.model.checks import unknown
from polhode.model.problem import Problem
from polhode.problems.base import BuiltIn, Parameter
from polhode.problems.bicycle import BICYCLE
from polhode.problems.blades import CHAPLYGIN_SLEIGH, KNIFE_EDGE
from polhode.problems.bricard import BRICARD
from polhode.problems.chain import CHAIN
from polhode.problems.coulomb_wall import COULOMB_WALL
from polhode.problems.free_body import BOOK, FREE_BODY
from polhode.problems.governor import GOVERNOR
from polhode.problems.linkages import FOUR_BAR, PENDULUM
from polhode.problems.non_twisting import NONTWISTING
from polhode.problems.rolling_disk import ROLLING_DISK
from polhode.problems.rolling_solids import CHAPLYGIN_BALL, RATTLEBACK
from polhode.problems.rolling_sphere import ROLLING_SPHERE
from polhode.problems.simple_pendulum import SIMPLE_PENDULUM
from polhode.problems.squeezer import SQUEEZER
from polhode.problems.tops import FAST_TOP, HEAVY_TOP, SLOW_TOP
from polhode.problems.windows import WINDOWS

PROBLEMS = {
    p.name: p
    for p in (
        *(FREE_BODY, BOOK, SLOW_TOP, FAST_TOP, COULOMB_WALL, HEAVY_TOP),
        *NONTWISTING,
        *(ROLLING_SPHERE, ROLLING_DISK, BICYCLE),
        *(CHAPLYGIN_SLEIGH, KNIFE_EDGE, RATTLEBACK, CHAPLYGIN_BALL, PENDULUM, FOUR_BAR, CHAIN),
        *(SIMPLE_PENDULUM, WINDOWS, SQUEEZER, BRICARD, GOVERNOR),
    )
}


def problem_of(name: str) -> BuiltIn:
    """A built-in problem by name, with its parameters; an InputError names those there are."""
    if name not in PROBLEMS:
        raise unknown("problem", name, PROBLEMS)
    return PROBLEMS[name]


def problem(name: str, **parameters: Any) -> Any:
    """A built-in problem by name, with these parameters: `simulate(problem("bicycle", speed=4.6))` runs it. Parameters
    that are arrays are a batch, `problem("bicycle", speed=[4.0, 4.6, 5.2])`, and give a `Family` of runs."""
    return problem_of(name).problem(**parameters)


__all__ = ["PROBLEMS", "BuiltIn", "Parameter", "Problem", "problem", "problem_of"]
