"""Ctrl-C and SIGTERM: what was computed is kept, the caller is told, and what was there before is put back."""

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import polhode as ph
from polhode import running
from polhode.cli.stopping import Stopping
from polhode.prepared import Recent
from polhode.simulation import Status, StepError, rungs

TOP = ph.RigidBody((5, 5, 1))
GRAVITY = ph.Potential(lambda R: 20 * R[2, 2])
START = ph.State.of(attitude=ph.exp((0.05, 0, 0)), omega=(0, 0, 50))


@pytest.fixture(autouse=True)
def usual_handlers() -> Iterator[None]:
    """Where the tests run in the background (nohup, setsid), SIGINT is ignored: not so in here."""
    before = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    for signum, handler in before.items():
        signal.signal(signum, handler)


def handlers() -> tuple[Any, Any]:
    return signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)


USUAL = (signal.default_int_handler, signal.SIG_DFL)


def simulate(steps: int = 10**9, every: int = 1000, **more: Any) -> ph.Run:
    return ph.simulate(TOP, more.pop("load", GRAVITY), START, step=1e-3, steps=steps, every=every, **more)


@pytest.fixture
def in_block(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, Callable[[], object]], None]:
    """Something happens while a block is computed, the first one being number 1."""
    really = rungs.run_block

    def hook(number: int, happens: Callable[[], object]) -> None:
        blocks = itertools.count(1)

        def prepared(*arguments: Any, **how: Any) -> Any:
            program = really.prepared(*arguments, **how)

            def run_block(*numbers: Any) -> Any:
                if next(blocks) == number:
                    happens()
                return program(*numbers)

            return run_block

        monkeypatch.setattr(rungs, "run_block", SimpleNamespace(prepared=prepared))
        for name in ("legs", "grounds"):  # which have the programs of runs before
            monkeypatch.setattr(running, name, Recent())

    return hook


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("times", [1, 2])
def test_what_was_computed_is_kept_and_the_caller_told(in_block: Any, signum: int, times: int) -> None:
    def happens() -> None:
        for _ in range(times):
            signal.raise_signal(signum)

    in_block(4, happens)
    with pytest.raises(ph.Interrupted, match=r"interrupted by (Ctrl-C|SIGTERM) at step \d+, t = .*`run`") as stop:
        simulate()
    assert issubclass(ph.Interrupted, KeyboardInterrupt)
    assert stop.value.signum == signum
    run = stop.value.run
    assert run.trajectory.status is Status.INTERRUPTED
    assert not run.ok
    assert "interrupted" in repr(run)
    assert 0 < run.steps < 10**9
    np.testing.assert_array_equal(run.trajectory.steps[:-1], np.arange(0, run.steps, 1000))
    assert run.drift(run.energy) < 2e-9
    assert handlers() == USUAL


def test_a_loop_over_runs_stops_at_every_moment() -> None:
    """A few moments; of 160 random ones tried by hand none was swallowed."""
    simulate(steps=10)
    moments = random.Random(1)
    for length in (10, 3000, 300_000, 10**9):
        timer = threading.Timer(moments.uniform(0.0, 0.3), lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):  # noqa: PT012 (the loop is what is tested)
            for _ in range(10**6):
                simulate(steps=length)
        timer.join()
        assert handlers() == USUAL


def test_before_the_first_step_it_ends_at_once(in_block: Any) -> None:
    seen = []

    def happens() -> None:
        seen.append(signal.getsignal(signal.SIGTERM))
        signal.raise_signal(signal.SIGINT)
        pytest.fail("went on")

    in_block(1, happens)
    with pytest.raises(ph.Interrupted) as stop:
        simulate()
    assert stop.value.run.steps == 0
    assert seen == [signal.SIG_DFL]  # SIGTERM ends a compilation
    assert handlers() == USUAL


def test_a_signal_in_the_last_block_is_told_too(in_block: Any) -> None:
    in_block(2, lambda: signal.raise_signal(signal.SIGINT))
    with pytest.raises(ph.Interrupted, match="after the last step") as stop:
        simulate(steps=20_000)
    assert stop.value.run.ok
    assert stop.value.run.steps == 20_000


def test_an_error_on_top_of_a_signal_does_not_hide_it(in_block: Any) -> None:
    wall = ph.Torque(lambda t: (jnp.where(t > 20, jnp.nan, 0.0), 0.0, 0.0))
    with pytest.raises(StepError):
        simulate(load=wall, method="rig_neg")
    in_block(2, lambda: signal.raise_signal(signal.SIGINT))
    with pytest.raises(ph.Interrupted, match="failed in step") as stop:
        simulate(load=wall, method="rig_neg")
    assert stop.value.run.trajectory.status is not Status.OK


