"""`polhode audit`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from polhode.cli.run import check_picture
from polhode.methods import method_of
from polhode.verify import audit

TICKS = ("Qy", "C", "H", "Poisson", "symplectic", "symmetric")


def audit_command(names: list[str], plot: Path | None, as_json: bool) -> None:
    methods = [method_of(name) for name in names]
    if plot is not None:
        check_picture(plot)
    certificates = []
    with Console(stderr=True).status("measuring") as status:
        for method in methods:
            status.update(f"measuring {method.name}")
            certificates.append(audit(method))
    if plot is not None:
        from polhode.verify.picture import draw

        draw(certificates, plot)
    if as_json:
        print(json.dumps([c.record for c in certificates]))
    else:
        table = Table(title="Measured: order, exact invariants of the free body, geometry of a step")
        for heading in ("method", "order", *TICKS):
            table.add_column(heading)
        for c in certificates:
            order = "exact" if c.order == float("inf") else f"{c.order:.2f}"
            table.add_row(c.method.name, order, *("yes" if c.yes(t) else "no" for t in TICKS))
        Console(width=None if sys.stdout.isatty() else 120).print(table)
        for c in certificates:
            print(c)
    if any(c.contradictions for c in certificates):
        sys.exit(1)
