"""Every test runs with compiled programs kept on disk, and repeats the same random examples.

Nearly all the time goes into compiling. Steps of systems are taken by the program that a run begins with, which is
compiled soon rather than well, in a third of the time, unless a test is marked `optimised`; so are steps of one body
and of batches, `flow`, and what a test calls outside of polhode's own programs. Tests of one file use the same
programs, and go to one worker. A process that a test starts compiles steps of one body well: where bits are compared
with its own, and where steps are very many, a test is `optimised`.
"""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import psutil
import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from polhode import _signals
from polhode._programs import forget, stored
from polhode.prepared import Recent
from polhode.simulation import flow, loop, rungs, tiles

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ["XLA_FLAGS"] += " --xla_backend_optimization_level=0"
if jax.__version_info__ < (0, 11):  # XLA ends a process at a flag that it does not know, as newer ones do not this one
    os.environ["XLA_FLAGS"] += " --xla_cpu_use_fusion_emitters=false"
    # What may run at once is found out in a seventh of the time of compiling a system; here one thread runs it.
    os.environ["XLA_FLAGS"] += " --xla_cpu_enable_concurrency_optimized_scheduler=false"
settings.register_profile("polhode", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("polhode")
AS_USERS_HAVE_IT = {(rungs, "_BRIEFLY"): rungs._BRIEFLY, (rungs, "_SMALL"): rungs._SMALL}
AS_USERS_HAVE_IT[tiles, "run_tiles"] = tiles.run_tiles
AS_USERS_HAVE_IT[rungs, "run_block"] = stored(loop.run_block_of, static=1)
AS_USERS_HAVE_IT[flow, "_moved"] = stored(flow._moved_of, static=3)
rungs._BRIEFLY, rungs._SMALL = 20_000, 1000
tiles.run_tiles = stored(tiles.run_tiles_of, static=3, briefly=True)
for program in (loop.run_block, flow._moved):
    program._options["briefly"] = True
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests are started in the background of a shell
gc.freeze()  # what is imported stays
gc.set_threshold(100_000, 20, 100)  # tracing makes many small things, few of them rubbish


class ByPrograms(LoadScopeScheduling):
    """To one worker go the tests of a file, but the claims of methods by method, and the zoo by mechanism. (xdist's own
    groups are not seen: it writes them where pytest 9.2 does not look.)"""

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        function, _, case = test.removesuffix("]").partition("[")
        if function == "test_claim":
            return f"{file} {case.partition(':')[0]}"
        if file.endswith("test_zoo.py"):
            return f"{file} {case.rpartition('-')[0] if function == 'test_units_do_not_matter' else case}"
        return file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByPrograms:
    return ByPrograms(config, log)


@pytest.fixture(autouse=True)
def optimised(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests with this mark: which program takes which steps is as users have it. No run outside of the test hands
    on its own to one in it, nor the other way round."""
    if "optimised" in request.keywords:
        for (module, name), value in AS_USERS_HAVE_IT.items():
            monkeypatch.setattr(module, name, value)
        for name in ("legs", "grounds"):
            monkeypatch.setattr(f"polhode.running.{name}", Recent())


@pytest.fixture(autouse=True)
def signals_as_they_were() -> Iterator[None]:
    """A test that leaves a handler behind would let another one wait for a signal that it never sees."""
    before = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)}
    yield
    after = {s: signal.getsignal(s) for s in before}
    for signum, handler in before.items():
        signal.signal(signum, handler)
    _signals.close()
    assert after == before, "a handler of signals was left behind"


_GIB = 2**30
_room = [3 * _GIB]


def pytest_runtest_teardown() -> None:
    """Compiled programs pile up over hundreds of tests; let them go when they take much room, and again when
    another GiB has come together: to load them anew after each test would take longer than the tests."""
    me = psutil.Process()
    if me.memory_info().rss > _room[0]:
        forget()
        jax.clear_caches()
        gc.collect()
        _room[0] = max(3 * _GIB, me.memory_info().rss + _GIB)


@pytest.fixture(name="polhode")
def command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    """The command line, called in an empty folder: exit code, stdout, stderr."""
    from polhode.cli.main import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")  # a runner of tests may set it to something narrow

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["polhode", *arguments])
        before = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)}
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        finally:  # a command that is over ignores them
            for signum, handler in before.items():
                signal.signal(signum, handler)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call
