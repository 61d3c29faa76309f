"""Ctrl-C (SIGINT) and SIGTERM while something is computed: noted, and looked at where stopping loses nothing.

Python raises KeyboardInterrupt wherever it happens to be, in the middle of JAX too, where it may get lost; and
SIGTERM ends a program without a word. So both are taken over while a run is under way, and given back after.
What the user ignores, or handles alone, stays as it is; so does everything in threads other than the main one.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import signal
import threading
from collections.abc import Callable
from multiprocessing import parent_process
from typing import Any

_open: list[Signals] = []  # at most one
_team = threading.local()


def close() -> None:
    """Nothing is watched any more."""
    _open.clear()


# As those of `signal`, which look up names of signals and handlers at each call: that takes longer than all the rest.
# Handlers of theirs are numbers here.
handler_of, handle = _signal.getsignal, _signal.signal


class Signals:
    """What has come, and what is to be done when more comes.

    Until there is something to keep, SIGINT raises KeyboardInterrupt at once and SIGTERM is left alone, so that it
    ends even a compilation. From then on both are noted only, for the loop to look at between its blocks; a
    second one raises where the loop waits for a block."""

    def __init__(self) -> None:
        self.came: int | None = None  # the first signal
        self.keeping = False  # whether there is something to keep
        self.waiting = False  # for a block; a KeyboardInterrupt raised here is caught, and loses that block alone
        self._before: dict[int, Any] = {}  # the handlers that were there

    def keep(self) -> None:
        """From here on there is something to keep."""
        self.keeping = True
        if parent_process() is None:  # a pool ends its workers by SIGTERM: nobody is there to be told
            self.take(signal.SIGTERM, signal.SIG_DFL)

    def take(self, signum: int, default: Any) -> None:
        """Note this signal, if it would do what it does by default."""
        if signum not in self._before and (found := handler_of(signum)) == default:
            self._before[signum] = found
            handle(signum, self.note)

    def note(self, signum: int, frame: Any) -> None:
        again = self.came is not None
        self.came = self.came or signum
        if not self.keeping or (again and self.waiting):
            raise KeyboardInterrupt

    def __enter__(self) -> Signals:
        self.keeping = True  # nothing raises in here, nor in `__exit__`: handlers would stay behind
        self.take(signal.SIGINT, signal.default_int_handler)
        _open.append(self)
        self.keeping = False
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """An error on top of a signal is a KeyboardInterrupt: no handler of errors then goes on with the next run."""
        self.keeping, self.waiting = True, False
        close()
        for signum in reversed(self._before):  # SIGINT last: it may raise as soon as it is given back
            handle(signum, self._before[signum])
        if self.came is not None and isinstance(error, Exception):
            raise KeyboardInterrupt from error


class _Shared:
    """The signals of the command line, in one of its runs."""

    def __enter__(self) -> Signals:
        _open[0].keeping = False
        return _open[0]

    def __exit__(self, *_: object) -> None:
        _open[0].waiting = False


class _Elsewhere(Signals):
    """In a thread that no signal comes to."""

    def take(self, signum: int, default: Any) -> None:
        pass

    def __enter__(self) -> Signals:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Team:
    """Threads that work for the main one: what comes to it stops their runs too."""

    def __init__(self) -> None:
        self.came: int | None = None

    def call(self, fn: Callable[..., Any], *args: Any, **more: Any) -> Any:
        """In one of them."""
        _team.works_for = self
        try:
            return fn(*args, **more)
        finally:
            del _team.works_for


class _Told(_Elsewhere):
    """In a thread of a team."""

    def __init__(self, team: Team) -> None:
        super().__init__()
        self._team = team

    @property
    def came(self) -> int | None:
        return self._team.came

    @came.setter
    def came(self, signum: int | None) -> None:
        pass


def in_main_thread() -> bool:
    """Signals are handled there alone."""
    return threading.get_ident() == threading.main_thread().ident


def watched() -> Signals | _Shared:
    """For the length of one run."""
    if not in_main_thread():
        team = getattr(_team, "works_for", None)
        return _Elsewhere() if team is None else _Told(team)
    return _Shared() if _open else Signals()
