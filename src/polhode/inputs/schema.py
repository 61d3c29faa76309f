"""The input file: its tables and keys, checked by pydantic, with our own messages."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from polhode.mechanics.checks import InputError, nearest

Number = int | float


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class BoxTable(Table):
    mass: Number
    size: list[Number]


class EllipsoidTable(Table):
    mass: Number
    semi_axes: list[Number]


class CylinderTable(Table):
    mass: Number
    radius: Number
    height: Number


class PointsTable(Table):
    masses: list[Number]
    positions: list[list[Number]]


class BodyTable(Table):
    """One of inertia, box, ellipsoid, cylinder, points."""

    inertia: list[Number] | list[list[Number]] | None = None
    box: BoxTable | None = None
    ellipsoid: EllipsoidTable | None = None
    cylinder: CylinderTable | None = None
    points: PointsTable | None = None
    allow_unphysical: bool = False
    non_twisting: bool = False  # the body never turns about its third axis


class AttitudeTable(Table):
    """One of exp (rotation vector), quaternion (w, x, y, z), matrix (rows), directors (d1, d2, d3)."""

    exp: list[Number] | None = None
    quaternion: list[Number] | None = None
    matrix: list[list[Number]] | None = None
    directors: list[list[Number]] | None = None


class StartTable(Table):
    """One of omega, momentum (both in the body frame), spatial_momentum."""

    attitude: AttitudeTable | None = None
    omega: list[Number] | None = None
    momentum: list[Number] | None = None
    spatial_momentum: list[Number] | None = None


class TorqueTable(Table):
    frame: str
    value: list[str | Number]


class LoadTable(Table):
    """A potential, a torque, or both."""

    potential: str | Number | None = None
    torque: TorqueTable | None = None


class RunTable(Table):
    """`until` in seconds, or `steps`, their number."""

    method: str | list[str] = "imidm"
    step: Number | list[Number] | None = None
    until: Number | None = None
    steps: int | None = None
    every: int = 1


class InputFile(Table):
    """Either body, start and load; or problem and parameters. And [run]."""

    body: BodyTable | None = None
    start: StartTable | None = None
    load: LoadTable | None = None
    problem: str | None = None
    parameters: dict[str, Number | list[Number]] | None = None
    run: RunTable = RunTable()


def read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{str(path)!r} is not TOML: {error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{str(path)!r} is not a text file in UTF-8: {error}") from error
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from error


def check(data: dict[str, Any], source: str) -> InputFile:
    try:
        return InputFile.model_validate(data)
    except ValidationError as error:
        raise InputError(f"{source}: {'; '.join(_sentences(error))}") from None


def _sentences(error: ValidationError) -> list[str]:
    seen: dict[str, str] = {}
    for item in error.errors():
        keys = [str(part) for part in item["loc"] if isinstance(part, str) and not _is_type_name(part)]
        place = ".".join(keys)
        if item["type"] == "extra_forbidden":
            allowed = _keys_of(keys[:-1])
            where = f"[{'.'.join(keys[:-1])}]" if keys[:-1] else "the top level"
            seen[place] = (
                f"unknown key {keys[-1]!r} in {where}{nearest(keys[-1], allowed)} Allowed there: {', '.join(allowed)}"
            )
        elif item["type"] == "missing":
            seen[place] = f"{place} is missing"
        else:
            needed = _NEEDED.get(item["type"], item["msg"])
            seen.setdefault(place, f"{place} = {item['input']!r}: {needed}")
    return list(seen.values())


_NEEDED = {
    "int_type": "a number is needed",
    "float_type": "a number is needed",
    "string_type": "text in quotes is needed",
    "list_type": "a list is needed, as in [1, 2, 3]",
    "bool_type": "true or false is needed",
    "model_type": "a table is needed, as in { name = value }",
    "model_attributes_type": "a table is needed, as in { name = value }",
    "dict_type": "a table is needed, as in { name = value }",
}


def _is_type_name(part: str) -> bool:
    """pydantic puts the tried member of a union into the location."""
    return part in ("int", "float", "str", "bool") or part.startswith(("list[", "dict["))


def _keys_of(place: list[str]) -> list[str]:
    model: type[BaseModel] = InputFile
    for key in place:
        annotation: Any = model.model_fields[key].annotation
        options = getattr(annotation, "__args__", (annotation,))
        model = next(o for o in options if isinstance(o, type) and issubclass(o, BaseModel))
    return list(model.model_fields)
