"""Pictures as a person sees them: nothing empty, clipped or on top of another, units on every axis, drift drawn only of
what the motion conserves, and names drawn letter by letter."""

import math
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import matplotlib.image
import numpy as np
import pytest
from pictures import check_figure, texts

import polhode as ph
from polhode import multibody as mb
from polhode.model import InputError
from polhode.problems import PROBLEMS
from polhode.results import Plots, for_print
from polhode.results.compare import compare
from polhode.results.panels import page
from polhode.results.paths import draw_paths
from polhode.results.scenes import ground_of
from polhode.results.style import house_style

NAMES = ("$x_{$", "_hidden", "a\nb\x00c", "$$", r"\$", "50 % of $5 and $6", "long name " * 30)
TOP = ph.RigidBody((5, 5, 1))


def pull(up: float, side: float = 0.0, level: float = 0.0) -> ph.Potential:
    """Of one program, whatever the numbers."""
    given = {"up": up, "side": side, "level": level}
    return ph.Potential(lambda R, up, side, level: up * R[2, 2] + side * R[0, 2] + level, **given)


GRAVITY = pull(20.0)
START = ph.State.of(attitude=ph.exp((0.3, 0, 0)), omega=(0, 0.1, 5))
LOADS: dict[str, tuple[Any, set[str]]] = {
    "none": (None, {"energy", "kinetic", "spatial_momentum", "vertical_momentum"}),
    "gravity": (GRAVITY, {"energy", "vertical_momentum"}),
    "sideways": (pull(0.0, side=20.0), {"energy"}),
    "of time": (ph.Potential(lambda R, t: (20 + t) * R[2, 2]), {"vertical_momentum"}),
    "damping": (GRAVITY + ph.Torque(lambda t, R, omega: -0.1 * omega), set()),
    "level": (ph.Torque(lambda t: (jnp.sin(t), 0.0, 0.0), frame="space"), {"vertical_momentum"}),
}


def turned(load: Any, **options: Any) -> ph.Run:
    """By an explicit method, which is compiled in a third of the time."""
    return ph.simulate(TOP, load, START, **({"method": "mk-forward-euler", "step": 0.01, "steps": 60} | options))


@pytest.mark.parametrize("name", LOADS)
def test_a_body_is_drawn_by_what_its_motion_conserves(name: str) -> None:
    load, conserved = LOADS[name]
    run = turned(load)
    assert set(run.conserved) == conserved
    assert run.dataset.attrs["conserved"].split() == list(run.conserved)
    two = compare([run, run], name)
    check_figure(run.plot())
    check_figure(two)
    relative = {"energy": "(E − E₀) / |E₀| (1)", "vertical_momentum": "(π₃ − π₃₀) / |π₃₀| (1)"}
    seen = texts(two)
    for quantity, label in relative.items():
        assert (label in seen) == (quantity in conserved)
    assert ("ellipsoid" in texts(run.plot.polhode())) == (name == "none")
    assert ("energy drift" in repr(run)) == ("energy" in conserved)


def test_an_energy_that_starts_at_nothing_has_no_relative_change() -> None:
    """T = 12.525 J and U = -12.525 J: relative to their sum, 1.8e-15 J, round-off would look like everything."""
    kinetic = turned(None, steps=1).kinetic[0]
    run = turned(pull(kinetic, level=-(np.cos(0.3) + 1) * kinetic))
    assert abs(run.energy[0]) < 1e-12
    assert "E − E₀ (J)" in texts(run.plot.energy())


@pytest.mark.parametrize("number", [1, 2])
def test_a_body_that_may_not_twist(number: int) -> None:
    setup = PROBLEMS[f"nontwisting-{number}"].problem()
    run = ph.simulate(setup.body, setup.load, setup.start, method="dla", step=0.01, steps=20)
    assert set(run.conserved) == ({"energy", "kinetic", "nonholonomic_momentum"} if number == 1 else set())
    check_figure(run.plot())
    check_figure(compare([run, run], "twice"))


