"""What an animation shows besides bodies, motions beside each other, films, and glTF."""

import json
import shutil
import struct
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from browser import BROWSER, Page
from matplotlib import rc_context
from PIL import Image
from scipy.spatial.transform import Rotation
from test_animation import NODE, SHAPES, data_of, javascript, spinning, unpack

import polhode as ph
from polhode import multibody as mb
from polhode.drawing.meshes import mesh_of
from polhode.drawing.shapes import Box, Coil, Plane, Sphere, Tube
from polhode.model.checks import InputError
from polhode.results.animation import animate, shown
from polhode.results.film import check_film
from polhode.results.fittings import Link, Mark
from polhode.results.linkage import links_of, marks_of
from polhode.results.scene import Actor, Scene

FFMPEG = shutil.which("ffmpeg")


@pytest.mark.skipif(NODE is None, reason="needs node")
def test_meshes_here_are_those_of_the_page() -> None:
    shapes = [*SHAPES, Coil(0.2, 1.5, 5)]
    scene = Scene(np.arange(2), [Actor("a", np.zeros((2, 3)), np.eye(4)[[0, 0]], shapes)])
    given = json.dumps(ph.results.page.scene_data(scene, 2)["bodies"][0]["shapes"])
    theirs = javascript(f"console.log(JSON.stringify({given}.map((s) => meshOf([s], [0.2, 0.4, 0.6]))))")
    for shape, mesh in zip(shapes, theirs, strict=True):
        ours = mesh_of([shape], (0.2, 0.4, 0.6))
        np.testing.assert_allclose(ours, np.reshape(mesh, (-1, 9)), atol=1e-12, err_msg=str(shape))


def swinging(n: int = 50) -> Link:
    """Its end goes round a circle, through straight down and straight up, and beyond both."""
    angle = np.linspace(0, 7, n)
    end = np.stack([np.sin(angle), 0 * angle, -np.cos(angle)], axis=1) * (1 + 0.3 * np.sin(3 * angle))[:, None]
    return Link("spring", "spring", np.zeros((n, 3)), end, 0.1)


def test_a_link_reaches_from_end_to_end() -> None:
    link = swinging()
    turn = Rotation.from_quat(link.quaternions, scalar_first=True)
    tip = turn.apply([0, 0, 1]) * (link.stretch * link.natural)[:, None]
    np.testing.assert_allclose(tip, link.b, atol=1e-14)  # measured: 7e-16
    apart = (turn[1:] * turn[:-1].inv()).magnitude()
    assert apart.max() < 7 / 49 * 1.001  # no more than the arm itself turns: it does not spin
    with pytest.raises(InputError, match="must be one of spring, damper, rod; got 'rope'"):
        Link("a", "rope", link.a, link.b, 0.1)
    with pytest.raises(InputError, match="a of 'spring' must have one row for each of the 3 times; got 50 rows"):
        Scene(np.arange(3), spinning(3, 1.0).bodies, links=[link])
    with pytest.raises(InputError, match="joint 'hinge' sits on body 2; there are 1, from 0 on"):
        Scene(np.arange(3), spinning(3, 1.0).bodies, joints=[Mark("hinge", [Sphere(1)], 2)])


