"""The animation: what may be given, what stands in the page, and that the viewer's code computes and draws it."""

import base64
import json
import math
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import BROWSER, Page

import polhode.results
from polhode.drawing.shapes import Axes, Box, Cylinder, Disk, Ellipsoid, Plane, Rod, Shape, Sphere, Tube
from polhode.model.checks import InputError
from polhode.results.animation import animate
from polhode.results.scene import Actor, Scene, Trail

SHAPES: list[Shape] = [
    Sphere(0.5, centre=(0.1, 0, 0)),
    Ellipsoid((0.7, 0.4, 0.2)),
    Disk(0.5, axis=(0, 2, 0)),
    Disk(0.5, thickness=0.05, spokes=12),
    Box((0.9, 0.6, 0.3)),
    Rod((-0.4, 0, 0), (0.4, 0.2, 0.3), 0.05),
    Cylinder(0.3, 0.9, centre=(0, 0, 0.1)),
    Axes(0.7),
]
NODE = shutil.which("node")
FOLDER = Path(polhode.results.__file__).parent


def spinning(n: int, rate: float, bodies: int = 1, **options: Any) -> Scene:
    """Bodies side by side that turn about (0, 0, 1) at `rate` (rad/s), sampled every 10 ms."""
    t = 0.01 * np.arange(n)
    q = np.stack([np.cos(rate * t / 2), 0 * t, 0 * t, np.sin(rate * t / 2)], axis=1)
    x = np.stack([np.cos(t), np.sin(t), 1 + 0.1 * t], axis=1)
    actors = [Actor(f"body {k}", x + np.array([2.0 * k, 0, 0]), q, SHAPES) for k in range(bodies)]
    return Scene(t, actors, **{"ground": Plane(), "paths": [Trail("contact", x * [1, 1, 0])], **options})


def data_of(path: Path) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="scene">(.*?)</script>', path.read_text("utf-8"), re.DOTALL)
    assert found
    return json.loads(found[1])


def unpack(text: str, dtype: str, columns: int) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype).reshape(-1, columns)


def test_data_come_back_to_float32(tmp_path: Path) -> None:
    far = np.array([4e5, 5e6, 100.0])  # map coordinates: float32 alone would be off by 0.25 m
    near = spinning(300, 3.0)
    actor = Actor("a", near.bodies[0].positions + far, 2 * near.bodies[0].quaternions, SHAPES)
    scene = Scene(near.times, [actor], Plane(far), [Trail("p", actor.positions)], "-z", "a title")
    path = tmp_path / "a.html"
    assert animate(scene, path) == path
    data = data_of(path)
    assert (data["title"], data["up"], data["notices"]) == ("a title", [0, 0, -1], [])
    assert (unpack(data["times"], "<f8", 1)[:, 0] == scene.times).all()
    body = data["bodies"][0]
    # measured: positions and path 3.0e-8 m, quaternions 3.0e-8, ground 0
    assert np.abs(unpack(body["positions"], "<f4", 3) + data["origin"] - actor.positions).max() < 6e-8
    assert np.abs(unpack(body["quaternions"], "<f4", 4) - near.bodies[0].quaternions).max() < 6e-8
    assert np.abs(unpack(data["paths"][0]["points"], "<f4", 3) + data["origin"] - actor.positions).max() < 6e-8
    assert np.allclose(np.add(data["ground"][0]["point"], data["origin"]), far, rtol=1e-15)
    kinds = {type(shape).__name__: type(shape) for shape in SHAPES}
    assert [kinds[shape.pop("kind")](**shape) for shape in body["shapes"]] == SHAPES


def test_page_loads_nothing_and_is_small(tmp_path: Path) -> None:
    text = animate(spinning(1000, 3.0, bodies=4), tmp_path / "a.html").read_text("utf-8")
    assert not re.search(r"https?:|//cdn|\bsrc=|\bhref=|@import|\burl\(|\bfetch\(|XMLHttpRequest|\bimport\(", text)
    assert "default-src 'none'" in text  # the browser itself refuses every load
    assert not re.search(r"@[A-Z]+@", text)
    assert len(text.encode()) < 250_000  # measured: 219 kB


def test_names_cannot_end_the_script(tmp_path: Path) -> None:
    evil = "</script><b>&@TITLE@@SCENE@"
    path = animate(spinning(3, 1.0, title=evil), tmp_path / "a.html")
    assert data_of(path)["title"] == evil
    assert path.read_text("utf-8").count("</script>") == 3
    assert "<title>&lt;/script&gt;&lt;b&gt;&amp;@TITLE@" in path.read_text("utf-8")


