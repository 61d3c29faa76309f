"""Options that commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout and nothing else.")]
Device = Annotated[str | None, typer.Option("--device", help="cpu or gpu; an error where there is none.")]

StopIf = Annotated[
    str | None,
    typer.Option("--stop-if", metavar="CONDITION", help="Stop at the first sample where it holds: energy.drift > 1e-6"),
]
Written = Annotated[Path, typer.Argument(metavar="FILE", help="What polhode run --out FILE.zarr writes.")]
Sentinels = Annotated[
    bool, typer.Option("--sentinels/--no-sentinels", help="Look at every sample for what the method promises.")
]
SentinelsAsBefore = Annotated[
    bool | None, typer.Option("--sentinels/--no-sentinels", help="As it was begun, unless said.")
]


def whole(text: str) -> int:
    if not (text.isascii() and text.removeprefix("-").isdigit() and len(text) < 20):
        raise typer.BadParameter(f"it must be a whole number of at most 19 digits, as in 100; got {text[:60]!r}")
    return int(text)


def decimal_number(text: str) -> float:
    from polhode.model.checks import InputError, number

    try:
        return number("it", text)
    except InputError as error:
        raise typer.BadParameter(str(error)) from None
