"""The second quotient of precision tells the order of any method on any problem."""

from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode.model import InputError
from polhode.problems import problem_of

LATER = pytest.param("nystrom4-exact", 4, marks=pytest.mark.long)


@pytest.mark.parametrize(("method", "order"), [("imidm", 2), ("swc1", 2), LATER, ("dmv6", 6)])
def test_order_is_seen(method: str, order: int) -> None:
    problem = "free-body" if method == "dmv6" else "slow-top"
    q = ph.quotient(
        problem, method, 0.2 if order == 6 else 0.02, until=2.0, of="momentum" if order == 6 else "attitude"
    )
    assert np.isnan(q.values[0])
    assert q.order[-1] == pytest.approx(order, abs=0.2)
    assert q.expected == order


def test_extrapolation_cancels_the_leading_errors() -> None:
    q = ph.quotient("nontwisting-1", "em", 0.01, until=1.0)
    plain, better = abs(q.order[-1] - 2), abs(q.extrapolated_order[-1] - 2)
    assert 1e-3 < plain < 1e-2  # measured 7e-3
    assert better < 1e-3  # measured 6e-5


def test_times_and_saving_every(tmp_path: Path) -> None:
    q = ph.quotient("slow-top", "imidm", 0.02, until=1.0, every=7)
    whole = ph.quotient("slow-top", "imidm", 0.02, until=1.0)
    assert q.t[-1] == pytest.approx(1.0)
    np.testing.assert_allclose(q.values[1:], np.append(whole.values[7::7], whole.values[-1]), rtol=1e-6)
    q.plot(tmp_path / "q.png")
    with pytest.raises(ph.InputError, match=r"ends in .*\.png"):
        q.plot(tmp_path / "q")
    assert (tmp_path / "q.png").stat().st_size > 10_000


def test_own_setup_and_quantity() -> None:
    setup = problem_of("slow-top").problem(tilt=0.3)
    q = ph.quotient(setup, "imidm", 0.02, until=1.0, of=lambda run: run.spatial_momentum)
    assert q.order[-1] == pytest.approx(2, abs=0.1)


def test_bad_input() -> None:
    with pytest.raises(InputError, match="unknown quantity 'spin'"):
        ph.quotient("slow-top", "imidm", 0.02, of="spin")
    with pytest.raises(InputError, match="give until"):
        ph.quotient(ph.Problem(ph.Rotation(ph.RigidBody((1, 2, 2.5))), ph.State.of(omega=(1, 1, 1))), "imidm", 0.02)
    with pytest.raises(InputError, match="step must be one positive number"):
        ph.quotient("slow-top", "imidm", -0.02)
    with pytest.raises(InputError, match="shorter than one step"):
        ph.quotient("slow-top", "imidm", 0.5, until=0.1)
