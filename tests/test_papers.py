"""The papers: every check comes out as it should; the reference is what it says it is."""

import ast
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

import polhode.papers
from polhode.papers import PAPERS, Check, Paper, PaperFigure, Result
from polhode.papers.base import agreeing_digits
from polhode.papers.krysl_convergence import converge, convergence_checks, draw_convergence, slow_top_checks
from polhode.papers.reference import reference
from polhode.papers.report import write_report
from polhode.papers.side_by_side import recomputed
from polhode.papers.three_field import PARTS as THREE_FIELD
from polhode.papers.three_field_runs import METHODS, NEW, SIDE_BY_SIDE, STEP, track
from polhode.papers.vilmart import figure_1
from polhode.papers.vilmart_algorithms import table_1
from polhode.problems import problem_of
from polhode.results.style import house_style

ITEMS = ("krysl", "vilmart", "three-field")  # of these some items at once, below; the whole takes minutes to compile


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.long) if n in ITEMS else n for n in PAPERS])
def test_paper(name: str, tmp_path: Path) -> None:
    said: list[str] = []
    result = PAPERS[name].compute(said.append)
    wrong = [check for check in result.checks if not check.ok]
    assert wrong == []
    assert len(result.checks) >= 8
    assert said
    page = write_report({PAPERS[name]: result}, tmp_path).read_text()
    assert page.count("<figure") == len(result.figures) >= 3
    assert "0 fail" in page
    assert len(list(tmp_path.glob("*.png"))) == len(result.figures)


@pytest.mark.slow
def test_item_of_krysl() -> None:
    """Figure 2, with a level less."""
    c = converge(problem_of("slow-top"), 500, 6)
    checks = convergence_checks("Fig. 2", c) + slow_top_checks(c)
    assert [check for check in checks if not check.ok] == []
    assert len(checks) >= 4
    draw_convergence(c, "Slow top")


def test_items_of_vilmart() -> None:
    check, figure = figure_1()
    assert [c for c in (check, table_1()) if not c.ok] == []
    assert figure.figure.axes


QUICK = ("disk_straight", "disk_perturbed")  # the others compile more methods; see test_paper[three-field]
# Runs four methods to t = 100; what it shows of ours is in test_sphere_in_a_cylinder_against_its_closed_form too.
WHOLE = ("sphere",)
QUICKLY = [
    pytest.param(part, marks=pytest.mark.long if part.__name__ in WHOLE else ())
    for part in THREE_FIELD
    if part.__name__ in QUICK + WHOLE
]
TINY = [part for part in THREE_FIELD if part.__name__ not in QUICK + WHOLE]


@pytest.mark.slow
@pytest.mark.parametrize("part", QUICKLY, ids=lambda p: p.__name__)
def test_part_of_three_field(part: Any) -> None:
    checks, figures = part(lambda said: None)
    assert [check for check in checks if not check.ok] == []
    assert checks
    assert figures


