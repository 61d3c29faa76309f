"""What a saved run says of how to make it again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polhode._notices import warn
from polhode.model import InputError
from polhode.model.described import made
from polhode.model.imported import imported
from polhode.results.dataset import WITHOUT_CHECKSUMS
from polhode.results.rerun import differences
from polhode.results.store import attributes as attributes_of


@dataclass(frozen=True)
class SavedMethod:
    """A method as a file names it. It is made when it is used, as that may import what the file names."""

    source: str
    data: Any  # a name, module:name, or a class and its options
    options: str | None  # in files that do not hold them: how they were printed
    trust: bool

    def made(self, find: Callable[[Any], Any]) -> Any:
        """By `find` from a name. An InputError if it is not certainly the method of the file."""
        try:
            if isinstance(self.data, str) and ":" in self.data:
                method = find(imported(self.data, trust=self.trust))
            elif isinstance(self.data, str):
                method = find(self.data)
            else:
                method = find(made(self.data, trust=self.trust))
        except InputError as error:
            raise InputError(f"{self.source}: {error}") from error
        if self.options is not None and repr(method.options) != self.options:
            raise InputError(
                f"{self.source} was made by {method.name} with the options {self.options}, which its recipe does not "
                "hold, so it cannot be run again from the file; name a method with --method to run it otherwise"
            )
        return method


def read_recipe(path: Path, *, trust: bool) -> tuple[dict[str, Any], SavedMethod | None]:
    """The input of the run, and its method. A notice if this machine is not the one it was made on."""
    source, attributes = str(path), attributes_of(path)
    recipe = _parsed(source, attributes)
    run = recipe.get("run")
    data = run.pop("method", None) if isinstance(run, dict) else None
    if changed := differences(attributes.get("environment")):
        warn(f"{source}: run again, the last bits of its numbers may differ: {'; '.join(changed)}")
    if data is None:
        return recipe, None
    if not isinstance(data, str | dict):
        raise InputError(f"{source}: the recipe is spoilt: its method is {data!r:.80}")
    before = None if attributes["format"] != WITHOUT_CHECKSUMS else str(attributes.get("method_options"))
    return recipe, SavedMethod(source, data, before, trust)


def _parsed(source: str, attributes: dict[str, Any]) -> dict[str, Any]:
    text = attributes.get("recipe")
    if not text:
        why = attributes.get("recipe_meaning") or "it has no recipe"
        raise InputError(f"{source!r} cannot be run again from the file: {why}")
    try:
        recipe = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{source}: the recipe is spoilt, so it cannot be run again: {error}") from error
    if not isinstance(recipe, dict):
        raise InputError(f"{source}: the recipe is spoilt, so it cannot be run again: it is {recipe!r:.80}")
    return recipe
