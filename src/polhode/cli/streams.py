"""Standard output and error as the commands find them: there, in whatever encoding, and honest when they fail."""

from __future__ import annotations

import codecs
import errno
import os
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

_PLAIN = {"∥": "||", "·": ".", "…": "...", "×": "x", "−": "-", "–": "-", "√": "sqrt", "≤": "<=", "≥": ">=", "→": "->"}
_ERRORS = "polhode-plain"  # the name under which codecs know `_plain`


class UnwritableError(Exception):
    """Standard output cannot be written. Not an OSError, which typer and rich would answer in their own ways."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error)
        self.errno, self.reason = error.errno, error.strerror

    def answer(self) -> int:
        """The exit code; with a sentence, unless the reader went away, as `head` does when it has enough."""
        if self.errno == errno.EPIPE:
            return 141  # as for every program that a closed pipe ends
        print(f"polhode: cannot write to standard output: {self.reason}", file=sys.stderr)
        return 1


class _Out:
    """Standard output, or what stands for it where a program is started with it closed."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        if self._stream is None:
            raise UnwritableError(OSError(errno.EBADF, "it is closed"))
        try:
            return self._stream.write(text)
        except OSError as error:
            raise UnwritableError(error) from error

    def flush(self) -> None:
        if self._stream is None:
            return
        try:
            self._stream.flush()
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())  # Python flushes again when it ends
            raise UnwritableError(error) from error

    def isatty(self) -> bool:
        return self._stream is not None and self._stream.isatty()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def standard_streams() -> Iterator[None]:
    """While a command runs: `UnwritableError` for what cannot be written, and letters that the encoding lacks in plain
    ones (Pi for Π)."""
    stdout, stderr = sys.stdout, sys.stderr
    _fill_closed()
    codecs.register_error(_ERRORS, _plain)
    changed = [(s, s.errors) for s in (stdout, stderr) if hasattr(s, "reconfigure")]
    for stream, _ in changed:
        stream.reconfigure(errors=_ERRORS)
    sys.stdout = _Out(stdout)
    if stderr is None:  # `print(file=None)` would write to stdout
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    finally:
        sys.stdout, sys.stderr = stdout, stderr
        for stream, errors in changed:
            stream.reconfigure(errors=errors)


def printable(text: str) -> str:
    """As standard output will show it, so that tables can be laid out."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, errors=_ERRORS).decode(encoding)


def _fill_closed() -> None:
    """Where 0, 1 or 2 is closed, the next file opened would take its place, and with it what libraries print there."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_letter(c) for c in error.object[error.start : error.end]), error.end


def _letter(c: str) -> str:
    """In ASCII: Greek letters by name, accents dropped, digits from above and below the line put on it."""
    if c in _PLAIN:
        return _PLAIN[c]
    name = unicodedata.name(c, "")
    if name.startswith("GREEK"):
        word = name.split(" WITH ")[0].split()[-1].lower().replace("lamda", "lambda")
        return word.capitalize() if "CAPITAL" in name else word
    near = "".join(d for d in unicodedata.normalize("NFKD", c) if d.isascii())
    return near or c.encode("ascii", "backslashreplace").decode()
