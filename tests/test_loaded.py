"""What is loaded has the plots, table and animation of a run; what is no run gets a sentence. Results go where a link
leads, and by endings in capitals too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import polhode as ph

TOP = ph.problem("heavy-top")


@pytest.fixture(scope="module")
def run() -> Any:
    return ph.simulate(TOP, step=0.01, until=0.2)


def test_a_loaded_run_has_what_the_run_has(run: Any, tmp_path: Path) -> None:
    again = ph.load(run.save(tmp_path / "top.nc"))
    assert again.polhode.to_dataframe().equals(run.to_dataframe())
    assert len(run.dataset.polhode.to_dataframe()) == len(run.t) == 21
    assert again.polhode.plot.energy().axes[0].get_title(loc="left") == run.plot.energy().axes[0].get_title(loc="left")
    run.animate(tmp_path / "run.html", title="a top")
    again.polhode.animate(tmp_path / "file.html", title="a top")
    assert (tmp_path / "file.html").read_bytes() == (tmp_path / "run.html").read_bytes()


def test_what_a_file_cannot_animate(tmp_path: Path) -> None:
    system = ph.simulate(ph.problem("rolling-disk"), step=0.01, steps=2).dataset
    with pytest.raises(ph.InputError, match=r"no shapes .*`polhode run FILE --plot"):
        system.polhode.animate(tmp_path / "disk.html")
    batch = ph.simulate(ph.problem("heavy-top", spin=[30.0, 40.0]), step=0.01, steps=2).dataset
    with pytest.raises(ph.InputError, match="one motion is animated at a time"):
        batch.polhode.animate(tmp_path / "tops.html")
    assert len(batch.polhode.to_dataframe()) == 6


def test_plots_of_what_is_no_run(run: Any) -> None:
    foreign = xarray.Dataset({"x": ("time", np.zeros(3))})
    lost = run.dataset.drop_attrs()
    for dataset, missing in ((foreign, "t, kind, method, step"), (lost, "kind, method, step")):
        with pytest.raises(ph.InputError, match=f"no {missing}: it is not one of polhode's"):
            ph.Plots(dataset)
        with pytest.raises(ph.InputError, match="not one of polhode's"):
            dataset.polhode.to_dataframe()
    empty = run.dataset.isel(t=slice(0, 0))
    for draw in (lambda p: p(), lambda p: p.energy(), lambda p: p.constraints()):
        with pytest.raises(ph.InputError, match="no samples"):
            draw(ph.Plots(empty))
    with pytest.raises(ph.InputError, match="no samples"):
        empty.polhode.animate()
    assert len(empty.polhode.to_dataframe()) == 0


@pytest.mark.parametrize("name", ["top.png", "top.html", "top.glb", "top.nc", "top.zarr"])
def test_what_a_link_leads_to_is_written(run: Any, tmp_path: Path, name: str) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / name
    link.symlink_to(tmp_path / "there" / name)
    for _ in range(2):  # what is not there yet, and what is
        if name.endswith(".png"):
            run.plot.energy(path=link)
        elif name.endswith((".html", ".glb")):
            run.animate(link)
        else:
            run.save(link)
        assert link.is_symlink()
        assert (tmp_path / "there" / name).exists()
    (tmp_path / f"x{name}").symlink_to(tmp_path / "nowhere" / name)
    with pytest.raises(ph.InputError, match=r"no folder .*nowhere"):
        (run.plot.energy if name.endswith(".png") else run.animate if name[4] in "hg" else run.save)(
            path=tmp_path / f"x{name}"
        )


def test_the_command_line_follows_links(polhode: Any) -> None:
    Path("there").mkdir()
    for name in ("top.png", "top.html"):
        Path(name).symlink_to(Path("there") / name)
        assert polhode("run", "heavy-top", "--step", "0.01", "--until", "0.1", "--plot", name)[0] == 0
        assert Path(name).is_symlink()
        assert (Path("there") / name).stat().st_size > 1000


def test_endings_in_capitals(run: Any, polhode: Any) -> None:
    for name in ("top.ZARR", "top.NC", "top.CSV"):
        assert np.array_equal(ph.load(run.save(name)).energy, run["energy"])
    run.plot.energy(path="top.PNG")
    assert Path("top.PNG").read_bytes().startswith(b"\x89PNG")
    assert "<!doctype html>" in run.animate("top.HTML").read_text("utf-8")[:100]
    assert run.animate("top.GIF", seconds=0.2, fps=10).read_bytes().startswith(b"GIF8")
    written = ph.simulate(TOP, step=0.01, until=0.1, out="grown.ZARR")
    assert ph.resume("grown.ZARR", until=0.2).steps == 2 * written.steps


def test_endings_in_capitals_on_the_command_line(polhode: Any) -> None:
    for words in (["--out", "cli.NC", "--plot", "cli.SVG"], ["--out", "cli.ZARR", "--plot", "cli.HTML"]):
        assert polhode("run", "heavy-top", "--step", "0.01", "--until", "0.1", *words)[0] == 0
        assert all(Path(name).exists() for name in words[1::2])
    Path("TOP.TOML").write_text('problem = "heavy-top"\n[run]\nmethod = "imidm"\nstep = 0.01\nuntil = 0.1\n', "utf-8")
    for source in ("TOP.TOML", "cli.NC"):
        assert polhode("run", source)[0] == 0
