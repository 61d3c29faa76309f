"""Tables that polhode itself declares: methods, problems, and the tables and keys of an input file."""

from __future__ import annotations

import inspect
import types
import typing
from typing import Any

from sphinx.util.docutils import SphinxDirective

from polhode.inputs.schema import InputFile, Number, Whole
from polhode.methods import all_methods
from polhode.problems import PROBLEMS


def table(headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    cells = [headings, ("---",) * len(headings), *rows]
    return ["| " + " | ".join(c.replace("|", "\\|").replace("\n", " ") for c in row) + " |" for row in cells]


class Methods(SphinxDirective):
    """Of a kind, "rotation" or "system", with what they claim; every claim is tested."""

    required_arguments = 1

    def run(self) -> list[Any]:
        (kind,) = self.arguments
        rows = []
        for m in all_methods(kind).values():
            t = m.traits
            geometry = "symplectic" if t.symplectic else "Poisson" if t.poisson else ""
            loads = {"none": "free motion", "attitude": "of attitude and time", "any": "any"}[t.loads]
            kept = (t.energy, t.spatial_momentum)
            more = (geometry, loads) if kind == "rotation" else (t.joints, t.slip)
            rows.append((f"`{m.name}`", f"{t.order:g}", *kept, *more, m.summary))
        more = ("geometry", "loads") if kind == "rotation" else ("joints", "slip")
        return self.parse_text_to_nodes(
            "\n".join(table(("method", "order", "energy", "momentum", *more, "what it is"), rows))
        )


class Problems(SphinxDirective):
    """Every built-in problem with its parameters."""

    def run(self) -> list[Any]:
        lines: list[str] = []
        for p in PROBLEMS.values():
            said = inspect.getdoc(inspect.getmodule(p.make)) or ""
            lines += ["", f"**`{p.name}`**: {p.title}. {said.split(chr(10) * 2)[0]}", ""]
            rows = []
            for q in p.parameters:
                default = ", ".join(f"{v:g}" for v in q.default) if isinstance(q.default, tuple) else f"{q.default:g}"
                rows.append((f"`{q.name}`", default, q.unit, q.meaning))
            lines += table(("parameter", "default", "unit", "meaning"), rows)
            lines += ["", f"Runs with `{p.method}`, step {p.step:g} s, until {p.until:g} s, unless said otherwise."]
        return self.parse_text_to_nodes("\n".join(lines))


def spoken(annotation: Any) -> str:
    """A type in words."""
    if annotation == Number:
        return "number"
    if annotation == Whole or annotation is int:
        return "whole number"
    if annotation is float:
        return "number"
    if annotation is str:
        return "text"
    if annotation is bool:
        return "true or false"
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return spoken(arguments[0])
    if origin in (types.UnionType, typing.Union):
        words = list(dict.fromkeys(spoken(a) for a in arguments if a is not type(None)))
        if "number" in words and "whole number" in words:
            words.remove("whole number")
        return " or ".join(words)
    if origin is list:
        inner = spoken(arguments[0])
        return f"list of {inner.replace('number', 'numbers', 1) if inner.startswith('number') else inner + 's'}"
    if origin is dict:
        return "table of numbers or lists of numbers"
    return "table"


def model_of(annotation: Any) -> Any:
    """The table that a field holds, if it is one."""
    if isinstance(annotation, type) and hasattr(annotation, "model_fields"):
        return annotation
    return next((m for a in typing.get_args(annotation) if (m := model_of(a))), None)


class FileFormat(SphinxDirective):
    """The tables and keys of an input file, from the models that check it."""

    def run(self) -> list[Any]:
        lines: list[str] = []

        def section(model: Any, path: str) -> None:
            said = inspect.cleandoc(model.__dict__.get("__doc__") or "")
            lines.extend(["", f"**`{path}`**" if path else "**At the top**", "", said, ""])
            rows, inner = [], []
            for key, field in model.model_fields.items():
                below = model_of(field.annotation)
                default = "" if field.default is None or below else f"{field.default!r}".replace("'", '"')
                default = "required" if field.is_required() else default
                if below:
                    several = typing.get_origin(field.annotation) is list
                    name = f"[[{key}]]" if several else f"[{(path.strip('[]') + '.' + key).strip('.')}]"
                    inner.append((below, name))
                    rows.append((f"`{key}`", f"table `{name}`", default))
                else:
                    rows.append((f"`{key}`", spoken(field.annotation), f"`{default}`" if default else ""))
            lines.extend(table(("key", "holds", "unless given"), rows))
            for below, name in inner:
                section(below, name)

        section(InputFile, "")
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("methods", Methods)
    app.add_directive("problems", Problems)
    app.add_directive("file-format", FileFormat)
    return {"parallel_read_safe": True}
