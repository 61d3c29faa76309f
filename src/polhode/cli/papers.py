"""`polhode papers`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from polhode.cli.output import print_json
from polhode.cli.tables import show_table
from polhode.model import InputError
from polhode.papers import PAPERS, Paper, Result, paper_of
from polhode.papers.report import check_report, write_report
from polhode.papers.side_by_side import recomputed


def papers_command(ids: list[str], out: Path | None, as_json: bool, item: str | None = None) -> None:
    chosen = [paper_of(i) for i in ids] or list(PAPERS.values())
    if item is not None:
        if len(chosen) != 1:
            raise InputError(f"--item is of one paper; name it, as in polhode papers {chosen[0].id} --item {item}")
        chosen = [chosen[0].alone(item)]
    if out is not None:
        check_report(out)
    log = Console(stderr=True)
    with log.status("recomputing") as status:

        def told(doing: dict[str, str], left: int) -> None:
            now = "; ".join(f"{paper}: {what}" for paper, what in doing.items())
            status.update(f"{now}; {left} more to begin" if left else now)

        results = recomputed(chosen, told)
    if item is not None:
        results = {paper: paper.belonging(result) for paper, result in results.items()}
    report = None
    if out is not None:
        report = write_report(results, out)
    if as_json:
        print_json([_record(paper, result) for paper, result in results.items()])
    else:
        for paper, result in results.items():
            _show(paper, result)
        if report is not None:
            print(f"Report: {report}")
    if not all(result.ok for result in results.values()):
        sys.exit(1)


def _record(paper: Paper, result: Result) -> dict[str, object]:
    return {
        "id": paper.id,
        "title": paper.title,
        "link": paper.link,
        "ok": bool(result.ok),
        "checks": [{**asdict(check), "ok": check.ok, "verdict": check.verdict} for check in result.checks],
        "figures": [figure.id for figure in result.figures],
    }


def _show(paper: Paper, result: Result) -> None:
    if not result.checks:
        print(f"{paper.title}: redrawn, {', '.join(figure.title for figure in result.figures)}; --out DIR writes it")
        return
    rows = []
    for check in result.checks:
        digits = f", {check.digits} digits" if check.digits is not None else ""
        rows.append((check.where, check.claim, check.printed, check.computed, check.verdict + digits))
    headings = ("where", "statement", "printed", "computed", "verdict")
    styles = [None if check.ok else "bold red" for check in result.checks]
    show_table(headings, rows, title=paper.title, texts=headings, styles=styles)
