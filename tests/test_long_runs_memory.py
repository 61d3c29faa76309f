"""Memory does not grow with a run that is written as it goes."""

import gc
import json
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import polhode as ph

CODE = """
import json, sys
import psutil
import polhode as ph

steps, every, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
taken = []

def look(run):
    taken.append(psutil.Process().memory_info().rss) if len(taken) < 100_000 else None

run = ph.simulate(ph.problem("free-body"), method="dmv", step=0.01, steps=steps, every=every, out=path, on_sample=look,
                  progress=False)
record = run.summary()
early, late = max(taken[: len(taken) // 10]), max(taken)
print(json.dumps([run.ok, record["steps"], early, late, psutil.Process().memory_info().rss]))
"""


def test_samples_are_not_kept(tmp_path: Path) -> None:
    """Of 60,000 samples no more memory is taken than of 12,000; in memory, with their dataset, they would take 14 MB
    more."""
    free, peaks = ph.problem("free-body"), []
    how: dict[str, Any] = {"method": "dmv", "step": 0.01}
    ph.simulate(free, **how, steps=5000, out=tmp_path / "compiles.zarr")
    for steps in (12_000, 60_000):
        gc.collect()
        tracemalloc.start()
        ph.simulate(free, **how, steps=steps, out=tmp_path / f"{steps}.zarr")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 1_000_000, peaks


@pytest.mark.long
def test_a_thousand_million_steps(tmp_path: Path) -> None:
    """10⁹ steps, 10⁷ samples: what the process has after a tenth of the run, it has at its end."""
    told = [sys.executable, "-c", CODE, str(10**9), "100", str(tmp_path / "run.zarr")]
    done = subprocess.run(told, capture_output=True, text=True, check=True)
    ok, steps, early, late, end = json.loads(done.stdout)
    assert ok
    assert steps == 10**9
    assert late < early + 50_000_000, f"{(late - early) / 1e6:.0f} MB more"
    assert end < early + 200_000_000
