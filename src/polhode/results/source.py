"""`Source`: the folder that a run is read from, for as long as it holds that run."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import xarray

from polhode.model.checks import InputError, shortened
from polhode.results.metadata import root_of
from polhode.results.quiet import quietly
from polhode.results.tree import CHECKSUM, TornError, Tree


class Source:
    """`tree`: as it stands now; `path`: as the user calls it."""

    def __init__(self, tree: Tree, path: Path) -> None:
        self.place, self.path = tree.path, path
        self._checksum, self._seen = tree.checksum, self._stamp()

    def read(self, look: Callable[[Any], Any]) -> Any:
        """What this finds in the open dataset. An InputError where that is not what was written."""
        self._check()
        try:
            found = look(self._data)
        except (OSError, ValueError, LookupError, TornError) as error:
            self._check()  # it may have been replaced while it was read
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{str(self.path)!r} is damaged: {shortened(error)}; polhode.resume({str(self.path)!r}) goes on from "
                "before that, or take another copy"
            ) from error
        self._check()
        return found

    @cached_property
    def _data(self) -> Any:
        tree = Tree(self.place)
        tree.look(tree.samples)  # zarr would read what is missing as nothing
        with quietly():
            return xarray.open_zarr(self.place, chunks=None, decode_times=False)

    def _check(self) -> None:
        """An InputError where its samples are those of another run by now, or it has gone on."""
        if (stamp := self._stamp()) == self._seen:
            return
        try:
            there = root_of(self.place)["attributes"].get(CHECKSUM)
        except (OSError, InputError):
            there = None
        if there != self._checksum:
            raise InputError(
                f"{str(self.path)!r} was replaced, moved, or gone on with after this run had ended, so its samples are "
                f"not there any more; look at what is there with polhode.load({str(self.path)!r}), or keep run.read()"
            )
        self._seen = stamp

    def _stamp(self) -> tuple[int, ...] | None:
        """Of its zarr.json, which every commit replaces."""
        try:
            about = os.stat(self.place / "zarr.json")
        except OSError:
            return None
        return about.st_dev, about.st_ino, about.st_mtime_ns, about.st_size
