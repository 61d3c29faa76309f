"""Section 5.1 of the three-field paper: a sphere rolling inside a vertical cylinder."""

from __future__ import annotations

from collections.abc import Callable

from polhode.papers.base import Check, PaperFigure
from polhode.papers.three_field_figures import figure, panels
from polhode.papers.three_field_peers import note, sphere_peers
from polhode.papers.three_field_runs import METHODS, NEW, beside, ledger, printed_digits, run, track, track_of
from polhode.references import rolling_sphere

SHORT = 20.0  # s, for all but the new method


def sphere(say: Callable[[str], None]) -> tuple[list[Check], list[PaperFigure]]:
    say("sphere in a cylinder, to t = 100")
    whole = run("rolling-sphere", until=100.0)
    long = track_of(whole, NEW)
    others = {name: track("rolling-sphere", name, until=SHORT) for name in METHODS if name != NEW}
    peers = sphere_peers(SHORT, 1e-6, 1e-8)
    z = rolling_sphere.motion(rolling_sphere.RollingSphere(), long.t).height
    _, _, error = long.error("z", z)
    dae = {name: m.off("z", z) for name, m in others.items()}
    checks = [
        printed_digits("5.1", "the first angular velocity ω10", "-20.265", float(whole.omegas[0, 0, 0])),
        Check("Fig. 2a", "z coincides with the exact harmonic motion over 10 s", "identical",
              f"within {error[:1001].max():.2e} m", bool(error[:1001].max() <= 1.1e-4)),
        Check("Fig. 2c", "z still does at t = 95 to 100 s", "identical", f"within {error.max():.2e} m",
              bool(error.max() <= 1.1e-3)),
        Check("Fig. 2d", "the energy is preserved", "constant", f"p_E = {long.variation:.1e} %",
              long.variation <= 1e-8),
        Check("Figs 2e, 2f", "with a constant step of 0.01 s, constraints kept", "constant step",
              f"{whole.halvings} steps halved; slip at most {long.slip.max():.0e} m/s, gap {long.gap.max():.0e} m",
              whole.halvings == 0 and bool(long.slip.max() < 1e-11)),
        Check("Figs 2a, 2b", "DAE solutions deviate and explode, whatever the tolerance", "explode",
              f"MM-DAE with a consistent λ₀ is within {dae['MM-DAE']:.1e} m over 20 s", dae["MM-DAE"] > 1e-2,
              expected=False, note=f"with λ₀ = 0: {dae['MM-DAE, λ₀ = 0']:.1e} m; with a tolerance of 1e-3: "
              f"{dae['MM-DAE, tolerance 1e-3']:.1e} m. It needs one of these to go wrong"),
        *beside("Figs 2a, 2b", "deviates and explodes over 20 s", "explode", peers, [m.off("z", z) for m in peers],
                1e-2, "m", above=True, new=long),
    ]  # fmt: skip
    everyone = [long, *others.values(), *peers]
    heights = [("exact", long.t, z), *(m.line("z") for m in everyone)]
    drawn = panels(3, 2, [
        ("(a) height, first 10 s", "t (s)", "z (m)", heights),
        ("(b) height, 10 to 20 s", "t (s)", "z (m)", heights),
        ("(c) height, 95 to 100 s", "t (s)", "z (m)", heights[:2]),
        ("(d) energy", "t (s)", "|E − E₀| (J)", [m.energy_change() for m in everyone]),
        ("(e) error of z", "t (s)", "m", [m.error("z", z) for m in everyone]),
        ("(f) slip of the contact", "t (s)", "m/s", [m.slip_line() for m in everyone]),
    ], log=(3, 4, 5), limits={0: {"xlim": (0, 10)}, 1: {"xlim": (10, 20)}, 2: {"xlim": (95, 100)},
                              3: {"xlim": (0, SHORT)}, 4: {"xlim": (0, SHORT), "ylim": (1e-8, 1)},
                              5: {"xlim": (0, 5)}})  # fmt: skip
    caption = (
        "Constant step of 0.01 s for all but IDA, which chooses its own. Panel (e) shows errors, where the paper has "
        f"residuals of its solvers. The others run to {SHORT:g} s: IDA takes hundreds of steps for each second of this "
        f"motion. Exudyn has no contact of a sphere with a cylinder. {note()} {ledger(everyone)}"
    )
    return checks, [figure(2, "Sphere rolling inside a cylinder", caption, drawn)]
