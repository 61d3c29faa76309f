"""Numbers that users give: kept as they are, or refused with a sentence; never changed without a word."""

import datetime
import decimal
import fractions
import pickle
import warnings
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import polhode as ph
from polhode import multibody as mb
from polhode.model import InputError
from polhode.model.checks import number, numbers, positive, shown, unit_quaternion, whole
from polhode.rotation.inertia import UnphysicalError

HUGE = 10**310
WRONG: Any = "1"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ((True, 2, 3), "true or false"),
        (np.array([True, False, True]), "bool"),
        (("1.5", 2, 3), "not numbers"),
        ("1.5", "not numbers"),
        ((b"1", 2, 3), "not numbers"),
        ((1 + 0j, 2, 3), "complex"),
        (np.array([1 + 2j, 0, 0]), "complex"),
        (jnp.array([1 + 2j, 0, 0]), "complex"),
        (np.ma.array([1.0, 2, 3], mask=[False, True, False]), "masked"),
        ([np.ma.masked, 2, 3], "masked"),
        ([np.ma.array(1.0, mask=True), 2, 3], "masked"),
        ((HUGE, 1, 1), "too large"),
        ((10**5000, 1, 1), "cannot be shown"),
        ((decimal.Decimal("1e-400"), 1, 1), "would become 0"),
        (np.array([np.longdouble("1e-400"), 1, 1]), "would become 0"),
        (np.array([np.longdouble("1e400"), 1, 1]), "must be finite"),
        ((None, 1, 1), "NoneType is not a number"),
        ((datetime.date(2020, 1, 1), 1, 1), "date is not a number"),
        (np.array(["2020-01-01"] * 3, dtype="datetime64[D]"), "datetime64"),
        (np.array([object(), 1, 1]), "object is not a number"),
        ([[1, 2], [3]], "rows of different lengths"),
        ({1, 2, 3}, "set is not a number"),
        ({"x": 1}, "dict is not a number"),
        ((1, 2, float("nan")), "must be finite"),
        ([], "must be 3 numbers"),
    ],
)
def test_refused(given: Any, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        numbers("omega", given, (3,))
    assert str(caught.value).startswith("omega must be ")
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "given",
    [
        (1, 2, 3),
        range(1, 4),
        np.array([1, 2, 3], dtype=np.uint8),
        np.array([1, 2, 3], dtype=np.float16),
        jnp.array([1, 2, 3], dtype=jnp.bfloat16),
        np.array([1, 2, 3], dtype=np.longdouble),
        np.ma.array([1.0, 2, 3], mask=False),
        xr.DataArray([1.0, 2, 3]),
        (fractions.Fraction(1), decimal.Decimal(2), 3),
        [np.array(1.0), jnp.array(2.0), np.float32(3)],
        ph.Vec3(1.0, 2.0, 3.0),
    ],
)
def test_taken(given: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(numbers("omega", given, (3,)), [1, 2, 3])


def test_what_is_kept_is_no_array_of_the_users() -> None:
    mine = np.array([1.0, 2.0, 3.0])
    body = mb.Body("a", 1.0, (1, 1, 1), position=mine)
    mine[0] = 99
    assert body.position[0] == 1.0


def test_nested_without_end() -> None:
    a: list[Any] = []
    a.append(a)
    with pytest.raises(InputError, match="nested"):
        numbers("omega", a, (3,))


@pytest.mark.parametrize(
    "given", [1e-320, 0.0, -1.0, "0.1", True, HUGE, float("inf"), [0.1], 1 + 0j, np.float64("nan")]
)
def test_steps_refused(given: Any) -> None:
    with pytest.raises(InputError, match="^step must be"):
        positive("step", given)


@pytest.mark.parametrize("given", [0, 2**62 + 1, HUGE, True, 1.0, "1", 10**5000], ids=lambda v: type(v).__name__)
def test_counts_refused(given: Any) -> None:
    with pytest.raises(InputError, match="^every must be a whole number of at "):
        whole("every", given, 1)


@pytest.mark.parametrize(
    "text", ["１２", "٣", "1e-400", "1e-320", "-1e-400", "1_000", "0x10", "", "1,2", "nan", "1e999", "1j"]
)
def test_texts_refused(text: str) -> None:
    with pytest.raises(InputError):
        number("spin", text)


def test_texts_taken() -> None:
    assert [number("x", t) for t in (" 1.5 ", "-2e-3", "+.5", "0e-999", "-0", "1e-300")] == [
        1.5,
        -2e-3,
        0.5,
        0,
        0,
        1e-300,
    ]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: ph.RigidBody([[1, 2], [3]]), "inertia must be 3 principal moments .* different lengths"),
        (lambda: ph.RigidBody((np.ones(5), np.ones(5), np.ones(5))), r"got shape \(3, 5\)"),
        (lambda: ph.RigidBody((HUGE, 1, 1)), "too large"),
        (lambda: ph.RigidBody((1e-320, 1e-320, 1e-320)), "moments of at least 2.2e-308"),
        (lambda: ph.RigidBody(np.diag([1 + 1j, 1, 1])), "complex"),
        (lambda: ph.RigidBody.box(1e300, (1e200, 1, 1)), "inertia must be finite"),
        (lambda: ph.RigidBody.points([], np.zeros((0, 3))), "n positive masses"),
        (lambda: ph.RigidBody.mesh(np.eye(3), np.zeros((0, 3), int)), "n x 3 whole numbers"),
        (lambda: ph.RigidBody.mesh(np.eye(3), [[1, 2], [0]]), "different lengths"),
        (lambda: ph.State.of(attitude=[[1, 2], [3]], omega=(1, 0, 0)), "attitude must be a quaternion"),
        (lambda: ph.State.of(attitude=np.array([[1, 1, 0], [1, -1, 0], [0, 0, 1]]) * 1e200, omega=(1, 0, 0)), "by inf"),
        (lambda: ph.State.of(directors=np.array([[1, 1, 0], [1, -1, 0], [0, 0, 1]]) * 1e200, omega=(1, 0, 0)), "inf"),
        (lambda: ph.Torque(lambda t: (0, 0, 0), frame="x" * 9), "got 'xxxxxxxxx'"),
        (lambda: mb.Body("a", mass=WRONG, inertia=(1, 1, 1)), "body 'a': mass must be numbers"),
        (lambda: mb.Body("a", 1, [[1, 2], [3]]), "body 'a': inertia must be 3"),
        (lambda: mb.Body("a", 1, (1, 1, 9)), "body 'a': no body has .* pass allow_unphysical=True"),
        (lambda: simulate(step="0.1"), "step must be numbers"),
        (lambda: simulate(step=HUGE), "step must be numbers"),
        (lambda: simulate(steps=HUGE), "steps must be a whole number"),
        (lambda: simulate(every=HUGE), "every must be a whole number"),
        (lambda: simulate(weight="20"), "parameter 'weight' must be numbers; got '20'"),
        (lambda: simulate(weight=np.array(20 + 1j)), "parameter 'weight' must be numbers; .* complex"),
        (lambda: simulate(weight=np.ma.array(20.0, mask=True)), "parameter 'weight' must be numbers; .* masked"),
        (lambda: ph.problems.PROBLEMS["heavy-top"].problem(inertia=(1, 1, 9)), "inequality.; choose other parameters$"),
    ],
)  # fmt: skip
def test_bodies_starts_and_runs_refused(make: Any, says: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match=says):
            make()


