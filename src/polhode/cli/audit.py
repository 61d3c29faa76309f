"""`polhode audit`."""

from __future__ import annotations

import sys
from pathlib import Path

import jax
from rich.console import Console

from polhode.cli.output import print_json
from polhode.cli.run import check_picture
from polhode.cli.tables import show_table
from polhode.model.method import KINDS
from polhode.model.registry import all_methods, method_of
from polhode.verify import Certificate, audit
from polhode.verify.picture import draw


def audit_command(names: list[str], plot: Path | None, as_json: bool, table: Path | None = None) -> None:
    methods = list(all_methods().values()) if names == ["all"] else [method_of(name) for name in names]
    if plot is not None:
        check_picture(plot)
    certificates = []
    with Console(stderr=True).status("measuring") as status:
        for method in methods:
            status.update(f"measuring {method.name}")
            certificates.append(audit(method))
            jax.clear_caches()  # its programs will not be needed again
    if plot is not None:
        draw(certificates, plot)
    if as_json:
        print_json([c.record for c in certificates])
    else:
        for some in _by_kind(certificates):
            headings = _headings(some[0])
            show_table(headings, [_cells(c) for c in some], title=some[0].measures.title, left=headings)
        for c in certificates:
            print(c)
    if table is not None:
        write_table(certificates, table)
    if any(c.contradictions for c in certificates):
        sys.exit(1)


def _by_kind(certificates: list[Certificate]) -> list[list[Certificate]]:
    found = ([c for c in certificates if c.method.kind == kind] for kind in KINDS)
    return [some for some in found if some]


def _headings(c: Certificate) -> list[str]:
    return ["method", "order", *(column.replace("_", " ") for column in c.measures.columns)]


def _cells(c: Certificate) -> list[str]:
    order = "exact" if c.order == float("inf") else f"{c.order:.2f}"
    return [c.method.name, order, *map(c.cell, c.measures.columns)]


def write_table(certificates: list[Certificate], path: Path) -> None:
    """A table for each kind of method, as Markdown."""
    lines = [
        "# What every method keeps, measured",
        "",
        "Made by `polhode audit all --table docs/audit.md` for every built-in method. Declared traits that a",
        "measurement contradicts fail the tests.",
    ]
    for some in _by_kind(certificates):
        headings = _headings(some[0])
        lines += ["", some[0].measures.about, ""]
        lines += ["| " + " | ".join(cells) + " |" for cells in (headings, ["---"] * len(headings))]
        lines += ["| " + " | ".join(_cells(c)) + " |" for c in some]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