def mechanism() -> tuple[Any, list[Actor]]:
    """What stands for a run of a system with one of everything, two samples long, and its bodies."""
    bodies = [
        mb.Body(name, 1.0, (0.1, 0.1, 0.1), position=x, shape=Box((0.4, 0.2, 0.2)))
        for name, x in (("a", (1.0, 0, 0)), ("b", (2.0, 0, 0)), ("c", (0, 2.0, 0)), ("d", (5.0, 0, 1)))
    ]
    system = mb.System(
        bodies,
        forces=[
            mb.Gravity(),
            mb.Spring("ground", "c", 10.0, at_a=(0, 1, 0), at_b=(0, 0, 0.1)),
            mb.Damper("c", "d", 1.0),
        ],
        constraints=[
            mb.Revolute("ground", "a", at=(0.5, 0, 0), axis=(0, 1, 0)),
            mb.Universal("a", "b", at=(1.5, 0, 0), axis=(0, 1, 0)),
            mb.Prismatic("ground", "c", at=(0, 2, 0), axis=(0, 0, 1), name="rail"),
            mb.Distance("ground", "d", at_a=(5, 0, 3)),
        ],
    )
    attitude = np.stack([np.eye(3), Rotation.from_rotvec([0, 0.3, 0]).as_matrix()])[:, None].repeat(4, axis=1)
    positions = np.stack([system.start.positions, system.start.positions + 0.1])
    quaternions = np.stack([[1.0, 0, 0, 0], np.roll(Rotation.from_rotvec([0, 0.3, 0]).as_quat(), 1)])
    actors = [Actor(n, positions[:, i], quaternions, system.shapes[i]) for i, n in enumerate(system.names)]
    without = SimpleNamespace(constraints=[c for c in system.constraints if c.name != "rail"])
    run = SimpleNamespace(known=system, t=np.array([0.0, 0.1]), attitude=attitude, changes=((1, without),))
    return run, actors


def test_joints_and_springs_of_a_system() -> None:
    run, actors = mechanism()
    marks = marks_of(run, actors)
    assert [(m.name, m.on, m.until) for m in marks] == [
        ("revolute ground-a", None, None), ("universal a-b", 0, None), ("universal a-b", 1, None),
        ("rail", None, 0.1), ("rail", 2, 0.1),
    ]  # fmt: skip
    assert np.allclose(marks[0].shapes[0].centre, (0.5, 0, 0))  # type: ignore[attr-defined]
    assert np.allclose(marks[1].shapes[0].axis, (0, 1, 0))  # type: ignore[attr-defined]
    assert np.allclose(marks[2].shapes[0].centre, (-0.5, 0, 0))  # type: ignore[attr-defined]
    spring, damper, rod = links_of(run, actors)
    assert [x.kind for x in (spring, damper, rod)] == ["spring", "damper", "rod"]
    assert (spring.a == [0, 1, 0]).all()
    turned = run.attitude[1, 2] @ [0, 0, 0.1]
    np.testing.assert_allclose(spring.b - actors[2].positions, [[0, 0, 0.1], turned], atol=1e-15)
    assert rod.lengths[0] == 2.0


def test_a_page_with_joints_and_springs(tmp_path: Path) -> None:
    run, actors = mechanism()
    scene = Scene(run.t, actors, joints=marks_of(run, actors), links=links_of(run, actors))
    data = data_of(animate(scene, tmp_path / "a.html"))
    assert [mark["on"] for mark in data["joints"]] == [None, 0, 1, None, 2]
    assert [mark["until"] for mark in data["joints"]] == [None, None, None, 0.1, 0.1]
    spring = data["links"][0]
    ends = unpack(spring["positions"], "<f4", 3) + data["origin"]
    assert np.abs(ends - scene.links[0].a).max() < 2e-7
    assert np.abs(unpack(spring["stretch"], "<f4", 1)[:, 0] - scene.links[0].stretch).max() < 1e-7


def test_motions_beside_each_other(tmp_path: Path) -> None:
    scenes = [spinning(5, rate, title=f"rate {rate:g}") for rate in (1.0, 2.0)]
    data = data_of(animate(scenes, tmp_path / "a.html", title="two"))
    assert (data["title"], [s["title"] for s in data["scenes"]]) == ("two", ["rate 1", "rate 2"])
    with pytest.raises(InputError, match="must have the same `up`; got x, z"):
        animate([scenes[0], spinning(5, 1.0, up="x")], tmp_path / "b.html")
    with pytest.raises(InputError, match="1 to 12 motions can be shown beside each other; got 13"):
        animate(scenes[:1] * 13, tmp_path / "b.html")
    with pytest.raises(InputError, match="a .glb holds one motion; write one for each of the 2"):
        animate(scenes, tmp_path / "b.glb")
    with pytest.raises(InputError, match="seconds and fps are those of a film, .gif or .mp4; got 'b.html'"):
        animate(scenes, tmp_path / "b.html", fps=10)
    assert not (tmp_path / "b.html").exists()


