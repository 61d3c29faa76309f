"""`on_device`: where a run computes, if not where JAX would by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import jax
import numpy as np

from polhode._programs import platform
from polhode.model.checks import InputError
from polhode.model.family import Problems
from polhode.model.problem import Problem
from polhode.results.run import Run
from polhode.rotation import Load, RigidBody, Rotation

config: Any = jax.config
_DEVICES = ("cpu", "gpu")
_MANY = 256  # systems: fewer take a GPU as long as the cores beside it


def quickest(what: Any, load: Any, start: Any) -> str | None:
    """Where a run computes if nobody said so: one motion on the CPU, also where there is a GPU, which would wait for
    each operation of a step; a batch of bodies, and of many systems, where JAX does."""
    if platform() == "cpu" or config.jax_default_device is not None:
        return None
    if isinstance(what, Run):
        return None if what.members else "cpu"
    if isinstance(what, Problems):
        return None if what.kind == "system" and what.members.size >= _MANY else "cpu"
    if isinstance(what, Problem):
        what, start = what.system, what.start
    if not isinstance(what, RigidBody | Rotation):
        return "cpu"
    parts = (what.moments, *(getattr(start, name, None) for name in ("attitude", "turning", "momentum")))
    loads = [x for x in (getattr(what, "load", None), load) if isinstance(x, Load)]
    of_members = any(np.ndim(x) for x in jax.tree.leaves(parts)) or any(x.batch((), {}) for x in loads)
    return None if of_members else "cpu"


@contextmanager
def on_device(name: str | None) -> Iterator[None]:
    """Within, on the first device of this kind; an InputError where there is none: never silently on another."""
    if name is None:
        yield
        return
    if name not in _DEVICES:
        raise InputError(f"device is one of {', '.join(_DEVICES)}; got {name!r}")
    try:
        found = jax.devices(name)
    except RuntimeError as error:
        there = ", ".join(sorted({device.platform for device in jax.devices()}))
        raise InputError(
            f"device {name!r} was asked for, and JAX sees none here, only: {there}. For a GPU of NVIDIA's "
            "pip install 'polhode[gpu]'; or leave the device out"
        ) from error
    with jax.default_device(found[0]):
        yield


def on_cpu() -> AbstractContextManager[None]:
    """Within, on the CPU; where JAX is there anyway nothing changes."""
    return nullcontext() if platform() == "cpu" else on_device("cpu")


def called_on(name: str, fn: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """The function on that device, with all that it was given but the name of it."""
    with on_device(name):
        return fn(**{key: value for key, value in given.items() if key != "device"})
