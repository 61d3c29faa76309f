"""The folder of a `Tree` before its first sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from zarr.codecs import Crc32cCodec

from polhode.results.quiet import quietly


def planted(dataset: Any, path: Path, rows: int = 1) -> None:
    """A folder with what does not grow, and nothing yet of what does."""
    encoding = {}
    for name, v in dataset.variables.items():
        length = rows if v.dims[:1] == ("t",) else None
        shape = tuple(max(1, n) for n in v.shape)
        encoding[name] = {"chunks": shape if length is None else (length, *shape[1:]), "compressors": [Crc32cCodec()]}
        if not v.ndim:
            encoding[name].pop("chunks")
    with quietly():
        dataset.to_zarr(path, mode="w", zarr_format=3, encoding=encoding, write_empty_chunks=True)
