"""`polhode audit`."""

from __future__ import annotations

import sys
from pathlib import Path

import jax
from rich.console import Console

from polhode.cli.output import print_json
from polhode.cli.run import check_picture
from polhode.cli.tables import show_table
from polhode.methods import all_methods, method_of
from polhode.verify import Certificate, audit

TICKS = ("Qy", "C", "H", "Poisson", "symplectic", "symmetric")


def audit_command(names: list[str], plot: Path | None, as_json: bool, table: Path | None = None) -> None:
    methods = list(all_methods("rotation").values()) if names == ["all"] else [method_of(name) for name in names]
    if plot is not None:
        check_picture(plot)
    certificates = []
    with Console(stderr=True).status("measuring") as status:
        for method in methods:
            status.update(f"measuring {method.name}")
            certificates.append(audit(method))
            jax.clear_caches()  # its programs will not be needed again
    if plot is not None:
        from polhode.verify.picture import draw

        draw(certificates, plot)
    if as_json:
        print_json([c.record for c in certificates])
    else:
        headings = ("method", "order", *TICKS)
        title = "Measured: order, exact invariants of the free body, geometry of a step"
        show_table(headings, [_cells(c) for c in certificates], title=title, left=headings)
        for c in certificates:
            print(c)
    if table is not None:
        write_table(certificates, table)
    if any(c.contradictions for c in certificates):
        sys.exit(1)


def _cells(c: Certificate) -> list[str]:
    order = "exact" if c.order == float("inf") else f"{c.order:.2f}"
    return [c.method.name, order, *("yes" if c.yes(t) else "no" for t in TICKS)]


def write_table(certificates: list[Certificate], path: Path) -> None:
    """Table 2 of Vilmart (2013), for every method audited, as Markdown."""
    lines = [
        "# What every method keeps, measured",
        "",
        "Made by `polhode audit all --table docs/audit.md`: Table 2 of Vilmart (2013) for every built-in method. The",
        "order is the least over a free body and, for methods that take loads, an asymmetric heavy top, a torque of",
        "time and damping; Qy, C, H are exact on the free body over 10⁵ steps; Poisson, symplectic and symmetric come",
        "from the Jacobian of one step. Declared traits that",
        "a measurement contradicts fail the tests.",
        "",
        "| method | order | " + " | ".join(TICKS) + " |",
        "| --- | --- | " + " | ".join("---" for _ in TICKS) + " |",
    ]
    lines += ["| " + " | ".join(_cells(c)) + " |" for c in certificates]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
