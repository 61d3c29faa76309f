"""`polhode run | resume | status | sweep | methods | problems | papers | audit | bench | cache`."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from polhode.cli.options import (
    Device,
    Every,
    ItemName,
    Json,
    Methods,
    PaperIds,
    Plot,
    Sentinels,
    SentinelsAsBefore,
    Settings,
    Source,
    Steps,
    StopIf,
    Tolerance,
    Until,
    Written,
    decimal_number,
    named,
)
from polhode.cli.streams import UnwritableError, standard_streams
from polhode.cli.sweep_options import EPILOG, sweep
from polhode.cli.users_line import users_line

app = typer.Typer(
    name="polhode",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Integrates rigid-body motion so that what nature conserves, the computer conserves too.\n\n"
    "Start with polhode run heavy-top --plot top.png, then polhode methods and polhode problems.",
)


@app.command(
    epilog="Examples:\n\n\b\npolhode run top.toml\n"
    "polhode run heavy-top --method imidm --method akw --step 0.01 --plot top.png\n"
    "polhode run heavy-top --set spin=30 --until 60 --every 100 --out run.nc"
)
def run(
    source: Source,
    settings: Settings = None,
    method: Methods = None,
    step: Steps = None,
    tolerance: Tolerance = None,
    until: Until = None,
    every: Every = None,
    out: Annotated[Path | None, typer.Option("--out", help="Save to .zarr (as it goes), .nc or .csv.")] = None,
    plot: Plot = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Import the module that a saved run names as that of its method.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace what --out names, if it is there.")] = False,
    stop_if: StopIf = None,
    sentinels: Sentinels = True,
    device: Device = None,
    as_json: Json = False,
) -> None:
    """Integrate a file or a built-in problem, and say what was conserved."""
    from polhode.cli.output import only_json
    from polhode.cli.run import run_command
    from polhode.device import on_device

    with only_json(as_json), on_device(device):
        how = (until, every, out, plot, as_json, trust, tolerance, force, stop_if, sentinels)
        run_command(source, settings or [], method or [], step or [], *how)


@app.command(epilog="Examples:\n\n\b\npolhode resume run.zarr\npolhode resume run.zarr --until 1e6")
def resume(
    path: Written,
    until: Annotated[
        float | None,
        typer.Option("--until", parser=decimal_number, metavar="SECONDS", help="A later time to stop at (s)."),
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Import the module that the file names as that of its method.")
    ] = False,
    stop_if: StopIf = None,
    sentinels: SentinelsAsBefore = None,
    as_json: Json = False,
) -> None:
    """Go on with a run from its last commit, with the same bits; or extend one that has ended."""
    from polhode.cli.output import only_json
    from polhode.cli.resume import resume_command

    with only_json(as_json):
        resume_command(path, until, trust, stop_if, sentinels, as_json)


@app.command()
def status(path: Written, as_json: Json = False) -> None:
    """How far a run is that is being written, or was: from another terminal too."""
    from polhode.cli.status import status_command

    status_command(path, as_json)


app.command(epilog=EPILOG)(sweep)


@app.command()
def methods(
    name: Annotated[str | None, typer.Argument(help="One method, in detail.", autocompletion=named("method"))] = None,
    as_json: Json = False,
) -> None:
    """The methods, and what each conserves."""
    from polhode.cli.listing import show_methods

    show_methods(name, as_json)


@app.command()
def problems(
    name: Annotated[
        str | None, typer.Argument(help="One problem, with its parameters.", autocompletion=named("problem"))
    ] = None,
    as_json: Json = False,
) -> None:
    """The built-in problems: every example of the papers."""
    from polhode.cli.listing import show_problems

    show_problems(name, as_json)


@app.command()
def papers(
    ids: PaperIds = None,
    item: ItemName = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for an HTML report with the figures.")] = None,
    as_json: Json = False,
) -> None:
    """Recompute the papers' tables and figures beside what they print. Exit 1 if one that should agree does not."""
    from polhode.cli.papers import papers_command

    papers_command(ids or [], out, as_json, item)


@app.command(epilog="Examples:\n\n\b\npolhode audit imidm dmv10 --plot audit.png\npolhode audit mymodule:MyMethod")
def audit(
    methods: Annotated[
        list[str], typer.Argument(metavar="METHOD...", help="Names, module:Class of your own, or the word all.")
    ],
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw the measurements to .png, .svg or .pdf.")] = None,
    table: Annotated[Path | None, typer.Option("--table", help="Write the table as Markdown.")] = None,
    as_json: Json = False,
) -> None:
    """Measure what methods keep: order, invariants, the geometry of a step. Exit 1 if one breaks its claims."""
    from polhode.cli.audit import audit_command
    from polhode.cli.output import only_json

    with only_json(as_json):
        audit_command(methods, plot, as_json, table)


@app.command()
def bench(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Which; all if none named.")] = None,
    device: Device = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for what was measured, and where.")] = None,
    as_json: Json = False,
) -> None:
    """The benchmarks, with peers measured in the same run."""
    from polhode.cli.bench import bench_command

    bench_command(names or [], as_json, out, device)


@app.command()
def cache(
    clear: Annotated[
        bool, typer.Option("--clear", help="Remove them all; they are compiled again when needed.")
    ] = False,
) -> None:
    """Where compiled programs are kept from run to run, and how large they are."""
    from polhode.cli.cache import cache_command

    cache_command(clear)


def _version(asked: bool) -> None:
    if asked:
        from polhode import __version__

        typer.echo(f"polhode {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Bad input is exit code 2, a computation that failed is 1, Ctrl-C 130, SIGTERM 143; a sentence on stderr."""
    from polhode._signals import in_main_thread
    from polhode.cli.stopping import Stopping

    with Stopping() if in_main_thread() else nullcontext():
        _run_command()


def _run_command() -> None:
    try:
        with standard_streams():
            _command()
    except UnwritableError as error:
        sys.exit(error.answer())


def _command() -> None:
    try:
        app(prog_name="polhode")  # of `python -m polhode` too: what completes after TAB is registered by this name
    except UnwritableError:
        raise
    except Exception as error:
        from polhode.model import InputError
        from polhode.results.store import SaveError
        from polhode.simulation import StepError

        if isinstance(error, InputError | StepError | SaveError):
            print(f"polhode: {error}", file=sys.stderr)
            sys.exit(2 if isinstance(error, InputError) else 1)
        place = users_line(error)
        if place is None:
            raise
        first = str(error).strip().split("\n")[0]
        print(f"polhode: your code failed at {place}: {type(error).__name__}: {first}", file=sys.stderr)
        print(
            "A step is traced by JAX: use jax.numpy and `where`, no `if` on values (see CONTRIBUTING.md).",
            file=sys.stderr,
        )
        sys.exit(1)