def test_thinning_is_said(tmp_path: Path) -> None:
    scene = spinning(1001, 3.0)
    data = data_of(animate(scene, tmp_path / "a.html", max_frames=101))
    assert np.array_equal(unpack(data["times"], "<f8", 1)[:, 0], scene.times[::10])
    assert len(unpack(data["bodies"][0]["quaternions"], "<f4", 4)) == 101
    assert len(unpack(data["paths"][0]["points"], "<f4", 3)) == 101
    assert [n.split(",")[0] for n in data["notices"]] == ["101 of 1001 samples are shown"]


@pytest.mark.parametrize(("rate", "frames", "degrees"), [(15.0, 1001, None), (16.0, 101, 92), (100.0, 101, 573)])
def test_a_spin_that_frames_cannot_show_is_said(tmp_path: Path, rate: float, frames: int, degrees: int | None) -> None:
    notices = data_of(animate(spinning(1001, rate), tmp_path / "a.html", max_frames=frames))["notices"]
    said = [n for n in notices if "between two frames" in n]
    assert len(said) == (degrees is not None)
    if degrees:
        assert said[0].startswith(f"body 0 turns up to {degrees}° between two frames")


BAD_SHAPES: list[tuple[Any, str]] = [
    (lambda: Sphere(0), "radius must be one positive number; got 0"),
    (lambda: Sphere(math.nan), "radius must be finite"),
    (lambda: Sphere(1, (0, 0)), "centre must be 3 numbers"),
    (lambda: Sphere(1, np.zeros((2, 3))), "centre must be three numbers"),
    (lambda: Ellipsoid((1, -1, 1)), "semi_axes must be three positive lengths"),
    (lambda: Disk(1, axis=(0, 0, 0)), "axis has length zero"),
    (lambda: Disk(1, thickness=-1), "thickness must be one number, zero or more"),
    (lambda: Disk(1, spokes=2), "spokes must be 0 (a solid disk) or at least 3"),
    (lambda: Disk(1, spokes=3.5), "spokes must be a whole number"),  # type: ignore[arg-type]
    (lambda: Box((1, 0, 1)), "size must be three positive lengths"),
    (lambda: Rod((0, 0, 1), (0, 0, 1), 1), "two ends that differ"),
    (lambda: Cylinder(1, -2), "height must be one positive number"),
    (lambda: Axes(-1), "length must be one positive number"),
    (lambda: Plane(normal=(0, 0, 0)), "normal has length zero"),
]


