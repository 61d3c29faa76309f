"""Krysl (2007), Figures 1 to 3: convergence of seven methods on three problems, and what the paper says of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.api import simulate
from polhode.papers.base import Check
from polhode.papers.reference import Reference, reference
from polhode.problems import BuiltIn
from polhode.results.style import COLOURS, MARKERS, house_style
from polhode.rotation import Rotation

COMPARED = ("akw", "bbtrap", "swc1")
PRESENT = ("trap", "imid", "trapm", "imidm")
METHODS = (*COMPARED, *PRESENT)
STYLE = {name: {"color": c, "marker": m} for name, c, m in zip(METHODS, COLOURS, MARKERS, strict=False)}


@dataclass(frozen=True)
class Convergence:
    """Errors at the end, by method, for a row of step lengths: ‖Π - Π*‖₂ and ‖R - R*‖₂."""

    steps: np.ndarray
    momentum: dict[str, np.ndarray]
    attitude: dict[str, np.ndarray]
    reference: Reference

    def order(self, errors: np.ndarray) -> float:
        """The slope between the two shortest steps."""
        return float(np.log2(errors[-2] / errors[-1]))


def converge(problem: BuiltIn, longest: int, levels: int) -> Convergence:
    """From `longest` steps in the whole interval, doubled `levels` - 1 times."""
    setup, values = problem.problem(), problem.filled({})
    start = setup.start.on(setup.body)
    omega = Rotation(setup.body).omega(start.momentum)
    exact = reference(
        tuple(map(float, setup.body.moments)),
        float(np.asarray(values.get("weight", 0.0))),
        tuple(map(float, start.attitude)),
        tuple(map(float, omega)),
        problem.until,
    )
    counts = [longest * 2**k for k in range(levels)]
    momentum: dict[str, np.ndarray] = {}
    attitude: dict[str, np.ndarray] = {}
    for name in METHODS:
        runs = [
            simulate(setup.body, setup.load, setup.start, method=name, step=problem.until / n, steps=n, every=n)
            for n in counts
        ]
        momentum[name] = np.array([np.linalg.norm(r.state.momentum.array[-1] - exact.momentum) for r in runs])
        attitude[name] = np.array([np.linalg.norm(r.attitude[-1] - exact.attitude, 2) for r in runs])
    return Convergence(problem.until / np.array(counts), momentum, attitude, exact)


def draw_convergence(c: Convergence, title: str) -> Any:
    with house_style() as Figure:
        figure = Figure(figsize=(10, 4.6))
        axes = figure.subplots(1, 2)
        for ax, errors, label in zip(
            axes, (c.momentum, c.attitude), ("‖Π − Π*‖ (kg m²/s)", "‖R − R*‖ (1)"), strict=True
        ):
            for name in METHODS:
                ax.loglog(c.steps, errors[name], label=name.upper(), markersize=5, **STYLE[name])
            guide = 0.4 * min(e[-1] for e in errors.values()) * (c.steps / c.steps[-1]) ** 2
            ax.loglog(c.steps, guide, color="#999999", linestyle="--", linewidth=1, label="slope 2")
            ax.set(xlabel="Δt (s)", ylabel=label)
        axes[0].legend(ncols=2, fontsize=8)
        figure.suptitle(title, x=0.01, ha="left")
        return figure


def convergence_checks(where: str, c: Convergence) -> list[Check]:
    orders = [c.order(errors[name]) for errors in (c.momentum, c.attitude) for name in METHODS]
    return [
        Check(
            where,
            "every method is second-order accurate, in Π and in R",
            "slope 2",
            f"slopes {min(orders):.3f} to {max(orders):.3f}",
            all(abs(o - 2) < 0.05 for o in orders),
        ),
        Check(
            where,
            "the reference is converged (the paper: a very small step of a second-order method)",
            "not said",
            f"error below {c.reference.error:.1e}",
            c.reference.error < 1e-12,
            note="Taylor's method, orders 30 and 24, in extended precision; the error is their difference",
        ),
    ]


def free_body_checks(c: Convergence) -> list[Check]:
    Pi, R = ({name: errors[name][-1] for name in METHODS} for errors in (c.momentum, c.attitude))
    ratio = lambda errors, a, b: errors[a] / errors[b]  # noqa: E731
    best_R = min(R, key=lambda name: R[name])
    return [
        Check(
            "5.1, Fig. 1",
            "IMID is the most accurate in the body-frame momentum",
            "IMID",
            f"least error {min(Pi.values()):.3e}; IMID {Pi['imid']:.3e}",
            Pi["imid"] < 1.0001 * min(Pi.values()),
        ),
        Check(
            "5.1, Fig. 1",
            "IMID is the most accurate in the attitude",
            "IMID",
            f"{best_R.upper()}, by {100 * (1 - R[best_R] / R['imid']):.0f} %",
            best_R == "imid",
            expected=False,
            note="TRAP, its conjugate, is slightly better in R on this problem",
        ),
        Check(
            "5.1, Fig. 1",
            "AKW matches IMID in the body-frame momentum",
            "matches",
            f"ratio of errors {ratio(Pi, 'akw', 'imid'):.9f}",
            abs(ratio(Pi, "akw", "imid") - 1) < 1e-6,
        ),
        Check(
            "5.1, Fig. 1",
            "AKW is an order of magnitude less accurate than IMID in the attitude",
            "10 times",
            f"{ratio(R, 'akw', 'imid'):.1f} times",
            round(np.log10(ratio(R, "akw", "imid"))) == 1,
        ),
        Check(
            "5.1, Fig. 1",
            "TRAP is slightly less accurate than IMID in the body-frame momentum",
            "slightly",
            f"{ratio(Pi, 'trap', 'imid'):.2f} times the error",
            1 < ratio(Pi, "trap", "imid") < 3,
        ),
        Check(
            "5.1, Fig. 1",
            "BBTRAP and SWC1 are rather inaccurate in the body-frame momentum",
            "rather inaccurate",
            f"the two largest, {ratio(Pi, 'bbtrap', 'imid'):.1f} and {ratio(Pi, 'swc1', 'imid'):.1f} times IMID's",
            set(sorted(Pi, key=lambda name: Pi[name])[-2:]) == {"bbtrap", "swc1"},
        ),
    ]


def slow_top_checks(c: Convergence) -> list[Check]:
    def best(errors: dict[str, np.ndarray], variable: str, expected: bool, note: str = "") -> Check:
        last = {name: errors[name][-1] for name in METHODS}
        ranked = sorted(METHODS, key=lambda name: last[name])
        return Check(
            "5.2, Fig. 2",
            f"the absolute accuracy of the present algorithms is outstanding, in {variable}",
            "outstanding",
            "least errors: " + ", ".join(f"{name.upper()} {last[name]:.2e}" for name in ranked[:3]),
            ranked[0] in PRESENT,
            expected=expected,
            note=note,
        )

    return [
        best(c.attitude, "R", True),
        best(c.momentum, "Π", False, "SWC1 is the best in Π on this problem; IMIDM and TRAPM come next"),
    ]


def fast_top_checks(c: Convergence) -> list[Check]:
    R = {name: c.attitude[name][-1] for name in METHODS}
    rivals = [name for name in METHODS if name not in ("imidm", "trapm")]
    nearest = min(rivals, key=lambda name: R[name])
    return [
        Check(
            "5.3, Fig. 3",
            "IMIDM and TRAPM are significantly more accurate than the others",
            "significantly",
            f"R: IMIDM {R['imidm']:.2e}, TRAPM {R['trapm']:.2e}; the best other, {nearest.upper()}, {R[nearest]:.2e}",
            R[nearest] > 2 * max(R["imidm"], R["trapm"]),
        )
    ]
