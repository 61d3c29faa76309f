"""A function that may compute something else than before has no fingerprint, or another one."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy import loadtxt
from numpy import random as chance

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


@jax.jit
def height(R: Any) -> Any:
    return R[2, 2]


def of_what_hangs(R: Any) -> Any:
    return height.weight * ph.exp.weight * ph.RigidBody.weight * height(R)  # type: ignore[attr-defined]


def of_a_module_as_a_whole(R: Any) -> Any:
    return _read(math) * R[2, 2]


def _read(module: Any) -> Any:
    return module.pi


def of_a_record(R: Any) -> Any:
    return record["a"] * R[2, 2]


record = np.array((1.0, 20.0), dtype=[("a", float), ("b", float)])


def test_what_hangs_on_functions_and_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever's they are; of one that JAX made there is no fingerprint then."""
    monkeypatch.setattr(ph.exp, "weight", 2.0, raising=False)
    monkeypatch.setattr(ph.RigidBody, "weight", 2.0, raising=False)
    monkeypatch.setattr(height, "weight", 2.0, raising=False)
    assert fingerprint(of_what_hangs) is None
    of_others = lambda R: ph.exp.weight * ph.RigidBody.weight * R[2, 2]  # noqa: E731
    before = fingerprint(of_others)
    assert before is not None
    for thing in (ph.exp, ph.RigidBody):
        with monkeypatch.context() as patch:
            patch.setattr(thing, "weight", 3.0)
            assert fingerprint(of_others) != before
    assert fingerprint(of_others) == before


@pytest.mark.parametrize("fn", [of_a_module_as_a_whole, of_a_record])
def test_what_cannot_be_followed_has_no_fingerprint(fn: Callable[..., Any]) -> None:
    assert fingerprint(fn) is None


@pytest.mark.parametrize(
    "fn",
    [of_global, of_function, of_inner, partial(of_function), jax.jit(of_global)],
    ids=["global", "function", "inner", "partial", "jit"],  # an address in a name differs from worker to worker
)
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


def of_numpys_chance(R: Any) -> Any:
    return chance.normal() * R[2, 2]


def of_a_file(R: Any) -> Any:
    return float(np.loadtxt("gain.txt")) * R[2, 2]


def of_the_same_file(R: Any) -> Any:
    return float(loadtxt("gain.txt")) * R[2, 2]


def of_the_clock(R: Any) -> Any:
    return np.datetime64("now").astype(float) * R[2, 2]


def of_a_saved_run(R: Any) -> Any:
    return float(ph.load("run.nc").energy[0]) * R[2, 2]


def of_deep_inside(R: Any) -> Any:
    return sum(np.lib.npyio.loadtxt("gain.txt") * R[i, i] for i in range(2))  # type: ignore[attr-defined]


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
        of_attribute, of_module, of_import, of_chance, of_numpys_chance, of_a_file, of_the_same_file, of_the_clock,
        of_a_saved_run, of_deep_inside, partial(np.loadtxt, "gain.txt"), lambda R, numbers=np: numbers.load("gain.npy"),
        of_all_globals, of_its_attribute, counted(), Called(),
        Called().__call__, partial(of_attribute), lambda R: of_attribute(R), lambda R: Called()(R),
    ],
)  # fmt: skip
def test_what_cannot_be_told(fn: Callable[..., Any]) -> None:
    assert fingerprint(fn) is None


def test_what_computes_the_same_is_known() -> None:
    """Of numpy, JAX and polhode nearly all."""

    def fn(R: Any) -> Any:
        turned = jnp.asarray(R) @ ph.exp((0.1, 0.0, 0.0)).matrix().array
        numbers = np.pi * np.linalg.norm(table) + math.sin(np.sum(table))
        return jnp.linalg.norm(turned[2]) + jax.lax.cos(R[0, 0]) + numbers

    assert fingerprint(fn) == fingerprint(fn) is not None


def of_set_on_numpy(R: Any) -> Any:
    return np.users_weight * R[2, 2]  # type: ignore[attr-defined]


def of_set_on_polhode(R: Any) -> Any:
    return ph.rotation.users_weight * R[2, 2]


def of_set_in_its_place(R: Any) -> Any:
    return jnp.sin(R[2, 2]) * np.pi


@pytest.mark.parametrize(
    ("fn", "module", "name", "values"),
    [
        (of_set_on_numpy, np, "users_weight", (2.0, 3.0, [3.0], np.array([3.0]))),
        (of_set_on_polhode, ph.rotation, "users_weight", (2, 3, (3, 4))),
        (of_set_in_its_place, jnp, "sin", (jnp.sin, jnp.cos, math.cos)),
        (of_set_in_its_place, np, "pi", (math.pi, 3.0)),
    ],
    ids=["numpy", "polhode", "a function of JAX", "a number of numpy"],
)
def test_what_a_user_sets_on_a_module_is_seen(
    fn: Any, module: Any, name: str, values: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values that its code names, and no others; an object of which nothing can be told, is none."""
    marks = []
    for value in values:
        monkeypatch.setattr(module, name, value, raising=False)
        marks.append(fingerprint(fn))
        monkeypatch.setattr(module, "not_named", value, raising=False)
        assert fingerprint(fn) == marks[-1]
    assert len(set(marks)) == len(values)
    monkeypatch.setattr(module, name, settings, raising=False)
    assert fingerprint(fn) is None


def test_a_file_is_read_whenever_a_load_is_used(tmp_path: Path) -> None:
    body, start, gain = ph.RigidBody((1.0, 1.6, 2.2)), ph.State.of(omega=(0.7, 1.1, -0.5)), str(tmp_path / "gain.txt")
    load = ph.Torque(lambda t: (float(np.loadtxt(gain)), 0.0, 0.0))
    at = ph.Event(lambda t: t - 0.1 * float(np.loadtxt(gain)))
    for number in (0.1, 0.5):
        np.savetxt(gain, [number])
        run = ph.simulate(body, load, start, step=0.01, until=0.2, events=at)
        assert run.t[-1] == pytest.approx(0.1 * number)
        same = ph.simulate(body, ph.Torque((number, 0.0, 0.0)), start, step=0.01, until=0.2, events=at)
        assert run.attitude[-1] == pytest.approx(same.attitude[-1], abs=1e-13)


def test_a_load_that_stays_is_traced_once() -> None:

    def potential(R: Any) -> Any:
        return 2.5 * R[2, 2]

    load = ph.Potential(potential)
    first, again = load.traced(()), load.traced(())
    assert first.fn.program is again.fn.program
    assert load.traced((3,)).fn.program is first.fn.program  # of one body, whatever the batch
    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        assert load.traced(()).fn.program is not first.fn.program
