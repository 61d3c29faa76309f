"""`polhode sweep`: what it is given."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from polhode.cli.options import Json, decimal_number, whole


def sweep(
    source: Annotated[
        str, typer.Argument(metavar="FILE|PROBLEM", help="An input file with a table [sweep], or a problem.")
    ],
    over: Annotated[
        list[str] | None,
        typer.Option(
            "--over",
            metavar="NAME=VALUES",
            help="A parameter, method or step: 1,2,3; 0:10:21 for 21 from 0 to 10; 0:10 to draw from. Repeatable.",
        ),
    ] = None,
    design: Annotated[str | None, typer.Option("--design", help="grid (unless said), list, random or sobol.")] = None,
    members: Annotated[
        int | None, typer.Option("--members", parser=whole, metavar="COUNT", help="Of random and sobol designs.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", parser=whole, metavar="NUMBER", help="Of those too.")] = None,
    method: Annotated[str | None, typer.Option("--method", "-m", help="Of all members.")] = None,
    step: Annotated[
        float | None, typer.Option("--step", parser=decimal_number, metavar="SECONDS", help="Length of a step (s).")
    ] = None,
    until: Annotated[
        float | None, typer.Option("--until", parser=decimal_number, metavar="SECONDS", help="Time to stop at (s).")
    ] = None,
    every: Annotated[
        int | None, typer.Option("--every", parser=whole, metavar="COUNT", help="Save every so many steps.")
    ] = None,
    every_seconds: Annotated[
        float | None, typer.Option("--every-seconds", parser=decimal_number, metavar="SECONDS", help="Or so often.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="A .zarr for all members; FILE.zarr unless said.")] = None,
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", metavar="ADDRESS", help="A Dask scheduler: tcp://host:8786.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", parser=whole, metavar="COUNT", help="Processes; as many as cores.")
    ] = None,
    rerun: Annotated[bool, typer.Option("--rerun", help="Run members that failed once more.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Begin anew, and replace what --out names.")] = False,
    as_json: Json = False,
) -> None:
    """Runs over a design of parameters, methods and steps, on all cores or a cluster. Cut short, the same command goes
    on."""
    from polhode.cli.output import only_json
    from polhode.cli.sweep import sweep_command

    how: dict[str, Any] = {
        "method": method,
        "step": step,
        "until": until,
        "every": every,
        "every_seconds": every_seconds,
    }
    how |= {"out": out, "scheduler": scheduler, "workers": workers, "rerun": rerun, "force": force}
    with only_json(as_json):
        sweep_command(source, over or [], design, members, seed, how, as_json)


EPILOG = (
    "Examples:\n\n\b\npolhode sweep sweep.toml\n"
    "polhode sweep bicycle --over speed=2:8:25 --until 5 --every 10 --out bicycles.zarr\n"
    "polhode sweep heavy-top --design sobol --members 256 --over spin=10:60 --over tilt=0.01:0.5 --out tops.zarr"
)
