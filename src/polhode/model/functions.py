"""Functions of the user's own and the numbers passed to them by name: checked alike for one body and for systems."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode._programs import Traced
from polhode.algebra.reals import reals
from polhode.model.checks import InputError, nearest, shown

_VALUES = {float, int, np.float64, np.ndarray}  # kinds of numbers that have one


def parameters_of(kind: str, fn: Callable[..., Any], given: Any, by_keyword: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords and the dictionary `parameters=` together; an error names one that the function does not take."""
    if given is not None and not isinstance(given, Mapping):
        raise InputError(f"{kind}: parameters must be a dictionary of names and numbers; got {given!r}")
    both = set(given or ()) & set(by_keyword)
    if both:
        raise InputError(
            f"{kind}: {', '.join(sorted(both))} is given both as a keyword and in parameters; give it once"
        )
    parameters = {**(given or {}), **by_keyword}
    for name, value in parameters.items():
        for leaf in jax.tree.leaves(value):
            if not isinstance(leaf, jax.Array):
                _number(f"{kind}: parameter {name!r}", leaf)
    known = _parameters(fn)
    if known is None or any(p.kind is p.VAR_KEYWORD for p in known):
        return parameters
    names = [p.name for p in known if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    for name in parameters:
        if name not in names:
            raise InputError(
                f"{kind}: its function takes no {name!r}{nearest(name, names)} It takes ({', '.join(names)})"
            )
    return parameters


def _number(what: str, value: Any) -> None:
    try:
        as_float(value)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{what} must be numbers; got {shown(value)}: {error}. What is none belongs into the function"
        ) from error


def as_float(x: Any) -> Any:
    """A parameter as it is passed on: float64, switches as 0 and 1; what JAX traces stays as it is."""
    if type(x) is np.ndarray and x.dtype == np.float64:  # most are
        return np.array(x)
    if isinstance(x, jax.core.Tracer):
        return x
    return np.asarray(x, dtype=float) if isinstance(x, bool) or getattr(x, "dtype", None) == np.bool_ else reals(x)


def _parameters(fn: Callable[..., Any]) -> list[inspect.Parameter] | None:
    try:
        return list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):  # some functions of numpy and JAX have no signature
        return None


@contextmanager
def failures_named(what: str, given: str) -> Iterator[None]:
    """Whatever a user's function raises while JAX traces it, as a sentence: of what it is the function, and how it
    is called, "given ..."."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        said = (str(error).strip().splitlines() or [""])[0]
        raise InputError(
            f"the function of {what} failed: {type(error).__name__}{': ' if said else ''}{said.rstrip('.')}. It is "
            f"{given}: use jax.numpy, not numpy or math, and jax.numpy.where instead of `if`"
        ) from error


def one_number(what: str, value: Any) -> Any:
    """What the function of `what` returned, if it is one real number, which may pass through zero."""
    kind = jnp.result_type(value).kind if not isinstance(value, str) else "U"
    if kind not in "fiu":
        names = {"b": "True or False", "c": "a complex number"}
        raise InputError(
            f"the function of {what} must return one number, which passes through zero; it returned "
            f"{names.get(kind, 'no number')}"
        )
    found = jnp.asarray(value, dtype=float)
    if found.shape != ():
        raise InputError(f"the function of {what} must return one number; it returned shape {found.shape}")
    return found


def as_arrays(tree: Any) -> Any:
    """Numbers as float64 arrays, switches as 0 and 1; an error names what is no number, a parameter of a load say.
    What users' functions captured stays as it is, indices too."""

    def known(x: Any) -> bool:
        return isinstance(x, Traced)

    leaves, shape = jax.tree.flatten(tree, is_leaf=known)
    floats: list[Any] = []
    try:
        for x in leaves:
            floats.append(x if known(x) else as_float(x))
    except (TypeError, ValueError) as error:
        path, x = jax.tree_util.tree_flatten_with_path(tree, is_leaf=known)[0][len(floats)]
        place = jax.tree_util.keystr(path[:1]).lstrip(".")  # load, attitude, masses, forces, ...
        raise InputError(f"{place}: numbers are needed; got {shown(x)}: {error}") from error
    return jax.tree.unflatten(shape, floats)


def as_numbers() -> AbstractContextManager[None]:
    """Within, what JAX does not trace has a value, also inside of a jit that does not reach it. Outside of one there is
    nothing to do: JAX would work out every constant of a function by itself, and compile for it."""
    inside = isinstance(jax.device_put(np.zeros(())), jax.core.Tracer)
    return jax.ensure_compile_time_eval() if inside else nullcontext()


def is_traced(x: Any) -> bool:
    """Whether JAX traces any number in x, so that it has no value yet."""
    kinds = set(map(type, jax.tree.leaves(x)))
    return not kinds <= _VALUES and any(issubclass(kind, jax.core.Tracer) for kind in kinds)