def test_short_runs_members_of_batches_and_loaded_files(tmp_path: Path) -> None:
    one = turned(GRAVITY, steps=1, every=5)
    for figure in (one.plot(), compare([one, one], "one step")):
        check_figure(figure)
    many = ph.simulate(TOP, GRAVITY, ph.State.of(omega=np.eye(3)), method="rig_neg", step=0.01, steps=20)
    assert "vertical_momentum" in many.conserved
    check_figure(Plots(many.dataset.isel(member=1))())
    check_figure(Plots(ph.load(many.save(tmp_path / "many.nc")).isel(member=1))())
    first = Plots(many.dataset.isel(member=1, t=slice(0, 1)))()  # a single sample is a dot
    check_figure(first)


def test_names_are_drawn_letter_by_letter() -> None:
    run = turned(GRAVITY, steps=5)
    check_figure(compare([run] * 15, NAMES[-1]))
    for name in NAMES:
        figure = page([(run.plot.energy, None)], name, None, [name])
        check_figure(figure)
        for text in (figure._suptitle, figure.legends[0].get_texts()[0]):
            drawn, mathematical = text._preprocess_math(text.get_text())
            assert not mathematical
            assert drawn.startswith(name.replace("\n", " ").replace("\x00", " ")[:15])


@pytest.fixture(scope="module")
def swing() -> ph.Run:
    """The pendulum, watched: quantities of several units, one without, and names that are not plain."""
    return ph.simulate(PROBLEMS["pendulum"].problem().system, method="mm-dae", step=0.01, steps=40)


def renamed(run: ph.Run, names: tuple[str, ...], units: tuple[str, ...]) -> ph.Plots:
    """The same motion with observables of other names and units, as its dataset would hold them."""
    d = run.dataset.drop_vars(["angle", "rate"])
    columns = {name: ("t", run.observables["angle"].values, {"units": u}) for name, u in zip(names, units, strict=True)}
    return ph.Plots(d.assign(columns).assign_attrs(observables=list(names)))


def test_panels_of_a_system_are_those_it_has(swing: ph.Run) -> None:
    assert [swing.observables[name].unit for name in ("angle", "rate")] == ["rad", "rad/s"]
    page = swing.plot()
    check_figure(page)
    titles = [ax.get_title(loc="left") for ax in page.axes]
    assert titles == ["angle", "rate", "Energy, change since the start", "Path seen along z: centre", "Largest gap"]
    check_figure(compare([swing, swing], "two"))
    check_figure(swing.plot.observables())
    check_figure(swing.plot.forces())
    check_figure(swing.plot.constraints())
    with pytest.raises(InputError, match="units rad, rad/s do not fit one axis"):
        swing.plot.observables(ax=page.axes[0])
    with pytest.raises(InputError, match="slip of this run is zero throughout"):
        swing.plot.slip()
    with pytest.raises(InputError, match="did you mean 'angle'"):
        swing.plot.observables("angel")


def test_observables_of_many_units_and_names(swing: ph.Run) -> None:
    check_figure(renamed(swing, NAMES, ("rad", "$rad$", "", "m", "m", "m", "m"))())
    many = tuple(f"number {i}" for i in range(30))
    figure = renamed(swing, many, ("1",) * 30)()
    check_figure(figure)
    assert len(figure.axes[0].lines) == 30  # none is left out
    assert "and 19 more" in texts(figure)
    assert "unit not given" in texts(renamed(swing, ("x",), ("",))())
    own = renamed(swing, ("observable_energy",), ("rad",)).dataset.assign_attrs(observables=["energy"])
    lines = ph.Plots(own).observables("energy").axes[0].lines
    np.testing.assert_array_equal(lines[0].get_ydata(), swing.observables["angle"].values)  # not the system's energy


