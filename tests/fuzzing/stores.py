"""What is inside of saved runs and of sweeps, written anew by someone who knows the checksums."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import Any
from unittest import mock

import google_crc32c
import numpy as np

import polhode as ph
from fuzzing.chance import Chance, spoilt, spoilt_bytes, spoilt_json
from fuzzing.files import KINDS, Reached, all_that_reads, copied, restored, saved
from fuzzing.texts import TABLES, WORDS_OF_FILES
from polhode.cli.families import family_status
from polhode.cli.sweep import is_sweep, sweep_status
from polhode.kept import ABOUT
from polhode.results import format_csv, store
from polhode.results.tree import Tree
from polhode.sweeps.sweeping import PLAN

_NUMBERS = (0.0, -1.0, 1.0, np.nan, np.inf, -np.inf, 1e308, 5e-324, 2.0**63, 0.5)


def _spoilt_numbers(chance: Chance, values: np.ndarray) -> np.ndarray:
    values = np.array(values)
    for _ in range(1 + chance.below(3)):
        flat, value = values.reshape(-1), chance.pick(_NUMBERS)
        if not flat.size:
            return values
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            which = slice(None) if chance.one_in(4) else chance.below(flat.size)
            flat[which] = value if flat.dtype.kind == "f" else chance.pick((0, -1, 1, 5, 2**53, 2**63 - 1, -(2**63)))
    return values


def numbers(chance: Chance) -> None:
    """Samples of a run that was written as it went: its chunks, with all checksums as they should be."""
    saved()
    path = copied("grown.zarr")
    tree = Tree(path)
    for _ in range(1 + chance.below(2)):
        name = chance.pick(sorted(tree.growing))
        place = tree.place(name, 0)
        data = place.read_bytes()[:-4]
        if chance.one_in(8):
            data = spoilt_bytes(chance, data)
        elif len(data) % 8 == 0:
            data = _spoilt_numbers(chance, np.frombuffer(data, "<i8" if name == "step_count" else "<f8")).tobytes()
        place.write_bytes(data + google_crc32c.value(data).to_bytes(4, "little"))
    root = tree._root["attributes"]
    root["chain"], root["tail"] = tree.chain(tree.samples // tree.rows).hex(), tree.sums(0).hex()
    if chance.one_in(2):  # or one that says where it stands, of other samples
        place = tree.hidden / root["checkpoint"]
        line, _, state = place.read_bytes()[:-32].partition(b"\n")
        head = json.loads(line) | {"chain": root["chain"], "tail": chance.pick((root["tail"], "", "00"))}
        data = json.dumps(head).encode() + b"\n" + state
        place.write_bytes(data + hashlib.sha256(data).digest())
    root["checksum"] = tree._sum()
    (path / "zarr.json").write_text(json.dumps(tree._root), encoding="utf-8")
    all_that_reads(path, chance)


def datasets(chance: Chance) -> None:
    """Variables of a run that was saved whole: others, fewer, of other shapes and kinds; the header of a table."""
    name = chance.pick(KINDS[:3])
    known = saved()[name]
    path = copied(name)
    if name.endswith(".csv") and chance.one_in(2):
        first, _, rest = path.read_text(encoding="utf-8").partition("\n")
        header = json.loads(first.removeprefix(format_csv._MARK))
        path.write_text(format_csv._MARK + json.dumps(spoilt_json(chance, header)) + "\n" + rest, encoding="utf-8")
    else:
        try:
            other = _other(chance, known)
            if path.is_dir():
                shutil.rmtree(path)
            store._format(path.suffix).write(store.with_checksums(other), path)
        except Exception as error:  # what cannot be written need not be read
            raise Reached(f"nothing was written: {type(error).__name__}") from error
    all_that_reads(path, chance)


def _other(chance: Chance, known: Any) -> Any:
    for _ in range(1 + chance.below(2)):
        name = chance.pick(sorted(map(str, known.variables)))
        match chance.below(6):
            case 0:
                known = known.drop_vars(name)
            case 1:
                known = known.isel({chance.pick(sorted(map(str, known.dims))): slice(0, chance.below(3))})
            case 2:
                known = known.rename({name: chance.pick(("x", "t2", "failed_step", "status", "energy2", "member"))})
            case 3:
                about = spoilt_json(chance, dict(known[name].attrs))
                known = known.assign({name: known[name].assign_attrs(about if isinstance(about, dict) else {})})
            case 4:
                kind = chance.pick(("float32", "int64", "int8", "str"))
                with np.errstate(all="ignore"):
                    known = known.assign({name: known[name].astype(kind)})
            case _:
                if known[name].dtype.kind in "fi":
                    changed = known[name].copy(data=_spoilt_numbers(chance, known[name].values))
                    known = known.assign({name: changed})
    return known


_SWEEPS = (  # each after one of `TABLES`
    '[sweep]\ndesign = "grid"\n[sweep.over]\nspin = { from = 10, to = 30, count = 3 }\ntilt = [0.1, 0.2]\n',
    '[sweep]\ndesign = "sobol"\nmembers = 4\nseed = 1\n[sweep.over]\nspin = { from = 10, to = 60 }\n'
    'tilt = { from = 0.01, to = 0.5, scale = "log" }\n',
    '[sweep]\ndesign = "list"\nout = "x.zarr"\n[sweep.over]\nmethod = ["imidm", "akw"]\nstep = [0.1, 0.2]\n',
    '[sweep.over]\n"start.omega.2" = [1, 2, 3]\n',
)  # fmt: skip
_OF_SWEEPS = ("[sweep]", "[sweep.over]", "design = ", "members = ", "seed = ", "out = ", "from = ", "to = ", "count = ",
              "scale = 'log'", "'random'", "'start.omega.9'", "'body.inertia.0'", "method = ", "over = ", "'../y.zarr'",
              "'y.nc'", *WORDS_OF_FILES)  # fmt: skip


class _Begun(Exception):  # noqa: N818
    """Workers would be asked."""


@contextmanager
def _without_workers() -> Iterator[None]:
    with (
        mock.patch("polhode.sweeps.sweeping.run_all", side_effect=_Begun),
        warnings.catch_warnings(),
        suppress(_Begun),
    ):
        warnings.simplefilter("ignore")
        yield


def sweeps(chance: Chance) -> None:
    """Files that ask for a sweep, as far as its first member; and what a sweep or a batch keeps while it runs."""
    saved()
    for place in ("case.zarr.members", "x.zarr.members", "y.zarr.members"):
        shutil.rmtree(place, ignore_errors=True)
    which = chance.below(len(_SWEEPS))
    whole = (TABLES[3] if which < 3 else TABLES[0]) + _SWEEPS[which]
    Path("case.toml").write_bytes(spoilt(chance, whole, _OF_SWEEPS).encode("utf-8", "surrogatepass"))
    with _without_workers():
        ph.sweep("case.toml", progress=False, workers=1)


ENDED = [
    {"member": 0, "store": "group-0.zarr", "row": -1, "ok": True, "why": "", "status": "OK", "steps": 4,
     "end_time": 0.04},
    {"member": 1, "store": "", "row": -1, "ok": False, "why": "x", "status": "NOT_RUN", "steps": 0, "end_time": None},
]  # fmt: skip


def members(chance: Chance) -> None:
    """The folder of a sweep, or of a batch, with plans and outcomes that someone has changed."""
    home = saved_sweep()
    folder = restored(home, Path("held.zarr.members"))
    known = json.loads((folder / PLAN).read_text(encoding="utf-8"))
    if chance.one_in(4):
        (folder / PLAN).unlink()
        about = json.dumps(spoilt_json(chance, {"members": 2}))
        (folder / ABOUT).write_text(about, encoding="utf-8")
        with redirect_stdout(io.StringIO()):
            if not family_status(Path("held.zarr"), chance.one_in(2)):
                raise Reached("it is none")
        return
    if chance.one_in(2):
        known = spoilt_json(chance, known)
    (folder / PLAN).write_text(json.dumps(known), encoding="utf-8")
    for group in range(2):
        found = spoilt_json(chance, [dict(ENDED[group])]) if chance.one_in(2) else [ENDED[group]]
        (folder / f"group-{group}.json").write_text(json.dumps(found), encoding="utf-8")
    if chance.one_in(2) and is_sweep(Path("held.zarr")):
        with redirect_stdout(io.StringIO()):
            sweep_status(Path("held.zarr"), chance.one_in(2))
        return
    with _without_workers():
        _asked()


def _asked() -> Any:
    over = {"omega": [1.0, 2.0]}
    how: dict[str, Any] = {"out": "held.zarr", "steps": 4, "method": "rkn6-dmv10", "step": 0.01, "force": False}
    return ph.sweep(_made, over, progress=False, workers=1, **how)


def _made(omega: float) -> Any:
    return ph.RigidBody((1.0, 2.0, 2.5)), None, ph.State.of(omega=(omega, 0.1, 0.2))


def saved_sweep() -> Path:
    """A sweep of two members that was cut short: one of them is there."""
    home = Path("fuzzing_sweep")
    if not home.exists():
        saved()
        shutil.rmtree("held.zarr.members", ignore_errors=True)
        with _without_workers():
            _asked()
        shutil.copytree("fuzzing_saved/grown.zarr", "held.zarr.members/group-0.zarr")
        Path("held.zarr.members").rename(home)
    return home
