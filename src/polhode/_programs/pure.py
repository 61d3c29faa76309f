"""What of JAX, numpy, math and polhode computes the same whenever it is called: no files, no chance, no clock."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

KNOWN = ("jax", "numpy", "math", "polhode")
_MODULES = {
    *("math", "numpy", "numpy.linalg", "numpy.fft", "jax", "jax.numpy", "jax.numpy.linalg", "jax.numpy.fft", "jax.lax"),
    *("jax.lax.linalg", "jax.nn", "jax.ops", "jax.random", "jax.scipy", "jax.scipy.special", "jax.scipy.linalg"),
    *("jax.tree", "jax.tree_util"),
}
_CHANGING = {  # of numpy and of JAX: from files, of the clock, of what happens to be in memory, of settings
    *("load", "loadtxt", "genfromtxt", "fromfile", "fromregex", "memmap", "datetime64", "empty", "empty_like"),
    *("geterr", "geterrcall", "getbufsize", "get_printoptions", "array2string", "array_repr", "array_str"),
    *("from_dlpack",),
}
_RUNNING = {"api", "bench", "cli", "given", "inputs", "members", "papers", "peers", "results", "running"}  # of polhode


def is_pure(x: Any) -> bool:
    """Whether a class or function of these packages is known to compute the same from the same."""
    return _is_pure(str(getattr(x, "__module__", None)), str(getattr(x, "__name__", "")))


@lru_cache(maxsize=1024)
def _is_pure(module: str, name: str) -> bool:
    package, *within = module.split(".")
    if package == "polhode":
        return not _RUNNING.intersection(within[:1])
    if package not in KNOWN:
        return False
    if package == "numpy" and ".".join((package, *within)) not in _MODULES:
        return False
    return name not in _CHANGING


def is_known(module: types.ModuleType) -> bool:
    """Whether what is in a module can be told to be so."""
    return module.__name__ in _MODULES or module.__name__.split(".")[0] == "polhode"


def read_from(module: types.ModuleType, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """All that code with these names of attributes may read from a module, by these."""
    there, listed = vars(module), _listed(module)  # some of these are loaded when first read
    return ((name, getattr(module, name)) for name in names if name in there or name in listed)


@lru_cache(maxsize=64)
def _listed(module: types.ModuleType) -> frozenset[str]:
    return frozenset(getattr(module, "__all__", ()))
