"""A system as a notebook shows it: its bodies, what joins them, what acts on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.model.html import short, table

_NAMED = 8  # bodies


def line(system: Any) -> str:
    """In one line."""
    acting = ", ".join(dict.fromkeys(type(f).__name__ for f in system.forces)) or "nothing"
    bodies = ", ".join(system.names[:_NAMED]) + ", ..." * (len(system.names) > _NAMED)
    return f"System({bodies}: {system.rows} rows of constraints, acted on by {acting})"


def card(system: Any) -> str:
    """Names are shortened as plots do; moments are principal ones; the rows of constraints are counted by name."""
    masses, moments = np.asarray(system.masses), np.linalg.eigvalsh(np.asarray(system.inertias))
    bodies = [
        (short(name), f"{mass:g}", ", ".join(f"{x:.4g}" for x in own))
        for name, mass, own in zip(system.names, masses, moments, strict=True)
    ]
    held = [
        (short(c.name), type(c).__name__, ", ".join(map(short, c.bodies)), c.holonomic + c.nonholonomic)
        for c in getattr(system, "constraints", ())  # not of one that JAX has put together
    ]
    acting = [
        (type(f).__name__, ", ".join(map(short, getattr(f, "bodies", ()))) or "all bodies") for f in system.forces
    ]
    counted = f"{len(bodies)} bodies, {system.rows} rows of constraints"
    parts = [table(("body", "mass (kg)", "moments (kg m²)"), bodies, f"System: {counted}")]
    parts += [table(("constraint", "kind", "between", "rows"), held)] if held else []
    parts += [table(("force", "on"), acting)] if acting else []
    return "".join(parts)
