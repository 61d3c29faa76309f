"""Real processes that write a run and are killed at random instants, until it has come to its end.

A process of its own: it imports polhode without starting JAX, so that it may fork. What it is told is JSON: the
problem, what `simulate` is given besides, the folder, how often to kill, after how many seconds at most, a seed. It
prints how often it killed a process that was at work.
"""

import json
import os
import random
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import xarray

import polhode as ph
import polhode.api
import polhode.inputs.job
import polhode.resuming
import polhode.writing
from polhode.results import growing, tree
from polhode.results.tree import Tree

growing.SECONDS = growing._COST = 0
tree.NUMBERS = 2**11
tree.settled = lambda paths: None  # the disk is for power cuts
warnings.simplefilter("ignore")


def live(told: dict[str, Any]) -> None:
    """The life of one process: it begins the run, or goes on with it."""
    try:
        if os.path.exists(told["path"]):
            ph.resume(told["path"], progress=False)
        else:
            ph.simulate(ph.problem(told["problem"]), **told["how"], out=told["path"], progress=False)
        os._exit(0)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)


def main() -> None:
    told = json.loads(sys.argv[1])
    chance, killed = random.Random(told["seed"]), 0
    while True:
        child = os.fork()
        if not child:
            live(told)
        if killed < told["kills"]:
            time.sleep(chance.uniform(0, told["seconds"]))
            _read(told["path"])
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            break
        killed += 1
    print(killed)
    sys.exit(os.waitstatus_to_exitcode(status))


def _read(path: str) -> None:
    """What is there while a process is at work can be read, and is whole."""
    if not os.path.exists(path):
        return
    data = xarray.open_zarr(path, chunks=None, decode_times=False)
    every = json.loads(data.attrs["plan"])["every"]
    assert np.array_equal(data.step_count.values[:-1], every * np.arange(data.sizes["t"])[:-1])
    assert np.isfinite(data.energy.values).all()
    assert (data.kinetic.values != 0).all()  # of motions that never stand still
    assert Tree(Path(path)).samples >= data.sizes["t"]


if __name__ == "__main__":
    main()
