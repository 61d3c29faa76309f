"""The report: one HTML page with every check and figure, which needs nothing else to be read."""

from __future__ import annotations

import base64
import io
from html import escape
from pathlib import Path

from polhode.papers.base import Check, Paper, PaperFigure, Result

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>polhode: the papers recomputed</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 68rem; margin: 2rem auto; padding: 0 1rem }}
h1 {{ font-size: 1.7rem }} h2 {{ font-size: 1.25rem; margin-top: 3rem; border-top: 1px solid #ddd; padding-top: 1rem }}
table {{ border-collapse: collapse; width: 100%; font-size: .88rem }}
th, td {{ text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid #e5e5e5 }}
td.good {{ color: #00704d }} td.known {{ color: #8a5a00 }} td.bad {{ color: #b00020; font-weight: 600 }}
small {{ color: #666 }} img {{ width: 100%; height: auto }} figure {{ margin: 2rem 0 }} figcaption {{ color: #444 }}
nav a {{ margin-right: 1rem }}
</style></head><body>
<h1>The papers, recomputed</h1>
<p>{summary}</p><nav>{links}</nav>
{body}
</body></html>
"""


def write_report(results: dict[Paper, Result], folder: Path) -> Path:
    """`index.html`, and each figure as a PNG beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    checks = [check for result in results.values() for check in result.checks]
    agree = sum(check.agrees for check in checks)
    known = sum(not check.agrees and check.ok for check in checks)
    failed = sum(not check.ok for check in checks)
    summary = (
        f"{len(checks)} statements checked: {agree} agree, {known} are known errata and differ as they should, "
        f"{failed} fail."
    )
    page = _PAGE.format(
        summary=summary,
        links=" ".join(f'<a href="#{p.id}">{escape(p.id)}</a>' for p in results),
        body="\n".join(_section(paper, result, folder) for paper, result in results.items()),
    )
    path = folder / "index.html"
    path.write_text(page, encoding="utf-8")
    return path


def _section(paper: Paper, result: Result, folder: Path) -> str:
    rows = "\n".join(_row(check) for check in result.checks)
    figures = "\n".join(_figure(figure, folder) for figure in result.figures)
    return (
        f'<h2 id="{paper.id}">{escape(paper.title)}</h2>'
        "<table><thead><tr><th>where</th><th>statement</th><th>printed</th><th>computed</th><th>verdict</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>{figures}"
    )


def _row(check: Check) -> str:
    kind = "good" if check.ok and check.agrees else "known" if check.ok else "bad"
    digits = f" ({check.digits} digits)" if check.digits is not None else ""
    note = f"<br><small>{escape(check.note)}</small>" if check.note else ""
    cells = (check.where, check.claim, check.printed, check.computed)
    first = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return f'<tr>{first}<td class="{kind}">{escape(check.verdict + digits)}{note}</td></tr>'


def _figure(figure: PaperFigure, folder: Path) -> str:
    buffer = io.BytesIO()
    figure.figure.savefig(buffer, format="png", dpi=140)
    (folder / f"{figure.id}.png").write_bytes(buffer.getvalue())
    data = base64.b64encode(buffer.getvalue()).decode()
    return (
        f'<figure id="{figure.id}"><img alt="{escape(figure.title)}" src="data:image/png;base64,{data}">'
        f"<figcaption><b>{escape(figure.title)}.</b> {escape(figure.caption)}</figcaption></figure>"
    )
