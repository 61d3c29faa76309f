"""Real processes that write a run and are killed at random instants of their work, until it has come to its end.

A process of its own: it imports polhode without starting JAX, so that it may fork. What it is told is JSON: the
problem, what `simulate` is given besides, the folder, how often to kill, a seed. Instants are chosen by what a process
has committed, not by the clock: how fast a machine is must not decide whether anything is killed. It prints how often
it killed a process when a part of the run was written, and not all of it.
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
import pytest
import xarray

import polhode as ph
import polhode.api
import polhode.inputs.job
import polhode.resuming
import polhode.writing
from polhode.results import growing, tree
from polhode.results.tree import Tree
from polhode.simulation import loop

growing.SECONDS = growing._COST = 0
tree.NUMBERS = 2**11
tree.settled = lambda paths: None  # the disk is for power cuts
MOST = 8  # commits of a life
warnings.simplefilter("ignore")


def live(told: dict[str, Any]) -> None:
    """The life of one process: it begins the run, or goes on with it."""
    try:
        if not os.path.exists(told["path"]):
            ph.simulate(ph.problem(told["problem"]), **told["how"], out=told["path"], progress=False)
        elif stands(told["path"])[1]:  # the one before was killed when all was done
            with pytest.raises(ph.InputError, match="has come to its end"):
                ph.resume(told["path"], progress=False)
        else:
            ph.resume(told["path"], progress=False)
        os._exit(0)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)


def main() -> None:
    told = json.loads(sys.argv[1])
    loop.run_block._options["briefly"] = told["briefly"]  # how steps of one body are compiled, see conftest
    chance, killed = random.Random(told["seed"]), 0
    while True:
        commits, end = os.pipe()
        child = os.fork()
        if not child:
            _report(end)
            live(told)
        os.close(end)
        struck = killed < told["kills"] and _strike(child, commits, told["path"], chance)
        _, status = os.waitpid(child, 0)
        os.close(commits)
        if os.WIFEXITED(status):
            break
        assert struck, f"a process was ended by signal {os.WTERMSIG(status)}, which nobody sent"
        steps, finished = stands(told["path"])
        killed += steps > 0 and not finished
    print(killed)
    sys.exit(os.waitstatus_to_exitcode(status))


def _report(end: int) -> None:
    """A byte after every commit of this process."""
    commit = Tree.commit

    def reporting(self: Tree, *about: Any) -> None:
        commit(self, *about)
        os.write(end, b".")

    Tree.commit = reporting  # type: ignore[method-assign, assignment]


def stands(path: str) -> tuple[int, bool]:
    """How many steps are committed, and whether the run has ended."""
    try:
        about = json.loads((Path(path) / "zarr.json").read_text(encoding="utf-8"))["attributes"]
    except FileNotFoundError:
        return 0, False
    return int(about.get("steps", 0)), bool(about["finished"])


def _strike(child: int, commits: int, path: str, chance: random.Random) -> bool:
    """Kill it, after some commits, or before there is one; whether it was still there."""
    seen, wanted = 0, chance.randrange(MOST)
    if not wanted:
        time.sleep(chance.uniform(0, 1.0))
    while seen < wanted and (more := os.read(commits, wanted - seen)):
        if not seen and chance.random() < 0.2:
            _read(path)
        seen += len(more)
    time.sleep(chance.uniform(0, 0.01))  # anywhere between two of them
    alive = not _over(child)
    os.kill(child, signal.SIGKILL)
    return alive


def _over(child: int) -> bool:
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


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
