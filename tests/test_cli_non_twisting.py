"""The command line: the non-twisting body from a file."""

import json
from pathlib import Path
from typing import Any

import pytest

import polhode as ph

NON_TWISTING = """
[body]
inertia = [[3, 0.1, 0], [0.1, 4, 0], [0, 0, 5]]
non_twisting = true

[start]
attitude = { directors = [[0, 1, 0], [-1, 0, 0], [0, 0, 1]] }
omega = [1, 2, 0]

[run]
method = ["em", "dla"]
step = 0.01
until = 1.0
"""


def test_non_twisting_body_from_a_file(polhode: Any) -> None:
    Path("n.toml").write_text(NON_TWISTING)
    code, out, err = polhode("run", "n.toml", "--json", "--out", "n.zarr", "--plot", "n.png")
    assert (code, err) == (0, "")
    for record in json.loads(out):
        assert set(record["final"]["observables"]) == {"twist_rate", "constraint_violation"}
        assert record["nonholonomic_momentum"]["drift"] < 1e-13
        assert record["spatial_momentum"]["drift"] > 0.1
    code, out, _ = polhode("run", "n.toml")
    assert code == 0
    assert "Π1, Π2 drift" in out
    again = ph.load("n-em-0.01.zarr")
    assert again.attrs["body"] == "NonTwistingBody"
    assert float(abs(again.twist_rate).max()) < 1e-13


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("[0.1, 4, 0], [0, 0, 5]]", "[0.1, 4, 0.2], [0, 0.2, 5]]"), "must split from D3"),
        (("[-1, 0, 0]", "[-1, 0.01, 0]"), "d1 · d2 is off by 0.01"),
        (('"em", "dla"', '"imidm"'), "imidm does not keep the non-twisting constraint"),
        (("non_twisting = true", "non_twisting = 1"), "true or false is needed"),
    ],
)
def test_bad_non_twisting_files(polhode: Any, change: tuple[str, str], says: str) -> None:
    assert change[0] in NON_TWISTING
    Path("n.toml").write_text(NON_TWISTING.replace(*change))
    code, out, err = polhode("run", "n.toml")
    assert code == 2
    assert out == ""
    assert says in err


def test_a_twist_at_the_start_is_told(polhode: Any) -> None:
    Path("n.toml").write_text(NON_TWISTING.replace("omega = [1, 2, 0]", "omega = [1, 2, 0.5]"))
    code, _, err = polhode("run", "n.toml")
    assert code == 0
    assert "w∥ = 0.5 rad/s" in err
