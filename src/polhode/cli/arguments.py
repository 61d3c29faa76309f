"""How arguments are read, and completed by a shell. What takes long to import is imported when it is needed."""

from __future__ import annotations

from collections.abc import Callable

import typer


def a_number(text: str) -> float:
    from polhode.model.checks import InputError, number

    try:
        return number("it", text)
    except InputError as error:
        raise typer.BadParameter(str(error)) from None


def a_whole(text: str) -> int:
    if not (text.isascii() and text.removeprefix("-").isdigit() and len(text) < 20):
        raise typer.BadParameter(f"it must be a whole number of at most 19 digits, as in 100; got {text[:60]!r}")
    return int(text)


def named(kind: str) -> Callable[[str], list[str]]:
    """Completes names of this kind in a shell."""

    def complete(incomplete: str) -> list[str]:
        from polhode.cli.names import completed

        return completed(kind, incomplete)

    return complete
