"""`Grown`: attributes of a run that is written as it goes, each of its kind: a folder may come from anyone."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from polhode.model.checks import InputError, shown
from polhode.simulation import Status

_Count = Annotated[int, Field(ge=0, le=2**62)]
_Flag = Annotated[int, Field(ge=0, le=1)]
_Finite = Annotated[float, Field(allow_inf_nan=False)]
_Length = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Hex = Annotated[str, Field(pattern=r"^-?0x[01]\.[0-9a-f]+p[+-][0-9]{1,4}$")]


class Planned(BaseModel):
    """What `planned` writes of a plan."""

    model_config = ConfigDict(extra="forbid", strict=True)
    step: _Length
    total: _Count
    every: Annotated[int, Field(ge=1, le=2**62)]
    at: list[tuple[_Count, _Hex]] | None
    seconds: _Length | None


class Grown(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)
    format: str
    kind: Literal["rotation", "system"]
    method: str
    t0: _Finite
    steps: _Count
    finished: _Flag
    sentinels: _Flag
    stop_if: str
    status: str
    plan: str
    watched: str
    fingerprint: str
    chain: str
    iterations: Annotated[float, Field(ge=0)]
    energy_drift: float = 0.0
    why: str = ""
    checkpoint: Annotated[str, Field(pattern=r"^(a|b|end)$")] = "a"
    recipe: str = ""
    recipe_meaning: str = ""


class Failure(BaseModel):
    """What `why_failed` speaks of."""

    model_config = ConfigDict(extra="forbid", strict=True)
    step: int = 0
    t: float = math.nan
    residual: float = math.nan
    iterations: int = 0
    members: list[list[int]] = []
    what: str = ""
    value: float = math.nan
    why: str = ""


def failure_in(attributes: dict[str, Any], path: Path) -> dict[str, Any]:
    """Of a run that failed; an InputError where the folder does not say it, or is spoilt."""
    try:
        found = Failure.model_validate_json(attributes.get("failure", "")).model_dump()
    except (ValidationError, TypeError):
        raise InputError(
            f"{str(path)!r} is of a run that failed ({Status[attributes['status']].value}), and does not say where; to "
            "run it again: force=True, --force"
        ) from None
    return {name: value for name, value in found.items() if value or name not in ("what", "why")}


_NAMES = TypeAdapter(list[str])


def grown(attributes: dict[str, Any], path: Path) -> tuple[Planned, list[str]]:
    """The plan, and names of events; an InputError that says what in the attributes is of no use."""
    try:
        known = Grown.model_validate(attributes)
        if known.status not in Status.__members__:
            raise InputError(f"{str(path)!r} is spoilt: its status is {shown(known.status)}")
        plan = Planned.model_validate_json(known.plan)
        return plan, _NAMES.validate_json(known.watched)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "plan"
        raise InputError(
            f"{str(path)!r} is spoilt: its {where} is {shown(first['input'])} ({first['msg']}); it cannot go on, and "
            "is run again from its start"
        ) from None
