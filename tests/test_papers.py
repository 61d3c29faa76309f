"""The papers: every check comes out as it should; the reference is what it says it is."""

import ast
import csv
import json
import os
import re
import sys
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from browser import BROWSER, Page

import polhode.papers
from polhode.papers import PAPERS, Check, Item, Paper, PaperFigure, Part, Result, krysl_convergence
from polhode.papers.base import agreeing_digits
from polhode.papers.items import items_in
from polhode.papers.krysl_convergence import converge, convergence_checks, draw_convergence, slow_top_checks
from polhode.papers.live import svg_of
from polhode.papers.non_twisting import one_case
from polhode.papers.reference import reference
from polhode.papers.report import write_report
from polhode.papers.side_by_side import recomputed
from polhode.papers.three_field import PARTS as THREE_FIELD
from polhode.papers.three_field_runs import METHODS, NEW, STEP, track
from polhode.papers.vilmart import figure_1
from polhode.papers.vilmart_algorithms import table_1
from polhode.problems import problem_of
from polhode.results.style import house_style


@pytest.mark.parametrize("name", PAPERS)
def test_the_site_cites_each_paper_as_the_report_does(name: str) -> None:
    pages = Path(__file__).parents[1] / "docs" / "papers"
    (row,) = (row for row in (pages / "index.md").read_text("utf-8").splitlines() if row.startswith(f"| `{name}`"))
    assert PAPERS[name].link in row
    assert PAPERS[name].link in (pages / f"{name}.md").read_text("utf-8")


def named_in(result: Result) -> set[str]:
    """The items that its checks and figures name."""
    found = [items_in(text) for text in (*(c.where for c in result.checks), *(f.title for f in result.figures))]
    return set().union(*found)


def check_report(folder: Path, results: dict[Paper, Result]) -> None:
    """All links lead somewhere within the folder, every item has its row and its place, every figure its data."""
    pages = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.html")}
    assert set(pages) == {"index.html", *(f"{paper.id}.html" for paper in results)}
    for page in pages.values():
        for target in re.findall(r'(?:href|src|data)="([^"]+)"', page):
            if target.startswith("https://"):
                assert target in {paper.link for paper in results}
                continue
            name, _, place = target.partition("#")
            assert not name or (folder / name).is_file(), target
            assert not place or f'id="{place}"' in (pages[name] if name else page), target
    for paper, result in results.items():
        own = pages[f"{paper.id}.html"]
        for item in paper.items:
            assert f'href="{paper.id}.html#{item.id}"' in pages["index.html"]
            command = f"polhode papers {paper.id} --item {item.id}"
            assert (f"<code>{command}</code>" in own) == (not item.sketch)
            assert not item.sketch or escape(item.sketch) in own
            moving = folder / paper.id / f"{item.id}.html"
            assert moving.is_file() == bool(item.problem)
            assert not item.problem or "polhode animation" in moving.read_text(encoding="utf-8")
        assert own.count("<figure") == len(result.figures)
        for figure in result.figures:
            svg, data = (folder / paper.id / f"{figure.id}{ending}" for ending in (".svg", ".csv"))
            assert svg.read_text(encoding="utf-8").startswith("<?xml")
            rows = list(csv.reader(data.read_text(encoding="utf-8").splitlines()))
            assert rows[0][:4] == ["panel", "line", "x", "y"]
            assert len(rows) > 1
            assert {len(row) for row in rows} == {len(rows[0])}


# Tables, figures, examples with a number, and sections that are examples, as they stand in the papers.
NUMBERED = {
    "krysl": (0, 5, 0, 4), "solfec-top": (0, 4, 0, 0), "vilmart": (2, 2, 1, 0), "nontwisting": (9, 12, 0, 4),
    "three-field": (0, 12, 0, 3),
}  # fmt: skip
SKETCHES = {"solfec-top": ["fig1"], "vilmart": ["fig2"], "three-field": ["fig1", "fig3", "fig9"]}


