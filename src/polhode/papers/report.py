"""The report: an index and a page a paper, figures as SVG, and what is behind them as CSV; a folder of plain files.

Links between them are relative, so that the folder can stand anywhere: on a disk, or within a site.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from html import escape
from importlib import resources
from pathlib import Path

from polhode.api import simulate
from polhode.model import InputError
from polhode.papers.base import Check, Paper, PaperFigure, Result
from polhode.papers.figure_data import data_of, thinned
from polhode.papers.items import Item, items_in
from polhode.papers.live import svg_of
from polhode.problems import problem_of

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="stylesheet" href="report.css"></head><body>
{body}
</body></html>
"""
_SECONDS, _SAMPLES = 10.0, 500  # at most, of a system that is shown moving
_HEADINGS = ("where", "statement", "printed", "computed", "verdict")


def check_report(folder: Path) -> None:
    """Before papers are recomputed: an InputError where there can be no such folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"a report needs a folder; {str(folder)[:80]!r} cannot be one: {error.strerror}") from error
    if not os.access(folder, os.W_OK):
        raise InputError(f"cannot write into the folder {str(folder)!r}; choose another for --out")


def write_report(results: dict[Paper, Result], folder: Path) -> Path:
    """Into `folder`; the path of its `index.html`."""
    folder.mkdir(parents=True, exist_ok=True)
    style = resources.files("polhode.papers").joinpath("report.css").read_text(encoding="utf-8")
    (folder / "report.css").write_text(style, encoding="utf-8")
    for paper, result in results.items():
        (folder / paper.id).mkdir(exist_ok=True)
        _write(folder / f"{paper.id}.html", paper.title, _paper(paper, result, folder))
    path = folder / "index.html"
    _write(path, "polhode: the papers recomputed", _index(results))
    return path


def _write(path: Path, title: str, body: str) -> None:
    path.write_text(_PAGE.format(title=escape(title), body=body), encoding="utf-8")


def _index(results: dict[Paper, Result]) -> str:
    checks = [check for result in results.values() for check in result.checks]
    parts = [f"<h1>The papers, recomputed</h1><p>{_counted(checks)}</p>"]
    for paper, result in results.items():
        rows = "".join(_index_row(paper, item, result) for item in paper.items)
        parts.append(
            f'<h2 id="{paper.id}"><a href="{paper.id}.html">{escape(paper.title)}</a></h2>'
            f"<p>{_counted(result.checks)} {_link(paper)}</p>"
            '<div class="wide"><table><thead><tr><th>item</th><th>what it shows</th><th>verdict</th><th>alone</th></tr>'
            f"</thead><tbody>{rows}</tbody></table></div>"
        )
    return "\n".join(parts)


def _index_row(paper: Paper, item: Item, result: Result) -> str:
    place = f'<a href="{paper.id}.html#{item.id}">{escape(item.label)}</a>'
    return (
        f"<tr><td>{place}</td><td>{escape(item.what)}</td>{_verdict(item, result)}<td>{_command(paper, item)}</td></tr>"
    )


def _verdict(item: Item, result: Result) -> str:
    if item.sketch:
        return f'<td class="faint">{escape(item.sketch)}</td>'
    checks = [check for check in result.checks if items_in(check.where) & {item.id, *item.shown}]
    if not checks:
        return '<td class="good">redrawn</td>'
    wrong, known = sum(not c.ok for c in checks), sum(c.ok and not c.agrees for c in checks)
    words = [f"{len(checks) - wrong - known} agree"]
    words += [f"{known} known errat{'um' if known == 1 else 'a'}"] * bool(known) + [f"{wrong} FAIL"] * bool(wrong)
    return f'<td class="{"bad" if wrong else "known" if known else "good"}">{", ".join(words)}</td>'


def _command(paper: Paper, item: Item) -> str:
    return "" if item.sketch else f"<code>polhode papers {paper.id} --item {item.id}</code>"


def _link(paper: Paper) -> str:
    shown = paper.link.removeprefix("https://doi.org/").removeprefix("https://")
    return f'<a href="{escape(paper.link)}">{escape(shown)}</a>' if paper.link else ""


def _counted(checks: Sequence[Check]) -> str:
    agree, failed = sum(check.agrees for check in checks), sum(not check.ok for check in checks)
    known = sum(not check.agrees and check.ok for check in checks)
    return (
        f"{len(checks)} statements checked: {agree} agree, {known} are known errata and differ as they should, "
        f"{failed} fail."
    )


def _paper(paper: Paper, result: Result, folder: Path) -> str:
    parts = [
        f'<p><a href="index.html">All papers</a></p><h1>{escape(paper.title)}</h1>'
        f"<p>{_counted(result.checks)} {_link(paper)} All of it: <code>polhode papers {paper.id}</code></p>"
    ]
    known = {item.id for item in paper.items}
    for item in paper.items:
        # an example that figures show has what they do not have
        apart = {other for other in known if other[0].isalpha()} if item.shown else set()
        checks = [c for c in result.checks if item.id in items_in(c.where) and not items_in(c.where) & apart]
        figures = [f for f in result.figures if item.id in items_in(f.title)]
        parts.append(_section(paper, item.id, f"{item.label}. {item.what}", checks, figures, folder))
        if item.sketch:
            parts.append(f'<p class="faint">Not recomputed: {escape(item.sketch)}.</p>{_moving(paper, item, folder)}')
        else:
            shown = [f'<a href="#{i}">{_label(paper, i)}</a>' for i in item.shown if i in known]
            parts.append(
                f"<p>{'Shown by ' + ', '.join(shown) + '. ' if shown else ''}Alone: {_command(paper, item)}</p>"
            )
    checks = [check for check in result.checks if not items_in(check.where) & known]
    figures = [figure for figure in result.figures if not items_in(figure.title) & known]
    if checks or figures:
        parts.append(_section(paper, "further", "Further statements, and beyond the paper", checks, figures, folder))
    return "\n".join(parts)


def _moving(paper: Paper, item: Item, folder: Path) -> str:
    """The system of a sketch, as it moves."""
    if not item.problem:
        return ""
    known = problem_of(item.problem)
    steps = round(min(known.until, _SECONDS) / known.step)
    run = simulate(known.problem(), steps=steps, every=max(1, steps // _SAMPLES), progress=False)
    name = f"{paper.id}/{item.id}.html"
    run.animate(folder / name, title=known.title)
    return (
        f'<iframe src="{name}" title="{escape(known.title)}" loading="lazy"></iframe>'
        f"<p>Instead of it, <code>polhode run {item.problem} --plot motion.html</code></p>"
    )


def _label(paper: Paper, name: str) -> str:
    return escape(next(item.label for item in paper.items if item.id == name))


def _section(
    paper: Paper, name: str, title: str, checks: Sequence[Check], figures: Sequence[PaperFigure], folder: Path
) -> str:
    parts = [f'<h2 id="{name}">{escape(title)}</h2>']
    if checks:
        head = "".join(f"<th>{heading}</th>" for heading in _HEADINGS)
        rows = "\n".join(_row(check) for check in checks)
        parts.append(f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>')
        (folder / paper.id / f"{name}.csv").write_text(_table(checks), encoding="utf-8")
        parts.append(f'<p><a href="{paper.id}/{name}.csv">This table as CSV</a></p>')
    return "\n".join([*parts, *(_figure(paper, figure, folder) for figure in figures)])


def _row(check: Check) -> str:
    kind = "good" if check.ok and check.agrees else "known" if check.ok else "bad"
    digits = f" ({check.digits} digits)" if check.digits is not None else ""
    note = f"<br><small>{escape(check.note)}</small>" if check.note else ""
    cells = (check.where, check.claim, check.printed, check.computed)
    first = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return f'<tr>{first}<td class="{kind}">{escape(check.verdict + digits)}{note}</td></tr>'


def _table(checks: Sequence[Check]) -> str:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow((*_HEADINGS, "digits", "note"))
    rows.writerows((c.where, c.claim, c.printed, c.computed, c.verdict, c.digits, c.note) for c in checks)
    return text.getvalue()


def _figure(paper: Paper, figure: PaperFigure, folder: Path) -> str:
    name = f"{paper.id}/{figure.id}"
    (folder / f"{name}.svg").write_text(svg_of(figure.figure), encoding="utf-8")
    (folder / f"{name}.csv").write_text(data_of(figure.figure), encoding="utf-8")
    most = " (long lines thinned evenly)" if thinned(figure.figure) else ""
    return (
        f'<figure id="{figure.id}"><object type="image/svg+xml" data="{name}.svg" role="img" '
        f'aria-label="{escape(figure.title)}">{escape(figure.title)}</object>'
        f"<figcaption><b>{escape(figure.title)}.</b> {escape(figure.caption)} "
        f'<a href="{name}.svg">SVG</a>, <a href="{name}.csv">data as CSV</a>{most}</figcaption></figure>'
    )
