"""Runs sent to another process: whole, but for functions that cannot be sent.

A function made by `lambda`, or inside another one, has no name by which another process could find it. The numbers of
a run do not need it: in its place stands a `Lost`, which says so when it is used.
"""

from __future__ import annotations

import copy
import io
import pickle
from dataclasses import fields, replace
from typing import Any, NoReturn, Self

from polhode.model import InputError


class Lost:
    """In the place of what could not be sent. It keeps what tables and files say of it."""

    def __init__(self, what: str, why: str, said: dict[str, Any]) -> None:
        self.__dict__.update(said, _what=what, _why=why)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise InputError(
            f"{self._what} was not sent along with this run ({self._why}), so the run cannot be made again from it; "
            "what was computed is whole. Define it at the top of a module to have it sent"
        )

    __call__ = _refuse
    __signature__ = property(_refuse)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # asked for by Python itself
            raise AttributeError(name)
        self._refuse()

    def __repr__(self) -> str:
        return f"<{self._what}, not sent>"


class _Pickler(pickle.Pickler):
    """Goes into what is polhode's, and puts a `Lost` in the place of what else cannot be pickled."""

    def reducer_override(self, thing: Any) -> Any:
        kind = thing if isinstance(thing, type) else type(thing)
        if kind is Lost or (kind.__module__.startswith("polhode.") and "<locals>" not in kind.__qualname__):
            return NotImplemented
        try:
            pickle.dumps(thing)
        except Exception as error:  # each kind of thing has its own
            return Lost, _lost(thing, error)
        return NotImplemented


def _lost(thing: Any, error: Exception) -> tuple[str, str, dict[str, Any]]:
    code = getattr(thing, "__code__", None)
    name = getattr(thing, "__name__", type(thing).__name__)
    what = f"the function {name} of {code.co_filename}, line {code.co_firstlineno}" if code else f"a {name}"
    said = {key: getattr(thing, key, None) for key in ("__name__", "name", "options")}
    return what, str(error), {key: value for key, value in said.items() if isinstance(value, str | dict)}


def _sent(thing: Any) -> bytes:
    file = io.BytesIO()
    _Pickler(file).dump(thing)
    return file.getvalue()


def _received(name: str, data: bytes) -> Any:
    try:
        return pickle.loads(data)
    except Exception as error:  # a module that is not here: no reason to lose the run, or to hang a pool
        return Lost(f"the {name}", f"{type(error).__name__}: {error}", {})


class Sendable:
    """A frozen dataclass that survives pickle. `described` are the fields that say what was computed, in which
    users' functions may be; the others are numbers."""

    described: tuple[str, ...] = ()
    told: tuple[str, ...] = ()  # cached properties that ask users' functions, so they are answered before

    def __getstate__(self) -> dict[str, Any]:
        state = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        sent = {name: _sent(value) if name in self.described else value for name, value in state.items()}
        return sent | {name: getattr(self, name) for name in self.told}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, _received(name, value) if name in self.described else value)

    def __copy__(self) -> Self:
        return self._again({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self._again({f.name: copy.deepcopy(getattr(self, f.name), memo) for f in fields(self)})  # type: ignore[arg-type]

    def _again(self, changes: dict[str, Any]) -> Self:
        made = replace(self, **changes)  # type: ignore[type-var]
        made.__dict__.update({name: self.__dict__[name] for name in self.told if name in self.__dict__})
        return made
