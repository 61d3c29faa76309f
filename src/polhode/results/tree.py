"""`Tree`: a zarr folder whose arrays grow along time, and which is whole at every moment.

The `zarr.json` of the folder says how long all arrays are (it is their metadata, consolidated) and is replaced in one
move, after what it speaks of is there: that is a commit. Chunks of so many samples hold raw numbers and zarr's crc32c;
the last one is replaced by another with more samples, so that what was committed is read from either.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
import psutil

from polhode.results.durable import settled, written
from polhode.results.metadata import HIDDEN, LATER, PART, ForeignError, check_parts, root_of

NUMBERS = 2**17  # of a part, all arrays together: a MiB
CHECKSUM = "checksum"  # of the rest of zarr.json
STILL = "still"  # of what does not grow


class TornError(Exception):
    """What was written is not what is there."""


def rows_for(numbers: int) -> int:
    """Samples of a chunk, by the numbers in one alone: a power of two."""
    return 1 << max(0, min(12, (NUMBERS // max(numbers, 1)).bit_length() - 1))


class Tree:
    """Of a folder that was `planted`."""

    def __init__(self, path: Path) -> None:
        self.path, self.hidden = path, path / HIDDEN
        self._root = root_of(path)
        self.arrays: dict[str, Any] = self._root["consolidated_metadata"]["metadata"]
        self.growing = [name for name, about in self.arrays.items() if about["dimension_names"][:1] == ["t"]]
        if not {"t", "step_count"} <= set(self.growing):
            raise ForeignError("it has no samples")
        self.rows: int = self._chunk("t")[0]
        for name in self.growing:
            shape, chunk = self.arrays[name]["shape"], self._chunk(name)
            if shape[0] != self.samples or chunk != [self.rows, *(max(1, n) for n in shape[1:])]:
                raise ForeignError(f"the array {name!r} is not as long as the others, or in other parts")
        part = 8 * sum(math.prod(self._chunk(name)) for name in self.growing)
        if part > (free := psutil.virtual_memory().available):
            raise ForeignError(f"its parts are of {part / 2**30:.3g} GiB, and {free / 2**30:.3g} are free")
        self._pending: list[Path] = []
        self._still: str | None = self.attributes.get(STILL)  # None: what does not grow is another than it was

    def _chunk(self, name: str) -> list[int]:
        return self.arrays[name]["chunk_grid"]["configuration"]["chunk_shape"]

    @property
    def attributes(self) -> dict[str, Any]:
        return {k: v for k, v in self._root["attributes"].items() if k != CHECKSUM}

    @property
    def checksum(self) -> str:
        """Of its zarr.json, as that says."""
        return str(self._root["attributes"].get(CHECKSUM))

    @property
    def samples(self) -> int:
        """Those that are committed."""
        return int(self.arrays["t"]["shape"][0])

    def look(self, samples: int) -> None:
        """TornError where zarr.json is not as it was written, or where files of the first so many samples, or of what
        does not grow, are missing: zarr would read those as nothing. Their own checksums are looked at by who reads."""
        self.look_at_root()
        for name, about in self.arrays.items():
            parts = -(-samples // self.rows) if name in self.growing else 1
            if 0 not in about["shape"][name in self.growing :]:
                for part in range(parts):
                    if not self.place(name, part).is_file():
                        raise TornError(f"part {part} of {name!r} is missing")
        if samples == self.samples and self.attributes.get("chain") != self.chain(samples // self.rows).hex():
            raise TornError("its parts are not those that were written: their checksums differ")
        if samples and samples == self.samples and self._still not in (None, self.still()):
            raise TornError("what does not grow in it is not what was written: its checksums differ")
        ended = samples == self.samples and samples % self.rows and self.attributes.get("finished")  # nobody writes
        if ended and self.attributes.get("tail") != self.sums(samples // self.rows).hex():
            raise TornError("its last part is not the one that was written: its checksums differ")

    def look_at_parts(self) -> None:
        """ForeignError where a file of an array is a link or a pipe."""
        check_parts(self.path, self._root)

    def look_at_root(self) -> None:
        """TornError where zarr.json is not as it was written."""
        if self._root["attributes"].get(CHECKSUM) != self._sum():
            raise TornError("its zarr.json is not what was written: its checksum differs")

    def chain(self, parts: int) -> bytes:
        """Of the checksums of so many parts, one after the other."""
        found = b""
        for part in range(parts):
            found = hashlib.sha256(found + self.sums(part)).digest()
        return found

    def _sum(self) -> str:
        rest = {**self._root, "attributes": self.attributes}
        return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()

    def place(self, name: str, part: int) -> Path:
        """The file of a part of an array; what does not grow has one."""
        inner = len(self.arrays[name]["shape"]) - 1
        return self.path.joinpath(name, "c", *[str(part)] * (inner >= 0), *["0"] * inner)

    def put(self, part: int, values: Mapping[str, np.ndarray]) -> bytes:
        """All numbers of a part, which are not committed yet; as `sums` says."""
        found = hashlib.sha256()
        for name in self.growing:
            data = np.ascontiguousarray(values[name], _kind(name))
            if not data.size:
                continue
            raw = data.tobytes()
            crc = google_crc32c.value(raw).to_bytes(4, "little")
            path = self.place(name, part)
            path.parent.mkdir(parents=True, exist_ok=True)
            written(path, raw, crc)
            self._pending.append(path)
            found.update(name.encode() + crc)
        return found.digest()

    def part(self, part: int) -> dict[str, np.ndarray]:
        """What `put` was given; TornError where it is not what was put there."""
        return {name: self._read(name, part) for name in self.growing}

    def nothing(self) -> dict[str, np.ndarray]:
        """A part of zeros."""
        return {name: np.zeros((self.rows, *self.arrays[name]["shape"][1:]), _kind(name)) for name in self.growing}

    def _read(self, name: str, part: int) -> np.ndarray:
        shape, path, kind = (self.rows, *self.arrays[name]["shape"][1:]), self.place(name, part), _kind(name)
        if 0 in shape:
            return np.zeros(shape, kind)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise TornError(f"part {part} of {name!r} is missing") from error
        if len(data) != kind.itemsize * int(np.prod(shape)) + 4:
            raise TornError(f"part {part} of {name!r} is cut short")
        if int.from_bytes(data[-4:], "little") != google_crc32c.value(data[:-4]):
            raise TornError(f"part {part} of {name!r} is not what was written: its checksum differs")
        return np.frombuffer(data[:-4], kind).reshape(shape).copy()

    def sums(self, part: int) -> bytes:
        """Of a part, as it stands on the disk, unread: the checksums at the ends of its files."""
        return self._sums(self.growing, part)

    def still(self) -> str:
        """As `sums`, of what does not grow."""
        return self._sums(sorted(self.arrays.keys() - set(self.growing)), 0).hex()

    def _sums(self, names: Collection[str], part: int) -> bytes:
        found = hashlib.sha256()
        for name in names:
            if 0 in self.arrays[name]["shape"][name in self.growing :]:
                continue
            try:
                with self.place(name, part).open("rb") as file:
                    file.seek(-4, 2)
                    found.update(name.encode() + file.read())
            except OSError as error:
                raise TornError(f"part {part} of {name!r} is missing") from error
        return found.digest()

    def wait_for(self, *paths: Path) -> None:
        """They are to be on the disk before the next commit."""
        self._pending += paths

    def commit(self, samples: int, attributes: Mapping[str, Any]) -> None:
        """From here on there are so many samples."""
        settled(self._pending)
        self._pending = []
        for name in self.growing:
            self.arrays[name]["shape"][0] = samples
        self._still = self._still or self.still()
        self._root["attributes"] = dict(sorted({**attributes, STILL: self._still}.items()))
        self._root["attributes"][CHECKSUM] = self._sum()
        root = self.path / "zarr.json"
        written(root, json.dumps(self._root, indent=1).encode())
        settled([root])

    def say(self, samples: int) -> None:
        """In every array by itself how long it is, for readers that do not look at the folder's zarr.json."""
        for name in self.growing:
            about = {**self.arrays[name], "shape": [samples, *self.arrays[name]["shape"][1:]]}
            path = self.path / name / "zarr.json"
            written(path, json.dumps(about, indent=1).encode())
            self._pending.append(path)

    def graft(self, folder: Path, names: Collection[str] | None = None) -> None:
        """Arrays that do not grow, from another folder, all or these, in the place of those of the same names."""
        other = json.loads((folder / "zarr.json").read_text(encoding="utf-8"))["consolidated_metadata"]["metadata"]
        for name, about in other.items():
            if names is not None and name not in names:
                continue
            shutil.rmtree(self.path / name, ignore_errors=True)
            (folder / name).rename(self.path / name)
            self.arrays[name], self._still = about, None
            self._pending += [p for p in (self.path / name).rglob("*") if p.is_file()]
        self._root["consolidated_metadata"]["metadata"] = self.arrays = dict(sorted(self.arrays.items()))

    def prune(self, *names: str) -> None:
        """Arrays that are no part of it any more."""
        for name in names:
            self.arrays.pop(name, None)
        self._still = None

    def clean(self) -> None:
        """Take away what was written after the last commit."""
        parts = -(-self.samples // self.rows)
        for name in LATER:
            if name not in self.arrays and (self.path / name).is_dir():
                shutil.rmtree(self.path / name)
        for name in self.growing:
            for place in _listed(self.path / name / "c"):
                if not place.name.isdecimal() or int(place.name) >= parts:
                    shutil.rmtree(place) if place.is_dir() else place.unlink()
        for left in (self.path / f"zarr.json{PART}", *self._files(f"*{PART}", HIDDEN, *self.arrays)):
            left.unlink(missing_ok=True)

    def _files(self, pattern: str, *names: str) -> Iterator[Path]:
        """In folders of these names; nothing else in the folder is ours."""
        for name in names:
            yield from (self.path / name).rglob(pattern)


def _kind(name: str) -> np.dtype[Any]:
    return np.dtype("<i8" if name == "step_count" else "<f8")


def _listed(folder: Path) -> Iterator[Path]:
    return iter(list(folder.iterdir()) if folder.is_dir() else [])
