"""Natsiavas, Passas & Paraskevopoulos: the three-field method on a rolling sphere, a rolling disk and a bicycle."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from polhode.api import simulate
from polhode.multibody import MMDAE, ThreeField, ThreeFieldLiteral
from polhode.multibody.newton import DenseNewton
from polhode.papers.base import Check, Paper, PaperFigure, Result, agreeing_digits
from polhode.papers.three_field_figures import contact_of, energy_of, figure, of, panels
from polhode.papers.three_field_peers import bicycle_lines, disk_lines, note
from polhode.problems import problem_of
from polhode.references import bicycle, bicycle_linear, rolling_disk, rolling_sphere
from polhode.references.bicycle_parameters import Bicycle
from polhode.results.system_run import SystemRun
from polhode.simulation import StepError

STEP = 0.01
NEW = "three-field"
WOBBLING = (-2.25, -1.5, -0.75)  # the first is legible in the paper, the others are chosen here
REGIMES = {(4.0, 0.05): "5.5e-04", (4.6, 0.5): "5.2e-04", (8.0, 0.05): "1.05e-05"}  # printed p_E, %

METHODS: dict[str, Any] = {
    NEW: ThreeField(),
    "as written": ThreeFieldLiteral(),
    "as written, c from the metric": ThreeFieldLiteral(c="metric", mu_0="zero"),
    "MM-DAE": MMDAE(),
    "MM-DAE, λ₀ = 0": MMDAE(consistent=False),
    "MM-DAE, tolerance 1e-3": MMDAE(solver=DenseNewton(tolerance=1e-3)),
}


def run(problem: str, method: str = NEW, *, until: float, step: float = STEP, **parameters: float) -> SystemRun:
    """A run; what there is of it where a step fails."""
    system = problem_of(problem).system(**parameters)
    try:
        return simulate(system, method=METHODS[method], step=step, until=until)
    except StepError as error:
        return error.run


def variation(motion: SystemRun) -> float:
    """p_E of (60), percent."""
    return float(100 * np.ptp(motion.energy) / abs(motion.energy[0]))


def _digits(where: str, claim: str, printed: str, value: float) -> Check:
    digits = agreeing_digits(printed, value)
    return Check(where, claim, printed, f"{value:.6f}", digits == sum(c.isdigit() for c in printed), digits=digits)


@cache
def _critical() -> float:
    return rolling_disk.RollingDisk().critical_speed


def sphere(say: Callable[[str], None]) -> tuple[list[Check], list[PaperFigure]]:
    say("sphere in a cylinder, to t = 100")
    exact = rolling_sphere.RollingSphere()
    long = run("rolling-sphere", until=100.0)
    others = {name: run("rolling-sphere", name, until=20.0) for name in METHODS if name != NEW}
    z = rolling_sphere.motion(exact, long.t).height
    error = np.abs(long.observables["z"].values - z)
    first = float(long.omegas[0, 0, 0])
    dae = {n: float(np.abs(r.observables["z"].values - z[: len(r.t)]).max()) for n, r in others.items()}
    checks = [
        _digits("5.1", "the first angular velocity ω10", "-20.265", first),
        Check("Fig. 2a", "z coincides with the exact harmonic motion over 10 s", "identical",
              f"within {error[:1001].max():.2e} m", bool(error[:1001].max() <= 1.1e-4)),
        Check("Fig. 2c", "z still does at t = 95 to 100 s", "identical", f"within {error.max():.2e} m",
              bool(error.max() <= 1.1e-3)),
        Check("Fig. 2d", "the energy is preserved", "constant", f"p_E = {variation(long):.1e} %",
              variation(long) <= 1e-8),
        Check("Figs 2e, 2f", "with a constant step of 0.01 s, constraints kept", "constant step",
              f"{long.halvings} steps halved; slip at most {long.slip.max():.0e} m/s, gap {long.gap.max():.0e} m",
              long.halvings == 0 and bool(long.slip.max() < 1e-11)),
        Check("Figs 2a, 2b", "DAE solutions deviate and explode, whatever the tolerance", "explode",
              f"MM-DAE with a consistent λ₀ is within {dae['MM-DAE']:.1e} m over 20 s", dae["MM-DAE"] > 1e-2,
              expected=False, note=f"with λ₀ = 0: {dae['MM-DAE, λ₀ = 0']:.1e} m; with a tolerance of 1e-3: "
              f"{dae['MM-DAE, tolerance 1e-3']:.1e} m. It needs one of these to go wrong"),
    ]  # fmt: skip
    lines = [("exact", long.t, z), of(long, "z", NEW), *(of(r, "z", n) for n, r in others.items() if "metric" not in n)]
    drawn = panels(3, 2, [
        ("(a) height, first 10 s", "t (s)", "z (m)", lines),
        ("(b) height, 10 to 20 s", "t (s)", "z (m)", lines),
        ("(c) height, 95 to 100 s", "t (s)", "z (m)", lines[:2]),
        ("(d) energy", "t (s)", "E − E₀ (J)", [energy_of(long, NEW), *(energy_of(r, n) for n, r in others.items())]),
        ("(e) error of z", "t (s)", "m", [
            (NEW, long.t, error), *((n, r.t, r.observables["z"].values - z[: len(r.t)]) for n, r in others.items())]),
        ("(f) slip of the contact", "t (s)", "m/s", [(NEW, long.t, long.slip),
                                                    *((n, r.t, r.slip) for n, r in others.items())]),
    ], log=(4, 5), limits={0: {"xlim": (0, 10)}, 1: {"xlim": (10, 20)}, 2: {"xlim": (95, 100)}, 3: {"xlim": (0, 5)},
                           4: {"xlim": (0, 20)}, 5: {"xlim": (0, 5)}})  # fmt: skip
    caption = "Constant step of 0.01 s for all. Panel (e) shows errors, where the paper has residuals of its solvers."
    return checks, [figure(2, "Sphere rolling inside a cylinder", caption, drawn)]


def _disk_reference(t: np.ndarray, **start: float) -> Any:
    return rolling_disk.motion(rolling_disk.RollingDisk(), rolling_disk.DiskStart(**start), t)


def disk_wobbling(say: Callable[[str], None]) -> tuple[list[Check], list[PaperFigure]]:
    say("wobbling disks")
    tilt = float(np.deg2rad(1.0))
    runs = {r0: run("rolling-disk", until=10.0, inclination=tilt, r0=r0) for r0 in WOBBLING}
    exact = {r0: _disk_reference(m.t[::20], theta=tilt, r=r0) for r0, m in runs.items()}
    errors = {r0: float(np.abs(m.observables["theta"].values[::20] - exact[r0].theta).max()) for r0, m in runs.items()}
    ranges = {r0: float(np.ptp(m.observables["theta"].values)) for r0, m in runs.items()}
    half = run("rolling-disk", until=10.0, inclination=tilt / 2, r0=-2.25)
    curved = {name: _radius(m) for name, m in (("1°", runs[-2.25]), ("0.5°", half))}
    critical = _critical()
    checks = [
        _digits("5.2", "the critical speed of rolling", "1.808", critical),
        Check("Fig. 4", "virtually indistinguishable from the analytical solution", "identical",
              ", ".join(f"r0 = {r0:g}: θ within {e:.1e}" for r0, e in errors.items()), max(errors.values()) < 0.05,
              note="of the three r0 only -2.25 is legible; -1.5 and -0.75 are chosen here. The slower the disk the "
              "nearer it falls to the ground, and the larger the error"),
        Check("Fig. 4", "the variations decrease as |r0| grows", "decrease",
              ", ".join(f"r0 = {r0:g}: θ ranges over {v:.3f}" for r0, v in ranges.items()),
              ranges[-2.25] < ranges[-1.5] < ranges[-0.75]),
        Check("Fig. 5b", "the radius of the path grows as θ0 falls from 1° to 0.5°", "grows",
              ", ".join(f"{n}: {v:.1f} m" for n, v in curved.items()), curved["0.5°"] > 1.5 * curved["1°"]),
    ]  # fmt: skip
    histories = panels(2, 2, [
        (f"({letter}) {name}", "t (s)", unit,
         [("reference", runs[-2.25].t[::20], getattr(exact[-2.25], name)),
          *(of(m, name, f"r0 = {r0:g}") for r0, m in runs.items())])
        for letter, name, unit in (("a", "theta", "rad"), ("b", "p", "rad/s"), ("c", "q", "rad/s"), ("d", "r", "rad/s"))
    ])  # fmt: skip
    paths = panels(1, 2, [
        ("(a) θ₀ = 1°", "x (m)", "y (m)", [contact_of(m, f"r0 = {r0:g}") for r0, m in reversed(runs.items())]),
        ("(b) r0 = −2.25 rad/s", "x (m)", "y (m)", [contact_of(half, "θ₀ = 0.5°"), contact_of(runs[-2.25], "θ₀ = 1°")]),
    ], equal=(0, 1))  # fmt: skip
    return checks, [
        figure(
            4, "Wobbling disk", "θ₀ = 1°, three spins; the reduced equations for r0 = −2.25 broad and pale.", histories
        ),
        figure(5, "Paths of the contact point", "On the horizontal plane.", paths),
    ]


def _radius(motion: SystemRun) -> float:
    """Of the circle through the first, the middle and the last contact."""
    p = motion.traces["contact"][[0, len(motion.t) // 2, -1], :2]
    a, b, c = (np.linalg.norm(p[i] - p[j]) for i, j in ((0, 1), (1, 2), (2, 0)))
    u, v = p[1] - p[0], p[2] - p[0]
    area = 0.5 * abs(u[0] * v[1] - u[1] * v[0])
    return float(a * b * c / (4 * area))


def disk_steady(say: Callable[[str], None]) -> tuple[list[Check], list[PaperFigure]]:
    say("cyclic and straight rolling")
    tilt, q0 = float(np.deg2rad(20.0)), 1.0
    r0 = float(rolling_disk.steady_spin(rolling_disk.RollingDisk(), tilt, q0))
    runs = {n: run("rolling-disk", n, until=50.0, inclination=tilt, q0=q0, r0=r0) for n in METHODS}
    new, dae = runs[NEW], runs["MM-DAE"]
    off = {n: float(np.abs(m.observables["theta"].values - tilt).max()) for n, m in runs.items()}
    straight = {f: run("rolling-disk", until=20.0, inclination=0.0, r0=f * _critical()) for f in (2.0, 1.0, 0.9)}
    coarse = run("rolling-disk", until=20.0, step=0.5, inclination=0.0, r0=_critical())
    bent = {f: run("rolling-disk", until=20.0, inclination=0.0, p0=-0.1, r0=f * _critical()) for f in (2.0, 1.0, 0.9)}
    exact = {f: _disk_reference(m.t[::40], p=-0.1, r=f * _critical()) for f, m in bent.items()}
    apart = {f: float(np.abs(m.observables["theta"].values[::40] - exact[f].theta).max()) for f, m in bent.items()}
    swing = {f: float(np.abs(m.observables["theta"].values).max()) for f, m in bent.items()}
    still = max(
        float(np.abs(m.observables[n].values).max()) for m in (*straight.values(), coarse) for n in ("theta", "y")
    )
    checks = [
        Check("Figs 6a, 6b", "cyclic motion: θ and r identical with the analytical solution", "identical",
              f"θ within {off[NEW]:.1e} rad over 50 s", off[NEW] < 3e-4,
              note="the discrete steady motion is a little off the continuous one, by O(h²)"),
        Check("Fig. 6d", "the energy of the new method is constant", "constant", f"p_E = {variation(new):.1e} %",
              variation(new) <= 3e-7),
        Check("Fig. 6", "the DAE method loses accuracy and energy as time goes on", "loses",
              f"MM-DAE with consistent λ₀: θ within {off['MM-DAE']:.1e} rad, p_E = {variation(dae):.1e} %",
              off["MM-DAE"] > 1e-2, expected=False,
              note=f"λ₀ = 0: {off['MM-DAE, λ₀ = 0']:.1e} rad, tolerance 1e-3: {off['MM-DAE, tolerance 1e-3']:.1e} rad"),
        Check("Fig. 7", "straight rolling is exact at any step", "exact",
              f"θ and y within {still:.0e} for h = 0.01 and h = 0.5", still < 1e-12),
        Check("Fig. 8", "perturbed rolling coincides with the analytical solution", "identical",
              ", ".join(f"{f:g} r_cr: θ within {e:.1e} rad" for f, e in apart.items()), max(apart.values()) < 0.02),
        Check("Fig. 8", "deviations are small above the critical speed and large below", "small, large",
              ", ".join(f"{f:g} r_cr: |θ| up to {v:.3f}" for f, v in swing.items()), swing[2.0] < 0.1 < swing[0.9]),
    ]  # fmt: skip
    names = [NEW, "as written", "as written, c from the metric", "MM-DAE, λ₀ = 0", "MM-DAE, tolerance 1e-3", "MM-DAE"]
    peers = disk_lines(rolling_disk.DiskStart(theta=tilt, q=q0, r=r0), STEP, 50.0)
    cyclic = panels(2, 2, [
        ("(a) θ", "t (s)", "rad", [*(of(runs[n], "theta", n) for n in names), *peers["theta"]]),
        ("(b) r", "t (s)", "rad/s", [*(of(runs[n], "r", n) for n in names), *peers["r"]]),
        ("(c) path of the contact", "x (m)", "y (m)", [contact_of(runs[n], n) for n in names]),
        ("(d) energy", "t (s)", "E − E₀ (J)", [*(energy_of(runs[n], n) for n in names), *peers["energy"]]),
    ], equal=(2,))  # fmt: skip
    return checks, [
        figure(6, "Cyclic motion", "θ₀ = 20°, q₀ = 1 rad/s, step 0.01 s: the working form, the literal reading with "
               f"two choices of c, and MM-DAE with and without what makes it fail. {note()}", cyclic),
        figure(7, "Straight rolling", "At 2, 1 and 0.9 times the critical speed.", _rectilinear(straight)),
        figure(8, "Perturbed straight rolling", "p₀ = −0.1 rad/s.", _rectilinear(bent, exact)),
    ]  # fmt: skip


def _rectilinear(runs: dict[float, SystemRun], exact: dict[float, Any] | None = None) -> Any:
    content: list[Any] = []
    for f, m in runs.items():
        ends = [("reference", exact[f].x, exact[f].y)] if exact else []
        angle = [("reference", m.t[::40], exact[f].theta)] if exact else []
        content.append((f"{f:g} r_cr: path", "x (m)", "y (m)", [*ends, contact_of(m, NEW)]))
        content.append((f"{f:g} r_cr: θ", "t (s)", "rad", [*angle, of(m, "theta", NEW)]))
    return panels(3, 2, content)


def bicycles(say: Callable[[str], None]) -> tuple[list[Check], list[PaperFigure]]:
    checks, figures = [], []
    for number, ((speed, roll_rate), printed) in zip((10, 11, 12), REGIMES.items(), strict=True):
        say(f"bicycle at {speed:g} m/s")
        m = run("bicycle", until=20.0, speed=speed, roll_rate=roll_rate)
        exact = bicycle.motion(Bicycle(), bicycle.BicycleStart(speed, roll_rate), m.t[::50])
        off = float(np.abs(m.observables["roll"].values[::50] - exact.coordinates["roll"]).max())
        size = float(np.abs(exact.coordinates["roll"]).max())
        checks += [
            Check(f"Fig. {number}", f"v = {speed:g} m/s: coincides with the benchmark", "virtual coincidence",
                  f"roll within {off:.1e} of {size:.2g} rad", off < 0.05 * size),
            Check(f"Fig. {number}d", f"v = {speed:g} m/s: p_E, percent, at most the printed value", printed,
                  f"{variation(m):.1e}", variation(m) <= float(printed),
                  note=f"joints closed to {m.gap.max():.0e} m, slip at most {m.slip.max():.0e} m/s"),
        ]  # fmt: skip
        peers = bicycle_lines(speed, roll_rate, STEP, 20.0)
        reference = {"forward_speed": exact.speed, **{n: exact.coordinates[n] for n in ("roll", "steer")}}
        content = [
            (
                f"({letter}) {n.replace('_', ' ')}",
                "t (s)",
                unit,
                [("reference", m.t[::50], reference[n]), of(m, n, NEW), *peers[n]],
            )
            for letter, n, unit in (("a", "forward_speed", "m/s"), ("b", "roll", "rad"), ("c", "steer", "rad"))
        ]
        content.append(("(d) energy", "t (s)", "E − E₀ (J)", [energy_of(m, NEW), *peers["energy"]]))
        drawn = panels(2, 2, content)
        figures.append(
            figure(number, f"Bicycle at {speed:g} m/s", f"Roll rate {roll_rate:g} rad/s at the start. {note()}", drawn)
        )
    return checks + _stability(), figures


def _stability() -> list[Check]:
    low, high = bicycle_linear.stable_speeds(Bicycle())
    below = bicycle_linear.eigenvalues(Bicycle(), np.array([low - 0.2]))[0]
    above = bicycle_linear.eigenvalues(Bicycle(), np.array([high + 0.5]))[0]
    weave, capsize = below[np.argmax(below.real)], above[np.argmax(above.real)]
    return [
        Check("5.3", "below the first critical speed the instability is static", "static",
              f"at {low - 0.2:.2f} m/s the growing mode is {weave:.3f}: it oscillates (weave)", abs(weave.imag) < 1e-9,
              expected=False, note=f"first critical speed {low:.4f} m/s"),
        Check("5.3", "above the second it is oscillatory", "oscillatory",
              f"at {high + 0.5:.2f} m/s the growing mode is {capsize:.3f}: it does not (capsize)",
              abs(capsize.imag) > 1e-9, expected=False, note=f"second critical speed {high:.4f} m/s"),
    ]  # fmt: skip


def compute(say: Callable[[str], None]) -> Result:
    parts = [part(say) for part in (sphere, disk_wobbling, disk_steady, bicycles)]
    return Result([c for checks, _ in parts for c in checks], [f for _, figures in parts for f in figures])


PAPER = Paper(
    "three-field",
    "Natsiavas, Passas, Paraskevopoulos: a three-field time-stepping method for nonholonomic multibody systems",
    compute,
)
