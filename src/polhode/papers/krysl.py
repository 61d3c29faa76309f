"""Krysl (2007): convergence on three problems (Figs 1-3), and long runs against a wall (Figs 4, 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.algebra import Vec3
from polhode.api import simulate
from polhode.methods import method_of
from polhode.papers.base import Check, Paper, PaperFigure, Result
from polhode.papers.reference import Reference, reference
from polhode.problems import BuiltIn, problem_of
from polhode.results.run import Run
from polhode.results.style import COLOURS, MARKERS, house_style
from polhode.rotation import Rotation, State
from polhode.simulation import StepError

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
        for ax, errors, label in zip(axes, (c.momentum, c.attitude), ("‖Π − Π*‖", "‖R − R*‖"), strict=True):
            for name in METHODS:
                ax.loglog(c.steps, errors[name], label=name.upper(), markersize=5, **STYLE[name])
            guide = 0.4 * min(e[-1] for e in errors.values()) * (c.steps / c.steps[-1]) ** 2
            ax.loglog(c.steps, guide, color="#999999", linestyle="--", linewidth=1, label="slope 2")
            ax.set(xlabel="Δt (s)", ylabel=label)
        axes[0].legend(ncols=2, fontsize=8)
        figure.suptitle(title, x=0.01, ha="left")
        return figure


# --- Figures 1 to 3 ----------------------------------------------------------------------


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


# --- section 3 ---------------------------------------------------------------------------


def poisson_defect(name: str, h: float) -> float:
    """How far one free step is from a Poisson map of Π: ‖J skew(Π) Jᵀ - skew(Π₁)‖, J = ∂Π₁/∂Π."""
    setup = problem_of("free-body").problem()
    system = Rotation(setup.body)
    start = jax.tree.map(jnp.asarray, setup.start.on(setup.body))
    method = method_of(name)

    def end(Pi: Any) -> Any:
        return method.step(system, State(start.attitude, Vec3.of(Pi)), 0.0, h).state.momentum.array

    Pi = start.momentum.array
    J = np.asarray(jax.jit(jax.jacfwd(end))(Pi))
    return float(np.abs(J @ Vec3.of(Pi).skew().array @ J.T - Vec3.of(end(Pi)).skew().array).max())


def section_three_checks() -> list[Check]:
    defects = [poisson_defect("imidm", h) for h in (0.2, 0.1)]
    setup = problem_of("free-body").problem()
    kinetic = {
        name: simulate(setup.body, None, setup.start, method=name, step=0.1, steps=20_000, every=10)
        for name in ("imid", "imidm", "trapm")
    }
    drift = {name: run.drift(run.kinetic) for name, run in kinetic.items()}
    bounded = {
        name: np.abs(run.kinetic[1000:] - run.kinetic[0]).max() / np.abs(run.kinetic[:1000] - run.kinetic[0]).max()
        for name, run in kinetic.items()
    }
    return [
        Check(
            "3.5",
            "IMID conserves the kinetic energy of torque-free motion",
            "exactly",
            f"relative change {drift['imid']:.1e} over 20 000 steps",
            drift["imid"] < 1e-12,
        ),
        Check(
            "3.6",
            "IMIDM conserves the spatial momentum of torque-free motion",
            "exactly",
            f"relative change {kinetic['imidm'].drift(kinetic['imidm'].spatial_momentum):.1e} over 20 000 steps",
            kinetic["imidm"].drift(kinetic["imidm"].spatial_momentum) < 1e-12,
        ),
        Check(
            "3.7",
            "the energy error of TRAPM and IMIDM oscillates and stays bounded",
            "bounded",
            f"largest {drift['trapm']:.1e} and {drift['imidm']:.1e}; second half of the run over the first: "
            f"{bounded['trapm']:.3f} and {bounded['imidm']:.3f}",
            max(bounded["trapm"], bounded["imidm"]) < 1.05,
        ),
        Check(
            "3.7",
            "IMIDM appears to be symplectic",
            "appears so",
            f"not even Poisson: one-step defect {defects[0]:.1e} at h = 0.2 and {defects[1]:.1e} at h = 0.1",
            max(defects) < 1e-12,
            expected=False,
            note=f"the defect falls as h^{np.log2(defects[0] / defects[1]):.1f}; bounded energy comes with symmetry",
        ),
    ]


# --- Figures 4 and 5 ---------------------------------------------------------------------


def wall_run(name: str, sign: float, step: float, count: int = 40_000) -> Run:
    """The run, or as much of it as the method could solve."""
    setup = problem_of("coulomb-wall").problem(sign=sign)
    try:
        return simulate(setup.body, setup.load, setup.start, method=name, step=step, steps=count)
    except StepError as error:
        return error.run


def draw_wall(runs: dict[str, Run], names: tuple[str, ...], title: str, limit: float) -> Any:
    with house_style() as Figure:
        figure = Figure(figsize=(10, 1.5 + 1.35 * len(names)))
        axes = figure.subplots(len(names), 1, sharex=True, sharey=True)
        for ax, name in zip(axes, names, strict=True):
            run = runs[name]
            ax.plot(run.t, run.energy / run.energy[0], color=STYLE[name]["color"], linewidth=0.5, rasterized=True)
            ended = "" if run.ok else f": not solved beyond step {run.steps}"
            ax.set_title(name.upper() + ended, fontsize=9)
            ax.set_ylim(1 - limit, 1 + limit)
        axes[-1].set_xlabel("t (s)")
        figure.supylabel("H / H₀", fontsize=10)
        figure.suptitle(title, x=0.01, ha="left")
        return figure


def deviation(run: Run) -> float:
    return float(np.abs(run.energy / run.energy[0] - 1).max())


def wall_checks(printed: dict[str, Run], right: dict[str, Run], fine: dict[str, Run]) -> list[Check]:
    ours = {name: deviation(printed[name]) for name in PRESENT}
    theirs = {name: deviation(printed[name]) for name in COMPARED}
    R = printed["imidm"].attitude
    turns = np.einsum("nij,nij->n", R[1:], R[:-1])
    angle = np.degrees(np.arccos(np.clip((turns - 1) / 2, -1, 1))).max()
    failed = {name: run.steps for name, run in right.items() if not run.ok}
    return [
        Check(
            "5.4",
            "rotations within a step of well over 30°",
            "> 30°",
            f"up to {angle:.0f}° (IMIDM)",
            angle > 30,
        ),
        Check(
            "5.4, Figs 4, 5",
            "none of the solutions blow up in 40 000 steps of 0.5 (torque as printed)",
            "none",
            f"all {sum(run.ok for run in printed.values())} of 7 reach the end; largest |H/H₀ - 1| "
            f"{max(*ours.values(), *theirs.values()):.3f}",
            all(run.ok for run in printed.values()),
            note="the figures come from the torque as printed, which repels where the text says it attracts",
        ),
        Check(
            "5.4, Figs 4, 5",
            "the present algorithms stay within a fifth of the others' scale (torque as printed)",
            "1/5",
            f"{max(ours.values()) / max(theirs.values()):.2f} (largest |H/H₀ - 1|: {max(ours.values()):.4f} and "
            f"{max(theirs.values()):.4f})",
            max(ours.values()) < 0.3 * max(theirs.values()),
        ),
        Check(
            "5.4, Fig. 5",
            "the trapezoidal rules have a somewhat higher error than the midpoint rules (torque as printed)",
            "somewhat higher",
            f"TRAP {ours['trap']:.4f}, TRAPM {ours['trapm']:.4f}; IMID {ours['imid']:.4f}, IMIDM {ours['imidm']:.4f}",
            min(ours["trap"], ours["trapm"]) > max(ours["imid"], ours["imidm"]),
        ),
        Check(
            "5.4, Figs 4, 5",
            "none of the solutions blow up (torque as the text describes it: attraction and a wall)",
            "none",
            "not solved beyond step " + ", ".join(f"{n} ({name.upper()})" for name, n in failed.items()),
            not failed,
            expected=False,
            note="a step of 0.5 does not resolve the wall",
        ),
        Check(
            "5.4",
            "with the wall resolved (Δt = 0.01) all seven run 40 000 steps with bounded energy",
            "not said",
            f"largest |H/H₀ - 1| {min(map(deviation, fine.values())):.4f} to {max(map(deviation, fine.values())):.4f}",
            all(run.ok and deviation(run) < 0.02 for run in fine.values()),
        ),
    ]


def compute(say: Callable[[str], None]) -> Result:
    checks: list[Check] = []
    figures: list[PaperFigure] = []
    for number, problem_name, longest, levels, more in (
        (1, "free-body", 200, 7, free_body_checks),
        (2, "slow-top", 500, 7, slow_top_checks),
        (3, "fast-top", 2500, 7, fast_top_checks),
    ):
        problem = problem_of(problem_name)
        say(f"Fig. {number}: convergence, {problem.title}")
        c = converge(problem, longest, levels)
        checks += convergence_checks(f"Fig. {number}", c) + more(c)
        figures.append(
            PaperFigure(
                f"krysl-{number}",
                f"Figure {number}. {problem.title}: convergence",
                f"Errors at t = {problem.until:g} in body-frame momentum (left) and attitude matrix (right), against a "
                f"reference with an error below {c.reference.error:.0e}.",
                draw_convergence(c, f"{problem.title}, error at t = {problem.until:g}"),
            )
        )
    say("Section 3: what is conserved")
    checks += section_three_checks()
    say("Figs 4, 5: Coulomb potential with a wall, both readings")
    printed, right, fine = (
        {name: wall_run(name, sign, step) for name in METHODS} for sign, step in ((-1.0, 0.5), (1.0, 0.5), (1.0, 0.01))
    )
    checks += wall_checks(printed, right, fine)
    for runs, reading, limits in (
        (printed, "torque as printed, Δt = 0.5", (0.08, 0.016)),
        (right, "torque as described in the text, Δt = 0.5", (1.0, 1.0)),
        (fine, "torque as described in the text, Δt = 0.01", (0.01, 0.01)),
    ):
        for number, names, limit in ((4, COMPARED, limits[0]), (5, PRESENT, limits[1])):
            figures.append(
                PaperFigure(
                    f"krysl-{number}-{len(figures)}",
                    f"Figure {number}, {reading}",
                    f"Normalised Hamiltonian of the body in a Coulombic potential with a soft wall; {reading}, "
                    "40 000 steps.",
                    draw_wall(runs, names, f"Coulomb potential with a wall: {reading}", limit),
                )
            )
    return Result(checks, figures)


PAPER = Paper(
    "krysl",
    "P. Krysl, Dynamically equivalent implicit algorithms for the integration of rigid body rotations (2007)",
    compute,
)
