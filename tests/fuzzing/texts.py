"""Formulas, conditions and input files."""

from __future__ import annotations

import os
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import polhode as ph
from fuzzing.chance import NUMBERS, TRAP, Chance, spoilt
from polhode.inputs import job_of
from polhode.results.condition import Condition
from polhode.rotation.formulas import Expression, PotentialFormula, TorqueFormula
from polhode.simulation import Plan

WORDS = ("sqrt", "sin", "cos", "tan", "exp", "log", "abs", "min", "max", "pi", "R11", "R33", "t", "W1", "(", ")", ",",
         "+", "-", "*", "/", "**", "__import__", "eval", "lambda", "x.y", "[", "'", "((((((((", "**-", "1e", ".", " ",
         *NUMBERS)  # fmt: skip
_FORMULAS = ("20*R33", "sqrt(1 - R33**2)", "-2**2", "max(R11, min(t, 2)) / (1 + exp(-t))", "1/(R11 - 1)", "R11**0.5",
             "cos(2*pi*t)*R12 - abs(R21)/3", "log(2) + 1e-3*R13*R31", "((R11))", "2**3**2", "")  # fmt: skip


_LONG = 10_000  # letters


def formula_text(chance: Chance) -> str:
    match chance.below(4):
        case 0:
            return "".join(chance.pick(WORDS) for _ in range(chance.below(24)))
        case 1:
            return chance.text(60)
        case 2:
            text = formula_text(chance)
            if len(text) > _LONG:  # doubled again and again it would be all there is
                return text
            return chance.pick(("({})", "-{}", "sin({})", "{0}*{0}", "{0}+{0}", "{0}**{0}", "max({0},{0})")).format(
                text
            )
        case _:
            return spoilt(chance, chance.pick(_FORMULAS), WORDS)


def formulas(chance: Chance) -> None:
    text = formula_text(chance)
    if chance.one_in(3):
        TorqueFormula.parse((text, "t", "0"))
        return
    expression = PotentialFormula.parse(text).expression
    assert expression == Expression.parse(text, (*(f"R{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)), "t"))
    if chance.one_in(128):
        values = np.array([0.5, -1.0, 0.0])
        with np.errstate(all="ignore"):
            assert np.shape(expression(dict.fromkeys(expression.names, values))) in ((), (3,))


@cache
def a_run() -> Any:
    return ph.simulate(ph.problem("free-body"), method="rkn6-dmv10", step=0.01, steps=4)


_CONDITIONS = ("energy.drift > 1e-6", "t >= 3", "spatial_momentum.drift*2 < 0.5", "energy < 1 - t", "1 > 0",
               "energy.drift.drift > 1", "t > 1/0", "t <")  # fmt: skip
_NAMES = ("energy", "energy.drift", ".drift", "spatial_momentum.drift", "t", "<", ">", "<=", ">=", "==", "_drift",
          "energy_drift", *WORDS)  # fmt: skip


def conditions(chance: Chance) -> None:
    if chance.one_in(3):
        text = formula_text(chance) + chance.pick(("<", ">", "<=", ">=", "=", "")) + formula_text(chance)
    else:
        text = spoilt(chance, chance.pick(_CONDITIONS), _NAMES)
    found = Condition.parse(text, a_run())
    assert found.text == text.strip()


TABLES = (
    '[body]\ninertia = [5, 5, 1]\n[start]\nattitude = { exp = [0.05, 0, 0] }\nomega = [0, 0, 50]\n[load]\npotential = '
    '"20*R33"\n[run]\nmethod = "imidm"\nstep = 0.001\nuntil = 0.1\nevery = 10\n',
    '[body]\nbox = { mass = 2, size = [1, 2, 3] }\n[start]\nattitude = { quaternion = [1, 0, 0, 0.5] }\nmomentum = '
    '[1, 2, 3]\n[load]\ntorque = { frame = "body", value = ["-W1", "t", 0] }\n[run]\nmethod = ["imidm", "akw"]\nstep = '
    '[0.1, 0.2]\nsteps = 10\n[[event]]\nwhen = "R33"\ndirection = 1\nstop = 3\nname = "level"\n',
    '[body]\npoints = { masses = [1, 2, 3, 4], positions = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]] }\n'
    'non_twisting = true\n[start]\nattitude = { matrix = [[1, 0, 0], [0, 1, 0], [0, 0, 1]] }\nspatial_momentum = '
    '[1, 0, 0]\n[run]\ntolerance = 1e-6\nuntil = 1\n',
    'problem = "heavy-top"\n[parameters]\nspin = 30\n[run]\nstep = 0.01\nuntil = 1.0\n',
    '[body]\ncylinder = { mass = 1, radius = 0.5, height = 2 }\nallow_unphysical = true\n[start]\nattitude = '
    '{ directors = [[1, 0, 0], [0, 1, 0], [0, 0, 1]] }\nomega = [1, 2, 3]\n[run]\nstep = 0.1\nuntil = 1\n',
)  # fmt: skip
WORDS_OF_FILES = (
    "[body]", "[start]", "[load]", "[run]", "[[event]]", "[parameters]", "problem = ", "inertia = ", "omega = ",
    "momentum = ", "potential = ", "torque = ", "value = ", "method = ", "step = ", "until = ", "steps = ", "every = ",
    "when = ", "stop = ", "exp = ", "directors = ", "true", "'x'", "[]", "[1]", "[1,2,3]", "[[1,2],[3]]", "{}", "{a=1}",
    "1979-05-27", "07:32:00", "''", "'''", '"""', "\\u0000", "\\U00110000", "a.b.c = 1\n", "['x:']", f"'{TRAP}:Method'",
    f"['{TRAP}:Method']", "'polhode.__main__:x'", "'three-field'", "'rolling-disk'", "[[],[],[]]", "[" * 3000,
    "{a=" * 50, ".a" * 400, "[1e200,1e200,1e200]", "[1e-200,1e-200,1e-200]", "'R33**0.5'", "'1/0'", *NUMBERS,
)  # fmt: skip


def inputs(chance: Chance) -> None:
    """Whole files, as far as the first step."""
    text = spoilt(chance, chance.pick(TABLES), WORDS_OF_FILES)
    Path("case.toml").write_bytes(text.encode("utf-8", "surrogatepass"))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="until = ")
        job = job_of("case.toml")
        if not any(isinstance(name, str) and ":" in name for name in job.methods):  # a user's own file may name code
            for _, step in job.chosen():
                if step is not None:
                    Plan.of(step, job.until, job.steps, job.every)


def trap(folder: Path) -> None:
    """A module beside the user that says when it is imported."""
    (folder / f"{TRAP}.py").write_text(f"raise SystemExit('{TRAP} was imported')\n", encoding="utf-8")
    os.environ.setdefault("POLHODE_FUZZING", "1")
