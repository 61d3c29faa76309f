"""The lowest versions that pyproject.toml declares, as constraints for pip: `python tests/lowest.py`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def minimums(group: str | None = None) -> dict[str, str]:
    """Version by name, of what polhode needs to run or of one of its extras."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"] if group is None else project["optional-dependencies"][group]
    found = {}
    for requirement in wanted:
        match = re.fullmatch(r"([\w-]+)>=([\w.]+)", requirement)
        if match is None:
            raise SystemExit(f"{requirement!r} in pyproject.toml does not read name>=version")
        found[match[1]] = match[2]
    return found


if __name__ == "__main__":
    for name, version in minimums().items():
        print(f"{name}=={version}")