@pytest.mark.parametrize("name", PAPERS)
def test_every_numbered_item_has_its_row(name: str) -> None:
    """Numbers without a gap; each comes of a part, or there is nothing to recompute and its row says why."""
    paper = PAPERS[name]
    ids = [item.id for item in paper.items]
    for kind, count in zip(("table", "fig", "example"), NUMBERED[name], strict=False):
        assert [i for i in ids if i.startswith(kind)] == [f"{kind}{n + 1}" for n in range(count)]
    assert sum(i[0].isdigit() for i in ids) == NUMBERED[name][3]
    assert len(set(ids)) == len(ids) == sum(NUMBERED[name])
    assert [item.id for item in paper.items if item.sketch] == SKETCHES.get(name, [])
    made = {i for part in paper.parts for i in part.items}
    assert made <= set(ids)
    for item in paper.items:
        assert item.sketch or item.id in made or set(item.shown) & made, item
        assert set(item.shown) <= made
        assert item.what
    assert re.fullmatch(r"https://(doi\.org/10\.\d+/\S+|hal\.science/hal-\d+)", paper.link)


def test_how_items_are_named() -> None:
    assert items_in("5.4, Figs 4, 5") == {"5.4", "fig4", "fig5"}
    assert items_in("Figs 6a, 6b") == {"fig6"}
    assert items_in("Results, Figs 2-4") == {"fig2", "fig3", "fig4"}
    assert items_in("Figure 12. Bicycle at 4 m/s") == {"fig12"}
    assert items_in("Figure 4, torque as printed, Δt = 0.5") == {"fig4"}
    assert items_in("Table 2") | items_in("Example 1") == {"table2", "example1"}
    assert items_in("(11), (12)") == items_in("Theorem 9") == items_in("Results") == set()


# Of these some items at once, below; the whole takes long to compile.
ITEMS = ("krysl", "vilmart", "three-field", "nontwisting")


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.long) if n in ITEMS else n for n in PAPERS])
def test_paper(name: str, tmp_path: Path) -> None:
    said: list[str] = []
    paper = PAPERS[name]
    parts = {part: part.compute(said.append) for part in paper.parts}
    result = Result([c for r in parts.values() for c in r.checks], [f for r in parts.values() for f in r.figures])
    wrong = [check for check in result.checks if not check.ok]
    assert wrong == []
    assert len(result.checks) >= 8
    assert said
    known = {item.id for item in paper.items}
    for part, own in parts.items():  # each has what it says it has, and nothing else with a number
        assert set(part.items) == named_in(own) & known
    page = write_report({paper: result}, tmp_path)
    assert "0 fail" in page.read_text()
    check_report(tmp_path, {paper: result})


