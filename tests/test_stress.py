"""Numbers under stress: right to the stated accuracy, or said not to be; never silence. The table is docs/stress.md."""

from pathlib import Path

import numpy as np
import pytest
from stress import ALL, BODY, MOMENTUM, QUICK, Trial, spun, table, trials, turned, verdict

import polhode as ph


@pytest.mark.parametrize("method", QUICK)
def test_momenta_by_powers_of_two_give_the_same_bits(method: str) -> None:
    """Momentum c Π and steps h/c: the same path, from 1e-150 to 1e150."""

    def path(c: float) -> np.ndarray:
        start = ph.State.of(momentum=c * np.array(MOMENTUM))
        run = ph.simulate(ph.RigidBody(BODY), None, start, method=method, step=0.125 / c, steps=8)
        return np.concatenate([run["attitude"], run["momentum"] / c], axis=-1)

    same = path(1.0)
    for power in (-498, -330, -60, 60, 330, 498):
        np.testing.assert_array_equal(path(2.0**power), same)


QUICKLY = ("step (s)", "momentum (N m s)", "turns a step")


@pytest.mark.parametrize("trial", [t for t in trials() if t.sweep in QUICKLY], ids=lambda t: f"{t.sweep} {t.value:g}")
def test_right_or_said(trial: Trial) -> None:
    for method in QUICK:
        word, found = verdict(trial, method)
        assert word != "WRONG", (method, found.error)
        if method == "exact":
            assert word == ("notice" if trial.value == 1e15 else "right"), found


def test_the_references_agree() -> None:
    """Taylor series and the closed form, of a body with two equal moments, in 60 digits."""
    a, b = (np.array(truth((2.0, 2.0, 0.5), MOMENTUM, 3.0), dtype=object) for truth in (turned, spun))
    assert max(abs(a - b)) < 1e-50


def test_steps_that_turn_too_far_are_said() -> None:
    """AKW keeps energy and momentum to round-off, and yet this is not the motion."""
    start = ph.State.of(momentum=MOMENTUM)
    with pytest.warns(UserWarning, match="turns the body by up to 3[0-9.]+ rad.*this is not the motion"):
        run = ph.simulate(ph.RigidBody(BODY), None, start, method="akw", step=30.0, steps=2)
    assert run.drift("energy") < 1e-13


@pytest.mark.long
def test_the_table_is_what_is_measured() -> None:
    measured = table(ALL)
    assert "WRONG" not in measured
    written = (Path(__file__).parents[1] / "docs" / "stress.md").read_text(encoding="utf-8")
    assert measured in written
