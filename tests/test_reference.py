"""The reference: every public name says what it is, and so do its methods and properties."""

import importlib
import inspect

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
