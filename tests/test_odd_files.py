"""Input files changed at random: each is read, or refused with a sentence; nothing else happens."""

import random
from pathlib import Path

import pytest
from test_cli import TOP

from polhode.inputs import Job, job_of
from polhode.model import InputError
from polhode.simulation import Plan

VALUES = [
    "1", "-1", "0", "-0.0", "1e-400", "1e400", "1e-320", "1e300", "nan", "inf", "true", "'x'", "'1.5'", "[]", "[1]",
    "[1,2,3]", "[[1,2],[3]]", "[[1,0,0],[0,1,0],[0,0,1]]", "{}", "{a=1}", "{exp=[1e200,2,3]}",
    "{quaternion=[1e200,0,0,1]}", "{matrix=[[1,0,0],[0,1,0],[0,0,1]]}", "1979-05-27", "07:32:00", "'１２'", "'$x_{$'",
    "''", "[1e200,1e200,1e200]", "['imidm','akw']", "['x:']", "'.x:Y'", "'three-field'", "9223372036854775807",
    "{mass=1,size=[1,0,3]}", "{mass=1e300,size=[1e300,1,1]}", "{mass=1,radius=1,height=0}",
    "{masses=[1],positions=[[0,0]]}", "{frame='space',value=['R11','t','W1']}", "{frame='x',value=[1,2,3]}",
    "'R33**0.5'", "'1/0'", "[[],[],[]]",
    "1" * 310, hex(16**400),
]  # fmt: skip
KEYS = [
    "inertia", "box", "ellipsoid", "cylinder", "points", "allow_unphysical", "non_twisting", "attitude", "omega",
    "momentum", "potential", "torque", "frame", "value", "method", "step", "until", "steps", "every", "body", "start",
    "load", "run", "problem", "parameters", "spin", "int", "str", "a.b",
]  # fmt: skip
LETTERS = "[]{}=\"'#.,\n\t -+eE_019xR*()$\\\x00１é\ufeff"


def changed(text: str, chance: random.Random) -> str:
    for _ in range(chance.choice((1, 1, 2, 4))):
        lines = text.split("\n")
        line, letter = chance.randrange(len(lines)), chance.randrange(len(text) + 1)
        match chance.randrange(5):
            case 0 | 1:
                key = lines[line].partition("=")[0] if "=" in lines[line] else chance.choice(KEYS)
                lines[line] = f"{key} = {chance.choice(VALUES)}"
                text = "\n".join(lines)
            case 2:
                lines.insert(line, f"{chance.choice(KEYS)} = {chance.choice(VALUES)}")
                text = "\n".join(lines)
            case 3:
                text = text[:letter] + chance.choice(LETTERS) + text[letter:]
            case 4:
                text = text[:letter] + text[letter + chance.randrange(1, 9) :]
    return text


@pytest.mark.filterwarnings("ignore:until = ")  # not a whole number of steps
def test_files_changed_at_random(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    chance = random.Random(0)
    outcomes, longest = {Job: 0, InputError: 0}, 0
    for _ in range(400):
        Path("x.toml").write_text(changed(TOP, chance), encoding="utf-8")
        try:
            case = job_of("x.toml")
            for _, step in case.chosen():
                Plan.of(step, case.until, case.steps, case.every)
            outcomes[Job] += 1
        except InputError as error:
            outcomes[InputError] += 1
            longest = max(longest, len(str(error)))
    assert min(outcomes.values()) > 5  # the changes are neither all harmless nor all harmful
    assert longest < 1000  # letters
