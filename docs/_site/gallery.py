"""The gallery: a card for every page of docs/gallery, with the first picture that its example showed."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from examples import KEPT
from sphinx.util.docutils import SphinxDirective

DOCS = Path(__file__).resolve().parents[1]


class Gallery(SphinxDirective):
    """Cards of these pages."""

    has_content = True

    def run(self) -> list[Any]:
        lines = ["::::{grid} 1 2 3 3", ":gutter: 3", ":class-container: gallery", ""]
        for name in " ".join(self.content).split():
            page = DOCS / "gallery" / f"{name}.md"
            self.env.note_dependency(str(page))
            title = page.read_text(encoding="utf-8").split("\n")[0].removeprefix("# ")
            lines += [f":::{{grid-item-card}} {title}", f":link: {name}", ":link-type: doc", ":text-align: center"]
            lines += [f"<!-- picture of {name} -->", ":::"]
        lines += ["::::"]
        return self.parse_text_to_nodes("\n".join(lines))


def thumbnail(name: str) -> tuple[str, str, str] | None:
    """Of a page of the gallery its picture of bodies, or else its first: the file, what it shows, and which of both."""
    said = KEPT / f"gallery-{name}" / "outputs.json"
    if not said.exists():
        return None
    outputs = json.loads(said.read_text(encoding="utf-8"))["outputs"]
    for output in sorted(outputs, key=lambda output: not output["bodies"]):
        for file in output["files"]:
            if file.endswith((".svg", ".png")):
                return f"gallery-{name}/{file}", output["label"], "bodies" if output["bodies"] else "picture"
    return None


def _pictures(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Put in when all pages have run."""
    body = context.get("body", "")
    if "<!-- picture of " not in body:
        return
    up = "../" * page.count("/")
    for part in body.split("<!-- picture of ")[1:]:
        name = part.split(" -->")[0]
        found = thumbnail(name) if app.config.examples != "none" else None
        picture = ""
        if found is not None:
            file, label, kind = found
            picture = f'<img class="{kind}" src="{up}_examples/{file}" alt="{escape(label)}" loading="lazy">'
        body = body.replace(f"<!-- picture of {name} -->", picture)
    context["body"] = body


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("gallery", Gallery)
    app.connect("html-page-context", _pictures)
    return {"parallel_read_safe": True}
