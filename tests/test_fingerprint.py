"""A function that may compute something else than before has no fingerprint, or another one."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import polhode as ph
from polhode._programs.fingerprint import fingerprint

weight, table, listed = 3.0, np.array([1.0, 2.0]), [1.0, 2.0]
settings = types.SimpleNamespace(weight=3.0)
mine = types.ModuleType("mine")
mine.weight = 3.0  # type: ignore[attr-defined]


def of_global(R: Any) -> Any:
    return weight * R[2, 2]


def of_function(R: Any) -> Any:
    return of_global(R) + jnp.sin(R[0, 0])


def of_inner(R: Any) -> Any:
    return (lambda x: weight * x)(R[2, 2])


def of_table(R: Any) -> Any:
    return table @ R[2, :2] + math.pi


def of_list(R: Any) -> Any:
    return sum(c * R[2, i] for i, c in enumerate(listed))


_READERS = {
    "plain": of_global,
    "called": of_function,
    "inner": of_inner,
    "partial": partial(of_function),
    "jitted": jax.jit(of_global),
}


@pytest.mark.parametrize("fn", _READERS.values(), ids=list(_READERS))
def test_a_global_that_changed(fn: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint(fn)
    assert before is not None
    assert fingerprint(fn) == before
    monkeypatch.setitem(globals(), "weight", 4.0)
    assert fingerprint(fn) != before
    monkeypatch.setitem(globals(), "weight", settings)
    assert fingerprint(fn) is None


def test_arrays_and_lists_changed_in_place() -> None:
    for fn, numbers in ((of_table, table), (of_list, listed)):
        before = fingerprint(fn)
        assert fingerprint(fn) == before is not None
        old, numbers[1] = numbers[1], 5.0
        assert fingerprint(fn) != before
        numbers[1] = old
        assert fingerprint(fn) == before


def test_closures_and_defaults() -> None:
    def made(a: float, b: float) -> Callable[..., Any]:
        def fn(R: Any, b: float = b) -> Any:
            return a * R[2, 2] + b

        return fn

    assert fingerprint(made(1.0, 2.0)) == fingerprint(made(1.0, 2.0)) is not None
    assert len({fingerprint(made(*ab)) for ab in ((1.0, 2.0), (1.0, 3.0), (2.0, 2.0), (0.0, 2.0), (-0.0, 2.0))}) == 5


def of_attribute(R: Any) -> Any:
    return settings.weight * R[2, 2]


def of_module(R: Any) -> Any:
    return mine.weight * R[2, 2]


def of_import(R: Any) -> Any:
    from mine import weight  # type: ignore[import-not-found]

    return weight * R[2, 2]


def of_chance(R: Any) -> Any:
    return np.random.rand() * R[2, 2]


def of_all_globals(R: Any) -> Any:
    return globals()["weight"] * R[2, 2]


def of_its_attribute(R: Any) -> Any:
    return of_its_attribute.weight * R[2, 2]  # type: ignore[attr-defined]


of_its_attribute.weight = 2.0  # type: ignore[attr-defined]


def counted() -> Callable[..., Any]:
    count = 0

    def fn(R: Any) -> Any:
        nonlocal count
        count += 1
        return count * R[2, 2]

    return fn


class Called:
    def __call__(self, R: Any) -> Any:
        return R[2, 2]


@pytest.mark.parametrize(
    "fn",
    [
        of_attribute, of_module, of_import, of_chance, of_all_globals, of_its_attribute, counted(), Called(),
        Called().__call__, partial(of_attribute), lambda R: of_attribute(R), lambda R: Called()(R),
    ],
)  # fmt: skip
def test_what_cannot_be_told(fn: Callable[..., Any]) -> None:
    assert fingerprint(fn) is None


def test_a_load_that_stays_is_traced_once() -> None:

    def potential(R: Any) -> Any:
        return 2.5 * R[2, 2]

    load = ph.Potential(potential)
    first, again = load.traced(()), load.traced(())
    assert first.fn.program is again.fn.program
    assert load.traced((3,)).fn.program is not first.fn.program
    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        assert load.traced(()).fn.program is not first.fn.program
