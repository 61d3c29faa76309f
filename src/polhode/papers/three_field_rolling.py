"""Section 5.2 of the three-field paper, Figs 6 to 8: cyclic, straight and perturbed rolling of a disk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.papers.base import Check, PaperFigure
from polhode.papers.three_field_cause import cause
from polhode.papers.three_field_figures import figure, panels
from polhode.papers.three_field_peers import disk_peers, note
from polhode.papers.three_field_runs import METHODS, NEW, SIDE_BY_SIDE, Track, beside, ledger, track
from polhode.references.rolling_disk import DiskMotion, DiskStart, RollingDisk, motion, steady_spin

SPEEDS = (2.0, 1.0, 0.9)  # of the critical one
EVERY = 5  # samples of a run to one of the reference
Parts = tuple[list[Check], list[PaperFigure]]


def disk_cyclic(say: Callable[[str], None], until: float = 50.0) -> Parts:
    say("cyclic rolling")
    tilt, q0 = float(np.deg2rad(20.0)), 1.0
    r0 = float(steady_spin(RollingDisk(), tilt, q0))
    runs = {n: track("rolling-disk", n, until=until, inclination=tilt, q0=q0, r0=r0) for n in METHODS}
    peers = disk_peers(DiskStart(theta=tilt, q=q0, r=r0), until)
    new, dae = runs[NEW], runs["MM-DAE"]
    steady = np.full(len(new.t), tilt)
    off = {n: m.off("theta", steady) for n, m in runs.items()}
    checks = [
        Check("Figs 6a, 6b", "cyclic motion: θ and r identical with the analytical solution", "identical",
              f"θ within {off[NEW]:.1e} rad over {until:g} s", off[NEW] < 3e-4,
              note="the discrete steady motion is a little off the continuous one, by O(h²)"),
        Check("Fig. 6d", "the energy of the new method is constant", "constant", f"p_E = {new.variation:.1e} %",
              new.variation <= 3e-7),
        Check("Fig. 6", "the DAE method loses accuracy and energy as time goes on", "loses",
              f"MM-DAE with consistent λ₀: θ within {off['MM-DAE']:.1e} rad, p_E = {dae.variation:.1e} %",
              off["MM-DAE"] > 1e-2, expected=False,
              note=f"λ₀ = 0: {off['MM-DAE, λ₀ = 0']:.1e} rad, tolerance 1e-3: {off['MM-DAE, tolerance 1e-3']:.1e} rad"),
        *beside("Fig. 6", "loses accuracy as time goes on", "loses", peers, [m.off("theta", steady) for m in peers],
                1e-2, "rad", above=True, new=new),
        *cause(),
    ]  # fmt: skip
    everyone = [*runs.values(), *peers]
    drawn = panels(3, 2, [
        ("(a) θ", "t (s)", "rad", [m.line("theta") for m in everyone]),
        ("(b) r", "t (s)", "rad/s", [m.line("r") for m in everyone]),
        ("(c) path of the contact", "x (m)", "y (m)", [m.path() for m in everyone]),
        ("(d) energy", "t (s)", "|E − E₀| (J)", [m.energy_change() for m in everyone]),
        ("(e) θ off the steady motion", "t (s)", "rad", [m.error("theta", steady) for m in everyone]),
        ("(f) gap of the contact", "t (s)", "m", [m.gap_line() for m in everyone]),
    ], equal=(2,), log=(3, 4, 5), limits={4: {"ylim": (1e-10, 1)}})  # fmt: skip
    caption = (
        "θ₀ = 20°, q₀ = 1 rad/s, step 0.01 s: the working form, the literal reading with two choices of c, and MM-DAE "
        f"with and without what makes it fail. {note()} {ledger(everyone)}"
    )
    return checks, [figure(6, "Cyclic motion", caption, drawn)]


def disk_straight(say: Callable[[str], None]) -> Parts:
    say("straight rolling")
    runs, peers = _runs(), _peers()
    coarse = track("rolling-disk", until=20.0, step=0.5, inclination=0.0, r0=RollingDisk().critical_speed)
    still = max(_straight(m) for m in (*(tracks[0] for tracks in runs.values()), coarse))
    checks = [
        Check("Fig. 7", "straight rolling is exact at any step", "exact",
              f"θ and y within {still:.0e} for h = 0.01 and h = 0.5", still < 1e-12),
        *(check for f in SPEEDS for check in beside(
            "Fig. 7", f"{f:g} r_cr, straight rolling is exact", "exact", peers[f], [_straight(m) for m in peers[f]],
            1e-12, "in θ and y", new=runs[f][0])),
    ]  # fmt: skip
    content: list[Any] = []
    for f in SPEEDS:
        everyone = [*runs[f], *peers[f]]
        content.append((f"{f:g} r_cr: path", "x (m)", "y (m)", [m.path() for m in everyone]))
        content.append((f"{f:g} r_cr: θ", "t (s)", "rad", [m.line("theta") for m in everyone]))
        content.append((f"{f:g} r_cr: energy", "t (s)", "|E − E₀| (J)", [m.energy_change() for m in everyone]))
    drawn = panels(3, 3, content, log=(2, 5, 8), limits={i: {"ylim": (-1e-3, 1e-3)} for i in (0, 1, 3, 4, 6, 7)})
    caption = f"At 2, 1 and 0.9 times the critical speed. {note()} {_ledgers(runs, peers)}"
    return checks, [figure(7, "Straight rolling", caption, drawn)]


def disk_perturbed(say: Callable[[str], None]) -> Parts:
    say("perturbed rolling")
    runs, peers = _runs(p0=-0.1), _peers(p=-0.1)
    exact = {f: motion(RollingDisk(), _start(f, p=-0.1), tracks[0].t[::EVERY]) for f, tracks in runs.items()}
    apart = {f: tracks[0].off("theta", exact[f].theta, EVERY) for f, tracks in runs.items()}
    swing = {f: float(np.abs(tracks[0].values["theta"]).max()) for f, tracks in runs.items()}
    checks = [
        Check("Fig. 8", "perturbed rolling coincides with the analytical solution", "identical",
              ", ".join(f"{f:g} r_cr: θ within {e:.1e} rad" for f, e in apart.items()), max(apart.values()) < 0.02),
        Check("Fig. 8", "deviations are small above the critical speed and large below", "small, large",
              ", ".join(f"{f:g} r_cr: |θ| up to {v:.3f}" for f, v in swing.items()), swing[2.0] < 0.1 < swing[0.9]),
        *(check for f in SPEEDS for check in beside(
            "Fig. 8", f"{f:g} r_cr, coincides with the analytical solution", "identical", peers[f],
            [m.off("theta", exact[f].theta, EVERY) for m in peers[f]], 0.02, "rad", new=runs[f][0])),
    ]  # fmt: skip
    content: list[Any] = []
    for f in SPEEDS:
        content += _perturbed_row(f, [*runs[f], *peers[f]], exact[f])
    drawn = panels(3, 3, content, log=(2, 5, 8), limits={i: {"ylim": (1e-9, 1)} for i in (2, 5, 8)})
    caption = f"p₀ = −0.1 rad/s; the reduced equations broad and pale. {note()} {_ledgers(runs, peers)}"
    return checks, [figure(8, "Perturbed straight rolling", caption, drawn)]


def _perturbed_row(f: float, everyone: list[Track], exact: DiskMotion) -> list[Any]:
    t = everyone[0].t[::EVERY]
    return [
        (f"{f:g} r_cr: path", "x (m)", "y (m)", [("reference", exact.x, exact.y), *(m.path() for m in everyone)]),
        (f"{f:g} r_cr: θ", "t (s)", "rad", [("reference", t, exact.theta), *(m.line("theta") for m in everyone)]),
        (f"{f:g} r_cr: error of θ", "t (s)", "rad", [m.error("theta", exact.theta, EVERY) for m in everyone]),
    ]


def _start(f: float, **start: float) -> DiskStart:
    return DiskStart(r=f * RollingDisk().critical_speed, **start)


def _runs(**start: float) -> dict[float, list[Track]]:
    return {
        f: [track("rolling-disk", n, until=20.0, inclination=0.0, r0=_start(f).r, **start) for n in SIDE_BY_SIDE]
        for f in SPEEDS
    }


def _peers(**start: float) -> dict[float, list[Track]]:
    return {f: disk_peers(_start(f, **start), 20.0) for f in SPEEDS}


def _straight(m: Track) -> float:
    return max(float(np.abs(m.values[name]).max()) for name in ("theta", "y"))


def _ledgers(runs: dict[float, list[Track]], peers: dict[float, list[Track]]) -> str:
    return " ".join(f"{f:g} r_cr: {ledger([*runs[f], *peers[f]])}" for f in SPEEDS)
