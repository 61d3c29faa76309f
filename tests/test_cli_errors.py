"""The command line: files and arguments that are wrong."""

import importlib
import json
import re
import sys
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
        (("[5, 5, 1]", "[[1, 2], [3]]"), "inertia must be 3 principal moments.* rows of different lengths"),
        (("[5, 5, 1]", "[]"), r"got shape \(0,\)"),
        (("[5, 5, 1]", "[5, 5, 11]"), r"write allow_unphysical = true under \[body\]"),
        (("[5, 5, 1]", "[5, -0.0, 1]"), "positive definite"),
        (("50]", f"{10**310}]"), "start.omega = 1000.*has more than 64 bits"),
        (("50]", "1" * 5000 + "]"), "has more than 64 bits"),
        (("50]", f"{hex(16**5000)}]"), "has more than 64 bits"),
        (('"20*R33"', hex(16**5000)), "load.potential = "),
        (("50]", "1e-400]"), "'1e-400' is too small"),
        (("50]", "true]"), "start.omega = True: a number is needed"),
        (("50]", '"1.5"]'), "start.omega = '1.5': a number is needed"),
        (("50]", "1979-05-27]"), "start.omega = datetime.date.*: a number is needed"),
        (("step = 0.001", "step = 1e-320"), "'1e-320' is too small"),
        (("step = 0.001", f"step = {10**310}"), "run.step = 1000.*has more than 64 bits"),
        (("every = 10", f"every = {10**310}"), "run.every = 1000.*has more than 64 bits"),
        (("until = 0.1", "steps = 9_000_000_000_000_000_000"), "steps must be a whole number of at most 2"),
        (("until = 0.1", "until = inf"), "until must be finite"),
        (("20*R33", "２０*R33"), "'２' is not part of the grammar"),
        (("20*R33", "1e-400*R33"), "'1e-400' is too small"),
        (("exp = [0.05, 0, 0]", "exp = [1e200, 0, 0]"), "attitude must be finite"),
        (("exp = [0.05, 0, 0]", "matrix = [[1, 2], [3]]"), "rows of different lengths"),
        (("[body]", "int = 3\n[body]"), "unknown key 'int' in the top level"),
        (("[run]", "[run]\nstr = 3"), r"unknown key 'str' in \[run\]"),
        (("[body]", "x = " + "[" * 20_000 + "]" * 20_000 + "\n[body]"), "too deeply to be read"),
        (("[body]", "a." * 2000 + "b = 1\n[body]"), "unknown key 'a' in the top level"),
        (("[body]", "parameters." + "a." * 2000 + "b = 1\n[body]"), "parameters.a = a dict that cannot be shown"),
        (('method = "imidm"', 'method = ".x:Y"'), "cannot import method '.x:Y': write module:Class"),
        (('method = "imidm"', 'method = ":"'), "write module:Class"),
        (('method = "imidm"', 'method = "math:pi"'), "is not a polhode.Method"),
        (('method = "imidm"', 'method = "polhode.methods:Method"'), "Method cannot be made without arguments"),
        (('method = "imidm"', 'method = "three-field"'), "three-field moves systems of bodies"),
        (('method = "imidm"', f'method = "{"strang-" * 500}dmv"'), "unknown method 'strang-strang-"),
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
        ("run heavy-top --set spin=", "NAME=VALUE"),
        ("run heavy-top --set inertia=1,2", "'inertia'"),
        ("run heavy-top --set spin=１２", "got '１２'"),
        ("run heavy-top --set spin=1e-400", "'1e-400' is too small"),
        ("run heavy-top --set spin=1_000", "must be a number"),
        ("run heavy-top --set spin=1 --set spin=2", "'spin' is given twice"),
        ("run heavy-top --set inertia=1,1,9", "(triangle inequality); choose other parameters"),
        ("run heavy-top --step １２", "got '１２'"),
        ("run heavy-top --step 1e-320", "'1e-320' is too small"),
        ("run heavy-top --step " + "1" * 310, "must be finite"),
        ("run heavy-top --until ٣", "must be a number"),
        ("run heavy-top --every １", "must be a whole number"),
        ("run heavy-top --every " + "1" * 5000, "must be a whole number"),
        ("run heavy-top --method three-field", "three-field moves systems of bodies"),
        ("run heavy-top --method kahan-li6-three-fild", "three-field moves systems of bodies"),
        ("run pendulum --method imidm", "moves one rotating body"),
        ("run pendulum --method rkn6-dmv10", "moves one rotating body"),
        ("run pendulum --method mine:Method", "cannot import method 'mine:Method'"),
        ("run pendulum --method " + "halving-" * 500 + "three-field", "unknown method 'halving-"),
        ("methods three-fild", "did you mean 'three-field'"),
        ("run " + "a" * 5000, "neither a file nor a built-in problem"),
        ("run " + "a" * 5000 + ".toml", "cannot read"),
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


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import sys\nsys.exit(3)", "SystemExit at .*badmodule.py:2: 3"),
        ("x = 1\nraise RuntimeError", "RuntimeError at .*badmodule.py:2"),
        ("class Odd(BaseException): pass\nraise Odd('so')", "Odd at .*badmodule.py:2: so"),
        ("x = (", "SyntaxError: .* line 1"),
        ("import nosuchmodule", "ModuleNotFoundError at .*badmodule.py:1: No module named 'nosuchmodule'"),
        ("def f(): f()\nf()", "RecursionError at"),
        ("Mine = 3", "is not a polhode.Method"),
        ("", "AttributeError"),
        ("from polhode.methods import IMIDM\nclass Mine(IMIDM):\n    def __init__(self, x): pass", "without arguments"),
    ],
)
def test_modules_that_cannot_be_used(polhode: Any, monkeypatch: pytest.MonkeyPatch, text: str, says: str) -> None:
    Path("badmodule.py").write_text(text)
    monkeypatch.delitem(sys.modules, "badmodule", raising=False)
    importlib.invalidate_caches()
    code, out, err = polhode("run", "free-body", "--method", "badmodule:Mine", "--json")
    sys.modules.pop("badmodule", None)
    assert (code, out) == (2, "")
    assert re.search(says, err), err
    assert "Traceback" not in err


def test_a_module_that_prints_leaves_json_alone(polhode: Any) -> None:
    Path("talkative.py").write_text(
        "from dataclasses import dataclass\nfrom polhode.methods import IMIDM\nprint('hello')\n"
        "@dataclass(frozen=True)\nclass Mine(IMIDM):\n    name = 'mine'\n"
        "    def step(self, *a):\n        print('tracing')\n        return super().step(*a)\n"
    )
    code, out, err = polhode("run", "free-body", "--method", "talkative:Mine", "--until", "0.1", "--json")
    assert code == 0
    assert json.loads(out)[0]["method"] == "mine"
    assert "hello" in err
    assert "tracing" in err


def test_a_byte_order_mark_is_no_part_of_a_file(polhode: Any) -> None:
    Path("top.toml").write_bytes(b"\xef\xbb\xbf" + TOP.encode())
    code, out, err = polhode("run", "top.toml", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)[0]["ok"] is True


def test_usage_errors_exit_2(polhode: Any) -> None:
    assert polhode("run")[0] == 2
    assert polhode("run", "heavy-top", "--step", "x")[0] == 2
    assert polhode("fly")[0] == 2