@pytest.mark.parametrize(("make", "message"), BAD_SHAPES, ids=[message for _, message in BAD_SHAPES])
def test_bad_shapes(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        make()


X, Q = np.zeros((2, 3)), np.tile([1.0, 0, 0, 0], (2, 1))
BALL = Actor("ball", X, Q, [Sphere(1)])
BAD_SCENES: list[tuple[Any, str]] = [
    (lambda: Scene([], [BALL]), "times must be a list of at least one number"),  # type: ignore[arg-type]
    (lambda: Scene([0, 0], [BALL]), "times must grow; got 0 s and then 0 s at place 1"),  # type: ignore[arg-type]
    (lambda: Scene([0, math.nan], [BALL]), "times must be finite"),  # type: ignore[arg-type]
    (lambda: Scene(np.arange(3), [BALL]), "positions of 'ball' must have one row for each of the 3 times; got 2 rows"),
    (lambda: Scene(np.arange(2), []), "at least one body"),
    (lambda: Scene(np.arange(2), [Actor("a", X, Q[:1], [Sphere(1)])]), "quaternions of 'a' must have one row"),
    (lambda: Scene(np.arange(2), [BALL], paths=[Trail("p", X[:1])]), "points of 'p' must have one row"),
    (lambda: Scene(np.arange(2), [BALL], ground=(0, 0, 1)), "ground must be a Plane"),  # type: ignore[arg-type]
    (lambda: Scene(np.arange(2), [BALL], up="w"), "up must be one of x, -x, y, -y, z, -z; got 'w'"),
    (lambda: Actor("a", X * math.nan, Q, [Sphere(1)]), "positions of 'a' must be finite"),
    (lambda: Actor("a", X, 0 * Q, [Sphere(1)]), "quaternions of 'a' has length zero"),
    (lambda: Actor("a", X[None], Q, [Sphere(1)]), "of a batch, animate one member"),
    (lambda: Actor("a", X, Q, []), "'a' has no shapes"),
    (lambda: Actor("a", X, Q, ["ball"]), "must be one of polhode.drawing.shapes"),  # type: ignore[list-item]
    (lambda: Actor("a", X, Q, [Plane()]), "must be one of polhode.drawing.shapes"),
]


@pytest.mark.parametrize(("make", "message"), BAD_SCENES, ids=[message for _, message in BAD_SCENES])
def test_bad_scenes(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        make()


def test_target_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.html"
    animate(spinning(3, 1.0, title="first"), path)

    def full(source: Path, target: Path) -> None:
        assert Path(source).parent == tmp_path
        assert Path(source).read_text("utf-8").endswith("</html>\n")  # whole before it is moved
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(OSError, match="disk full"):
            animate(spinning(3, 1.0, title="second"), path)
    assert data_of(path)["title"] == "first"
    assert list(tmp_path.iterdir()) == [path]
    animate(spinning(3, 1.0, title="third"), path)
    assert data_of(path)["title"] == "third"


def test_bad_targets(tmp_path: Path) -> None:
    scene = spinning(3, 1.0)
    (tmp_path / "mine.html").write_text("my page")
    for name, message in [
        ("a.avi", "an animation is written to .html, .gif, .mp4, .glb"),
        ("none/a.html", "there is no folder"),
        ("mine.html", "is not an animation that polhode wrote, so it is not replaced"),
    ]:
        with pytest.raises(InputError, match=message):
            animate(scene, tmp_path / name)
    assert (tmp_path / "mine.html").read_text() == "my page"
    with pytest.raises(InputError, match="max_frames must be a whole number of at least 2"):
        animate(scene, tmp_path / "a.html", max_frames=1)


def javascript(code: str) -> Any:
    """What the viewer's own functions answer, as JSON."""
    source = "".join((FOLDER / f"viewer_{name}.js").read_text("utf-8") for name in ("maths", "meshes"))
    done = subprocess.run([str(NODE), "-"], input=source + code, capture_output=True, text=True, check=True, timeout=30)
    return json.loads(done.stdout)


@pytest.mark.skipif(NODE is None, reason="needs node")
def test_viewer_interpolates_and_projects() -> None:
    angle = 0.8
    out = javascript(
        f"""
        const p = [1, 0, 0, 0], q = [Math.cos({angle / 2}), 0, 0, Math.sin({angle / 2})], times = [0, 1, 3];
        const body = {{ positions: Float32Array.of(0, 0, 0, 2, 0, 0), quaternions: Float32Array.of(...p, ...q) }};
        const eye = [3, -4, 2], look = [1, 1, 1];
        const camera = multiply(perspective(0.6, 1.5, 0.1, 100), lookAt(eye, look, [0, 0, 1]));
        const apply = (M, x) => [0, 1, 2, 3].map((i) => M[i] * x[0] + M[4 + i] * x[1] + M[8 + i] * x[2] + M[12 + i]);
        const light = unit([0.3, -0.5, 1]), flat = shadowMatrix([0, 0, 0.5], unit([0, 0.2, 1]), light);
        console.log(JSON.stringify({{
          half: slerp(p, q, 0.5), other: slerp(p, q.map((x) => -x), 0.5), same: slerp(p, p, 0.3),
          brackets: [-1, 0, 0.5, 1, 2, 3, 9].map((t) => bracket(times, t)), one: bracket([5], 7),
          pose: pose(body, [0, 0.25]), model: modelMatrix({{ x: [1, 2, 3], q }}),
          middle: apply(camera, look), shadow: apply(flat, [2, 3, 4]),
          rounds: [1, 1.9, 2, 4.99, 5, 0.0999, 1000].map(roundDown),
          frames: [[0, 0, 1], [1, 0, 0], [1, 2, 3]].map(frame),
          floats: Array.from(decode(btoa(String.fromCharCode(0, 0, 128, 63)), Float32Array)),
        }}));"""
    )
    half = [math.cos(angle / 4), 0, 0, math.sin(angle / 4)]
    assert out["half"] == pytest.approx(half, abs=1e-15)  # measured: 1.1e-16
    assert out["other"] == pytest.approx(half, abs=1e-15)
    assert out["same"] == [1, 0, 0, 0]
    assert out["brackets"] == [[0, 0], [0, 0], [0, 0.5], [1, 0], [1, 0.5], [1, 1], [1, 1]]
    assert out["one"] == [0, 0]
    assert out["pose"]["x"] == [0.5, 0, 0]
    eighth = [math.cos(angle / 8), 0, 0, math.sin(angle / 8)]
    assert out["pose"]["q"] == pytest.approx(eighth, abs=3e-8)  # float32; measured: 1.6e-9
    c, s = math.cos(angle), math.sin(angle)
    assert out["model"] == pytest.approx([c, s, 0, 0, -s, c, 0, 0, 0, 0, 1, 0, 1, 2, 3, 1], abs=1e-15)
    distance = math.sqrt(4 + 25 + 1)  # what is looked at is in the middle, at its distance
    assert out["middle"][:2] == pytest.approx([0, 0], abs=1e-14)
    assert out["middle"][3] == pytest.approx(distance, rel=1e-14)
    shadow = np.array(out["shadow"][:3])
    assert (shadow - [0, 0, 0.5]) @ [0, 0.2, 1] == pytest.approx(0, abs=1e-14)  # on the plane
    assert np.cross(shadow - [2, 3, 4], [0.3, -0.5, 1]) == pytest.approx(np.zeros(3), abs=1e-14)  # along the light
    assert out["rounds"] == pytest.approx([1, 1, 2, 2, 5, 0.05, 1000], rel=1e-14)
    for e in map(np.array, out["frames"]):
        assert e @ e.T == pytest.approx(np.eye(3), abs=1e-15)
        assert np.linalg.det(e) == pytest.approx(1, abs=1e-15)
    assert out["floats"] == [1]


HALF_SIZES: list[tuple[Shape, tuple[float, float, float]]] = [
    (Sphere(0.5), (0.5, 0.5, 0.5)),
    (Ellipsoid((0.7, 0.4, 0.2)), (0.7, 0.4, 0.2)),
    (Disk(0.5, thickness=0.1), (0.5, 0.5, 0.05)),
    (Disk(0.5, axis=(0, 1, 0)), (0.5, 0.005, 0.5)),  # the ideal disk: 2 % of the radius thick
    (Disk(0.5, axis=(1, 0, 0), thickness=0.08, spokes=12), (0.06, 0.5, 0.5)),  # the hub is 1.5 tyres wide
    (Box((0.9, 0.6, 0.3)), (0.45, 0.3, 0.15)),
    (Rod((0, 0, -0.4), (0, 0, 0.4), 0.05), (0.05, 0.05, 0.4)),
    (Cylinder(0.3, 0.9, axis=(0, 1, 0)), (0.3, 0.45, 0.3)),
]


@pytest.mark.skipif(NODE is None, reason="needs node")
def test_meshes_have_the_size_of_their_shapes(tmp_path: Path) -> None:
    t, x, q = np.zeros(1), np.zeros((1, 3)), Q[:1]
    page = animate(Scene(t, [Actor("a", x, q, [shape for shape, _ in HALF_SIZES])]), tmp_path / "a.html")
    shapes = json.dumps(data_of(page)["bodies"][0]["shapes"])
    meshes = javascript(f"console.log(JSON.stringify({shapes}.map((s) => meshOf([s], [0.2, 0.4, 0.6]))))")
    for (shape, half), mesh in zip(HALF_SIZES, meshes, strict=True):
        vertices = np.reshape(mesh, (-1, 9))
        position, normal, colour = vertices[:, :3], vertices[:, 3:6], vertices[:, 6:]
        assert len(vertices) % 3 == 0
        assert position.max(axis=0) == pytest.approx(half, rel=2e-12), shape
        assert position.min(axis=0) == pytest.approx(np.negative(half), rel=2e-12), shape
        assert np.linalg.norm(normal, axis=1) == pytest.approx(1, abs=1e-12), shape
        if not getattr(shape, "spokes", 0):  # convex about the origin: normals point outward
            assert (np.sum(position * normal, axis=1) > 0).all(), shape
        if not isinstance(shape, Rod):
            assert len(np.unique(colour.round(9), axis=0)) > 1, f"{shape} in one colour hides its rotation"


def blue(image: np.ndarray) -> Any:
    return image[..., 2] - image[..., 0] > 0.1


@pytest.mark.skipif(BROWSER is None, reason="needs a Chrome or Chromium")
def test_a_browser_draws_and_plays_it(tmp_path: Path) -> None:
    """A blue ball, turning and moving 0.2 m, on a grey ground."""
    t = np.linspace(0, 10, 11)
    q = np.stack([np.cos(t / 2), np.sin(t / 2), 0 * t, 0 * t], axis=1)
    ball = Actor("ball", np.outer(t, [0.02, 0, 0]), q, [Sphere(1)])
    path = animate(Scene(t, [ball], Plane((0, 0, -1)), [Trail("path", ball.positions)]), tmp_path / "a.html")
    with Page(path.as_uri(), tmp_path / "profile") as page:
        page.next_frame()
        first = page.picture()
        rows, columns = first.shape[:2]
        third = (slice(rows // 3, 2 * rows // 3), slice(columns // 3, 2 * columns // 3))
        assert blue(first[third]).mean() > 0.95  # measured: 1.0
        assert blue(first[: rows // 20]).mean() < 0.01  # measured: 0.002, the gizmo
        assert len(np.unique((first[third] * 255).round().reshape(-1, 3), axis=0)) > 500  # shading; measured: 1971

        page.evaluate("byId('play').click()")
        page.wait_for("time > 0.3")
        page.evaluate("byId('play').click()")
        assert 0.3 < page.evaluate("time") < 10
        page.next_frame()
        assert np.abs(page.picture()[third] - first[third]).mean() > 0.01  # it turned; measured: 0.11

        middle = (columns / 2, rows / 2)
        yaw, distance = page.evaluate("[camera.yaw, camera.distance]")
        page.mouse("mousePressed", *middle, button="left", buttons=1)
        page.mouse("mouseMoved", middle[0] + 100, middle[1], button="left", buttons=1)
        page.mouse("mouseReleased", middle[0] + 100, middle[1], button="left")
        page.mouse("mouseWheel", *middle, deltaX=0, deltaY=-200)
        page.wait_for(f"camera.distance < {distance}")
        assert page.evaluate("camera.yaw") == pytest.approx(yaw - 0.7, abs=1e-12)
        page.evaluate("byId('follow').value = 0; byId('follow').onchange({ target: byId('follow') }); moveTo(10)")
        assert page.evaluate("focus()") == pytest.approx([0.1, 0, 0], abs=1e-7)  # relative to the middle of its way
        page.evaluate("byId('reset').click()")
        assert page.evaluate("[camera.yaw, camera.distance, camera.follow]") == [yaw, distance, -1]
        page.evaluate("byId('theme').click()")
        page.next_frame()
        assert (first[: rows // 20].mean() > 0.5) != (page.picture()[: rows // 20].mean() > 0.5)

        assert page.evaluate("gl.getError()") == 0
        assert page.evaluate("byId('notices').innerText") == ""
        assert page.requests == [path.as_uri()]
        assert page.errors == []


def test_planes_face_the_bodies_and_tubes_reach_as_far(tmp_path: Path) -> None:
    x = np.array([[0.0, 0, -1], [0, 0, -3]])
    planes = [Plane(normal=(0, 0, 1)), Plane((0, 2, 0), (0, -1, 0)), Plane((0, 0, -2), (0, 0, -1))]
    scene = Scene(np.arange(2), [Actor("a", x, Q, [Sphere(1)])], [*planes, Tube(4, (0, 0, 2))])
    below, beside, within, tube = data_of(animate(scene, tmp_path / "a.html"))["ground"]
    assert below["normal"] == [0, 0, -1]
    assert beside["normal"] == [0, -1, 0]
    assert within["normal"] == [0, 0, 1]  # the bodies lie in it on the average: the upper side
    assert (tube["point"], tube["half"], tube["inside"]) == ([0, 0, 0], 5.0, True)


@pytest.mark.skipif(BROWSER is None, reason="needs a Chrome or Chromium")
def test_a_browser_draws_planes_and_tubes(tmp_path: Path) -> None:
    """From where the camera stands: a floor, a wall behind, a wall before, and a tube around it all."""
    walls = [Plane((0, 0, -0.2)), Plane((0, 0.3, 0), (0, -1, 0)), Plane((0, -0.3, 0), (0, 1, 0))]

    def seen(ground: list[Any]) -> np.ndarray:
        path = animate(Scene(np.arange(2), [Actor("a", X, Q, [Sphere(0.2)])], ground), tmp_path / "a.html")
        with Page(path.as_uri(), tmp_path / "profile") as page:
            page.evaluate("theme(false)")
            page.next_frame()
            assert page.evaluate("[byId('notices').innerText, gl.getError()]") == ["", 0]
            assert page.errors == []
            return page.picture()

    paper = np.array([0xF6, 0xF7, 0xF9]) / 255
    planes, tube = ((np.abs(seen(g) - paper).max(axis=-1) > 0.02).mean() for g in (walls, [Tube(1)]))
    assert planes > 0.75  # measured: 0.89
    assert 0.2 < tube < 0.75  # measured: 0.62
