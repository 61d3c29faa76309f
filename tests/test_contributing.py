"""Every example of CONTRIBUTING runs as it stands there, and does what it says."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polhode as ph
from polhode import multibody as mb
from polhode.problems import PROBLEMS
from polhode.results import PLOTS

TEXT = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")


def example(heading: str, number: int = 0) -> dict[str, Any]:
    """What the example under this heading defines."""
    section = TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    names: dict[str, Any] = {"__name__": "contributed"}
    exec(compile(re.findall(r"```python\n(.*?)```", section, re.S)[number], "CONTRIBUTING.md", "exec"), names)
    return names


def test_every_part_has_an_example() -> None:
    headings = re.findall(r"^## Add (.*)$", TEXT, re.M)
    assert headings == ["a method", "a joint", "a force", "a quantity", "a plot", "a problem"]


def test_a_method() -> None:
    method = example("Add a method")["LieEuler"]()
    for claim in ph.claims(method):
        claim.check()


@cache
def joined() -> Any:
    """A gear in the wind."""
    gear, wind = example("Add a joint")["Gear"], example("Add a force")["Wind"]
    wheels = [
        mb.Body("a", 2.0, (1.0, 0.5, 1.0), position=(0, 0, 0), omega=(0, 3.0, 0)),
        mb.Body("b", 1.0, (0.2, 0.1, 0.2), position=(3, 0, 0), omega=(0, -6.0, 0)),
    ]
    system = mb.System(
        [*wheels, mb.Body("leaf", 0.1, (0.01, 0.01, 0.01), position=(0, 5, 0))],
        constraints=[
            *(mb.Revolute("ground", b.name, at=b.position, axis=(0, 1, 0)) for b in wheels),
            gear("a", "b", 1.0, 0.5),
        ],
        forces=[mb.Torque("a", lambda view: (0.0, 1.0, 0.0)), wind("leaf", 0.2)],
    )
    return ph.simulate(system, method="mm-dae", step=0.01, until=1.0)


def test_a_joint() -> None:
    """Seen from a, the wheels weigh J_a + (r_a/r_b)² J_b = 0.9 kg m² together."""
    run = joined()
    a, b = run.omegas[:, 0, 1], run.omegas[:, 1, 1]
    assert a + 0.5 * b == pytest.approx(0.0, abs=1e-12)
    assert a == pytest.approx(3.0 + run.t / 0.9, abs=1e-10)


def test_a_force() -> None:
    run = joined()
    expected = 1.0 - np.exp(-2.0 * run.t)
    assert run.velocities[:, 2, 0] == pytest.approx(expected, abs=1e-4)
    assert "energy" not in run.conserved


def test_a_quantity() -> None:
    names = example("Add a quantity")
    assert names["tilt"] == pytest.approx(names["run"].attitude[:, 2, 2], abs=1e-15)


def test_a_plot() -> None:
    try:
        example("Add a plot")
        run = joined()
        figure = run.plot.share()
        assert figure.axes[0].get_title(loc="left") or figure.axes[0].get_title()
        y = figure.axes[0].lines[0].get_ydata()
        assert y == pytest.approx(run.kinetic / run.energy)
        assert "share" in dir(run.plot)
    finally:
        PLOTS.pop("share", None)


def test_a_problem(polhode: Any) -> None:
    try:
        example("Add a problem")
        run = ph.simulate(ph.problem("plate", spin=8.0), until=0.1)
        assert run.omega[0, 2] == 8.0
        code, out, _ = polhode("run", "plate", "--set", "spin=8", "--until", "0.1")
        assert code == 0
        assert "plate: t = 0 to 0.1 s" in out
    finally:
        PROBLEMS.pop("plate", None)
