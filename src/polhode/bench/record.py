"""What was measured, kept with all that it depends on: machine, versions, command."""

from __future__ import annotations

import json
import os
import platform
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax

from polhode import __version__
from polhode.bench.base import Benchmark, Row
from polhode.model.checks import InputError
from polhode.simulation.tiles import cores

_KEPT = ("jax", "jaxlib", "numpy", "scipy")


def keep(benchmark: Benchmark, rows: list[Row], folder: Path) -> Path:
    """NAME-DEVICE.json in the folder, and a picture beside it where the benchmark has one."""
    device = jax.config.jax_default_device or jax.devices()[0]  # type: ignore[attr-defined]
    path = folder / f"{benchmark.name}-{device.platform}.json"
    content = {"benchmark": benchmark.name, "title": benchmark.title, **_where(device)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        rows_of = [asdict(row) for row in rows]
        path.write_text(json.dumps(content | {"rows": rows_of}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"--out {folder}: {error.strerror}; give a folder that can be written to") from error
    if benchmark.draw is not None:
        benchmark.draw(rows, str(path.with_suffix(".png")))
    return path


def _where(device: Any) -> dict[str, Any]:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "command": " ".join(["polhode", *sys.argv[1:]]),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "processor": _processor(),
            "cores": cores(),
            "system": f"{platform.system()} {platform.machine()}",
            "device": device.device_kind,
            "load": load,  # of other programs too, at the end
        },
        "versions": {"polhode": __version__, "python": platform.python_version()} | {n: version(n) for n in _KEPT},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()
