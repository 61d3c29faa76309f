"""What the README and the pages of docs/ show runs as it stands there, and is right."""

import re
import runpy
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from pages import run_page
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.inputs import job_of

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def test_readme(tmp_path: Path) -> None:
    """Its Python and its commands run; the run is the one it says, and lies where it says."""
    names, outputs = run_page("README.md", tmp_path)
    assert names["run"].steps == 10_000
    assert ph.load(tmp_path / "top.zarr").attrs["method"] == "imidm"
    assert "energy drift" in " ".join(" ".join(o.text.split()) for o in outputs)


def test_the_page_on_loads(tmp_path: Path) -> None:
    """Its loads, each against its formula; parameters of a batch are those of its members."""
    names, _ = run_page("loads", tmp_path)
    run, many, arm = names["run"], names["many"], names["arm"]
    np.testing.assert_allclose(run.potential, 9.81 * 0.3 * run.attitude[:, 2] @ arm, atol=1e-14)
    weights = 9.81 * np.array([0.1, 0.2, 0.3])
    np.testing.assert_allclose(many.potential, weights * (many.attitude[:, :, 2] @ arm), atol=1e-14)
    system, bodies = names["system"], {"bob": names["bob"]}

    @jax.jit
    def at(state: Any) -> Any:
        view = system.view(state, 0.0)
        spring, *others = (f.bind(bodies) for f in system.forces)
        return spring.energy(view), [f.loads(view)[0] for f in (spring, *others)]

    energy, (spring, drag, pull, twist) = at(system.start)
    assert float(energy) == pytest.approx(0.5 * 30 * 0.1**2, rel=1e-12)
    assert np.abs(spring[0] - np.array([-3.0, 0, 0])).max() < 1e-13
    assert np.abs(drag[0]).max() == 0
    assert pull[0].tolist() == [0, 0, -2.943]
    assert twist[1].tolist() == [0, 0, 0.001]


def test_the_page_on_accuracy(tmp_path: Path) -> None:
    """The estimate of the run with a step is its distance from the other, and is printed."""
    names, (output,) = run_page("accuracy", tmp_path)
    run, given = names["run"], names["given"]
    assert output.text.count("order 2.0") == 2
    a, b = (Rotation.from_matrix(r.attitude[-1]) for r in (run, given))
    assert (a.inv() * b).magnitude() == pytest.approx(given.error_estimate().error, rel=0.1)


DOCS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(
    (ROOT / "docs").rglob("*.md")
)


@pytest.mark.parametrize("path", DOCS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_markdown_is_closed(path: Path) -> None:
    """Fences, and in each paragraph or row what is bold and what is code; links lead to files."""
    text = path.read_text(encoding="utf-8")
    assert text.count("```") % 2 == 0
    prose = re.sub(r"```.*?```|\$\$.*?\$\$", "", text, flags=re.DOTALL)
    prose = re.sub(r"\$[^$\n]*\$", "", prose)
    for part in re.split(r"\n\n|\n(?=[|*#-] )|\n(?=\|)", prose):
        assert part.count("`") % 2 == 0, part
        words = re.sub(r"`[^`]*`", "", part)
        assert words.count("**") % 2 == 0, part
        assert words.count("(") == words.count(")"), part
        assert words.count("[") == words.count("]"), part
    for target in re.findall(r"\]\(([^)#]+)", prose):
        assert target.startswith("http") or (path.parent / target).exists(), target


def test_the_file_of_the_page_on_files(tmp_path: Path) -> None:
    text = blocks((ROOT / "docs" / "howto" / "file-format.md").read_text(encoding="utf-8"), "toml")[0]
    path = tmp_path / "top.toml"
    path.write_text(text, encoding="utf-8")
    case = job_of(str(path))
    assert (case.methods, case.lengths, case.until, case.every) == (("imidm",), (0.001,), 10.0, 10)


def test_every_script_of_the_docs_draws_its_figures(tmp_path: Path) -> None:
    """Each has `draw(folder, ...)`, with sizes, and `TINY`, sizes for here; together they draw all there is."""
    for script in sorted((ROOT / "docs").glob("*.py")):
        names = runpy.run_path(str(script))
        names["draw"](tmp_path, **names["TINY"])
    drawn = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(drawn) == {path.name for path in (ROOT / "docs" / "figures").iterdir()}
    assert all(content.startswith(b"\x89PNG") for content in drawn.values())


def test_every_dependency_is_named_with_its_reason() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    wanted = [w for group in (project["dependencies"], *project["optional-dependencies"].values()) for w in group]
    assert [name for name in (re.split(r"[<>=]", w)[0] for w in wanted) if name not in text] == []


def test_the_page_on_runs(tmp_path: Path) -> None:
    """A coin and the energy that drag took, flips and elliptic integrals, speeds and the linear theory."""
    names, _ = run_page("runs", tmp_path)
    spun = names["spun"]
    (event,) = spun.events
    axis = spun.attitude[-1, 0][:, 1]
    assert abs(abs(axis[2]) - np.sin(np.pi / 3)) < 1e-12
    assert event.t == spun.t[-1]
    power = -1e-6 * (spun.omegas[:, 0] ** 2).sum(axis=-1)
    lost = np.sum(0.5 * (power[1:] + power[:-1]) * np.diff(spun.t))
    assert spun.energy[-1] - spun.energy[0] == pytest.approx(lost, rel=1e-2)
    assert names["periods"] == pytest.approx(names["exact"], rel=1e-8)
    assert names["stable"].tolist() == [4.5, 5.0, 5.5, 6.0]


@pytest.mark.optimised
def test_the_page_on_batches(tmp_path: Path) -> None:
    """Slow tops fall and fast ones do not; a member alone has its bits."""
    names, _ = run_page("batches", tmp_path)
    assert names["same"]
    assert names["lowest"][0] < 0 < 0.9 < names["lowest"][-1]
    assert names["rolls"].sizes == {"t": 21}
    assert (np.abs(names["rolls"]) > 0).any()
