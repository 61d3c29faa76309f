"""What a file says of how to make its run again: the recipe, and with what it was made, for the last bits."""

from __future__ import annotations

import json
import os
import platform
from functools import cache, partial
from pathlib import Path
from typing import Any

import jax
import jaxlib
import numpy as np

from polhode import __version__
from polhode.model.described import NotRecordableError, recorded
from polhode.model.registry import method_of

_AT_TIMES = "its samples are at times of their own, which no input file asks for"
NOT_AGAIN = "not_again"  # the key of a recipe that only says why there is none
_FEATURES = ("sse4", "avx", "fma", "bmi", "amx", "asimd", "sve")  # instructions that XLA chooses by, how they begin


def about_rerunning(recipe: dict[str, Any] | None, otherwise: str) -> dict[str, str]:
    """The recipe, if there is one, what it is, and with what the run was made."""
    why_not = otherwise if not recipe else recipe.get(NOT_AGAIN)
    return {
        "recipe": "" if why_not else json.dumps(recipe),
        "recipe_meaning": why_not or "the input file as JSON; `polhode run` on this file makes the run again",
        "environment": json.dumps(environment()),
    }


def recipe_of(content: dict[str, Any], method: Any, plan: Any, path: str | None) -> dict[str, Any]:
    """What makes the same run again of a problem with this content; or why nothing can. `path`: module:name of a
    method that is in a module of the user's."""
    if plan.at is not None:
        return {NOT_AGAIN: _AT_TIMES}
    run = {"step": plan.step, "every": plan.every, "steps": plan.total}
    try:
        return {**content, "run": {"method": recorded(method, partial(method_of, kind=method.kind)), **run}}
    except NotRecordableError as error:
        return {**content, "run": {"method": path, **run}} if path else {NOT_AGAIN: str(error)}


def going_on(recipe: dict[str, Any] | None, plan: Any) -> dict[str, Any] | None:
    """The recipe of a run that goes on by this plan."""
    if recipe is None or NOT_AGAIN in recipe:
        return recipe
    if plan.at is not None or plan.every != recipe["run"]["every"]:
        return {NOT_AGAIN: _AT_TIMES}
    return {**recipe, "run": {**recipe["run"], "steps": plan.total}}


def without_events(recipe: dict[str, Any] | None, events: Any) -> dict[str, Any] | None:
    """The recipe of a run with these events."""
    return {NOT_AGAIN: "it had events, which are Python functions"} if recipe is not None and events else recipe


@cache
def environment() -> dict[str, str]:
    model, features = _cpu()
    device = jax.devices()[0]
    return {
        "polhode": __version__,
        "jax": jax.__version__,
        "jaxlib": jaxlib.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "device": f"{device.platform} {device.device_kind}",
        "cpu": model,
        "cpu features": features,
        "XLA_FLAGS": os.environ.get("XLA_FLAGS", ""),
    }


def differences(saved: Any) -> list[str]:
    """In words, what is not as it was when `saved`, a text of `environment`, was written."""
    try:
        before = dict(json.loads(saved))
    except (TypeError, ValueError, RecursionError):
        return ["it does not say with which JAX and CPU it was made"]
    return [
        f"{name} was {before.get(name) or 'not recorded'} and is {now or 'not set'}"
        for name, now in environment().items()
        if before.get(name) != now
    ]


def _cpu() -> tuple[str, str]:
    """The model, and the sets of instructions it has; where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor(), ""
    about: dict[str, str] = {}  # of the first core
    for line in lines:
        name, _, value = line.partition(":")
        about.setdefault(name.strip(), value.strip())
    flags = about.get("flags") or about.get("Features") or ""
    return (
        about.get("model name") or platform.processor(),
        " ".join(sorted(flag for flag in flags.split() if flag.startswith(_FEATURES))),
    )
