"""`Program`: a jaxpr as operations in a row: calls written out, constants folded, nothing twice, what a loop leaves as
it is in front of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from polhode.kernel.operations import SAME
from polhode.kernel.writer import _CALLS, _INNER, UnwritableError, _expanded

_SAME = (*SAME, "xla_metadata_value", "layout_constraint", "reduce_precision_same")
_LOOPS = ("while", "cond", "scan")
_FOLDED = 4096  # numbers of a constant that is worked out here


class Var:
    """An array that an operation makes."""

    __slots__ = ("depth", "dtype", "op", "shape")

    def __init__(self, aval: Any, depth: int) -> None:
        self.shape, self.dtype = tuple(aval.shape), np.dtype(aval.dtype)
        self.depth = depth
        self.op: Op | None = None

    @property
    def size(self) -> int:
        return math.prod(self.shape)


class Block:
    """Operations one after the other; what they are given, and what they leave."""

    def __init__(self, given: list[Var]) -> None:
        self.given, self.ops = given, list[Op]()
        self.left: list[Any] = []


class Op:
    def __init__(self, name: str, params: Any, args: list[Any], outs: list[Var], blocks: Sequence[Block] = ()) -> None:
        self.name, self.params, self.args, self.outs, self.blocks = name, params, args, outs, blocks
        self.kept = True  # in memory, or else worked out where it is read
        for out in outs:
            out.op = self


class Program:
    """`block`, of a closed jaxpr."""

    def __init__(self, closed: Any) -> None:
        self._stack: list[tuple[Block, bool, dict[Any, list[Any]]]] = []
        self._constants: dict[Any, np.ndarray] = {}
        given = [Var(x.aval, 0) for x in closed.jaxpr.invars]
        self.block = self._block(given, closed, given, False)

    def _constant(self, value: Any, dtype: Any = None) -> np.ndarray:
        value = np.asarray(value, dtype)
        return self._constants.setdefault((value.tobytes(), value.shape, value.dtype), value)

    def _block(self, given: list[Var], closed: Any, args: Sequence[Any], loops: bool) -> Block:
        block = Block(given)
        self._stack.append((block, loops, {}))
        block.left = self._closed(closed, args)
        self._stack.pop()
        return block

    def _given(self, avals: Sequence[Any]) -> list[Var]:
        return [Var(aval, len(self._stack)) for aval in avals]

    def _closed(self, closed: Any, args: Sequence[Any]) -> list[Any]:
        jaxpr, consts = getattr(closed, "jaxpr", closed), getattr(closed, "consts", ())
        known: dict[Any, Any] = dict(zip(jaxpr.constvars, map(self._constant, consts), strict=True))
        known.update(zip(jaxpr.invars, args, strict=True))

        def read(x: Any) -> Any:
            return self._constant(x.val, x.aval.dtype) if hasattr(x, "val") else known[x]

        needed = _needed(jaxpr)
        for eqn, is_needed in zip(jaxpr.eqns, needed, strict=True):
            if is_needed:
                known.update(zip(eqn.outvars, self._eqn(eqn, [read(x) for x in eqn.invars]), strict=True))
        return [read(x) for x in jaxpr.outvars]

    def _eqn(self, eqn: Any, args: list[Any]) -> Sequence[Any]:
        name, params = str(eqn.primitive), eqn.params
        if name in _SAME:
            return args
        if name in _CALLS:
            return self._closed(next(params[key] for key in _INNER if key in params), args)
        if name == "call_hi_primitive":
            return self._closed(_expanded(params["_prim"], eqn.invars), args)
        if name in _LOOPS:
            return getattr(self, f"_{name}")(eqn, args)
        if not eqn.outvars:
            raise UnwritableError(f"{name}, which has no result")
        outs: list[Any] = [x.aval for x in eqn.outvars]
        constant = all(isinstance(x, np.ndarray) for x in args)
        if constant and sum(math.prod(x.shape) for x in outs) <= _FOLDED:
            with jax.ensure_compile_time_eval():
                values = eqn.primitive.bind(*args, **params)
            values = values if eqn.primitive.multiple_results else [values]
            return [self._constant(v, x.dtype) for v, x in zip(values, outs, strict=True)]
        if name == "convert_element_type" and args[0].dtype == outs[0].dtype:
            return args
        return self._moves(name, params, args, outs) or self._op(name, params, args, outs)

    def _moves(self, name: str, params: Any, args: list[Any], outs: list[Any]) -> list[Any] | None:
        """What is said by fewer words: reshape, slice, concatenate."""
        x: Any = args[0] if args else None
        if name in ("squeeze", "expand_dims", "reshape"):
            return [x] if x.shape == outs[0].shape else self._op("reshape", {}, [x], outs)
        if name == "stack":
            axis = params.get("axis", 0)
            one = jax.core.ShapedArray((*x.shape[:axis], 1, *x.shape[axis:]), x.dtype)
            parts = [self._op("reshape", {}, [a], [one])[0] for a in args]
            return self._op("concatenate", {"dimension": axis}, parts, outs)
        if name in ("split", "unstack"):
            axis = params["axis"]
            sizes = params["sizes"] if name == "split" else [1] * len(outs)
            found, first = [], 0
            for out, size in zip(outs, sizes, strict=True):
                start, end = [0] * len(x.shape), list(x.shape)
                start[axis], end[axis] = first, first + size
                first += size
                cut = jax.core.ShapedArray(tuple(b - a for a, b in zip(start, end, strict=True)), x.dtype)
                bounds = {"start_indices": tuple(start), "limit_indices": tuple(end), "strides": None}
                (part,) = self._op("slice", bounds, [x], [cut])
                found += [part] if name == "split" else self._op("reshape", {}, [part], [out])
            return found
        return None

    def _op(self, name: str, params: Any, args: list[Any], avals: Sequence[Any]) -> list[Any]:
        """In the outermost loop in which it is always the same; the one that is there, if there is."""
        if name == "dot_general" and len(self._stack) > 1:
            args = self._by_columns(params["dimension_numbers"], args)
        inner = max((x.depth for x in args if isinstance(x, Var)), default=0)
        place = len(self._stack) - 1
        while place > inner and self._stack[place][1]:
            place -= 1
        shapes = tuple((tuple(x.shape), np.dtype(x.dtype)) for x in avals)
        key = (name, str(params), tuple(id(x) for x in args), shapes)
        for _, _, known in self._stack[: place + 1]:
            if key in known:
                return known[key]
        outs = [Var(aval, place) for aval in avals]
        block, _, known = self._stack[place]
        block.ops.append(Op(name, params, args, outs))
        known[key] = list(outs)
        return list(outs)

    def _by_columns(self, numbers: Any, args: list[Any]) -> list[Any]:
        """A matrix that a loop multiplies with vectors, stored so that lanes, each with a row, read side by side."""
        (a, b), ((sum_a, _), batch) = args, numbers
        here = len(self._stack) - 1
        rows = isinstance(a, Var) and len(a.shape) == 2 and len(b.shape) == 1 and tuple(sum_a) == (1,)
        if not rows or batch != ((), ()) or not self._stack[here][1] or a.depth >= here:
            return args
        return [self._op("columns", {}, [a], [jax.core.ShapedArray(a.shape, a.dtype)])[0], b]

    def _while(self, eqn: Any, args: list[Any]) -> list[Any]:
        p = eqn.params
        n, m = p["cond_nconsts"], p["cond_nconsts"] + p["body_nconsts"]
        avals = [x.aval for x in eqn.outvars]
        given = self._given(avals)
        blocks = [
            self._block(given, p["cond_jaxpr"], [*args[:n], *given], True),
            self._block(given, p["body_jaxpr"], [*args[n:m], *given], True),
        ]
        return self._loop("while", {}, args[m:], avals, blocks)

    def _cond(self, eqn: Any, args: list[Any]) -> list[Any]:
        which, *rest = args
        blocks = [self._block([], branch, rest, False) for branch in eqn.params["branches"]]
        return self._loop("cond", {}, [which], [x.aval for x in eqn.outvars], blocks)

    def _scan(self, eqn: Any, args: list[Any]) -> list[Any]:
        p = eqn.params
        if "num_consts" in p:
            n, carry = p["num_consts"], p["num_carry"]
        else:  # of a newer JAX
            n, carry = (len(group) for group in list(p["ft_in"].unpack())[:2])
        if len(eqn.outvars) != carry or p["reverse"]:
            raise UnwritableError("a scan that returns what it made on its way")
        given = self._given([x.aval for x in getattr(p["jaxpr"], "jaxpr", p["jaxpr"]).invars[n:]])
        block = self._block(given, p["jaxpr"], [*args[:n], *given], False)
        return self._loop("scan", {"length": p["length"]}, args[n:], [x.aval for x in eqn.outvars], [block])

    def _loop(self, name: str, params: Any, args: list[Any], avals: list[Any], blocks: list[Block]) -> list[Any]:
        outs = self._given(avals)
        for out in outs:
            out.depth -= 1
        self._stack[-1][0].ops.append(Op(name, params, args, outs, blocks))
        return list(outs)


def _needed(jaxpr: Any) -> list[bool]:
    """Of each equation, whether anything comes of it."""
    wanted = {x for x in jaxpr.outvars if not hasattr(x, "val")}
    found = []
    for eqn in reversed(jaxpr.eqns):
        is_needed = any(x in wanted for x in eqn.outvars)
        if is_needed:
            wanted.update(x for x in eqn.invars if not hasattr(x, "val"))
        found.append(is_needed)
    return found[::-1]
