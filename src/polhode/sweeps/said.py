"""What a sweep says of itself in the folder of its members, of its kind or of no use: a folder may come from anyone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError, model_validator

from polhode.model.checks import InputError, shown
from polhode.model.family import MOST

PLAN = "sweep.json"
_GROUP = "(group|again)-[0-9]{1,9}"
_Name = Annotated[str, StringConstraints(pattern=rf"^{_GROUP}$")]
_Member = Annotated[int, Field(ge=0, lt=MOST)]


class Outcome(BaseModel):
    """What became of a member."""

    model_config = ConfigDict(extra="forbid", strict=True)
    member: _Member
    store: Annotated[str, StringConstraints(pattern=rf"^({_GROUP}(-[0-9]{{1,9}})?\.zarr)?$")]
    row: Annotated[int, Field(ge=-1, lt=MOST)]
    ok: bool
    why: str
    status: str
    steps: Annotated[int, Field(ge=0, le=2**62)]
    end_time: Annotated[float, Field(allow_inf_nan=False)] | None

    @model_validator(mode="after")
    def _ended(self) -> Outcome:
        if self.store and self.end_time is None:
            raise ValueError("it was run, and does not say to when")
        return self


class Kept(BaseModel):
    """What the sweep is, how many members it has, and which groups they make; those of `again` were run once more.
    `mark`: by which what it gathers is known as its own; `replaces`: a digest of what it was told to replace."""

    model_config = ConfigDict(extra="forbid", strict=True)
    plan: dict[str, Any]
    count: Annotated[int, Field(ge=1, le=MOST)]
    groups: dict[_Name, list[_Member]]
    mark: str = ""
    replaces: str = ""


_OUTCOMES = TypeAdapter(list[Outcome])


def read_outcome(path: Path, members: Sequence[int] | None = None) -> list[dict[str, Any]] | None:
    """None where there is none of these members that can be read."""
    try:
        found = _OUTCOMES.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
    if members is not None and [each.member for each in found] != list(members):
        return None
    return [each.model_dump() for each in found]


def read_plan(folder: Path) -> dict[str, Any] | None:
    """None where there is none."""
    path = folder / PLAN
    try:
        known = Kept.model_validate_json(path.read_bytes())
        first = sorted(member for name, group in known.groups.items() if name.startswith("group") for member in group)
        if first != list(range(known.count)):
            raise ValueError("its groups are not of all members")
        return known.model_dump()
    except FileNotFoundError:
        return None
    except ValidationError as error:
        where = error.errors()[0]
        why = f"{'.'.join(map(str, where['loc'])) or 'it'}: {where['msg']}, got {shown(where['input'])}"
    except (OSError, ValueError) as error:
        why = str(error)
    raise InputError(f"{str(path)!r} cannot be read ({why}); the same command with --force begins anew")