@pytest.mark.skipif(BROWSER is None, reason="needs a Chrome or Chromium")
def test_a_browser_shows_springs_and_panes_and_feels_fingers(tmp_path: Path) -> None:
    link, n = swinging(), 50
    t = np.linspace(0, 5, n)
    q = np.tile([1.0, 0, 0, 0], (n, 1))
    bare = Scene(t, [Actor("bob", link.b, q, [Sphere(0.2)])], title="bare")
    mark = Mark("pivot", [Box((0.3, 0.3, 0.3))])
    held = Scene(t / 2, bare.bodies, links=[link], joints=[mark], title="held")
    path = animate([bare, held], tmp_path / "a.html", title="both")
    with Page(path.as_uri(), tmp_path / "profile") as page:
        page.evaluate("theme(false)")
        page.next_frame()
        picture = page.picture()
        rows, columns = picture.shape[:2]
        inside = picture[rows // 4 : 3 * rows // 4]
        steel = (np.ptp(inside, axis=-1) < 0.15) & (inside.max(axis=-1) < 0.75)  # dark and grey
        left, right = steel[:, : columns // 2 - 5].mean(), steel[:, columns // 2 + 5 :].mean()
        assert right > left + 0.01  # measured: 0.083 and 0.043, which is the shade of the ball
        assert page.evaluate("[...document.querySelectorAll('#panes span')].map((x) => x.innerText)") == [
            "bare",
            "held",
        ]
        assert page.evaluate("[START, END]") == [0, 5]

        yaw, distance = page.evaluate("[camera.yaw, camera.distance]")

        def touch(kind: str, *points: tuple[float, float]) -> None:
            places = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]
            page.send("Input.dispatchTouchEvent", type=kind, touchPoints=places)

        touch("touchStart", (200, 300))
        touch("touchMove", (260, 300))
        touch("touchEnd")
        assert page.evaluate("camera.yaw") == pytest.approx(yaw - 0.007 * 60, abs=1e-12)
        touch("touchStart", (250, 300), (350, 300))
        touch("touchMove", (200, 300), (400, 300))
        touch("touchEnd")
        assert page.evaluate("camera.distance") == pytest.approx(distance / 2, rel=1e-6)
        page.evaluate("byId('slider').value = 2.5; byId('slider').oninput({ target: byId('slider') })")
        assert page.evaluate("time") == 2.5
        assert page.evaluate("gl.getError()") == 0
        assert page.errors == []


def glb(path: Path) -> tuple[dict[str, Any], bytes]:
    """The document and the bytes of a .glb, its frame checked."""
    data = path.read_bytes()
    assert struct.unpack("<4sII", data[:12]) == (b"glTF", 2, len(data))
    size, kind = struct.unpack("<I4s", data[12:20])
    assert (kind, size % 4) == (b"JSON", 0)
    length, second = struct.unpack("<I4s", data[20 + size : 28 + size])
    assert (second, 28 + size + length) == (b"BIN\0", len(data))
    return json.loads(data[20 : 20 + size]), data[28 + size :]


def test_gltf_holds_the_motion(tmp_path: Path) -> None:
    """Buffers, accessors and samplers fit together, and say what the states say. (The Khronos validator, run on such
    files by hand, has nothing to say.)"""
    run, actors = mechanism()
    joints, links = marks_of(run, actors), links_of(run, actors)
    scene = Scene(run.t, actors, Plane((0, 0, -1)), spinning(2, 1.0).paths, joints=joints, links=links)
    made, data = glb(animate(scene, tmp_path / "a.glb"))
    widths = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}
    assert made["buffers"] == [{"byteLength": len(data)}]
    values = []
    for accessor in made["accessors"]:
        view = made["bufferViews"][accessor["bufferView"]]
        assert accessor["componentType"] == 5126
        assert view["byteOffset"] % 4 == 0
        assert view["byteLength"] == 4 * widths[accessor["type"]] * accessor["count"]
        piece = data[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
        values.append(np.frombuffer(piece, "<f4").reshape(-1, widths[accessor["type"]]))
        assert np.isfinite(values[-1]).all()
        if "min" in accessor:
            assert values[-1].min(axis=0).tolist() == accessor["min"]
            assert values[-1].max(axis=0).tolist() == accessor["max"]
    for mesh in made["meshes"]:
        (primitive,) = mesh["primitives"]
        counts = {made["accessors"][i]["count"] for i in primitive["attributes"].values()}
        assert len(counts) == 1
        assert primitive["mode"] == 3 or counts.pop() % 3 == 0
        if "NORMAL" in primitive["attributes"]:
            np.testing.assert_allclose(np.linalg.norm(values[primitive["attributes"]["NORMAL"]], axis=1), 1, atol=1e-6)
        assert 0 <= primitive["material"] < len(made["materials"])
    (animation,) = made["animations"]
    tracks: dict[tuple[str, str], np.ndarray] = {}
    for channel in animation["channels"]:
        sampler = animation["samplers"][channel["sampler"]]
        assert values[sampler["input"]][:, 0].tolist() == pytest.approx([0, 0.1])
        target = channel["target"]
        tracks[made["nodes"][target["node"]]["name"], target["path"]] = values[sampler["output"]]
    root = made["nodes"][made["scenes"][0]["nodes"][0]]
    assert set(root["children"]) | {c for n in made["nodes"] for c in n.get("children", ())} == set(
        range(len(made["nodes"]) - 1)
    )
    up = Rotation.from_quat(root["rotation"])
    np.testing.assert_allclose(up.apply([0, 0, 1]), [0, 1, 0], atol=1e-15)
    for actor in actors:
        where = up.apply(tracks[actor.name, "translation"]) + root["translation"]
        np.testing.assert_allclose(where, up.apply(actor.positions), atol=1e-6)
        turned = Rotation.from_quat(tracks[actor.name, "rotation"])
        assert (turned.inv() * Rotation.from_quat(actor.quaternions, scalar_first=True)).magnitude().max() < 1e-6
    spring = links[0]
    np.testing.assert_allclose(tracks[spring.name, "scale"][:, 2], spring.stretch, rtol=1e-6)
    assert tracks["rail", "scale"].tolist() == [[1, 1, 1], [0, 0, 0]]  # released by then
    assert {mark.name for mark in joints} <= {node["name"] for node in made["nodes"]}


def test_the_wall_of_a_tube_is_drawn_and_written(tmp_path: Path) -> None:
    scene = Scene(np.arange(2), [Actor("a", np.zeros((2, 3)), np.eye(4)[[0, 0]], [Sphere(0.2)])], Tube(2, (0, 3, 0)))
    made, _ = glb(animate(scene, tmp_path / "a.glb"))
    (mesh,) = (mesh for mesh in made["meshes"] if mesh["name"] == "wall")
    bounds = made["accessors"][mesh["primitives"][0]["attributes"]["POSITION"]]
    assert (bounds["min"], bounds["max"]) == ([-2, -2, -2], [2, 2, 2])
    with Image.open(animate(scene, tmp_path / "a.gif", seconds=0.1, fps=20)) as film:
        frame = np.asarray(film.convert("RGB"), dtype=float) / 255
    grey = (frame.max(axis=-1) < 0.95) & (np.ptp(frame, axis=-1) < 0.15)
    assert 0.02 < grey[100:].mean() < 0.5  # lines of the wall; measured: 0.073


@pytest.mark.parametrize("up", ["x", "-x", "y", "-y", "z", "-z"])
def test_gltf_is_upright(tmp_path: Path, up: str) -> None:
    made, _ = glb(animate(spinning(3, 1.0, up=up), tmp_path / "a.glb"))
    turn = Rotation.from_quat(made["nodes"][made["scenes"][0]["nodes"][0]]["rotation"])
    axis = np.eye(3)["xyz".index(up[-1])] * (-1 if up[0] == "-" else 1)
    np.testing.assert_allclose(turn.apply(axis), [0, 1, 0], atol=1e-15)


def test_a_film_as_gif(tmp_path: Path) -> None:
    """A blue body before a white page that moves; twice as wide with another beside it."""
    run, actors = mechanism()
    scene = Scene(run.t, actors, Plane((0, 0, -1)), joints=marks_of(run, actors), links=links_of(run, actors))
    with Image.open(animate(scene, tmp_path / "a.gif", seconds=0.4, fps=10)) as film:
        assert (getattr(film, "n_frames", 1), film.size, film.info["duration"]) == (4, (480, 480), 100)
        frames = []
        for k in range(4):
            film.seek(k)
            frames.append(np.asarray(film.convert("RGB"), dtype=float) / 255)
    blue = frames[0][..., 2] - frames[0][..., 0] > 0.2
    assert 0.001 < blue.mean() < 0.2  # measured: 0.002
    assert np.abs(frames[0] - frames[3]).max() > 0.5
    with Image.open(animate([scene, scene], tmp_path / "b.gif", seconds=0.2, fps=10)) as film:
        assert (getattr(film, "n_frames", 1), film.size) == (2, (960, 480))


@pytest.mark.skipif(FFMPEG is None, reason="needs ffmpeg")
def test_a_film_as_mp4(tmp_path: Path) -> None:
    path = animate(spinning(9, 3.0), tmp_path / "a.mp4", seconds=0.4, fps=10)
    asked = ["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=width,nb_read_frames", "-of", "json"]
    (stream,) = json.loads(subprocess.run([*asked, path], capture_output=True, check=True).stdout)["streams"]
    assert (stream["width"], stream["nb_read_frames"]) == (480, "4")


def test_an_ffmpeg_that_fails_is_said(tmp_path: Path) -> None:
    with rc_context({"animation.ffmpeg_path": "false"}), pytest.raises(OSError, match="ffmpeg did not write mp4"):
        animate(spinning(3, 3.0), tmp_path / "a.mp4", seconds=0.2, fps=10)
    assert list(tmp_path.iterdir()) == []


def test_without_ffmpeg_it_is_said_before_a_run(polhode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("matplotlib.animation.FFMpegWriter.isAvailable", lambda: False)
    with pytest.raises(InputError, match="an .mp4 is written by ffmpeg, and there is none on this machine"):
        check_film(".mp4")
    check_film(".gif")
    code, out, err = polhode("run", "heavy-top", "--until", "1", "--plot", "top.mp4")
    assert (code, out) == (2, "")
    assert "or write a .gif or an .html, which need nothing" in err


def test_runs_beside_each_other_from_the_command_line(polhode: Any) -> None:
    command = ["run", "heavy-top", "--until", "0.01", "--method", "imidm", "--method", "akw"]
    code, _, err = polhode(*command, "--plot", "tops.html")
    assert (code, err) == (0, "")
    assert [s["title"] for s in data_of(Path("tops.html"))["scenes"]] == ["imidm, step 0.001 s", "akw, step 0.001 s"]


def test_members_of_a_family_beside_each_other(tmp_path: Path) -> None:
    family = ph.simulate(ph.problem("heavy-top", spin=[30.0, 40.0]), until=0.01)
    data = data_of(family.animate(tmp_path / "a.html", title="two spins"))
    assert (data["title"], [s["title"] for s in data["scenes"]]) == ("two spins", ["spin = 30", "spin = 40"])
    first, second = family.runs
    data = data_of(first.animate(tmp_path / "b.html", beside=second, titles=["slow", "fast"]))
    assert [s["title"] for s in data["scenes"]] == ["slow", "fast"]
    with pytest.raises(InputError, match="titles must name each of the 2 runs; got 1"):
        first.animate(beside=second, titles=["slow"])


def test_in_a_notebook() -> None:
    made = shown([spinning(3, 1.0, title='a "title" <b>')], height=300)
    html = made._repr_html_()
    assert html.startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert html.count('"') == 6  # the page is one attribute: it ends nowhere else
    assert "kB" in repr(made)
