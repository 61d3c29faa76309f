"""What functions and objects are made of: others if they compute something else, the same in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from typing import Any

import jax
import numpy as np
import pytest

from polhode.results.made_of import differs, made_of


class _Threshold:
    def __init__(self, value: float) -> None:
        self.value = value

    def __call__(self, t: float) -> float:
        return t - self.value


class _Slotted:
    __slots__ = ("value",)

    def __init__(self, value: float) -> None:
        self.value = value


def _times(a: float, b: float = 1.0) -> float:
    return a * b


def _closure(x: Any) -> Any:
    return lambda t: (t, x)


def _of_class(x: Any) -> Any:
    return type("Made", (), {"__call__": lambda self: 1 if x else 2, "x": x})()


KINDS: list[Any] = [
    _Threshold, _Slotted, _closure, _of_class, partial(partial, _times), lambda x: _closure(_Threshold(x)),
    lambda x: _closure({"a": [x, {x}]}), lambda x: jax.jit(_closure(x)), lambda x: _Threshold(x).__call__,
    lambda x: np.array([x, "text"], dtype=object), lambda x: [jax.numpy.sin, np.sin, abs][int(x)],
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_others_differ(kind: Any) -> None:
    one, same, other = (made_of(kind(x)) for x in (0.0, 0.0, 1.0))
    assert not differs(one, same)
    assert differs(one, other)


def test_a_global_called_like_an_attribute_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    before = made_of(_Threshold(1.0))
    monkeypatch.setitem(globals(), "value", 3.0)
    assert made_of(_Threshold(1.0)) == before


def test_what_holds_itself() -> None:
    first, second = _Threshold(1.0), _Threshold(1.0)
    first.value, second.value = [first], [second, 1]  # type: ignore[assignment]
    assert differs(made_of(first), made_of(second))


def test_what_is_set_on_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "my_g", 1.0, raising=False)
    before = made_of(lambda t: np.my_g * t)  # type: ignore[attr-defined]
    monkeypatch.setattr(np, "my_g", 2.0)
    assert differs(before, made_of(lambda t: np.my_g * t))  # type: ignore[attr-defined]


def test_the_same_in_every_process() -> None:
    """With sets in other orders."""
    code = (
        "import functools, math\nfrom polhode.results.made_of import made_of\ns = {'a', 'b', 'c'}\n"
        "x = made_of(lambda t: (math.sin(t), s), functools.partial(len, s), {'x': math.cos, 'y': 1})\n"
    )
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    given, env = [sys.executable, "-c", f"{code}print(x)"], {**os.environ, "PYTHONHASHSEED": seed}
    found = subprocess.run(given, env=env, capture_output=True, text=True, check=True)
    names: dict[str, Any] = {}
    exec(code, names)
    assert found.stdout.strip() == names["x"]
