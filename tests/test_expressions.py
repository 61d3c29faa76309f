"""Formulas from files: what they compute, and that nothing else gets in."""

import math
import time

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import polhode as ph
from polhode.model import InputError
from polhode.rotation.formulas import Expression, PotentialFormula

NAMES = ("x", "y")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2*3", 7),
        ("-2**2", -4),
        ("2**3**2", 512),
        ("2**-1", 0.5),
        ("(1 - 4)/2", -1.5),
        ("--x", 3),
        ("x*-y", -6),
        ("-x**2", -9),
        ("1e3 + .5 + 2.", 1002.5),
        ("max(x, y) - min(x, 1)", 2),
        ("sin(pi/2) + cos(0) + tan(0) + exp(0) + log(1) + abs(-1) + sqrt(4)", 6),
        ("sqrt(x**2 + y**2 + 3)", 4),
        ("x/y/2", 0.75),
        ("x - y - 1", 0),
    ],
)
def test_values(text: str, value: float) -> None:
    assert float(Expression.parse(text, NAMES)({"x": 3.0, "y": 2.0})) == pytest.approx(value, rel=1e-15)


def test_equal_texts_are_equal() -> None:
    a, b = (Expression.parse("20*x + sin(y)", NAMES) for _ in range(2))
    assert a == b
    assert hash(a) == hash(b)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("__import__('os').system('true')", "unknown name '__import__'|is not part of the grammar"),
        ("__import__", "unknown name '__import__'"),
        ("().__class__", "missing before '.'|not part of the grammar"),
        ("x.__class__", "not part of the grammar"),
        ("(" * 10_000 + "x" + ")" * 10_000, "20001 characters"),
        ("(" * 2000 + "x" + ")" * 2000, "nested more than 100"),
        ("x**" * 2000 + "x", "nested more than 100"),
        ("9**9**9", "constant cannot be computed|not a finite"),
        ("1e-400", "too small"),
        ("x*1e-320", "too small"),
        ("１２", "'１' is not part of the grammar"),
        ("1２*x", "'２' is not part of the grammar"),
        ("٣", "is not part of the grammar"),
        ("x²", "is not part of the grammar"),
        ("1e999", "not a finite"),
        ("1/0", "constant cannot be computed"),
        ("log(0)", "constant cannot be computed"),
        ("sqrt(-1)", "constant cannot be computed"),
        ("(-8)**0.5", "not a finite real"),
        ("", "missing"),
        ("x +", "a number, a name or '.' is missing"),
        ("x y", "'y' was not expected here"),
        ("(x", "'.' is missing"),
        ("sin x", "'.' is missing before 'x'"),
        ("sin(x, y)", "sin takes 1 argument; got 2"),
        ("max(x)", "max takes 2 arguments; got 1"),
        ("sinn(x)", "unknown name 'sinn'; did you mean 'sin'"),
        ("z", "unknown name 'z'"),
        ("lambda: 0", "unknown name 'lambda'|not part"),
        ("x if x else y", "was not expected"),
        ("x; y", "';' is not part of the grammar"),
        ("'a'", "is not part of the grammar"),
        ("x = 1", "'=' is not part"),
        ("[x for x in y]", "not part"),
    ],
)
def test_refused_at_once(text: str, says: str) -> None:
    began = time.perf_counter()
    with pytest.raises(InputError, match=says) as caught:
        Expression.parse(text, NAMES)
    assert time.perf_counter() - began < 1.0
    assert "Allowed: numbers" in str(caught.value)
    assert len(str(caught.value)) < 600


LONG = {
    "sum": ("+".join(["x", "2*y"] * 1600), 1600 * (3.0 + 4.0), 1600.0),
    "difference": ("x" + "-y" * 4900, 3.0 - 4900 * 2.0, 1.0),
    "products": ("+".join(["1" + "*x/3" * 24] * 100), 100.0, 100 * 24 / 3.0),
    "signs": ("-" * 9998 + "x", 3.0, 1.0),
    "brackets": ("+".join(["(x)"] * 2400), 2400 * 3.0, 2400.0),
    "mixed": ("+".join(f"{k % 7}*sin(x)**2*cos(y)" for k in range(450)), 1345 * math.sin(3) ** 2 * math.cos(2), None),
}


@pytest.mark.parametrize("name", LONG)
def test_formulas_up_to_ten_thousand_characters(name: str) -> None:
    """Read, computed, differentiated, hashed and compared, however many terms there are."""
    text, value, slope = LONG[name]
    assert len(text) <= 10_000
    formula = Expression.parse(text, NAMES)
    assert formula == Expression.parse(text, NAMES)
    assert hash(formula) == hash(Expression.parse(text, NAMES))
    assert float(formula({"x": 3.0, "y": 2.0})) == pytest.approx(value, rel=1e-11)
    if slope is not None:
        assert float(jax.jvp(lambda x: formula({"x": x, "y": 2.0}), (3.0,), (1.0,))[1]) == pytest.approx(slope)


@pytest.mark.slow
def test_a_long_formula_runs() -> None:
    """450 terms, where Python's recursion used to end; an explicit method, which compiles least."""
    terms = "+".join(f"R{k % 3 + 1}{k // 3 % 3 + 1}" for k in range(450))
    start = ph.State.of(attitude=ph.exp((0.05, 0, 0)), omega=(0, 0, 50))
    run = ph.simulate(
        ph.RigidBody((5, 5, 1)),
        ph.Potential(PotentialFormula.parse(terms)),
        start,
        method="rig_neg",
        step=1e-3,
        steps=2,
    )
    assert run.ok
    assert run.energy[0] == pytest.approx(1250 + 50 * np.asarray(ph.exp((0.05, 0, 0)).matrix().array).sum(), rel=1e-14)


@given(st.text(max_size=40))
def test_any_text_is_either_read_or_refused(text: str) -> None:
    try:
        outcome: object = Expression.parse(text, NAMES)
    except InputError as error:
        outcome = error
    assert isinstance(outcome, Expression | InputError)


@given(
    st.recursive(
        st.one_of(st.sampled_from(["x", "y"]), st.floats(0.1, 9).map(lambda v: repr(round(v, 3)))),
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
            inner.map(lambda e: f"cos({e})"),
            inner.map(lambda e: f"-{e}"),
        ),
        max_leaves=12,
    )
)
def test_agrees_with_python_where_both_can(text: str) -> None:
    ours = float(Expression.parse(text, NAMES)({"x": 1.25, "y": -0.5}))
    assert ours == pytest.approx(eval(text, {"x": 1.25, "y": -0.5, "cos": math.cos}), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("text", ["1e-200*1e-200*R33", "1e-200/1e200", "R33*exp(-800)", "1e-160**2*R11"])
def test_constants_that_vanish_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="a constant is too small"):
        PotentialFormula.parse(text)


def test_constants_that_are_zero_are_not() -> None:
    assert Expression.parse("0*R33 + (1 - 1)*5 + 0/3", ("R33",))({"R33": 2.0}) == 0.0


def test_long_products_are_refused() -> None:
    PotentialFormula.parse("*".join(["R11"] * 50))
    with pytest.raises(InputError, match="more than 50 factors; write powers"):
        PotentialFormula.parse("*".join(["R11"] * 51))