def test_a_system_without_observables_rows_or_motion(swing: ph.Run) -> None:
    bare = renamed(swing, (), ())
    check_figure(bare())
    assert len(bare().axes) == 3
    still = bare.dataset.assign(trace=0 * bare.dataset.trace + 1.0, gap=0 * bare.dataset.gap)
    assert len(ph.Plots(still)().axes) == 1
    for call in (ph.Plots(still).path, ph.Plots(still).observables, ph.Plots(still).constraints):
        with pytest.raises(InputError):
            call()
    check_figure(ph.Plots(bare.dataset.isel(t=slice(0, 1)))())
    crowd = bare.dataset.isel(body=[0] * 30, point=[]).assign_coords(body=[f"body {i}" for i in range(30)])
    figure = ph.Plots(crowd).path()
    check_figure(figure)
    assert len(figure.axes[0].lines) == 30


@pytest.mark.parametrize(
    ("up", "moving", "seen"),
    [
        ("z", "xyz", "+x+y"),
        ("-z", "xyz", "+x-y"),  # z points down: from above, y is to the right of x
        ("z", "xz", "+x+z"),  # from above it would be a line
        ("-z", "yz", "+y-z"),
        ("z", "xy", "+x+y"),
        ("z", "x", "+x+y"),
        ("y", "xy", "+x+y"),
        ("y", "xz", "+x-z"),
        ("-y", "xz", "+x+z"),
        ("x", "yz", "+y+z"),
    ],
)
def test_a_path_is_seen_from_above_or_from_its_side(up: str, moving: str, seen: str) -> None:
    points = np.random.default_rng(1).normal(size=(20, 3)) * [axis in moving for axis in "xyz"]
    with house_style() as Figure:
        ax = Figure().add_subplot()
    draw_paths(ax, {"point": points}, up)
    signs = "-" if ax.xaxis_inverted() else "+", "-" if ax.yaxis_inverted() else "+"
    assert f"{signs[0]}{ax.get_xlabel()[0]}{signs[1]}{ax.get_ylabel()[0]}" == seen


@pytest.mark.parametrize("name", [name for name, p in PROBLEMS.items() if p.method.startswith("three-field")])
def test_every_observable_of_a_problem_has_its_unit(name: str) -> None:
    system = PROBLEMS[name].problem(**({"bodies": 2} if name == "chain" else {})).system
    units = system.observable_units
    assert len(units) == len(system.observables) > 0
    assert all(units)


@pytest.mark.parametrize("given", [("rad", lambda v: 0.0), (lambda v: 0.0, 1), (lambda v: 0.0,), "rad"])
def test_observables_that_are_neither_function_nor_pair(given: Any) -> None:
    with pytest.raises(InputError, match="observable 'x' must be a function of a view"):
        mb.System([mb.Body("a", 1.0, (1, 1, 1))], observables={"x": given})


BALL: dict[str, Any] = {"mass": 1.0, "inertia": (0.4, 0.4, 0.4)}
FORCES: dict[str, tuple[Any, bool]] = {
    "spring": (mb.Spring("ground", "ball", 10.0), True),
    "damper": (mb.Damper("ground", "ball", 1.0, at_a=(0, 0, -1)), False),
    "potential": (mb.Potential(lambda view: view.position("ball")[2]), True),
    "potential of time": (mb.Potential(lambda view: view.t * view.position("ball")[2]), False),
    "push": (mb.Force("ball", (1.0, 0, 0)), False),
}


def conserved_by_system(system: mb.System) -> tuple[str, ...]:
    """From two samples at the start, without a step: enough to say what is conserved."""
    state = mb.consistent_start(system)[0]
    now, state = system.begun(state)
    return now.conserved(jax.tree.map(lambda x: np.stack([x, x]), state), np.array([0.0, 1.0]))


@pytest.mark.parametrize("name", FORCES)
def test_what_forces_conserve(name: str) -> None:
    force, conserved = FORCES[name]
    system = mb.System([mb.Body("ball", **BALL, position=(0, 0, 1))], forces=[force])
    assert conserved_by_system(system) == (("energy",) if conserved else ())


