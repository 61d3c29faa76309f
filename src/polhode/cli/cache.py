"""`polhode cache`: the programs that were compiled before, and are not compiled again."""

from __future__ import annotations

import typer

from polhode._programs.folder import MOST, cleared, contents, whole_folder


def cache_command(clear: bool) -> None:
    folder = whole_folder()
    if folder is None:
        typer.echo("No programs are kept: there is no folder for them (JAX_COMPILATION_CACHE_DIR names one).")
        return
    if clear:
        typer.echo(f"Cleared {_megabytes(cleared())} from {folder}")
        return
    files = contents()
    size = sum(each for _, each, _ in files)
    typer.echo(f"{folder}\n{len(files)} files, {_megabytes(size)} of at most {_megabytes(MOST)}")


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.1f} MB"
