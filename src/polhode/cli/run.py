"""`polhode run`."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from polhode.cli.output import print_json
from polhode.cli.stopping import NOTHING, say, stopping
from polhode.cli.systems import show_systems
from polhode.inputs import Case, case_of
from polhode.mechanics import InputError
from polhode.results.run import Run
from polhode.results.system_run import SystemRun
from polhode.simulation import Interrupted, StepError

PICTURES = (".png", ".svg", ".pdf")
ANIMATION = ".html"


def run_command(
    source: str,
    settings: list[str],
    methods: list[str],
    steps: list[float],
    until: float | None,
    every: int | None,
    out: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    case = case_of(source, dict(_setting(s) for s in settings)).override(methods, steps, until, every)
    chosen = case.chosen()
    _check_places(out, plot)
    runs: list[Any] = []
    saved: list[Path] = []
    errors: list[str] = []
    signals = stopping()
    signals.runs = runs
    for method, step in chosen:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                warnings.showwarning = _show_notice
                runs.append(case.run(method, step, progress=False if as_json else None))
        except StepError as error:
            runs.append(error.run)
            errors.append(str(error))
        except KeyboardInterrupt as stop:
            signals.keep()
            if not isinstance(stop, Interrupted) or not stop.run.steps:
                break
            runs.append(stop.run)
        if out is not None:
            saved.append(runs[-1].save(_numbered(out, runs[-1], len(chosen))))
        if signals.came:
            break
    if signals.came and not runs:
        signals.end(signals.came, NOTHING)
    if plot is not None:
        _draw(case, runs, plot)
    if as_json:
        print_json([run.summary() for run in runs])
    else:
        _show(case, runs)
        for path in (*saved, *([plot] if plot else [])):
            print(f"Written: {path}")
    for message in errors:
        say(message)
    if signals.came:
        last = runs[-1]
        say(f"interrupted at t = {last.t[-1]:g}, step {last.steps} with {last.method.name}; what was computed is kept")
    if errors or not all(run.ok for run in runs):
        sys.exit(1)


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    try:
        parts = [float(v) for v in value.split(",")]
    except ValueError:
        parts = []
    if not equals or not name.strip() or not parts:
        raise InputError(f"--set takes NAME=VALUE with a number, or several with commas; got {text!r}")
    return name.strip(), parts[0] if len(parts) == 1 else parts


def _check_places(out: Path | None, plot: Path | None) -> None:
    """Before a long run, not after it."""
    if out is not None:
        from polhode.results.store import check_ending

        check_ending(out)
    if plot is not None:
        check_picture(plot, (*PICTURES, ANIMATION))


def check_picture(plot: Path, endings: tuple[str, ...] = PICTURES) -> None:
    if plot.suffix not in endings:
        raise InputError(f"--plot draws {', '.join(endings)}; got {str(plot)!r}")
    if plot.is_dir():
        raise InputError(f"{str(plot)!r} is a folder; give the name of a picture")
    from polhode.results.store import check_folder

    check_folder(plot)


def _numbered(out: Path, run: Run | SystemRun, count: int) -> Path:
    return out if count == 1 else out.with_name(f"{out.stem}-{run.method.name}-{run.step:g}{out.suffix}")


def _draw(case: Case, runs: list[Any], plot: Path) -> None:
    if plot.suffix == ANIMATION:
        runs[-1].animate(plot, title=case.name)
    elif len(runs) == 1:
        runs[0].plot(plot)
    elif isinstance(runs[0], SystemRun):
        from polhode.results.compare import compare_systems

        compare_systems(runs, case.name, plot)
    else:
        from polhode.results.compare import compare

        compare(runs, case.name, plot)


def _show(case: Case, runs: list[Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    title, console = f"{case.name}: t = 0 to {runs[0].t[-1]:g} s", Console(width=None if sys.stdout.isatty() else 120)
    if isinstance(runs[0], SystemRun):
        show_systems(title, runs, console)
        return
    table = Table(title=title, title_justify="left")
    twistless = runs[0].body.twist_axis is not None
    kept = ("Π1, Π2 drift", "|w∥| at most") if twistless else ("momentum drift", "vertical drift")
    for heading in ("method", "step", "steps", "energy at start", "energy drift", *kept, "iterations", "seconds"):
        table.add_column(heading, justify="left" if heading == "method" else "right")
    for run in runs:
        s = run.summary()
        table.add_row(
            s["method"] + ("" if s["ok"] else " (stopped)"),
            f"{s['step']:g}",
            f"{s['steps']:,}",
            f"{s['energy']['start']:.10g}",
            f"{s['energy']['drift']:.2e}",
            *_kept(run, s),
            f"{s['iterations']:.2f}",
            f"{s['seconds']:.3g}",
        )
    console.print(table)
    of_what = "of the energy, and of Π1 and Π2 as a\nvector (a load changes them)"
    if not twistless:
        of_what = (
            "of the energy, of the spatial momentum as a\nvector (a torque changes it) and of its vertical component"
        )
    print(f"Drifts are the largest relative deviation over the saved samples: {of_what}. Seconds include compilation.")


def _kept(run: Run, s: dict[str, Any]) -> tuple[str, str]:
    if run.body.twist_axis is not None:
        return f"{s['nonholonomic_momentum']['drift']:.2e}", f"{np.abs(run.observables['twist_rate'].values).max():.2e}"
    return f"{s['spatial_momentum']['drift']:.2e}", f"{run.drift(run.spatial_momentum[..., 2]):.2e}"


def _show_notice(message: Any, *_: Any, **__: Any) -> None:
    say(message)
