"""The reference: every public name says what it is, and so do its methods and properties."""

import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import pytest
from pages import DOCS

pytest.importorskip("sphinx")
import reference

HOMES = reference.homes()


@pytest.mark.parametrize("module", reference.MODULES)
def test_every_public_name_has_a_docstring(module: str) -> None:
    found = importlib.import_module(module)
    assert inspect.getdoc(found)
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (DOCS / "api").glob("*.md"))
    silent = []
    for name in reference.public(module):
        value = getattr(found, name)
        if isinstance(value, type):
            silent += [] if reference.says(value) else [name]
            silent += [f"{name}.{m}" for m in reference.members(value) if not reference.doc_of(value, m)]
        elif inspect.isfunction(value) or inspect.ismodule(value):
            silent += [] if inspect.getdoc(value) else [name]
        elif name != "__version__":  # a value: its page says what it is
            silent += [] if f"{{py:data}} {module}.{name}\n" in pages else [name]
    assert silent == []


def test_names_are_documented_where_they_are_met_first() -> None:
    assert HOMES["polhode.rotation.RigidBody"] == "polhode.RigidBody"
    assert HOMES["polhode.multibody.Ball"] == "polhode.multibody.Ball"
    assert len(set(HOMES.values())) > 150


def test_docstrings_become_paragraphs_and_lists() -> None:
    text = [
        "Rolls: |x|, *batch and `a_`.",
        "",
        "radius  m, of",
        "        the wheel",
        "name    a word",
        "",
        "And.",
    ]
    assert [line for line in reference.in_paragraphs(text) if line] == [
        r"Rolls: \|x\|, \*batch and `a_`.",
        ":radius: m, of the wheel",
        ":name: a word",
        "And.",
    ]


def test_examples_are_found_by_the_names_they_use() -> None:
    code = "import polhode as ph\nfrom polhode.methods import DMV\nph.simulate(ph.problem('book'), method=DMV())"
    assert {"polhode.simulate", "polhode.problem", "polhode.methods.DMV"} <= reference.names_in(code)
    used = reference.shown_in()
    assert "tour" in used["polhode.simulate"]


def test_every_public_name_has_an_example() -> None:
    """That runs when the site is built. Names of others alone stand in annotations; a sweep starts processes."""
    used = reference.shown_in()
    others = {"polhode.sweep", "polhode.algebra.Scalar", "polhode.solve.Residual", "polhode.__version__"}
    assert [home for home in sorted(set(HOMES.values())) if home not in used and home not in others] == []


# Units and frames. What a quantity is called says what it is, in signatures as in the glossary of a textbook.

MEASURED_IN = {
    "kg": "mass masses",
    "kg m²": "inertia inertias tensor moments",
    "kg/m³": "density",
    "m": "radius length height size thickness semi_axes position positions vertices about at_a at_b point points arm "
    "centre traces",
    "m/s": "velocity velocities point_velocity",
    "m/s²": "g",
    "rad": "angle",
    "rad|m/s": "psi",  # a rotation vector, or rows of constraints
    "rad/s": "omega omegas spin fastest",
    "kg m²/s": "momentum spatial_momentum Pi angular_momentum",
    "kg m/s": "linear_momentum",
    "N": "force loads",
    "N m": "torque moment",
    "J": "energy kinetic potential",
    "N/m": "stiffness",
    "s": "t t0 h until step times seconds every_seconds",
}
UNITS = {name: unit for unit, names in MEASURED_IN.items() for name in names.split()}
VECTORS = """inertia inertias tensor moments position positions vertices about at_a at_b point points centre arm traces
velocity velocities point_velocity omega omegas spin momentum spatial_momentum Pi angular_momentum linear_momentum force
torque moment loads axis axis_b normal direction directors attitude quaternions rotations semi_axes size g"""
OF_A_FRAME = set(VECTORS.split())


def holds_numbers(annotation: Any) -> bool:
    """Whether a type may hold a quantity; what has none says nothing of it."""
    words = set(re.findall(r"\w+", str(annotation)))
    numbers = {"Any", "float", "Scalar", "Vec3", "Mat3", "Quaternion", "ndarray", "Vector"}
    return bool(words & numbers) and not words & {"Callable", "dict", "Mapping"}


def unsaid(name: str, annotation: Any, text: str) -> list[str]:
    """What a docstring does not say of a quantity: its unit, as in `(m, space axes)` or `g  m/s²`; its frame."""
    if not holds_numbers(annotation):
        return []
    found, unit = [], UNITS.get(name)
    if unit and not re.search(rf"(?:[(,:;] ?|  |\bin |\bor )({unit})(?=[),;.:]|$| or )", text, re.M):
        found.append(unit)
    if name in OF_A_FRAME and not re.search(r"\b(body|space|principal|ground)\b", text):
        found.append("frame")
    return found


def quantities() -> Iterator[tuple[str, str, Any, str]]:
    """Of all that is public: where, a name, its type, and the docstring that has to say what it is."""

    def given(where: str, function: Any, text: str) -> Iterator[tuple[str, str, Any, str]]:
        for p in inspect.signature(function).parameters.values():
            if p.kind is not p.VAR_POSITIONAL:
                yield where, p.name, p.annotation, text

    for full in sorted(set(HOMES.values())):
        value = reference.one(*full.rsplit(".", 1))
        if inspect.isfunction(value):
            text = inspect.getdoc(value) or ""
            yield full, value.__name__, inspect.signature(value).return_annotation, text
            yield from given(full, value, text)
        elif inspect.isclass(value) and value.__module__.startswith("polhode"):
            if "__init__" in vars(value):
                yield from given(full, value.__init__, reference.says(value))
            for name in reference.members(value):
                raw, text = vars(value)[name], reference.doc_of(value, name)
                function = next((f for at in ("__func__", "fget", "func") if (f := getattr(raw, at, None))), raw)
                yield f"{full}.{name}", name, inspect.signature(function).return_annotation, text
                if not isinstance(raw, property | cached_property):
                    yield from given(f"{full}.{name}", function, text)


def test_every_quantity_has_its_unit_and_its_frame() -> None:
    """The SI unit of whatever has a dimension, and the axes of vectors, body or space, in the docstring."""
    looked = [x for x in quantities() if x[1] in UNITS.keys() | OF_A_FRAME and holds_numbers(x[2])]
    found = [(where, name, unsaid(name, kind, text)) for where, name, kind, text in looked]
    assert [each for each in found if each[2]] == []
    assert len(looked) > 250


def test_what_is_not_said_is_found() -> None:
    """`m` is a unit where it is put as one, not a mass in a formula; a word for a choice has none."""
    assert unsaid("radius", float, "A ball.") == ["m"]
    assert unsaid("centre", "Vector", "Σ m r of a ball") == ["m", "frame"]
    assert unsaid("centre", "Any", "The middle (m, space axes).") == unsaid("g", "Any", "g  m/s², space axes") == []
    assert unsaid("omega", "Vec3", "Ω (rad/s)") == ["frame"]
    assert unsaid("energy", "str", "exact, bounded or drifts") == []
