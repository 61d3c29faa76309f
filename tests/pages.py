"""Pages of the docs, run in the tests by the same `run` that shows them in the site."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_site"))

import examples  # noqa: E402

RUN_BY_NAME = ("accuracy", "batches", "flow", "loads", "runs")  # with what they say, in tests of their own


def texts() -> dict[str, str]:
    """Every page with examples, by name."""
    found = {}
    for path in sorted(DOCS.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        if examples.blocks(text):
            found[path.relative_to(DOCS).with_suffix("").as_posix()] = text
    return found


def run_page(name: str, folder: Path) -> tuple[dict[str, Any], list[Any]]:
    """What the examples of a page, or of a file such as README.md, define, and what each showed."""
    path = ROOT / name if name.endswith(".md") else DOCS / f"{name}.md"
    return examples.run(path.read_text(encoding="utf-8"), name, folder)
