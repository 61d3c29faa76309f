"""Options that commands share, how they are read, and how a shell completes them."""

from __future__ import annotations

from collections.abc import Callable
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


def named(kind: str) -> Callable[[str], list[str]]:
    """Completes names of this kind in a shell."""

    def complete(incomplete: str) -> list[str]:
        from polhode.cli.names import completed

        return completed(kind, incomplete)

    return complete


Source = Annotated[
    str,
    typer.Argument(
        metavar="FILE|PROBLEM",
        help="An input file (.toml), a saved run, or a problem.",
        autocompletion=named("source"),
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter of the problem; 1,2,3 for three; 0:10:200 for a batch of 200.",
    ),
]
Methods = Annotated[
    list[str] | None,
    typer.Option("--method", "-m", help="A name, or module:Class; repeatable.", autocompletion=named("method")),
]
Steps = Annotated[
    list[float] | None,
    typer.Option("--step", parser=decimal_number, metavar="SECONDS", help="Length of a step (s); repeatable."),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        "--tolerance", parser=decimal_number, metavar="ERROR", help="Of the end, instead of a step: chooses it."
    ),
]
Every = Annotated[int | None, typer.Option("--every", parser=whole, metavar="COUNT", help="Save every so many steps.")]
Plot = Annotated[
    Path | None, typer.Option("--plot", help="Draw to .png, .svg or .pdf; in 3D to .html, .gif, .mp4, .glb.")
]
ItemName = Annotated[
    str | None, typer.Option("--item", metavar="ITEM", help="One of its items alone: fig1, table2, example1, 5.1.")
]
Until = Annotated[
    float | None, typer.Option("--until", parser=decimal_number, metavar="SECONDS", help="Time to stop at (s).")
]
PaperIds = Annotated[
    list[str] | None,
    typer.Argument(metavar="[ID]...", help="Which papers; all if none is named.", autocompletion=named("paper")),
]
