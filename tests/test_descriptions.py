"""How systems are described: what help says, and a sentence for everything that cannot be."""

import inspect
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import polhode as ph
from polhode import multibody as mb
from polhode.model import InputError

SYSTEM: Any = mb.System  # given what its types forbid
A = mb.Body("a", 1.0, (1, 1, 1))
JOINTS = [mb.Ball, mb.Fixed, mb.Revolute, mb.Universal, mb.Prismatic, mb.Cylindrical, mb.Planar, mb.Distance]
CONTACTS = [mb.RollingDisk, mb.RollingSphere, mb.SphereOnCylinder, mb.KnifeEdge]
FORCES = [mb.Gravity, mb.Spring, mb.Damper, mb.Force, mb.Torque, mb.Potential]


@pytest.mark.parametrize("kind", [*JOINTS, *CONTACTS, *FORCES, mb.Holonomic, mb.Nonholonomic])
def test_help_says_what_each_argument_is_and_shows_no_other(kind: type) -> None:
    said = inspect.getdoc(kind) or ""
    arguments = [n for n in inspect.signature(kind).parameters if n not in ("fn", "by_keyword")]
    assert [name for name in arguments if name not in said] == []
    for inner in ("triad_a", "triad_b", "tangents", "uses", "masses", "holonomic"):
        assert inner not in arguments
        with pytest.raises((TypeError, InputError)):
            kind("a", "b", 1.0, **{inner: 1})
    if kind in JOINTS:
        assert "m, body axes, from the centre" in said
        assert "space axes" in said


def test_what_no_user_gives_is_kept_by_jax_and_by_copies() -> None:
    bodies = [A, mb.Body("b", 1.0, (1, 1, 1), position=(1, 0, 0))]
    named = {body.name: body for body in bodies}
    bound = mb.Revolute("a", "b", (0.5, 0, 0), (0, 0, 2)).bind(named)
    again = jax.tree.map(lambda x: x, bound)
    np.testing.assert_allclose(again.triad_a[:, 2], (0, 0, 1), atol=1e-15)
    np.testing.assert_allclose(again.at_b, (-0.5, 0, 0), atol=1e-15)
    (leaf, *_), _ = jax.tree_util.tree_flatten_with_path(bound)
    assert str(leaf[0][0]) == ".at_a"
    gravity = jax.tree.map(lambda x: 2 * x, mb.Gravity((0, 0, -1)).bind(named))
    assert gravity.uses == ("a", "b")
    assert gravity.g.tolist() == [0, 0, -2]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: SYSTEM(A), r"bodies must be a list, also of one: bodies=\[...\]; got Body alone"),
        (lambda: SYSTEM([A], forces=mb.Gravity()), r"forces must be a list, also of one.*got Gravity alone"),
        (lambda: SYSTEM([A], constraints=mb.KnifeEdge("a")), "constraints must be a list, also of one"),
        (lambda: SYSTEM("a"), "bodies must be a list; got 'a'"),
        (lambda: SYSTEM(3), "bodies must be a list; got 3"),
        (lambda: SYSTEM([A], forces={"g": mb.Gravity()}), "forces must be a list"),
        (lambda: SYSTEM([A], forces=[mb.KnifeEdge("a")]), "forces must be a list of forces"),
        (lambda: SYSTEM(["a"]), "bodies must be a list of bodies"),
        (lambda: SYSTEM([A], observables=[lambda view: 0.0]), "observables must be a dictionary"),
    ],
)
def test_one_thing_is_no_list(make: Callable[[], Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()


def test_bodies_may_come_from_anything_that_lists_them() -> None:
    made = SYSTEM((body for body in [A]), forces=(f for f in [mb.Gravity()]))
    assert made.masses.tolist() == [1.0]


def _raises(view: Any) -> Any:
    raise KeyError


def _bad(view: Any) -> Any:
    return np.sin(view.position("a"))


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (_bad, "TracerArrayConversionError"),
        (lambda view: math.sin(view.t), "ConcretizationTypeError|TypeError"),
        (lambda view: view.position("a") if view.t > 1 else 0.0, "TracerBoolConversionError"),
        (lambda view: None, "TypeError|ValueError"),
        (lambda view: view.position("a") @ jnp.ones(4), "TypeError"),
        (lambda view, k: view.position("a"), "TypeError"),
        (_raises, "KeyError"),
    ],
)
def test_a_function_that_fails_is_answered_by_a_sentence(function: Any, error: str) -> None:
    """One mechanism for forces, potentials, constraints and what is observed; and for one body."""
    for what, make in {
        "Force on 'a'": lambda: SYSTEM([A], forces=[mb.Force("a", function)]),
        "Torque on 'a'": lambda: SYSTEM([A], forces=[mb.Torque("a", function)]),
        "a Potential": lambda: SYSTEM([A], forces=[mb.Potential(function)]),
        "Holonomic 'wire'": lambda: SYSTEM([A], constraints=[mb.Holonomic(function, "wire")]),
        "Nonholonomic 'wire'": lambda: SYSTEM([A], constraints=[mb.Nonholonomic(function, "wire")]),
        "observable 'x'": lambda: SYSTEM([A], observables={"x": function}),
        "trace 'x'": lambda: SYSTEM([A], traces={"x": function}),
    }.items():
        says = rf"^the function of {what} failed: ({error}).*given a view.*use jax.numpy, not numpy or math"
        with pytest.raises(InputError, match=says):
            make()


@pytest.mark.parametrize(
    ("angle", "says"),
    [
        (np.sin, r"joint 'revolute ground-a' \(its angle\) failed: TracerArrayConversionError.*use jax.numpy"),
        (3.0, "angle must be a function of time; got 3.0"),
        (lambda t: (t, t), r"angle must return one number; it returned shape \(2,\)"),
    ],
)
def test_a_drive_that_cannot_be(angle: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        mb.Revolute("ground", "a", (0, 0, 0), (0, 0, 1), angle=angle).bind({"a": A})


def test_warnings_name_the_line_of_the_user(tmp_path: Path) -> None:
    """From a script of its own, and from where polhode is deep inside itself."""
    script = tmp_path / "mine.py"
    script.write_text(
        "import jax\n"
        "jax.numpy.ones(1).block_until_ready()\n"
        "import polhode as ph\n"
        "top = ph.RigidBody((5, 5, 1))\n"
        "ph.simulate(top, None, ph.State.of(omega=(1, 0, 0)), step=0.3, until=1)\n"
        "ph.quotient('free-body', 'imidm', 0.3, until=1)\n",
        encoding="utf-8",
    )
    env = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "XLA_"))}
    command = [sys.executable, "-W", "always", str(script)]
    told = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    lines = [line.rsplit(": UserWarning", 1)[0] for line in told.stderr.splitlines() if ": UserWarning" in line]
    assert lines[:3] == [f"{script}:{n}" for n in (3, 5, 6)]


def test_no_warning_is_given_in_any_other_way() -> None:
    """`stacklevel` counts calls, and is wrong as soon as one is added."""
    root = Path(ph.__file__).parent
    found = [p.name for p in root.rglob("*.py") if "warnings.warn(" in p.read_text(encoding="utf-8")]
    assert found == []
