"""The command line for other programs: JSON of lists and runs, names for shells, `python -m polhode`."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import polhode as ph
from polhode.cli.names import PAPERS, completed
from polhode.methods import all_methods
from polhode.problems import PROBLEMS


def test_methods_as_json(polhode: Any) -> None:
    code, out, err = polhode("methods", "--json")
    assert (code, err) == (0, "")
    records = {record["name"]: record for record in json.loads(out)}
    assert set(records) == set(all_methods())
    for name, method in all_methods().items():
        assert (records[name]["kind"], records[name]["what"]) == (method.kind, method.summary)
        assert records[name]["traits"]["energy"] == method.traits.energy
    assert records["imidm"]["order"] == 2
    assert records["exact"]["order"] is None
    assert [r["name"] for r in json.loads(polhode("methods", "kahan-li6-imidm", "--json")[1])] == ["kahan-li6-imidm"]
    code, out, err = polhode("methods", "nosuch", "--json")
    assert (code, out) == (2, "")


def test_problems_as_json(polhode: Any) -> None:
    code, out, err = polhode("problems", "--json")
    assert (code, err) == (0, "")
    records = {record["name"]: record for record in json.loads(out)}
    assert set(records) == set(PROBLEMS)
    for name, problem in PROBLEMS.items():
        assert (records[name]["method"], records[name]["step"]) == (problem.method, problem.step)
        defaults = {p["name"]: p["default"] for p in records[name]["parameters"]}
        assert defaults == {
            p.name: list(p.default) if isinstance(p.default, tuple) else p.default for p in problem.parameters
        }
        assert all({"unit", "meaning"} < set(p) for p in records[name]["parameters"])
    (bicycle,) = json.loads(polhode("problems", "bicycle", "--json")[1])
    assert bicycle == records["bicycle"]


def test_records_of_runs_say_what_was_run(polhode: Any) -> None:
    _, out, _ = polhode("run", "heavy-top", "--set", "spin=30", "--until", "0.01", "--json", "--out", "top.csv")
    (one,) = json.loads(out)
    assert (one["version"], one["problem"]) == (ph.__version__, "heavy-top")
    assert one["parameters"] == {"inertia": [5, 5, 1], "weight": 20, "tilt": 0.05, "spin": 30}
    (again,) = json.loads(polhode("run", "top.csv", "--json")[1])
    assert (again["problem"], again["parameters"]) == ("heavy-top", one["parameters"])
    _, out, _ = polhode("run", "heavy-top", "--set", "spin=30:40:2", "--until", "0.01", "--json")
    assert [r["parameters"] for r in json.loads(out)] == [one["parameters"] | {"spin": spin} for spin in (30, 40)]


def test_names_are_completed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert completed("method", "kry") == []
    assert completed("method", "imid") == ["imid", "imidm"]
    assert completed("problem", "bic") == ["bicycle"]
    assert list(PAPERS) == list(ph.papers.PAPERS)
    monkeypatch.chdir(tmp_path)
    for name in ("bike.toml", "bike.txt", "bi[c.nc"):
        Path(name).touch()
    assert sorted(completed("source", "bi")) == ["bi[c.nc", "bicycle", "bike.toml"]
    assert completed("source", "bi[") == ["bi[c.nc"]


def test_a_shell_completes() -> None:
    asked = {"_POLHODE_COMPLETE": "complete_bash", "COMP_WORDS": "polhode methods imid", "COMP_CWORD": "2"}
    code = "import sys; sys.argv = ['polhode']; from polhode.cli.main import main; main()"
    answer = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | asked, capture_output=True, text=True, check=True
    )
    assert answer.stdout.split() == ["imid", "imidm"]


def test_as_a_module_too() -> None:
    """Processes that it starts import it by another name, and must not become the command themselves."""
    answer = subprocess.run([sys.executable, "-m", "polhode", "--version"], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == f"polhode {ph.__version__}"
    assert "main" in runpy.run_module("polhode.__main__", run_name="__mp_main__")


def test_a_row_for_each_sample(tmp_path: Path) -> None:
    run = ph.simulate(ph.problem("heavy-top"), until=0.01)
    table = run.to_dataframe()
    assert table.index.name == "t"
    assert table.index.tolist() == run.t.tolist()
    assert table["momentum_y"].tolist() == run["momentum"][:, 1].tolist()
    headings = run.save(tmp_path / "run.csv").read_text(encoding="utf-8").splitlines()[1]
    assert ["t", *table.columns] == headings.split(",")
    both = ph.simulate(ph.problem("heavy-top", spin=[30.0, 40.0]), until=0.01)
    table = both.to_dataframe()
    assert table.index.names == ["t", "spin"]
    assert len(table) == 2 * len(both.t)
    assert table.xs(40.0, level="spin")["energy"].tolist() == both["energy"][:, 1].tolist()
    assert table.xs(30.0, level="spin")["omega_z"].tolist() == both["omega"][:, 0, 2].tolist()
