"""A motion as a film: frames drawn by matplotlib, to a .gif, or with ffmpeg to an .mp4."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from polhode.model.checks import InputError, ending
from polhode.results.frames import Stage
from polhode.results.scene import Scene
from polhode.results.style import house_style, plain
from polhode.simulation.progress import Progress

FILMS = (".gif", ".mp4")
_SHORT, _LONG, _USUAL = 2.0, 20.0, 10.0  # s: between these a film lasts as long as the motion
_INCHES, _DPI = 4.8, 100


def check_film(ending: str) -> None:
    """An InputError where there is nothing to write such a film with."""
    from matplotlib.animation import FFMpegWriter

    if ending == ".mp4" and not FFMpegWriter.isAvailable():
        raise InputError(
            "an .mp4 is written by ffmpeg, and there is none on this machine; install it (apt install ffmpeg, brew "
            "install ffmpeg), or write a .gif or an .html, which need nothing"
        )


def film(scenes: Sequence[Scene], path: Path, *, seconds: float | None, fps: int) -> None:
    """All of the motion in `seconds`; unless said, as long as it lasts if that is 2 s to 20 s, and 10 s else."""
    from matplotlib import rc_context
    from matplotlib.animation import FFMpegWriter, PillowWriter

    start = min(scene.times[0] for scene in scenes)
    end = max(scene.times[-1] for scene in scenes)
    lasts = end - start if _SHORT <= end - start <= _LONG else _USUAL
    times = np.linspace(start, end, max(2, round(fps * (lasts if seconds is None else seconds))))
    stages = [Stage(scene) for scene in scenes]
    columns = min(len(scenes), 3)
    shape = columns, -(-len(scenes) // columns)
    writer = PillowWriter(fps) if ending(path) == ".gif" else FFMpegWriter(fps, extra_args=["-pix_fmt", "yuv420p"])
    with house_style() as Figure, rc_context({"figure.constrained_layout.use": False}), _told(path):
        figure = Figure(figsize=(_INCHES * shape[0], _INCHES * shape[1]), dpi=_DPI)
        with writer.saving(figure, str(path), _DPI), Progress(len(times), "drawing", None, "frames") as bar:
            for number, t in enumerate(times):
                bar.advance(number)
                _draw(figure, stages, shape, float(t))
                writer.grab_frame()


def _draw(figure: Any, stages: Sequence[Stage], shape: tuple[int, int], t: float) -> None:
    """A frame: every motion in its place."""
    columns, rows = shape
    figure.clear()
    for k, stage in enumerate(stages):
        ax = figure.add_axes((k % columns / columns, 1 - (k // columns + 1) / rows, 1 / columns, 1 / rows))
        stage.draw(ax, t)
        ax.text(0.03, 0.97, plain(stage.scene.title, 44), transform=ax.transAxes, va="top")
        ax.text(0.97, 0.97, f"{t:.2f} s", transform=ax.transAxes, va="top", ha="right")


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """That ffmpeg failed is an OSError, as when a file cannot be written."""
    try:
        yield
    except (subprocess.CalledProcessError, BrokenPipeError) as error:
        raise OSError(f"ffmpeg did not write {ending(path)[1:]}: {getattr(error, 'stderr', None) or error}") from error