@pytest.mark.slow
def test_item_of_krysl(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figure 2, with a level less, and of its methods those that come out best."""
    monkeypatch.setattr(krysl_convergence, "METHODS", ("swc1", "trap", "imid"))
    c = converge(problem_of("slow-top"), 500, 6)
    checks = convergence_checks("Fig. 2", c) + slow_top_checks(c)
    assert [check for check in checks if not check.ok] == []
    assert len(checks) >= 4
    labels = [ax.get_ylabel() for ax in draw_convergence(c, "Slow top").axes]
    assert labels == ["‖Π − Π*‖ (kg m²/s)", "‖R − R*‖ (1)"]


def test_item_of_nontwisting() -> None:
    """Tables 1 and 2, Figures 1 to 3."""
    found = one_case(1, lambda said: None)
    assert [check for check in found.checks if not check.ok] == []
    assert named_in(found) == {"table1", "table2", "fig1", "fig2", "fig3"}


def test_items_of_vilmart() -> None:
    check, figure = figure_1()
    assert [c for c in (check, table_1()) if not c.ok] == []
    assert figure.figure.axes


# Of one size only; what the sphere shows of ours is in test_sphere_in_a_cylinder_against_its_closed_form too.
WHOLE = ("sphere", "disk_straight", "disk_perturbed")
TINY = [
    pytest.param(part, marks=() if part.__name__ == "disk_wobbling" else pytest.mark.long)
    for part in THREE_FIELD
    if part.__name__ not in WHOLE
]


@pytest.mark.long
@pytest.mark.parametrize("part", [p for p in THREE_FIELD if p.__name__ in WHOLE], ids=lambda p: p.__name__)
def test_part_of_three_field(part: Any) -> None:
    checks, figures = part(lambda said: None)
    assert [check for check in checks if not check.ok] == []
    assert checks
    assert figures


@pytest.mark.slow
@pytest.mark.parametrize("part", TINY, ids=lambda p: p.__name__)
def test_longer_part_of_three_field_at_a_tiny_size(part: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every line of it, by few methods, and with a peer. Whole: test_paper[three-field]."""
    compiled = (NEW, "as written") if part.__name__ == "disk_cyclic" else (NEW,)
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
    assert figures
    assert named_in(Result(checks, figures)) <= set(THREE_FIELD[part])
    tiny = Paper("tiny", "Tiny", (Part("tiny", part),))
    write_report({tiny: Result(checks, figures)}, tmp_path)
    check_report(tmp_path, {tiny: Result(checks, figures)})


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
    papers = [Paper(name, name.title(), (Part(name, _compute),)) for name in ("first", "second", "third")]
    said: list[str] = []
    results = recomputed(papers, lambda doing, left: said.extend(f"{k}: {v}, {left}" for k, v in doing.items()))
    assert list(results) == papers
    assert f"process {os.getpid()}" not in {result.checks[0].claim for result in results.values()}
    assert any(words.startswith("third: something") for words in said)
    write_report(results, tmp_path)
    check_report(tmp_path, results)


@pytest.mark.long
def test_a_paper_that_breaks_beside_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polhode.papers.side_by_side._cores", lambda: 2)
    both = [Paper(name, name, (Part(name, part),)) for name, part in (("first", _compute), ("broken", _broken))]
    with pytest.raises(ValueError, match="no such table"):
        recomputed(both, lambda doing, left: None)


def test_papers_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Exit 1 when a check that should agree does not; JSON and nothing else on stdout."""
    import polhode.cli.papers as command

    good = Check("T1", "a number", "1.5", "1.5", True, digits=2)
    fake = {
        "good": Paper("good", "Good", (Part("all", lambda say: Result([good])),)),
        "bad": Paper("bad", "Bad", (Part("all", lambda say: Result([Check("T1", "a number", "1.5", "2.5", False)])),)),
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


def test_one_item_alone(monkeypatch: pytest.MonkeyPatch, polhode: Any, tmp_path: Path) -> None:
    """Only the parts that it comes of are run, and only what belongs to it is shown."""
    import polhode.cli.papers as command

    ran: list[str] = []

    def part(name: str, where: str) -> Part:
        def compute(say: Callable[[str], None]) -> Result:
            ran.append(name)
            with house_style() as Figure:
                figure = Figure()
                figure.add_subplot(projection="3d" if name == "b" else None).plot([0, 1], [2, 3], label=name)
            checks = [Check(where, f"of {name}", "1", "1", True), Check("Theorem 1", "another", "1", "1", True)]
            return Result(checks, [PaperFigure(f"p-{name}", where.replace("Fig.", "Figure"), "drawn", figure)])

        return Part(name, compute, tuple(items_in(where)))

    items = (
        Item("fig1", "Figure 1", "one"),
        Item("fig2", "Figure 2", "two"),
        Item("fig3", "Figure 3", "s", "a sketch"),
    )
    example = Item("5.1", "Section 5.1", "an example", shown=("fig1", "fig2"))
    paper = Paper("p", "P", (part("a", "Fig. 1"), part("b", "Fig. 2")), (*items, example), "https://doi.org/10.1/x")
    monkeypatch.setattr(command, "PAPERS", {"p": paper, "q": paper})
    monkeypatch.setattr(command, "paper_of", {"p": paper}.__getitem__)
    code, out, _ = polhode("papers", "p", "--item", "fig2", "--json", "--out", "one")
    assert (code, ran) == (0, ["b"])
    (record,) = json.loads(out)
    assert [check["claim"] for check in record["checks"]] == ["of b"]
    assert (record["figures"], record["link"]) == (["p-b"], "https://doi.org/10.1/x")
    rows = Path("one/p/p-b.csv").read_text(encoding="utf-8").splitlines()
    assert rows == ["panel,line,x,y,z", "panel 1,b,0,2,0", "panel 1,b,1,3,0"]
    code, out, _ = polhode("papers", "p", "--item", "5.1")
    assert (code, ran) == (0, ["b", "a", "b"])
    code, _, err = polhode("papers", "p", "--item", "fig3")
    assert code == 2
    assert "Figure 3 of 'p' is not recomputed: a sketch" in err
    code, _, err = polhode("papers", "p", "--item", "fig9")
    assert code == 2
    assert "fig9" in err
    assert "5.1" in err
    code, _, err = polhode("papers", "--item", "fig1")
    assert code == 2
    assert "--item is of one paper; name it, as in polhode papers p --item fig1" in err


def test_figures_say_what_a_line_is() -> None:
    """At the pointer, by its label or that of a line that looks like it elsewhere; what has none says nothing."""
    with house_style() as Figure:
        figure = Figure()
        one, two = figure.subplots(1, 2)
        one.plot([0, 1], [0, 1], color="red", label="a < b")
        two.plot([0, 1], [1, 0], color="red")
        two.plot([0, 1], [2, 0], color="grey")
    svg = svg_of(figure)
    assert re.findall(r'class="curve"><title>(.*?)</title>', svg) == ["a &lt; b", "a &lt; b"]
    assert ".curve:hover" in svg
    assert re.search(r"<svg[^>]* viewBox", svg)
    assert not re.search(r"<svg[^>]* height=", svg)


def test_long_lines_are_thinned_and_said(tmp_path: Path) -> None:
    with house_style() as Figure:
        figure = Figure()
        figure.add_subplot(title="a").plot(range(32_001))
    paper = Paper("p", "P", ())
    write_report({paper: Result([], [PaperFigure("f", "F", "long", figure)])}, tmp_path)
    rows = (tmp_path / "p" / "f.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 10_001
    assert (rows[1], rows[-1]) == ("a,line 1,0,0", "a,line 1,32000,32000")
    assert "long lines thinned evenly" in (tmp_path / "p.html").read_text(encoding="utf-8")


@pytest.mark.skipif(BROWSER is None, reason="no Chrome or Chromium")
def test_a_line_at_the_pointer_stands_out(tmp_path: Path) -> None:
    with house_style() as Figure:
        figure = Figure(figsize=(5, 5))
        ax = figure.add_subplot()
        for label, end in (("up", 1), ("down", -1)):
            ax.plot([0, 1], [0, end], label=label, linewidth=8)
    (tmp_path / "lines.svg").write_text(svg_of(figure), encoding="utf-8")
    with Page((tmp_path / "lines.svg").as_uri(), tmp_path / "browser") as page:
        box = "document.querySelector('.curve path').getBoundingClientRect()"
        x, y, width, height = page.evaluate(f"(() => {{ const b = {box}; return [b.x, b.y, b.width, b.height] }})()")
        page.mouse("mouseMoved", x + 0.75 * width, y + 0.25 * height)
        page.wait_for("getComputedStyle(document.querySelectorAll('.curve')[1]).opacity < 0.5")
        assert page.evaluate("getComputedStyle(document.querySelector('.curve')).opacity") == "1"
