"""The notebooks run as they stand, and what they show is there; progress in a notebook."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

import nbformat
import pytest
from nbclient import NotebookClient

import polhode as ph
from polhode import multibody as mb
from polhode.model.html import table
from polhode.simulation.notebook import in_notebook

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


# As all tests take steps: by programs that are compiled soon, and kept on disk for each other.
SOON = """
from polhode.simulation import loop, rungs
rungs._BRIEFLY, rungs._SMALL = 20_000, 1000
loop.run_block._options["briefly"] = True
"""
PROGRESS = """
import time
from polhode.simulation.progress import Progress
for began in (5, 0):  # seconds ago
    with Progress(10, "steps of <a>", None) as bar:
        bar.began -= began
        with bar.waiting(lambda: "compiling"):
            time.sleep(0.6)
        bar.advance(4)
        time.sleep(0.2)
        bar.advance(8)
"""


class Watched(NotebookClient):
    """Keeps what was displayed for a while."""

    passing: ClassVar[list[str]] = []

    def process_message(self, msg: Any, cell: Any, index: int) -> Any:
        if msg["msg_type"] in ("display_data", "update_display_data"):
            self.passing.append(msg["content"]["data"].get("text/html", ""))
        return super().process_message(msg, cell, index)


def test_there_are_three_without_outputs() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["bicycle", "satellite", "top"]
    for path in NOTEBOOKS:
        made = nbformat.read(path, as_version=4)
        nbformat.validate(made)
        assert all(cell.outputs == [] and cell.execution_count is None for cell in made.cells if "outputs" in cell)


@pytest.fixture(scope="module")
def shown() -> dict[str, list[Any]]:
    """What the cells of each notebook put out, and those of `PROGRESS`. One kernel runs all of them, since it takes
    seconds to begin; between two it forgets its names."""
    cells = {path.stem: [c for c in nbformat.read(path, 4).cells if c.cell_type == "code"] for path in NOTEBOOKS}
    cells["progress"] = [nbformat.v4.new_code_cell(PROGRESS)]
    forget = nbformat.v4.new_code_cell("%reset -f")
    together = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(SOON)])
    for each in cells.values():
        together.cells += [*each, forget]
    Watched(together, timeout=300, kernel_name="python3").execute()
    assert forget.outputs == []
    return {name: [output for cell in each for output in cell.outputs] for name, each in cells.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", [path.stem for path in NOTEBOOKS])
def test_notebook(shown: dict[str, list[Any]], name: str) -> None:
    """Its own assertions hold; a run, a picture and an animation are shown; nothing is said on stderr."""
    outputs = shown[name]
    assert [o.text for o in outputs if o.get("name") == "stderr"] == []
    data = [o.data for o in outputs if "data" in o]
    html = "".join(each.get("text/html", "") for each in data)
    assert '<img alt="the bodies, half way" src="data:image/png;base64,' in html
    assert "kept to" in html
    assert '<iframe srcdoc="&lt;!doctype html&gt;' in html
    assert any("image/png" in each for each in data)


def test_progress_in_a_notebook(shown: dict[str, list[Any]]) -> None:
    """A bar while it runs, and words while it waits, which both go away: what a cell is left with is empty."""
    told = "".join(Watched.passing)
    assert "compiling" in told
    assert '<progress value="0.8000" max="1"' in told
    assert "steps of &lt;a&gt;: 4 of 10 steps" in told
    assert [o.get("name") for o in shown["progress"] if o.output_type == "stream"] == []
    assert {o.data["text/html"] for o in shown["progress"]} == {""}
    assert not in_notebook()


def test_long_names_are_shortened() -> None:
    name = "wheel" * 40
    hinge = mb.Revolute("ground", name, at=(0, 0, 0), axis=(0, 1, 0))
    system = mb.System([mb.Body(name, 1.0, (1, 1, 1))], constraints=[hinge])
    cells = re.findall(r"<td[^>]*>([^<]*)", system._repr_html_())
    assert any(cell.startswith("wheelwheel") for cell in cells)
    assert max(map(len, cells)) <= len("ground, ") + 40


def test_things_show_themselves() -> None:
    run = ph.simulate(ph.problem("heavy-top"), until=0.01)
    html = run._repr_html_()
    assert 'src="data:image/png;base64,' in html
    assert "energy</td>" in html
    assert "kept to" in html
    assert "changed by the load" in html
    assert "imidm: 10 steps of 0.001 s to t = 0.01 s" in html
    family = ph.simulate(ph.problem("heavy-top", spin=[30.0, 40.0]), until=0.01)
    assert "2 runs of imidm" in family._repr_html_()
    batch = ph.simulate(ph.RigidBody([[5, 5, 1], [5, 4, 2.0]]), None, ph.State.of(omega=(0, 0, 5)), step=0.1, until=0.2)
    assert "a batch of 2" in batch._repr_html_()
    bicycle = ph.problem("bicycle")
    assert "roll_rate" in bicycle._repr_html_()
    card = bicycle.system._repr_html_()
    assert "4 bodies, 21 rows" in card
    assert card.count("RollingDisk") == 2
    assert "Gravity" in card
    assert "RigidBody" in ph.problem("heavy-top").system._repr_html_()
    method = ph.methods.method_of("imidm")
    assert method.paper in method._repr_html_()
    assert "&lt;b&gt;" in table(("<b>",), [("<b>",)], "<b>")
    assert "<b><b>" not in table(("<b>",), [("<b>",)], "<b>")
