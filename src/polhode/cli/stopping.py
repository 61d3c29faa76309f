"""Ctrl-C and SIGTERM on the command line: exit codes 130 and 143, and nothing lost that was computed."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from typing import Any

from polhode import _signals

NOTHING = "interrupted before the first step; nothing was computed"


class Stopping(_signals.Signals):
    """The signals of a command.

    As long as there is nothing to keep they end it at once, in the middle of a compilation too: a thread hears them
    when the main one cannot. `polhode run` says in `runs` what it has: then they are noted, the run is cut short,
    and what there is is saved and shown. Where a run after others is being compiled, a second one ends it."""

    def __init__(self) -> None:
        super().__init__()
        self.runs: list[Any] | None = None
        self._heard = 0
        self._ending = threading.Lock()

    def note(self, signum: int, frame: Any) -> None:
        if self.runs:
            super().note(signum, frame)
        self.came = self.came or signum

    def __enter__(self) -> Stopping:
        super().__enter__()
        self.take(signal.SIGTERM, signal.SIG_DFL)
        self._ear, self._mouth = socket.socketpair()
        self._mouth.setblocking(False)
        self._fd = signal.set_wakeup_fd(self._mouth.fileno(), warn_on_full_buffer=False)
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        for signum in self._before:  # Python takes a while to end, with nothing left to be interrupted
            signal.signal(signum, signal.SIG_IGN)
        signal.set_wakeup_fd(self._fd)
        self._mouth.close()  # ends the thread
        # Were it the last to hold the runs, it would free JAX's arrays while Python ends, which aborts the process.
        self._listening.join()
        _signals.close()
        if self.came is not None and not isinstance(error, Exception):
            raise SystemExit(128 + self.came)

    def _listen(self) -> None:
        with self._ear:
            while heard := self._ear.recv(1):
                if heard[0] in self._before:
                    self._heard += 1
                    self._answer(heard[0])

    def _answer(self, signum: int) -> None:
        if self.runs is None:
            self.end(signum, "interrupted")
        elif self.keeping:
            return  # the main thread stops where nothing is lost
        elif not self.runs:
            self.end(signum, NOTHING)
        elif self._heard > 1:
            self.end(signum, "interrupted; of the runs before this one, the files written are kept")
        else:
            tell("interrupted before the first step of this run; once more to stop without a table of those before it")

    def end(self, signum: int, sentence: str) -> None:
        """The program, from whatever thread."""
        self._ending.acquire()  # the sentence is said once
        try:
            tell(sentence)
        finally:
            os._exit(128 + signum)


def tell(sentence: str) -> None:
    print(f"polhode: {sentence}", file=sys.stderr, flush=True)


def stopping() -> Stopping:
    """Of this command; or one that nothing comes to, outside of the main thread."""
    found = _signals._open[0] if _signals._open and _signals.in_main_thread() else None
    return found if isinstance(found, Stopping) else Stopping()