@pytest.mark.parametrize(
    ("constraint", "conserved"),
    [
        (mb.Holonomic(lambda view: view.position("ball")[2] - 1, "level"), True),
        (mb.Holonomic(lambda view: view.position("ball")[2] - 1 - 0.1 * view.t, "lift"), False),
        (mb.Nonholonomic(lambda view: view.velocity("ball")[2], "no rise"), True),
        (mb.Nonholonomic(lambda view: view.velocity("ball")[2] - 0.1, "belt"), False),
        (mb.Revolute("ground", "ball", at=(0, 0, 0), axis=(0, 0, 1), angle=lambda t: jnp.sin(t)), False),
    ],
)
def test_what_constraints_conserve(constraint: Any, conserved: bool) -> None:
    system = mb.System([mb.Body("ball", **BALL, position=(0, 0, 1))], constraints=[constraint])
    assert conserved_by_system(system) == (("energy",) if conserved else ())


def test_contacts_bring_their_surfaces() -> None:
    slope = (0.0, 0.6, 0.8)
    balls = [mb.Body(name, **BALL, position=(3 * i, 0, 1)) for i, name in enumerate("abcd")]
    system = mb.System(
        balls,
        constraints=[
            mb.RollingSphere("a", radius=1.0),
            mb.RollingSphere("b", radius=1.0, point=(5, 5, 0)),  # the same plane, by another point
            mb.RollingDisk("c", radius=1.0, normal=slope, point=(0, 0, -1)),
            mb.SphereOnCylinder("d", radius=1.0, cylinder=8.0, axis=(0, 1, 0)),
        ],
    )
    found: list[Any] = ground_of(system)
    level, tilted, wall = found
    assert (level.point[2], level.normal) == (0.0, (0.0, 0.0, 1.0))
    assert tilted.normal == pytest.approx(slope)
    assert (wall.radius, wall.axis, wall.inside) == (8.0, (0.0, 1.0, 0.0), True)
    given = mb.System(balls, constraints=[mb.RollingSphere("a", radius=1.0)], ground=mb.shapes.Plane((9, 9, 0)))
    assert ground_of(given) == [given.ground]


def test_max_frames_is_there(tmp_path: Path) -> None:
    run = turned(None)
    assert "61 of 61" not in run.animate(tmp_path / "a.html").read_text("utf-8")
    assert "11 of 61 samples are shown" in run.animate(tmp_path / "a.html", max_frames=11).read_text("utf-8")


@pytest.mark.parametrize("width", ["column", "page"])
def test_figures_for_print(width: str, swing: ph.Run, tmp_path: Path) -> None:
    """As wide as they are said to be, nothing clipped, and every line of a panel with dashes of its own."""
    run = turned(GRAVITY)
    with for_print(width):
        figures = [run.plot(), run.plot.momentum(), run.plot.energy(path=tmp_path / "energy.pdf"), run.plot.polhode()]
        lines = [line.get_linestyle() for line in run.plot.momentum().axes[0].lines]
        for k, drawn in enumerate((run.plot.attitude(), swing.plot.forces())):
            drawn.savefig(tmp_path / f"{k}.png", dpi=300)  # as it is saved first
            ink = matplotlib.image.imread(tmp_path / f"{k}.png")[..., :3].min(axis=2) < 0.9
            assert not any(edge.any() for edge in (ink[0], ink[-1], ink[:, 0], ink[:, -1]))
    for figure in figures:
        check_figure(figure)
        assert 25.4 * figure.get_figwidth() == pytest.approx({"column": 88, "page": 183}[width], abs=0.2)
    assert len(set(lines)) == len(lines) == 3
    assert (tmp_path / "energy.pdf").read_bytes().startswith(b"%PDF")
    assert run.plot.energy().get_figwidth() == 6.5
    with pytest.raises(InputError, match="'column' or 'page'"), for_print("poster"):
        pass


