"""`--set NAME=VALUE`: a number, several with commas, or a range of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.model import InputError
from polhode.model.checks import number, shown
from polhode.model.family import MOST, Range


def by_name(option: str, takes: str, texts: list[str]) -> dict[str, str]:
    """What such an option gives, by name; each once."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (equals and name and value):
            raise InputError(f"{option} takes {takes}; got {shown(text)}")
        if name in found:
            raise InputError(f"{option} {shown(name)} is given twice; give it once")
        found[name] = value
    return found


def settings_of(texts: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in by_name("--set", "NAME=VALUE with a number, or several with commas", texts).items():
        if ":" in value:
            found[name] = _range(name, value)
            continue
        parts = [number(f"--set NAME=VALUE: {name}", part) for part in value.split(",")]
        found[name] = parts[0] if len(parts) == 1 else parts
    return found


def _range(name: str, text: str) -> Any:
    """FROM:TO:COUNT, numbers evenly spaced, both ends among them."""
    parts = text.split(":")
    count = parts[2].strip() if len(parts) == 3 else ""
    if not (count.isascii() and count.isdigit() and len(count) < 9 and 2 <= int(count) <= MOST):
        raise InputError(
            f"--set {name}=FROM:TO:COUNT is a batch of COUNT numbers from FROM to TO, 2 to {MOST:,} of them; got "
            f"{shown(text)}"
        )
    low, high = (number(f"--set {name}=FROM:TO:COUNT", part) for part in parts[:2])
    return Range(np.linspace(low, high, int(count)).tolist())
