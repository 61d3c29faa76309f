"""The reference: every public name, from its docstring.

`{public} polhode.multibody` with names below it documents these. What a module has in `__all__` and no page documents
is a warning, and so an error. Docstrings are plain text in the manner of the house: a word in backquotes is code, and
lines `name   meaning` are a list.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from functools import cached_property
from pathlib import Path
from typing import Any

from docutils.parsers.rst import directives
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.inspect import signature, stringify_signature

import polhode

DOCS = Path(__file__).resolve().parents[1]
MODULES = ("polhode", *(f"polhode.{name}" for name in polhode._MODULES), "polhode.drawing.shapes")
KINDS = (classmethod, staticmethod, property, cached_property)
SHORT = {"ph": "polhode", "mb": "polhode.multibody", "polhode": "polhode"}
log = logging.getLogger(__name__)


def public(module: str) -> list[str]:
    """Names of a module that are for users: its `__all__`, or what it defines itself."""
    found = importlib.import_module(module)
    defined = [
        name
        for name, value in vars(found).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module
    ]
    return list(getattr(found, "__all__", defined))


def one(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


def homes() -> dict[str, str]:
    """Every public name, `polhode.multibody.Ball`, and the one under which its object is documented: the first."""
    first: dict[int, str] = {}
    found = {}
    for module in MODULES:
        for name in public(module):
            value = one(module, name)
            if inspect.ismodule(value):
                continue
            full = f"{module}.{name}"
            shared = isinstance(value, type) or inspect.isfunction(value)
            found[full] = first.setdefault(id(value), full) if shared else full
    return found


class Public(SphinxDirective):
    """Documents names of a module."""

    required_arguments = 1
    has_content = True
    option_spec = {"members": directives.flag}  # noqa: RUF012 (docutils wants a dict)

    def run(self) -> list[Any]:
        (module,) = self.arguments
        lines = ["```{eval-rst}"]
        for name in " ".join(self.content).split():
            value = one(module, name)
            if isinstance(value, type):
                lines += [f".. autoclass:: {module}.{name}"]
                if "members" in self.options:
                    lines += ["   :members:"]
            elif inspect.isfunction(value):
                lines += [f".. autofunction:: {module}.{name}"]
            else:
                lines += [f".. autodata:: {module}.{name}", "   :no-value:"]
            lines += [""]
        lines += ["```"]
        return self.parse_text_to_nodes("\n".join(lines))


# Docstrings.


def doc_of(owner: type, member: str) -> str:
    """What is said of a member of a class, by it or by a class that it derives from. (`inspect.getdoc` would also say
    what the type of a value in the place of a property is.)"""
    for place in owner.__mro__:
        found = vars(place).get(member)
        said = found.__doc__ if callable(found) or isinstance(found, KINDS) else None
        if said:
            return inspect.cleandoc(said)
    return ""


def members(owner: type) -> list[str]:
    """Methods and properties that a class itself defines, for users."""
    return [
        name
        for name, value in vars(owner).items()
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, KINDS))
    ]


def says(owner: type) -> str:
    """The docstring of a class, unless dataclasses made it up."""
    text = owner.__dict__.get("__doc__") or ""
    return "" if text.startswith(f"{owner.__name__}(") else text


_CODE = re.compile(r"(``.*?``|`[^`]*`)")
_ROW = re.compile(r"^(?P<name>[A-Za-z_][\w, =`.*()-]{0,40}?) {2,}(?P<text>\S.*)$")


def escaped(line: str) -> str:
    """With what reStructuredText would take for markup, outside of code, as it stands."""
    parts = _CODE.split(line)
    for k in range(0, len(parts), 2):
        parts[k] = re.sub(r"([*|\\])", r"\\\1", parts[k])
        parts[k] = re.sub(r"(?<=\w)_(?!\w)", r"\\_", parts[k])
    return "".join(parts)


def in_paragraphs(lines: list[str]) -> list[str]:
    """Rows `name   meaning` as a definition list, indented lines as code, all else as it is."""
    out: list[str] = []
    k = 0
    while k < len(lines):
        line = lines[k]
        row = _ROW.match(line)
        if row:
            rest = [row["text"]]
            while k + 1 < len(lines) and lines[k + 1].startswith("    ") and lines[k + 1].strip():
                k += 1
                rest.append(lines[k].strip())
            out += ["", f":{row['name'].strip('`')}: {escaped(' '.join(rest))}"]
            if k + 1 < len(lines) and not _ROW.match(lines[k + 1]):
                out.append("")
        elif line.startswith("    ") and (not out or not out[-1].strip()):
            out += ["::", ""]
            while k < len(lines) and (lines[k].startswith("    ") or not lines[k].strip()):
                out.append(lines[k])
                k += 1
            out.append("")
            continue
        else:
            out.append(escaped(line))
        k += 1
    return out


def _docstring(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    text = "\n".join(lines)
    if what == "class":
        text = inspect.cleandoc(says(thing))
    elif not text.strip() and what in ("method", "property", "attribute"):
        module, owner, member = name.rsplit(".", 2)
        text = doc_of(one(module, owner), member)
    lines[:] = in_paragraphs(text.split("\n"))
    if pages := app.shown_in.get(name):
        links = ", ".join(f":doc:`/{page}`" for page in pages[:6])
        lines += ["", f"*Examples:* {links}", ""]


def _signature(app: Any, what: str, name: str, thing: Any, options: Any, said: Any, returned: Any) -> Any:
    """Of `__init__`, also where a class has a `__new__` that passes on what it is given."""
    if what != "class" or not {"__init__", "__new__"} <= set(vars(thing)):
        return None
    found = signature(thing.__init__, bound_method=True)
    return stringify_signature(found, show_return_annotation=False, unqualified_typehints=True), None


def _base(app: Any, name: str, thing: Any, options: Any, bases: list[Any]) -> None:
    bases[:] = [base for base in bases if base.__module__.startswith("polhode.")] or [object]


def shown_in() -> dict[str, list[str]]:
    """In which pages an example uses a public name."""
    home = homes()
    found: dict[str, list[str]] = {}
    for path in sorted(DOCS.rglob("*.md"), key=lambda p: ("gallery" in p.parts, p)):
        page = path.relative_to(DOCS).with_suffix("").as_posix()
        text = path.read_text(encoding="utf-8")
        for code in re.findall(r"^ *```python\n(.*?)^ *```", text, re.M | re.S):
            for full in sorted(names_in(code)):
                if (at := home.get(full)) and page not in found.setdefault(at, []):
                    found[at].append(page)
    return found


def names_in(code: str) -> set[str]:
    """Full names in an example: `ph.exp`, `mb.shapes.Disk`, `from polhode.methods import DMV`."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("polhode"):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Attribute):
            first, _, rest = ast.unparse(node).partition(".")
            if first in SHORT:
                found.add(f"{SHORT[first]}.{rest}".replace("multibody.shapes", "drawing.shapes"))
    return found


def _complete(app: Any, env: Any) -> None:
    documented = set(env.get_domain("py").objects)
    if app.config.examples == "alone":
        return
    for full, home in homes().items():
        if home == full and full not in documented and not full.endswith("__version__"):
            log.warning(f"{full} is public and stands in no page of the reference; add it to docs/api")


def setup(app: Any) -> dict[str, bool]:
    app.shown_in = shown_in()
    app.add_directive("public", Public)
    app.connect("autodoc-process-docstring", _docstring)
    app.connect("autodoc-process-bases", _base)
    app.connect("autodoc-process-signature", _signature)
    app.connect("env-check-consistency", _complete)
    return {"parallel_read_safe": True}