@pytest.fixture(scope="module")
def two() -> Any:
    return ph.simulate(ph.problem("heavy-top", spin=[10.0, 20.0]), method="mk-forward-euler", step=0.01, until=0.1)


def test_one_member_of_a_family_is_drawn_as_the_error_says(two: Any) -> None:
    with pytest.raises(InputError, match=r"polhode\.Plots\(run\.dataset\.isel\(spin=0\)\)\.tip\(\)"):
        two.plot.tip()
    one = ph.Plots(two.dataset.isel(spin=0))
    assert one.tip().axes
    assert one.energy().axes
    assert len(one().axes) > 2
    with pytest.raises(InputError, match="no observables"):
        two.plot.observables()
    with pytest.raises(InputError, match="there are no residuals to draw"):
        one.constraints()


def test_a_family_in_print(two: Any) -> None:
    """Dashes and names for a few members, none too pale in grey; a title keeps its words on two lines."""
    with for_print("column"):
        figure = two.plot()
        titled = page([(two.plot.energy, None)], "a comparison of methods: imidm, step 0.01 s, 20,000 steps", None)
    check_figure(figure)
    check_figure(titled)
    assert titled._suptitle.get_text().replace("\n", " ").endswith("of methods: imidm, step 0.01 s, 20,000 steps")
    lines = figure.axes[0].lines
    assert [line.get_linestyle() for line in lines] == ["-", "--"]
    assert max(np.dot(line.get_color()[:3], [0.299, 0.587, 0.114]) for line in lines) < 0.65
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["10", "20"]
    assert two.plot().axes[0].get_legend() is None


def test_residuals_far_below_round_off_are_drawn_at_it(swing: ph.Run) -> None:
    """Of positions of about 1 m, on an axis whose other dots can be told apart."""
    d = swing.dataset
    tiny = d.gap.where(d.t > 0, 6e-98)
    shown = ph.Plots(d.assign(gap=tiny)).gap().axes[0].lines[0].get_ydata()
    assert shown[0] == 0.01 * np.finfo(float).eps * np.abs(d.position).max()
    large = tiny.values > 1e-17
    assert large.sum() > 10
    np.testing.assert_array_equal(shown[large], d.gap.values[large])
    family = d.expand_dims(member=2).assign_attrs(members="member")
    lines = ph.Plots(family.assign(gap=tiny.expand_dims(member=2))).gap().axes[0].lines
    np.testing.assert_array_equal(lines[1].get_ydata(), shown)


def test_what_there_is_to_draw_is_listed(two: Any, swing: ph.Run) -> None:
    """And no more: each of those listed is drawn without a name."""

    def listed(plots: ph.Plots) -> set[str]:
        return {name for name in dir(plots) if not name.startswith("_")} - {"dataset"}

    assert listed(two.plot) == {"energy", "attitude"}
    assert {"observables", "forces", "path", "gap", "constraints"} <= listed(swing.plot)
    assert "slip" not in listed(swing.plot)
    top = ph.Plots(two.dataset.isel(spin=0))
    assert not {"constraints", "observables"} & listed(top)
    for plots in (two.plot, swing.plot, top):
        assert all(getattr(plots, name)().axes for name in listed(plots))
    assert listed(ph.Plots(swing.dataset.isel(t=slice(0)))) == set()


