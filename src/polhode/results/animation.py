"""A motion, or several beside each other, to look at: a page, a film, or a file for other tools, by the ending."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from polhode.model.checks import InputError, ending, positive, whole
from polhode.results.film import FILMS, check_film, film
from polhode.results.gltf import glb_of
from polhode.results.page import FORMAT, page_of
from polhode.results.scene import Scene
from polhode.results.store import check_folder

PAGES = (".html", ".htm")
MODEL = ".glb"
ENDINGS = (".html", *FILMS, MODEL)
_BESIDE = 12  # motions in a page or film


def animate(
    scenes: Scene | Sequence[Scene],
    path: str | Path,
    *,
    max_frames: int = 5001,
    title: str = "",
    seconds: float | None = None,
    fps: int | None = None,
) -> Path:
    """Write one motion, or several beside each other, to `path` and return the path.

    `.html` is a page that plays in any browser: of longer runs `max_frames` samples are kept, evenly by number, and the
    page says so. It says so too where a body turns so far between two frames that its spin would be misread. `.gif` and
    `.mp4` (which needs ffmpeg) are films as long as `seconds` (s), of `fps` frames in each, 25 unless said; `.glb` is
    glTF 2.0, of one motion, for Blender and other tools.
    """
    several = [scenes] if isinstance(scenes, Scene) else list(scenes)
    _check_scenes(several)
    path = _check_path(Path(path))
    frames = whole("max_frames", max_frames, 2)
    if ending(path) in FILMS:
        length = None if seconds is None else positive("seconds", seconds)
        rate = 25 if fps is None else whole("fps", fps, 1)
        return _whole(path, lambda part: film(several, part, seconds=length, fps=rate))
    if seconds is not None or fps is not None:
        raise InputError(f"seconds and fps are those of a film, {' or '.join(FILMS)}; got {path.name!r}")
    if ending(path) == MODEL:
        if len(several) > 1:
            raise InputError(f"a {MODEL} holds one motion; write one for each of the {len(several)}")
        return _whole(path, lambda part: part.write_bytes(glb_of(several[0], frames)))
    return _whole(path, lambda part: part.write_text(page_of(several, title, frames), encoding="utf-8"))


@dataclass(frozen=True)
class Shown:
    """An animation in a notebook."""

    page: str
    height: int

    def __repr__(self) -> str:
        return (
            f"<polhode animation, {len(self.page) // 1000} kB: shown in a notebook; animate(path) writes it to a file>"
        )

    def _repr_html_(self) -> str:
        style = f"width: 100%; height: {self.height}px; border: 1px solid #c9d0d9; border-radius: 8px"
        return f'<iframe srcdoc="{escape(self.page)}" style="{style}" title="3D animation"></iframe>'


def shown(scenes: Sequence[Scene], *, title: str = "", max_frames: int = 2001, height: int = 480) -> Shown:
    """For the last line of a notebook's cell."""
    _check_scenes(scenes)
    return Shown(page_of(scenes, title, whole("max_frames", max_frames, 2)), whole("height", height, 100))


def _whole(path: Path, write: Callable[[Path], object]) -> Path:
    """Beside its place, where a link leads, then moved there: what cannot be written leaves what was there before."""
    place = Path(os.path.realpath(path))
    half = place.with_name(f".{place.stem}-{uuid.uuid4().hex[:8]}{ending(path)}")
    try:
        write(half)
        os.replace(half, place)
    finally:
        half.unlink(missing_ok=True)
    return path


def _check_scenes(scenes: Sequence[Scene]) -> None:
    if not 1 <= len(scenes) <= _BESIDE:
        raise InputError(f"1 to {_BESIDE} motions can be shown beside each other; got {len(scenes)}")
    ups = {scene.up for scene in scenes}
    if len(ups) > 1:
        raise InputError(f"motions beside each other must have the same `up`; got {', '.join(sorted(ups))}")


def _check_path(path: Path) -> Path:
    if ending(path) not in (*PAGES, *ENDINGS):
        raise InputError(f"an animation is written to {', '.join(ENDINGS)}; got {str(path)!r}")
    check_folder(path)
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder; give the name of an animation")
    check_film(ending(path))
    if path.exists() and ending(path) in PAGES:
        with path.open("rb") as file:
            ours = FORMAT.encode() in file.read(500)
        if not ours:
            raise InputError(
                f"{str(path)!r} exists and is not an animation that polhode wrote, so it is not replaced; choose "
                "another name, or remove it first"
            )
    return path
