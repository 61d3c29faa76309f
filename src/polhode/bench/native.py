"""C++ programs beside the package, built where there is a compiler."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).parents[3] / "benchmarks" / "native"


def built(name: str, options: Sequence[str], folder: str) -> str | None:
    """Why the program could not be built, or None: it is in the folder, under its name."""
    compiler = shutil.which("g++")
    if compiler is None:
        return "not measured: no g++ here"
    source = FOLDER / f"{name}.cpp"
    if not source.exists():
        return "not measured: its source is not beside the package"
    build = [compiler, "-O3", "-march=native", *options, str(source), "-o", str(Path(folder) / name)]
    made = subprocess.run(build, capture_output=True, text=True, check=False)
    return f"not measured: g++ failed: {made.stderr.strip().partition(chr(10))[0]}" if made.returncode else None