@pytest.mark.slow
@pytest.mark.parametrize("part", TINY, ids=lambda p: p.__name__)
def test_longer_part_of_three_field_at_a_tiny_size(part: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every line of it, by methods that other tests compile too, and with a peer. Whole: test_paper[three-field]."""
    compiled = (NEW,) if part.__name__ == "bicycles" else SIDE_BY_SIDE
    for name in METHODS:
        if name not in compiled:
            monkeypatch.setitem(METHODS, name, METHODS[NEW])

    def disk(start: Any, until: float, step: float = STEP) -> list[Any]:
        m = track("rolling-disk", until=until, inclination=start.theta, q0=start.q, r0=start.r, step=step)
        return [m._replace(label="Exudyn, index 2")]

    def bicycle(speed: float, roll_rate: float, until: float) -> list[Any]:
        m = track("bicycle", until=until, speed=speed, roll_rate=roll_rate)
        return [m._replace(label="Exudyn, index 2")]

    module = sys.modules[part.__module__]
    name, peers = ("bicycle_peers", bicycle) if hasattr(module, "bicycle_peers") else ("disk_peers", disk)
    monkeypatch.setattr(module, name, peers)
    checks, figures = part(lambda said: None, until=0.1)
    assert any("Exudyn, index 2" in check.claim + check.computed for check in checks)
    page = write_report({Paper("tiny", "Tiny", part): Result(checks, figures)}, tmp_path).read_text()
    assert page.count("<figure") == len(figures) >= 1


def test_no_item_of_a_paper_is_left_out() -> None:
    """What returns checks or figures is called: test_paper then runs it, since it runs every paper."""
    items, named = {}, set()
    for path in Path(polhode.papers.__path__[0]).glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.returns:
                returned = {part.id for part in ast.walk(node.returns) if isinstance(part, ast.Name)}
                if returned & {"Check", "PaperFigure", "Parts", "Result"} and path.name != "side_by_side.py":
                    items[node.name] = path.name
    assert len(items) > 30
    assert {name: path for name, path in items.items() if name not in named} == {}


def test_digits() -> None:
    assert agreeing_digits("1269.975", 1269.97500520790) == 7
    assert agreeing_digits("1269.975", 1269.9761) == 6
    assert agreeing_digits("0.99875", 0.9987503) == 5
    assert agreeing_digits("1.5", 2.5) == 0


def test_reference_against_mpmath() -> None:
    """A second Taylor method, mpmath's, in 30 digits, on a tilted fast top."""
    q0, omega = (0.9, 0.3, -0.1, 0.2), (0.4, -1.0, 9.0)
    ours = reference((5.0, 4.0, 2.0), 20.0, q0, omega, 0.5)
    with mpmath.workdps(30):
        length = mpmath.sqrt(sum(mpmath.mpf(c) ** 2 for c in q0))
        start = [mpmath.mpf(c) / length for c in q0] + [
            mpmath.mpf(w) * i for w, i in zip(omega, (5, 4, 2), strict=True)
        ]

        def slope(t: Any, s: Any) -> Any:
            w, x, y, z, p1, p2, p3 = s
            a, b, c = p1 / 5, p2 / 4, p3 / 2
            return [
                (-x * a - y * b - z * c) / 2, (w * a + y * c - z * b) / 2,
                (w * b + z * a - x * c) / 2, (w * c + x * b - y * a) / 2,
                p2 * c - p3 * b + 40 * (y * z + w * x), p3 * a - p1 * c - 40 * (x * z - w * y), p1 * b - p2 * a,
            ]  # fmt: skip

        end = mpmath.odefun(slope, 0, start, tol=mpmath.mpf(10) ** -25)(mpmath.mpf("0.5"))
        w, x, y, z = end[:4]
        exact = [float(p) for p in end[4:]], float(1 - 2 * (x * x + y * y)), float(2 * (x * z + w * y))
    np.testing.assert_allclose(ours.momentum, exact[0], atol=1e-15)
    np.testing.assert_allclose([ours.attitude[2, 2], ours.attitude[0, 2]], exact[1:], atol=2e-16)
    assert ours.error < 1e-17


def _compute(say: Callable[[str], None]) -> Result:
    say("something")
    with house_style() as Figure:
        figure = Figure()
        figure.add_subplot().plot([0, 1])
    return Result([Check("T1", f"process {os.getpid()}", "1", "1", True)], [PaperFigure("f", "F", "a line", figure)])


def _broken(say: Callable[[str], None]) -> Result:
    raise ValueError("no such table")


def test_papers_side_by_side(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("polhode.papers.side_by_side._cores", lambda: 2)
    papers = [Paper(name, name.title(), _compute) for name in ("first", "second", "third")]
    said: list[str] = []
    results = recomputed(papers, lambda doing, left: said.extend(f"{k}: {v}, {left}" for k, v in doing.items()))
    assert list(results) == papers
    assert f"process {os.getpid()}" not in {result.checks[0].claim for result in results.values()}
    assert any(words.startswith("third: something") for words in said)
    assert len(list(write_report(results, tmp_path).parent.glob("*.png"))) >= 1
    with pytest.raises(ValueError, match="no such table"):
        recomputed([papers[0], Paper("broken", "Broken", _broken)], lambda doing, left: None)


def test_papers_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Exit 1 when a check that should agree does not; JSON and nothing else on stdout."""
    import polhode.cli.papers as command

    good = Check("T1", "a number", "1.5", "1.5", True, digits=2)
    fake = {
        "good": Paper("good", "Good", lambda say: Result([good])),
        "bad": Paper("bad", "Bad", lambda say: Result([Check("T1", "a number", "1.5", "2.5", False)])),
    }
    monkeypatch.setattr("polhode.papers.side_by_side._cores", lambda: 1)
    monkeypatch.setattr(command, "PAPERS", fake)
    monkeypatch.setattr(command, "paper_of", fake.__getitem__)
    command.papers_command(["good"], tmp_path / "out", True)
    (record,) = json.loads(capsys.readouterr().out)
    assert record["ok"] is True
    assert record["checks"][0]["digits"] == 2
    assert (tmp_path / "out" / "index.html").exists()
    with pytest.raises(SystemExit) as end:
        command.papers_command([], None, False)
    assert end.value.code == 1
    assert "DISAGREES" in capsys.readouterr().out
