"""What no case may do: raise anything but our own errors, take longer than a second, run or import what input names."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fuzzing.chance import TRAP, Chance
from polhode.model import InputError
from polhode.results.store import SaveError
from polhode.simulation import StepError

OWN = (InputError, SaveError, StepError)
SECONDS = 1.0  # of the processor
LONGEST = 2000  # letters of a sentence
_FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen", "socket.connect",
              "pickle.find_class", "ctypes.dlopen", "webbrowser.open")  # fmt: skip
_watching: list[bool] = []
_seen: list[str] = []  # who catches every exception, catches ours too


class Finding(Exception):  # noqa: N818
    """What a case did."""


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if not _watching:
        return
    if event in _FORBIDDEN:
        _seen.append(f"{event} {args!r:.200}")
    if event == "exec" and getattr(args[0], "co_filename", "").endswith((f"{TRAP}.py", "polhode/__main__.py")):
        _seen.append(f"imported {args[0]}")
        raise ImportError(str(args[0]))


_hooked: list[bool] = []


@contextmanager
def watched() -> Iterator[None]:
    if not _hooked:
        sys.addaudithook(_hook)
        _hooked.append(True)
    _watching.append(True)
    try:
        yield
    finally:
        _watching.pop()


def _alarm(*_: Any) -> None:
    _seen.append("it hangs")
    raise Finding("it hangs")


def checked(case: Callable[[Chance], Any], data: bytes) -> bool:
    """Whether the input was taken; False where it was refused in our own words. `Finding` for anything else."""
    before = time.process_time()
    _seen.clear()
    handler = signal.signal(signal.SIGALRM, _alarm)
    signal.setitimer(signal.ITIMER_REAL, 60.0)  # whatever else the machine does
    try:
        with watched():
            case(Chance(data))
        taken = True
    except OWN as error:
        taken = False
        if len(str(error)) > LONGEST:
            raise Finding(f"a sentence of {len(str(error))} letters: {str(error)[:300]}") from error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
    if _seen:
        raise Finding(_seen[0])
    if (took := time.process_time() - before) > SECONDS:
        raise Finding(f"it took {took:.2g} s")
    return taken
