"""The command line: what it prints, its JSON, its exit codes, its errors."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polhode as ph

TOP = """
[body]
inertia = [5, 5, 1]

[start]
attitude = { exp = [0.05, 0, 0] }
omega = [0, 0, 50]

[load]
potential = "20*R33"

[run]
method = "imidm"
step = 0.001
until = 0.1
every = 10
"""


def test_run_a_file_with_json_as_designed(polhode: Any) -> None:
    Path("top.toml").write_text(TOP)
    code, out, err = polhode("run", "top.toml", "--json")
    assert code == 0
    assert err == ""
    (record,) = json.loads(out)
    assert set(record) == {
        "method", "step", "steps", "seconds", "final", "energy", "spatial_momentum", "iterations", "ok",
    }  # fmt: skip
    assert set(record["final"]) == {"t", "attitude", "momentum", "omega", "observables"}
    assert record["method"] == "imidm"
    assert record["steps"] == 100
    assert record["ok"] is True
    assert record["energy"]["start"] == pytest.approx(1269.97500520790, rel=1e-14)
    R = np.array(record["final"]["attitude"])
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(record["final"]["momentum"], np.array(record["final"]["omega"]) * [5, 5, 1], rtol=1e-14)
    gravity = ph.Potential(lambda R: 20 * R[2, 2])
    start = ph.State.of(attitude=ph.exp((0.05, 0, 0)), omega=(0, 0, 50))
    same = ph.simulate(ph.RigidBody((5, 5, 1)), gravity, start, step=0.001, until=0.1, every=10)
    np.testing.assert_allclose(record["final"]["momentum"], same.state.momentum.array[-1], atol=1e-13)
    assert record["energy"]["drift"] == pytest.approx(same.drift(same.energy), rel=1e-6)


def test_torque_in_a_file_is_the_potential(polhode: Any) -> None:
    Path("a.toml").write_text(TOP)
    torque = 'torque = { frame = "space", value = ["-20*R23", "20*R13", 0] }'
    Path("b.toml").write_text(TOP.replace('potential = "20*R33"', torque))
    a, b = (json.loads(polhode("run", f"{n}.toml", "--json")[1])[0]["final"] for n in "ab")
    np.testing.assert_allclose(a["momentum"], b["momentum"], atol=1e-12)


def test_a_problem_with_settings_methods_steps_files_and_a_picture(polhode: Any) -> None:
    code, out, err = polhode(
        *["run", "heavy-top", "--set", "spin=30", "--set", "inertia=4,4,1", "--method", "imidm", "--method", "akw"],
        *["--step", "0.01", "--step", "0.02", "--until", "0.2", "--out", "run.nc", "--plot", "top.png"],
    )
    assert (code, err) == (0, "")
    assert "energy drift" in out
    assert sorted(p.name for p in Path.cwd().iterdir()) == [
        "run-akw-0.01.nc", "run-akw-0.02.nc", "run-imidm-0.01.nc", "run-imidm-0.02.nc", "top.png",
    ]  # fmt: skip
    saved = ph.load("run-akw-0.02.nc")
    assert saved.attrs["step"] == 0.02
    assert float(saved.omega[0, 2]) == 30.0
    code, out, _ = polhode("run", "run-akw-0.02.nc", "--json")
    assert code == 0
    assert json.loads(out)[0]["final"]["t"] == pytest.approx(0.2)


def test_a_problem_from_a_file(polhode: Any) -> None:
    Path("p.toml").write_text(
        'problem = "fast-top"\n[parameters]\nspin = 40\n[run]\nuntil = 0.1\nmethod = ["akw", "trap"]\n'
    )
    code, out, _ = polhode("run", "p.toml", "--set", "tilt=0.2", "--json")
    records = json.loads(out)
    assert code == 0
    assert [r["method"] for r in records] == ["akw", "trap"]
    assert records[0]["energy"]["start"] == pytest.approx(800 + 20 * np.cos(0.2))


def test_a_users_method_by_module_and_class(polhode: Any) -> None:
    Path("mymethods.py").write_text(
        "from dataclasses import dataclass\n"
        "from polhode.methods import IMIDM\n"
        "@dataclass(frozen=True)\n"
        "class Mine(IMIDM):\n"
        "    name = 'mine'\n"
    )
    code, out, _ = polhode("run", "free-body", "--method", "mymethods:Mine", "--until", "1", "--json")
    assert code == 0
    assert json.loads(out)[0]["method"] == "mine"


def test_a_run_of_a_users_method_is_saved_with_where_it_is_from(polhode: Any) -> None:
    Path("ownmethods.py").write_text(
        "from dataclasses import dataclass\n"
        "from polhode.methods import IMIDM\n"
        "@dataclass(frozen=True)\n"
        "class Own(IMIDM):\n"
        "    name = 'own'\n"
        "@dataclass(frozen=True)\n"
        "class Broken(IMIDM):\n"
        "    name = 'broken'\n"
        "    def step(self, system, state, t, h):\n"
        "        return misspelt\n"
        "@dataclass(frozen=True)\n"
        "class NoStep(IMIDM):\n"
        "    name = 'nostep'\n"
        "    def step(self, system, state, t, h):\n"
        "        return state\n"
    )
    code, out, _ = polhode(*["run", "free-body", "--method", "ownmethods:Own", "--until", "1", "--out", "own.csv"])
    assert code == 0
    assert "Written: own.csv" in out
    code, out, _ = polhode("run", "own.csv", "--json")
    assert (code, json.loads(out)[0]["method"]) == (0, "own")
    code, out, err = polhode(*["run", "free-body", "--method", "ownmethods:Broken", "--until", "1", "--json"])
    assert (code, out) == (1, "")
    assert "ownmethods.py:10: NameError" in err
    assert "Traceback" not in err
    code, _, err = polhode(*["run", "free-body", "--method", "ownmethods:NoStep", "--until", "1"])
    assert code == 2
    assert "must return Step(state, ...); it returned State" in err


def test_json_is_strict(polhode: Any) -> None:
    """An audit of the exact solution has an order of infinity: null for parsers that know no other."""
    code, out, err = polhode("audit", "exact", "--json")
    assert code == 0
    assert json.loads(out, parse_constant=pytest.fail)[0]["order"] == {"free body": None}
    code, out, err = polhode(*["run", "heavy-top", "--set", "spin=1e200", "--until", "1", "--json"])
    assert (code, out) == (2, "")
    assert "the kinetic energy at the start must be finite" in err


def test_a_run_that_fails_exits_1_and_keeps_what_it_has(polhode: Any) -> None:
    code, out, err = polhode(
        *[
            "run",
            "coulomb-wall",
            "--method",
            "imidm",
            "--method",
            "akw",
            "--step",
            "0.5",
            "--until",
            "1000",
            "--out",
            "w.csv",
            "--json",
        ]
    )
    assert code == 1
    assert [r["ok"] for r in json.loads(out)] == [False, False]
    assert "imidm failed in step" in err
    assert "akw failed in step" in err
    assert ph.load("w-imidm-0.5.csv").sizes["t"] > 5


def test_until_off_the_grid_is_said_on_stderr(polhode: Any) -> None:
    code, out, err = polhode(*["run", "free-body", "--step", "0.3", "--until", "1", "--json"])
    assert code == 0
    assert "ends at step 3" in err
    assert json.loads(out)[0]["steps"] == 3


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
    import re

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


def test_lists(polhode: Any) -> None:
    code, out, _ = polhode("methods")
    assert code == 0
    assert all(name in out for name in ph.methods.all_methods())
    for name in ph.methods.all_methods():
        code, out, _ = polhode("methods", name)
        assert code == 0
        assert "Paper:" in out
    code, out, _ = polhode("problems")
    assert all(name in out for name in ph.problems.PROBLEMS)
    for name in ph.problems.PROBLEMS:
        assert "parameter" in polhode("problems", name)[1]
    assert polhode("--version")[1] == f"polhode {ph.__version__}\n"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['polhode', '--help']\n"
        "from polhode.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([m for m in ('jax', 'numpy', 'xarray', 'matplotlib', 'pydantic') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Commands" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


NON_TWISTING = """
[body]
inertia = [[3, 0.1, 0], [0.1, 4, 0], [0, 0, 5]]
non_twisting = true

