"""A motion as a film: frames drawn by matplotlib, to a .gif, or with ffmpeg to an .mp4."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from polhode.model.checks import InputError
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
    rows = -(-len(scenes) // columns)
    with house_style() as Figure, rc_context({"figure.constrained_layout.use": False}):
        figure = Figure(figsize=(_INCHES * columns, _INCHES * rows), dpi=_DPI)
        writer = PillowWriter(fps) if path.suffix == ".gif" else FFMpegWriter(fps, extra_args=["-pix_fmt", "yuv420p"])
        with writer.saving(figure, str(path), _DPI), Progress(len(times), "drawing", None, "frames") as bar:
            for number, t in enumerate(times):
                bar.advance(number)
                figure.clear()
                for k, (stage, scene) in enumerate(zip(stages, scenes, strict=True)):
                    box = (k % columns / columns, 1 - (k // columns + 1) / rows, 1 / columns, 1 / rows)
                    ax = figure.add_axes(box)
                    stage.draw(ax, t)
                    for x, words in _words(scene, t):
                        ax.text(x, 0.97, words, transform=ax.transAxes, ha="left" if x < 0.5 else "right", va="top")
                writer.grab_frame()


def _words(scene: Scene, t: float) -> Iterator[tuple[float, Any]]:
    yield 0.03, plain(scene.title, 44)
    yield 0.97, f"{t:.2f} s"
