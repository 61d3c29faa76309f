"""The input file: its tables and keys, checked by pydantic, with our own messages."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from polhode.model.checks import InputError, decimal, nearest, shown

_WORD = 2**63  # whole numbers beyond 64 bits are no TOML, though tomllib reads them
Whole = Annotated[int, Field(ge=-_WORD, lt=_WORD)]
Number = Whole | float


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
    """`until` in seconds, or `steps`, their number; `step` in seconds, or `tolerance`, of the error at the end."""

    method: str | list[str] = "imidm"
    step: Number | list[Number] | None = None
    tolerance: Number | None = None
    until: Number | None = None
    steps: Whole | None = None
    every: Whole = 1


class EventTable(Table):
    """Where a formula passes through zero: rising (direction = 1), falling (-1) or both (0). The run stops there, or
    with stop = 3 at the third time; with stop = false it is noted."""

    when: str | Number
    direction: Whole = 0
    stop: bool | Whole = True
    name: str | None = None


class InputFile(Table):
    """Either body, start and load; or problem and parameters. And [run], and [[event]] as often as wanted."""

    body: BodyTable | None = None
    start: StartTable | None = None
    load: LoadTable | None = None
    problem: str | None = None
    parameters: dict[str, Number | list[Number]] | None = None
    event: list[EventTable] = []
    run: RunTable = RunTable()


def read_toml(path: Path) -> dict[str, Any]:
    name = shown(str(path))
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"), parse_float=decimal)  # with a byte-order mark or not
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is not a text file in UTF-8: {error}. Give a .toml, a saved run or a problem"
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name} is not TOML: {error}") from error
    except ValueError as error:  # from `int`, for thousands of digits
        raise InputError(f"{name}: a whole number {_NEEDED['less_than']}") from error
    except RecursionError:
        raise InputError(
            f"{name} nests lists or tables too deeply to be read; an input has four levels at most"
        ) from None
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror}") from error


def check(data: dict[str, Any], source: str) -> InputFile:
    try:
        return InputFile.model_validate(data)
    except ValidationError as error:
        raise InputError(f"{source}: {'; '.join(_sentences(error))}") from None


def _sentences(error: ValidationError) -> list[str]:
    seen: dict[str, str] = {}
    for item in error.errors():
        keys = _keys(item["loc"])
        place = ".".join(keys)
        if item["type"] == "extra_forbidden":
            allowed = list((_table(keys[:-1]) or InputFile).model_fields)
            where = f"[{'.'.join(keys[:-1])}]" if keys[:-1] else "the top level"
            key = shown(keys[-1])
            seen[place] = (
                f"unknown key {key} in {where}{nearest(keys[-1], allowed)} Allowed there: {', '.join(allowed)}"
            )
        elif item["type"] == "missing":
            seen[place] = f"{place} is missing"
        else:
            needed = _NEEDED.get(item["type"], item["msg"])
            seen.setdefault(place, f"{place} = {shown(item['input'])}: {needed}")
    return list(seen.values())


_NEEDED = {
    "greater_than_equal": "has more than 64 bits; write a smaller one, or, for what may be a fraction, 1e20",
    "less_than": "has more than 64 bits; write a smaller one, or, for what may be a fraction, 1e20",
    "int_type": "a number is needed",
    "float_type": "a number is needed",
    "string_type": "text in quotes is needed",
    "list_type": "a list is needed, as in [1, 2, 3]",
    "bool_type": "true or false is needed",
    "model_type": "a table is needed, as in { name = value }",
    "model_attributes_type": "a table is needed, as in { name = value }",
    "dict_type": "a table is needed, as in { name = value }",
}


def _keys(location: tuple[int | str, ...]) -> list[str]:
    """The keys of the file that lead to `location`. What pydantic adds after them, places in lists and the members of
    a union that it tried, is left out."""
    keys: list[str] = []
    for part in location:
        if _table(keys) is None and keys != ["parameters"]:
            break
        if not (keys == ["event"] and isinstance(part, int)):  # there are several
            keys.append(str(part))
    return keys


def _table(keys: list[str]) -> type[BaseModel] | None:
    """What the table of this name holds; None if it is no table of ours."""
    model: type[BaseModel] | None = InputFile
    for key in keys:
        if model is None or key not in model.model_fields:
            return None
        annotation: Any = model.model_fields[key].annotation
        options = getattr(annotation, "__args__", (annotation,))
        model = next((o for o in options if isinstance(o, type) and issubclass(o, BaseModel)), None)
    return model
