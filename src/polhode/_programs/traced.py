"""Users' functions by what they compute, not by which object computes it.

A function may read what no key could know of: a global, an attribute, an array changed in place.
So it is traced anew whenever it is used, in milliseconds, and what comes out is its name: the
jaxpr. The numbers that it captured, arrays and numbers alike, become arguments of the program
that it is part of. Changed data is then always seen, and a closure made again compiles nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from itertools import count as counting
from typing import Any

import jax
import numpy as np
from jax.extend import core

from polhode._programs.digest import Digest
from polhode._programs.fingerprint import fingerprint
from polhode._programs.settings import has_64_bits, settings

_DERIVATIVES = 3  # of a function with rules of its own for them: as many as a step takes
_numbers = counting(1)
_MANY = 256
_tracing: ContextVar[int | None] = ContextVar("_tracing", default=None)
_traces: dict[Any, tuple[Program, tuple[Any, ...]]] = {}


# JAX remembers what came out of functions inside of others (branches of `lax.cond`, bodies of loops, `jax.jit`) by
# who they are, unless this has changed.
_context = jax.make_user_context(0)


def trace_number() -> int:
    """Of what is being traced: a number of its own whenever it is asked for."""
    return next(_numbers)


@contextmanager
def anew() -> Iterator[int]:
    """A context in which JAX traces everything anew, functions inside of functions too; its number."""
    number = trace_number()
    token = _tracing.set(number)
    try:
        with _context(number):
            yield number
    finally:
        _tracing.reset(token)


@contextmanager
def once_in_a_trace() -> Iterator[int]:
    """The same within another such context, in which nothing changes; else one of its own."""
    number = _tracing.get()
    if number is None:
        with anew() as number:
            yield number
    else:
        yield number


class Program:
    """A function without the numbers it captured. Equal programs compute the same from the same numbers."""

    def __init__(self, closed: Any, shapes: Any, out: Any, anonymous: list[Any], digest: str) -> None:
        self._closed, self.shapes, self.out = closed, shapes, out
        self.digest = digest
        self._anonymous = tuple(anonymous)  # what has no name but itself, such as a callback to Python

    @property
    def jaxpr(self) -> Any:
        """What it does, step by step."""
        return self._closed

    @property
    def nameable(self) -> bool:
        """Whether its digest means the same in every process."""
        return not self._anonymous

    def __call__(self, captured: Any, args: list[Any]) -> Any:
        filled = [jax.numpy.broadcast_to(x, s.shape).astype(s.dtype) for x, s in zip(args, self.shapes, strict=True)]
        return jax.tree.unflatten(self.out, jax.core.eval_jaxpr(self._closed, captured, *filled))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Program)
            and self.digest == other.digest
            and len(self._anonymous) == len(other._anonymous)
            and all(a is b for a, b in zip(self._anonymous, other._anonymous, strict=True))
        )

    def __hash__(self) -> int:
        return hash(self.digest)

    def __deepcopy__(self, memo: Any) -> Program:
        return self  # nothing changes it

    def __repr__(self) -> str:
        return f"<program {self.digest[:12]}>"


@dataclass(frozen=True)
class Traced:
    """A function as it was when it was traced: its program, and the numbers it captured as leaves of a pytree.
    Kinds of functions derive from it, and say how they are called."""

    program: Program
    captured: tuple[Any, ...]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        jax.tree_util.register_pytree_node(
            cls,
            lambda x: (x.captured, (x.program, x.how)),
            lambda aux, captured: cls.made(aux[0], tuple(captured), aux[1]),
        )

    @property
    def how(self) -> Any:
        """What else tells functions of this kind apart; hashable."""
        return None

    @classmethod
    def made(cls, program: Program, captured: tuple[Any, ...], how: Any) -> Any:
        return cls(program, captured)

    def evaluate(self, *args: Any) -> Any:
        """With arguments like those it was traced with."""
        return self.program(list(self.captured), jax.tree.leaves(args))


def traced(fn: Callable[..., Any], *args: Any, of: tuple[Any, ...] | None = None) -> tuple[Program, tuple[Any, ...]]:
    """The program of fn, for arguments of these shapes (a pytree of numbers or ShapeDtypeStructs), and what
    it captured. `of`: all that fn is made of, if it can be told: where none of that changed it is not traced again."""
    leaves, tree = jax.tree.flatten(args)
    shapes = [jax.ShapeDtypeStruct(np.shape(x), float) for x in leaves]
    mark = None if of is None else fingerprint(*of)
    if mark is None:
        return _traced(fn, tree, shapes)
    key = (mark, tree, tuple(s.shape for s in shapes), settings(), has_64_bits())
    found = _traces.get(key)
    if found is None:
        found = _traced(fn, tree, shapes)
        if len(_traces) >= _MANY:  # other threads may be at it, too
            _traces.clear()
        _traces[key] = found
    return found


def _traced(fn: Callable[..., Any], tree: Any, shapes: list[Any]) -> tuple[Program, tuple[Any, ...]]:
    out: Any = None

    def flat(*leaves: Any) -> list[Any]:
        nonlocal out
        values, out = jax.tree.flatten(fn(*jax.tree.unflatten(tree, leaves)))
        return values

    with anew():
        closed = jax.make_jaxpr(flat)(*shapes)
    jaxpr, captured = _hoisted(closed.jaxpr, list(closed.consts))
    digest = Digest()
    digest.jaxpr(jaxpr)
    digest.text(f"{[(s.shape, str(s.dtype)) for s in shapes]} {out}")
    if digest.rules:  # what they say stands only in the derivatives
        try:
            for count in range(1, _DERIVATIVES + 1):
                digest.closed(jax.make_jaxpr(_derivative(jaxpr, count))(captured, *shapes))
        except Exception:  # not all of its rules can be told: like nothing but itself
            digest.anonymous.append(fn)
    return Program(jaxpr, shapes, out, digest.anonymous, digest.hash.hexdigest()), tuple(captured)


def _derivative(jaxpr: Any, count: int) -> Callable[..., Any]:
    """Of captured numbers and arguments, along the latter."""

    def along(captured: list[Any], *args: Any) -> Any:
        fn: Any = partial(jax.core.eval_jaxpr, jaxpr, captured)
        for _ in range(count):
            fn = partial(_along, fn)
        return fn(*args)

    return along


def _along(fn: Callable[..., Any], *args: Any) -> Any:
    return jax.jvp(fn, args, args)


def _hoisted(jaxpr: Any, consts: list[Any]) -> tuple[Any, list[Any]]:
    """The same with its floating-point literals as constants that are passed to it: a number that a
    function read is a literal of its jaxpr."""
    names = list(jaxpr.constvars)
    values = [np.array(c) if isinstance(c, np.ndarray) or not isinstance(c, jax.Array) else c for c in consts]

    def variable(x: Any) -> Any:
        if not isinstance(x, core.Literal) or np.result_type(x.val) != np.float64:
            return x
        names.append(core.Var(x.aval))
        values.append(np.asarray(x.val, dtype=np.float64))
        return names[-1]

    eqns = [eqn.replace(invars=[variable(x) for x in eqn.invars]) for eqn in jaxpr.eqns]
    return jaxpr.replace(constvars=names, eqns=eqns), values
