"""The gallery: a card for every page of docs/gallery, with the first picture that its example showed."""

from __future__ import annotations

import json
import re
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


def thumbnail(name: str) -> tuple[str, str] | None:
    """The first picture of a page of the gallery and what it shows."""
    said = KEPT / f"gallery-{name}" / "outputs.json"
    if not said.exists():
        return None
    for output in json.loads(said.read_text(encoding="utf-8"))["outputs"]:
        for file in output["files"]:
            if file.endswith((".svg", ".png")):
                return f"gallery-{name}/{file}", output["label"]
    return None


def is_wide(path: Path) -> bool:
    """Panels side by side, of which a card shows the first ones."""
    text = path.read_text(encoding="utf-8") if path.suffix == ".svg" else ""
    size = re.search(r'<svg[^>]*? width="([\d.]+)pt" height="([\d.]+)pt"', text)
    return size is not None and float(size[1]) > 2.2 * float(size[2])


def _pictures(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Put in when all pages have run."""
    body = context.get("body", "")
    if "<!-- picture of " not in body:
        return
    up = "../" * page.count("/")
    for part in body.split("<!-- picture of ")[1:]:
        name = part.split(" -->")[0]
        found = thumbnail(name) if app.config.examples != "none" else None
        wide = ' class="wide"' if found and is_wide(KEPT / found[0]) else ""
        picture = f'<img{wide} src="{up}_examples/{found[0]}" alt="{found[1]}" loading="lazy">' if found else ""
        body = body.replace(f"<!-- picture of {name} -->", picture)
    context["body"] = body


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("gallery", Gallery)
    app.connect("html-page-context", _pictures)
    return {"parallel_read_safe": True}