def test_an_interrupt_swallowed_on_the_way_is_still_told(in_block: Any) -> None:
    def swallowed() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ValueError("of a library that catches all") from None

    in_block(1, swallowed)
    with pytest.raises(KeyboardInterrupt):
        simulate()


def test_what_the_user_ignores_or_handles_is_left_alone(in_block: Any) -> None:
    in_block(2, lambda: signal.raise_signal(signal.SIGINT))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert simulate(steps=50_000).ok
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN

    came = []
    signal.signal(signal.SIGINT, lambda *_: came.append(1))
    in_block(2, lambda: signal.raise_signal(signal.SIGINT))
    assert simulate(steps=50_000).ok
    assert came == [1]


def test_a_handler_of_the_users_that_raises(in_block: Any) -> None:
    mine = lambda *_: signal.default_int_handler(signal.SIGINT, None)  # noqa: E731
    signal.signal(signal.SIGINT, mine)
    in_block(3, lambda: signal.raise_signal(signal.SIGINT))
    with pytest.raises(ph.Interrupted) as stop:
        simulate()
    assert stop.value.run.steps > 0
    assert signal.getsignal(signal.SIGINT) is mine


def test_nothing_is_installed_in_other_threads(in_block: Any) -> None:
    seen: list[Any] = []
    in_block(2, lambda: seen.append(handlers()))
    thread = threading.Thread(target=lambda: seen.append(simulate(steps=50_000).ok))
    thread.start()
    thread.join()
    assert seen == [USUAL, True]


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_the_command_line_saves_shows_and_says(polhode: Any, in_block: Any, signum: int) -> None:
    in_block(4, lambda: signal.raise_signal(signum))
    code, out, err = polhode(
        *["run", "heavy-top", "--until", "1e6", "--every", "1000", "--out", "top.nc"],
        *["--method", "imidm", "--method", "akw", "--json"],
    )
    assert code == 128 + signum
    (record,) = json.loads(out)  # the second method is not begun
    assert "interrupted at t = " in err
    assert "kept" in err
    saved = ph.load("top-imidm-0.001.nc")
    assert int(saved.step_count[-1]) == record["steps"] > 0
    assert saved.attrs["status"] == "INTERRUPTED"


def test_a_save_is_finished_whatever_comes(polhode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from polhode.results import format_csv

    write = format_csv.write

    def interrupted(*arguments: Any) -> None:
        for _ in range(3):
            signal.raise_signal(signal.SIGINT)
        write(*arguments)

    monkeypatch.setattr(format_csv, "write", interrupted)
    code, out, err = polhode(
        *["run", "heavy-top", "--until", "0.1", "--out", "top.csv", "--method", "imidm", "--method", "akw"],
    )
    assert code == 130
    assert "Written: top-imidm-0.001.csv" in out
    assert "interrupted" in err
    assert ph.load("top-imidm-0.001.csv").sizes["t"] == 101


@pytest.mark.parametrize(("handler", "ends"), [("default_int_handler", (130, "")), ("SIG_IGN", (0, "["))])
def test_with_nothing_to_keep_the_command_line_ends_at_once(handler: str, ends: tuple[int, str]) -> None:
    """Also where Python cannot see the signal, in the middle of a compilation; and not where it is ignored."""
    code = (
        "import os, signal, subprocess, sys, time\n"
        f"signal.signal(signal.SIGINT, signal.{handler})\n"
        "from polhode.cli.main import main\n"
        "from polhode.simulation import rungs\n"
        "really = rungs.run_block.prepared\n"
        "def prepared(*arguments, **how):\n"
        "    subprocess.run([sys.executable, '-c', f'import os; os.kill({os.getpid()}, 2)'], check=True)\n"
        "    return really(*arguments, **how)\n"
        "rungs.run_block.prepared = prepared\n"
        "sys.argv = ['polhode', 'run', 'heavy-top', '--method', 'mk-rk4', '--until', '0.01', '--json']\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[:1]) == ends
    assert ("nothing was computed" in done.stderr) == (done.returncode == 130)
    assert "Traceback" not in done.stderr


def test_a_command_ends_when_its_thread_has_ended() -> None:
    """The thread holds the runs: arrays of JAX that it frees while Python ends abort the process, exit code 134."""
    ended = []

    class Slow(Stopping):
        def _listen(self) -> None:
            super()._listen()
            time.sleep(0.2)
            ended.append(True)

    with Slow():
        pass
    assert ended