def simulate(step: Any = 0.1, steps: Any = 1, every: Any = 1, weight: Any = 20.0) -> Any:
    load = ph.Potential(lambda R, weight: weight * R[2, 2], weight=weight)
    return ph.simulate(ph.RigidBody((5, 5, 1)), load, ph.State.of(omega=(0, 0, 5)), step=step, steps=steps, every=every)


@pytest.mark.parametrize(
    "values", [("1", 0, 0), np.array([1j, 0, 0]), np.ma.array([1.0, 0, 0], mask=[True, False, False])]
)
def test_rotation_vectors_refused(values: Any) -> None:
    with pytest.raises(ValueError, match="numbers|masked"):
        ph.exp(values)


def test_lengths_of_quaternions_neither_overflow_nor_vanish() -> None:
    for size in (1e200, 1e-200):
        np.testing.assert_allclose(unit_quaternion("q", np.array([0, 3, 0, 4]) * size), [0, 0.6, 0, 0.8], rtol=1e-15)


def test_an_unphysical_body_is_refused_across_processes_too() -> None:
    with pytest.raises(UnphysicalError) as caught:
        ph.RigidBody((1, 1, 9))
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert str(again).count("allow_unphysical") == 1


def test_what_is_shown_is_short_and_in_one_line() -> None:
    assert shown(np.eye(3)).startswith("array([[1., 0., 0.], [0., 1.")
    assert len(shown([0.0] * 10**5)) < 210
