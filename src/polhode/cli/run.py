"""`polhode run`."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polhode.cli.families import show_family
from polhode.cli.output import print_json
from polhode.cli.records import records_of
from polhode.cli.settings import settings_of
from polhode.cli.shown import notices, show_runs, tell_events
from polhode.cli.stopping import NOTHING, stopping, tell
from polhode.inputs import Job, job_of
from polhode.model import InputError
from polhode.model.checks import ending
from polhode.model.family import Problems
from polhode.model.problem import Problem
from polhode.results.animation import ENDINGS as ANIMATIONS
from polhode.results.compare import compare
from polhode.results.family import Family
from polhode.results.film import check_film
from polhode.results.run import Run
from polhode.results.store import check_ending, check_folder
from polhode.results.style import exactly
from polhode.simulation import Interrupted, StepError

PICTURES = (".png", ".svg", ".pdf")


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
    trust: bool = False,
    tolerance: float | None = None,
    force: bool = False,
    stop_if: str | None = None,
    sentinels: bool = True,
) -> None:
    with notices():
        job = job_of(source, settings_of(settings), trust=trust)
    job = job.override(methods, steps, until, every, tolerance)
    chosen = job.chosen()
    places = [] if out is None else names_of(out, chosen)
    _check_places(places, plot, force)
    if isinstance(job.problem, Problems) and out is not None and ending(out) == ".csv":
        raise InputError("a batch does not fit into a .csv; save it with --out to .zarr or .nc")
    if isinstance(job.problem, Problems) and plot is not None and (ending(plot) in ANIMATIONS or len(chosen) > 1):
        raise InputError("a batch is drawn as curves, of one method and step: --plot to .png, .svg or .pdf")
    runs: list[Any] = []
    saved: list[Path] = []
    errors: list[str] = []
    signals = stopping()
    signals.runs = runs
    for i, (method, step) in enumerate(chosen):
        try:
            with notices():
                watch = {"stop_if": stop_if, "sentinels": sentinels}
                out_ = {"out": places[i], "force": force} if places and _writes(job, places[i]) else {}
                runs.append(job.run(method, step, progress=False if as_json else None, **watch, **out_))
        except InputError as error:  # a tolerance that this method does not keep, after others that did
            if not runs or job.tolerance is None:
                raise
            errors.append(str(error))
            continue
        except StepError as error:
            runs.append(error.run)
            errors.append(str(error))
        except KeyboardInterrupt as stop:
            signals.keep()
            if not isinstance(stop, Interrupted) or not stop.run.steps:
                break
            runs.append(stop.run)
        if places:
            _save(runs[-1], places[i], saved, errors)
        if signals.came:
            break
    if signals.came and not runs:
        signals.end(signals.came, NOTHING)
    if plot is not None:
        try:
            _draw(job, runs, plot)
        except OSError as error:
            errors.append(f"{str(plot)!r} was not drawn: {error.strerror or error}")
            plot = None
    if as_json:
        print_json([record for run in runs for record in records_of(job, run)])
    elif isinstance(runs[0], Family):
        for run in runs:
            show_family(job.name, run)
    else:
        show_runs(job.name, runs)
        for run in runs:
            tell_events(run)
    for path in () if as_json else (*saved, *([plot] if plot else [])):
        print(f"Written: {path}")
    for message in errors:
        tell(message)
    if signals.came:
        last = runs[-1].runs.flat[-1] if isinstance(runs[-1], Family) else runs[-1]
        where = f"t = {last.end_time:g}, step {last.steps} with {last.method.name}"
        further = "; the same command goes on" if isinstance(runs[-1], Family) and runs[-1].path is not None else ""
        tell(f"interrupted at {where}; what was computed is kept{further}")
    if errors or not all(run.ok for run in runs):
        sys.exit(1)


def _writes(job: Job, place: Path) -> bool:
    """Whether a run is written there as it goes; else it is saved when it has ended."""
    own = isinstance(job.problem, Problem | Problems) and job.saved is None and job.tolerance is None
    return own and ending(place) == ".zarr"


def _check_places(places: list[Path], plot: Path | None, force: bool) -> None:
    """Before a long run, not after it."""
    for place in places:
        check_ending(place)
        if os.path.lexists(place) and not force:
            raise InputError(f"{str(place)!r} exists; --force replaces it, and polhode resume goes on with it")
    if plot is not None:
        check_picture(plot, (*PICTURES, *ANIMATIONS))


def check_picture(plot: Path, endings: tuple[str, ...] = PICTURES) -> None:
    if ending(plot) not in endings:
        raise InputError(f"--plot draws {', '.join(endings)}; got {str(plot)!r}")
    check_film(ending(plot))
    check_folder(plot)
    if plot.is_dir():
        raise InputError(f"{str(plot)!r} is a folder; give the name of a picture")


def names_of(out: Path, chosen: Sequence[tuple[Any, float | None]]) -> list[Path]:
    """`out` for one run; for several, names that tell them apart: by method and step, and by number
    where two methods of one name differ in their options."""
    if len(chosen) == 1:
        return [out]
    names: list[Path] = []
    taken: set[str] = set()
    for method, step in chosen:
        called = re.sub(r"[^\w.+-]", "_", method.name)
        stem = f"{out.stem}-{called}" + ("" if step is None else f"-{exactly(step)}")
        endings = ("", *(f"-{n}" for n in range(2, len(chosen) + 1)))
        name = next(n for n in (f"{stem}{e}{out.suffix}" for e in endings) if n.casefold() not in taken)
        taken.add(name.casefold())
        names.append(out.with_name(name))
    return names


def _save(run: Run, place: Path, saved: list[Path], errors: list[str]) -> None:
    """Where that fails, to the folder for temporary files, as the run would be lost otherwise."""
    if getattr(run, "path", None) is not None:  # it was written as it went
        saved.append(place)
        return
    try:
        saved.append(run.save(place))
    except (OSError, InputError) as error:
        why = f"{str(place)!r} was not written: {error.__cause__ or error}"
        try:
            saved.append(run.save(Path(tempfile.mkdtemp(prefix="polhode-")) / place.name))
            errors.append(f"{why}; so it was saved to {str(saved[-1])!r}")
        except (OSError, InputError) as second:
            errors.append(f"{why}; nor among temporary files ({second.__cause__ or second}), so it is lost")


def _draw(job: Job, runs: list[Any], plot: Path) -> None:
    """Beside its place, then moved there: a picture that cannot be written leaves the one before."""
    place = Path(os.path.realpath(plot))
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".polhode-") as folder:
        part = Path(folder) / plot.name
        _drawn(job, runs, part)
        part.replace(place)


def _drawn(job: Job, runs: list[Any], plot: Path) -> None:
    if isinstance(runs[0], Family):
        runs[0].plot(plot)
    elif ending(plot) in ANIMATIONS:
        runs[0].animate(plot, beside=runs[1:], title=job.name)
    elif len(runs) == 1:
        runs[0].plot(plot)
    else:
        compare(runs, job.name, plot)
