"""The command line."""

from __future__ import annotations

import io
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

from fuzzing.chance import NUMBERS, TRAP, Chance, spoilt
from fuzzing.files import _without_steps, saved, stop
from fuzzing.texts import formula_text
from polhode.cli.main import _command
from polhode.model import InputError

_COMMANDS = ("run", "run", "run", "run", "resume", "status", "methods", "problems", "papers", "audit", "bench",
             "--help", "--version", "", "RUN", "cache", "sweep")  # fmt: skip
_OPTIONS = ("--set", "--over", "--over", "--design", "--members", "--seed", "--every-seconds", "--rerun",
            "--method", "-m", "--step", "--tolerance", "--until", "--every", "--out", "--plot", "--trust",
            "--force", "--stop-if", "--sentinels", "--no-sentinels", "--json", "--help", "-h", "--", "--x",
            "-")  # fmt: skip
_SOURCES = ("heavy-top", "free-body", "case.toml", "case-run.zarr", "case-grown.zarr", "case.nc", "case.csv",
            "fuzzing_saved/run.zarr", "fuzzing_saved/grown.zarr", "fuzzing_saved/run.nc", "fuzzing_saved/run.csv",
            ".", "/", "..", "\0", "a" * 300, "fuzzing_saved", "x.toml", "nothing.zarr", "rolling-disk", "é.toml",
            f"{TRAP}.py")  # fmt: skip
_VALUES = ("imidm", "akw", "halving-imidm", "kahan-li6-" * 20 + "imidm", "three-field", "spin=30", "spin=0:1:5",
           "spin=1,2,3", "a=b", "=", "x.png", "x.html", "x.zarr", "x.nc", "no/x.csv", "energy.drift > 1e-6",
           "strang-" * 30 + "dmv", "spin=0:1:99999999", "spin=nan", "x.toml", "spin=1:2", "sobol", "list",
           "step=0.1,0.2", "method=imidm,akw", "-1", "--", *NUMBERS)  # fmt: skip


def arguments(chance: Chance) -> list[str]:
    found = [chance.pick(_COMMANDS)]
    if not chance.one_in(6):
        found.append(chance.pick(_SOURCES))
    for _ in range(chance.below(5)):
        found.append(chance.pick(_OPTIONS))
        if not chance.one_in(4):
            word = chance.pick(_VALUES)
            found.append(spoilt(chance, word, _VALUES) if chance.one_in(3) else word)
        elif chance.one_in(2):
            found.append(formula_text(chance))
    if chance.one_in(8):
        i = chance.below(len(found))
        found[i] = spoilt(chance, found[i], _VALUES)
    return [word for word in found if ":" not in word or TRAP not in word]  # who types a module, means it


def commands(chance: Chance) -> None:
    saved()
    words = arguments(chance)
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with (
        mock.patch.object(sys, "argv", ["polhode", *words]),
        _without_steps(),
        mock.patch("polhode.sweeps.sweeping.run_all", stop),
        mock.patch("polhode.cli.papers.papers_command", stop),
        mock.patch("polhode.cli.bench.bench_command", stop),
        mock.patch("polhode.cli.audit.audit_command", stop),
        redirect_stdout(out),
        redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        try:
            _command()
        except SystemExit as end:
            code = end.code
    if code not in (0, None, 2) or "Traceback" in err.getvalue():
        raise AssertionError(f"{words!r}: exit {code!r}: {err.getvalue()[-300:]}")
    if code == 2:
        if not (said := err.getvalue().strip()):
            raise AssertionError(f"{words!r}: exit 2 without a sentence")
        raise InputError(said[:500])
