"""Declared versions: the lowest can be asked for, and those that `make` installs are no lower."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import lowest
import pytest

ROOT = Path(__file__).parents[1]
PINS = re.findall(r"^([\w-]+)==([\w.]+)", (ROOT / "constraints.txt").read_text(encoding="utf-8"), flags=re.MULTILINE)


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


@pytest.mark.parametrize(("name", "least"), (lowest.minimums() | lowest.minimums("test")).items())
def test_what_make_installs_is_not_lower_than_declared(name: str, least: str) -> None:
    """Each is pinned, once or for several Pythons."""
    pinned = [version for pin, version in PINS if pin == name]
    assert pinned
    assert all(numbers(version) >= numbers(least) for version in pinned)


def test_the_lowest_are_constraints_for_pip() -> None:
    printed = subprocess.run([sys.executable, lowest.__file__], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == [f"{name}=={version}" for name, version in lowest.minimums().items()]
    assert len(printed.splitlines()) >= 14


def test_a_requirement_without_a_minimum_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = lowest.PROJECT.read_text(encoding="utf-8")
    for wrong in ("numpy", "numpy>=2.0,<3", "numpy==2.0"):
        changed = tmp_path / "pyproject.toml"
        changed.write_text(re.sub(r"numpy>=[\d.]+", wrong, text), encoding="utf-8")
        monkeypatch.setattr(lowest, "PROJECT", changed)
        with pytest.raises(SystemExit, match=f"'{wrong}' in pyproject.toml does not read name>=version"):
            lowest.minimums()