def test_several_bodies_of_a_family_have_a_panel_each(two: Any) -> None:
    d = two.dataset
    each = ph.Plots(d.assign(attitude=d.attitude.expand_dims(body=["frame", "wheel"], axis=2)))
    check_figure(figure := each.attitude())
    assert {"height: frame", "height: wheel"} <= {ax.get_title(loc="left") for ax in figure.axes}
    alone = two.plot.attitude().axes[0].lines[1].get_ydata()
    np.testing.assert_array_equal(each.attitude("wheel").axes[0].lines[1].get_ydata(), alone)
    with pytest.raises(InputError, match="did you mean 'wheel'"):
        each.attitude("weel")
    with pytest.raises(InputError, match="of one body, which has no name; got 'wheel'"):
        two.plot.attitude("wheel")
    with pytest.raises(InputError, match="do not fit one axis; name one of frame, wheel"):
        each.attitude(ax=figure.axes[0])


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("no/x.png", "there is no folder"), ("energy", "ends in"), ("x.xyz", "ends in"), ("x.html", "animate"),
        ("", "ends in"), (3, "a path"), ("x" * 300 + ".png", "choose a shorter one"), ("d.png", "is a folder"),
    ],
)  # fmt: skip
def test_where_a_picture_cannot_be(
    two: Any, path: Any, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.png").mkdir()
    for plots in (two.plot, ph.Plots(two.dataset.isel(spin=0))):
        with pytest.raises(InputError, match=says):
            plots(path)
        with pytest.raises(InputError, match=says):
            plots.energy(path=path)
    assert [p.name for p in tmp_path.iterdir()] == ["d.png"]


def test_where_an_animation_cannot_be(two: Any, tmp_path: Path) -> None:
    run = two.runs[0]
    (tmp_path / "d.html").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        run.animate(tmp_path / "d.html")
    for wrong in (run.dataset, 3, "x", None, [run, "x"]):
        with pytest.raises(InputError, match="beside each other"):
            run.animate(tmp_path / "x.html", beside=wrong)


def test_where_a_report_or_a_picture_cannot_be(polhode: Any) -> None:
    Path("file").write_text("x")
    for place in ("file", "file/sub", "x" * 300):
        code, _, err = polhode("papers", "krysl", "--item", "fig1", "--out", place)
        assert code == 2
        assert "a report needs a folder" in err
    code, _, err = polhode("run", "heavy-top", "--step", "0.01", "--until", "0.1", "--plot", "x" * 300 + ".png")
    assert code == 2
    assert "choose a shorter one" in err


def test_what_is_no_name_of_a_quantity(two: Any) -> None:
    with pytest.raises(InputError, match=r"family\.runs\[0\]"):
        two[0]
    with pytest.raises(InputError, match=r"run\['energy'\]"):
        two.runs[0][0:1]


def test_a_folder_is_not_run(polhode: Any) -> None:
    code, _, err = polhode("run", ".")
    assert code == 2
    assert "is a folder" in err


def test_a_still_shows_the_bodies_at_a_time(tmp_path: Path) -> None:
    """In colours of the bodies, other ones at another time; for print as wide as a column, and small."""
    run = ph.simulate(ph.problem("rolling-disk"), method="mm-dae", step=0.01, until=0.5)
    figure = run.still(0.2, path=tmp_path / "disk.png")
    assert figure.get_label().endswith("at t = 0.2 s")
    pixels = matplotlib.image.imread(tmp_path / "disk.png")
    assert np.ptp(pixels[..., :3], axis=2).max() > 0.4
    ground = (pixels[..., 3] > 0.2) & (pixels[..., 3] < 0.4)  # lets a dark page through, as what is empty does
    assert ground.mean() > 0.005  # measured: 0.024
    assert (pixels[..., 3] == 0).mean() > 0.5  # measured: 0.84
    run.still(path=tmp_path / "later.png")
    assert not np.array_equal(matplotlib.image.imread(tmp_path / "later.png"), pixels)
    with ph.results.for_print("column"):
        assert run.still(path=tmp_path / "disk.svg").get_figwidth() == pytest.approx(3.46)
    assert (tmp_path / "disk.svg").stat().st_size < 1_000_000
    for at in (-0.1, 0.51, "now", True, math.nan):
        with pytest.raises(ph.InputError, match=r"a still is of a time \(s\) from 0 to 0\.5"):
            run.still(at)
    family = ph.simulate(ph.problem("heavy-top", spin=[30.0, 40.0]), method="mk-forward-euler", step=0.01, steps=2)
    assert not hasattr(family, "still")
