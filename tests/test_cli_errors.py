"""The command line: files and arguments that are wrong."""

import re
from pathlib import Path
from typing import Any

import pytest
from test_cli import TOP


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("[5, 5, 1]", "[5, 5, nan]"), "inertia must be finite"),
        (("[5, 5, 1]", "[5, 5, 11]"), "triangle inequality"),
        (("[5, 5, 1]", "[[5, 1, 0], [0, 5, 0], [0, 0, 1]]"), "symmetric"),
        (("[5, 5, 1]", "[5, 5]"), "3 principal moments"),
        (("[5, 5, 1]", '"big"'), "body.inertia"),
        (("inertia =", "inerta ="), r"unknown key 'inerta' in \[body\]; did you mean 'inertia'"),
        (("[load]", "[laod]"), "unknown key 'laod' in the top level; did you mean 'load'"),
        (("omega = [0, 0, 50]", "omega = [0, 0, 50]\nmomentum = [1, 0, 0]"), "exactly one of omega, momentum"),
        (("omega = [0, 0, 50]", ""), "exactly one of omega"),
        (("exp = [0.05, 0, 0]", "matrix = [[1, 0, 0], [0, 1, 0], [0, 0.1, 1]]"), "not a rotation: .* by 0.1"),
        (("exp = [0.05, 0, 0]", "quaternion = [0, 0, 0, 0]"), "length zero"),
        (("exp = [0.05, 0, 0]", "euler = [0, 0, 0]"), "unknown key 'euler'"),
        (("step = 0.001", "step = -0.001"), "step must be one positive number"),
        (("step = 0.001", "step = 0"), "step must be one positive number"),
        (("step = 0.001", ""), "step is missing"),
        (("step = 0.001", 'step = "fast"'), "run.step = 'fast': a number is needed"),
        (("step = 0.001", "step = 1"), "until = 0.1 is shorter than one step of 1"),
        (('method = "imidm"', "method = []"), "method is an empty list"),
        (("attitude = { exp = [0.05, 0, 0] }", 'attitude = "up"'), "a table is needed"),
        (("until = 0.1", ""), "until .* or steps"),
        (("every = 10", "every = 0"), "every must be a whole number of at least 1"),
        (('method = "imidm"', 'method = "imdm"'), "unknown method 'imdm'; did you mean 'imidm'"),
        (("20*R33", "20*R34"), "unknown name 'R34'; did you mean 'R3"),
        (("20*R33", "__import__('os').system('touch pwned')"), "unknown name '__import__'|not part of the grammar"),
        (("20*R33", "9**9**9"), "constant"),
        (("[body]", "[body"), r"is not TOML: .*line 2, column"),
        (("[body]\ninertia = [5, 5, 1]", ""), r"the table \[body\] is missing"),
        (("[body]", 'problem = "heavy-top"\n[body]'), "brings its own body"),
        (("[body]", "[parameters]\nspin = 3\n[body]"), "parameters belong to built-in problems"),
    ],
)
def test_bad_files_exit_2_with_a_sentence(polhode: Any, change: tuple[str, str], says: str) -> None:
    assert change[0] in TOP
    Path("top.toml").write_text(TOP.replace(*change))
    code, out, err = polhode("run", "top.toml", "--json")
    assert code == 2
    assert out == ""
    assert err.startswith("polhode: ")
    assert "Traceback" not in err
    assert re.search(says, err), err
    assert not Path("pwned").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("run heavy-tip", "neither a file nor a built-in problem; did you mean 'heavy-top'"),
        ("run missing.toml", "cannot read 'missing.toml'"),
        ("run missing.nc", "there is no file"),
        ("run heavy-top --set spn=3", "no parameter 'spn'; did you mean 'spin'"),
        ("run heavy-top --set spin", "NAME=VALUE"),
        ("run heavy-top --set spin=fast", "NAME=VALUE"),
        ("run heavy-top --set inertia=1,2", "'inertia' is 3 numbers"),
        ("run heavy-top --set spin=nan", "must be finite"),
        ("run coulomb-wall --set sign=2", "'sign' is 1"),
        ("run heavy-top --method nope", "unknown method 'nope'"),
        ("run heavy-top --out x.txt", "cannot tell the format"),
        ("run heavy-top --plot x.txt", "--plot draws"),
        ("run heavy-top --plot /proc/x.png", "cannot write into the folder"),
        ("run heavy-top --out /proc/x.zarr", "cannot write into the folder"),
        ("run heavy-top --out no/where.nc", "no folder"),
        ("run heavy-top --every 0", "every must be"),
        ("run heavy-top --until -1", "until must be"),
        ("methods nope", "unknown method"),
        ("problems nope", "unknown problem"),
        ("papers nope", "unknown paper 'nope'"),
        ("bench nope", "unknown benchmark"),
    ],
)
def test_bad_arguments_exit_2(polhode: Any, arguments: str, says: str) -> None:
    code, out, err = polhode(*arguments.split())
    assert (code, out) == (2, "")
    assert says in err
    assert list(Path.cwd().iterdir()) == []


def test_usage_errors_exit_2(polhode: Any) -> None:
    assert polhode("run")[0] == 2
    assert polhode("run", "heavy-top", "--step", "x")[0] == 2
    assert polhode("fly")[0] == 2