[start]
attitude = { directors = [[0, 1, 0], [-1, 0, 0], [0, 0, 1]] }
omega = [1, 2, 0]

[run]
method = ["em", "dla"]
step = 0.01
until = 1.0
"""


def test_non_twisting_body_from_a_file(polhode: Any) -> None:
    Path("n.toml").write_text(NON_TWISTING)
    code, out, err = polhode("run", "n.toml", "--json", "--out", "n.zarr", "--plot", "n.png")
    assert (code, err) == (0, "")
    for record in json.loads(out):
        assert set(record["final"]["observables"]) == {"twist_rate", "constraint_violation"}
        assert record["nonholonomic_momentum"]["drift"] < 1e-13
        assert record["spatial_momentum"]["drift"] > 0.1
    code, out, _ = polhode("run", "n.toml")
    assert code == 0
    assert "Π1, Π2 drift" in out
    again = ph.load("n-em-0.01.zarr")
    assert again.attrs["body"] == "NonTwistingBody"
    assert float(abs(again.twist_rate).max()) < 1e-13


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("[0.1, 4, 0], [0, 0, 5]]", "[0.1, 4, 0.2], [0, 0.2, 5]]"), "must split from D3"),
        (("[-1, 0, 0]", "[-1, 0.01, 0]"), "d1 · d2 is off by 0.01"),
        (('"em", "dla"', '"imidm"'), "imidm does not keep the non-twisting constraint"),
        (("non_twisting = true", "non_twisting = 1"), "true or false is needed"),
    ],
)
def test_bad_non_twisting_files(polhode: Any, change: tuple[str, str], says: str) -> None:
    assert change[0] in NON_TWISTING
    Path("n.toml").write_text(NON_TWISTING.replace(*change))
    code, out, err = polhode("run", "n.toml")
    assert code == 2
    assert out == ""
    assert says in err


def test_a_twist_at_the_start_is_told(polhode: Any) -> None:
    Path("n.toml").write_text(NON_TWISTING.replace("omega = [1, 2, 0]", "omega = [1, 2, 0.5]"))
    code, _, err = polhode("run", "n.toml")
    assert code == 0
    assert "w∥ = 0.5 rad/s" in err
