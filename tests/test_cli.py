"""The command line: what it prints, its JSON, its exit codes. What it refuses is in `test_cli_errors`."""

import json
import subprocess
import sys
import tomllib
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


def test_what_completes_is_registered_for_polhode_alone(polhode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """However it was called: here as a module of the one that runs the tests."""
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    code, out, _ = polhode("--show-completion", "bash")
    assert code == 0
    assert "_POLHODE_COMPLETE=complete_bash" in out
    assert out.strip().endswith("polhode")
    assert "python" not in out


def test_run_a_file_with_json_as_designed(polhode: Any) -> None:
    Path("top.toml").write_text(TOP)
    code, out, err = polhode("run", "top.toml", "--json")
    assert code == 0
    assert err == ""
    (record,) = json.loads(out)
    assert set(record) == {
        *("version", "problem", "parameters"),
        "method", "step", "steps", "seconds", "final", "energy", "spatial_momentum", "conserved", "iterations", "ok",
    }  # fmt: skip
    assert set(record["final"]) == {"t", "attitude", "momentum", "omega", "observables"}
    assert (record["version"], record["problem"]) == (ph.__version__, "top")
    assert record["parameters"] == {name: tables for name, tables in tomllib.loads(TOP).items() if name != "run"}
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
    assert "momentum" in out
    assert "drift" in out
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
    code, out, _ = polhode("run", "own.csv", "--json", "--trust")
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
            "trap",
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
    assert "trap failed in step" in err
    assert ph.load("w-imidm-0.5.csv").sizes["t"] > 5


def test_until_off_the_grid_is_said_on_stderr(polhode: Any) -> None:
    code, out, err = polhode(*["run", "free-body", "--step", "0.3", "--until", "1", "--json"])
    assert code == 0
    assert "ends at step 3" in err
    assert json.loads(out)[0]["steps"] == 3


def test_lists(polhode: Any) -> None:
    code, out, _ = polhode("methods")
    assert code == 0
    assert all(name in out for name in ph.methods.all_methods("rotation"))
    for name in ph.methods.all_methods("rotation"):
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


def test_steps_that_are_nearly_alike_are_told_apart(polhode: Any) -> None:
    _, out, _ = polhode("run", "heavy-top", "--until", "0.02", "--step", "0.01", "--step", "0.0100000001")
    assert "0.0100000001" in out


def test_a_picture_that_cannot_be_drawn_leaves_the_one_before(polhode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("top.svg").write_text("before", encoding="utf-8")

    def full(self: Any, path: Any = None, **_: Any) -> None:
        Path(path).write_text("cut", encoding="utf-8")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("polhode.results.plots.Plots.__call__", full)
    code, _, err = polhode("run", "heavy-top", "--until", "0.01", "--plot", "top.svg")
    assert code == 1
    assert "'top.svg' was not drawn: No space left" in err
    assert [p.name for p in Path().iterdir()] == ["top.svg"]
    assert Path("top.svg").read_text(encoding="utf-8") == "before"
