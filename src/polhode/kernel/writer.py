"""`Writer`: a jaxpr of a few numbers, written as lines of C. Loops and branches stay loops and branches."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np

from polhode.kernel.arrays import constant, factors, moved, rows_reduced
from polhode.kernel.operations import SAME, TYPES, folded, one_by_one

_INNER = ("jaxpr", "call_jaxpr", "fun_jaxpr")
_CALLS = ("jit", "eval_jaxpr", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "remat",
          "checkpoint", "custom_vjp_call_jaxpr", "custom_lin")  # fmt: skip
_PUT_TOGETHER = {"reduce_sum": "add", "reduce_max": "max", "reduce_min": "min", "reduce_and": "and",
                 "reduce_or": "or", "reduce_prod": "mul"}  # fmt: skip


def _expanded(primitive: Any, like: Sequence[Any]) -> Any:
    """What JAX keeps whole until it compiles, from 0.11 on: roots, among others."""

    def fn(*flat: Any) -> Any:
        return jax.tree.leaves(primitive.expand(*jax.tree.unflatten(primitive.in_tree, flat)))

    return jax.make_jaxpr(fn)(*(jax.ShapeDtypeStruct(x.aval.shape, x.aval.dtype) for x in like))


class UnwritableError(Exception):
    """A program holds what cannot be written in C; the message says what."""


class Writer:
    """Lines so far. A value is an array of texts, each a name or a literal. What was computed in a block, or in one
    around it, is not computed again there: derivatives by each of several numbers ask for the same over and over."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._names = itertools.count()
        self._known: list[dict[Any, Any]] = [{}]  # of each block that is open

    def put(self, line: str) -> None:
        self.lines.append("  " * len(self._known) + line)

    @contextmanager
    def inside(self, head: str) -> Iterator[None]:
        """A block in braces."""
        self.put(head + " {")
        self._known.append({})
        yield
        self._known.pop()
        self.put("}")

    def named(self, dtype: Any, value: str, *, fixed: bool = True) -> str:
        """A name of this value; a new one, unless it is `fixed` and has one."""
        kind = np.dtype(dtype).name
        if kind not in TYPES:
            raise UnwritableError(f"numbers of type {kind}")
        if fixed and (found := self._found((kind, value))):
            return found
        name = f"v{next(self._names)}"
        self.put(f"{'const ' if fixed else ''}{TYPES[kind]} {name} = {value};")
        if fixed:
            self._known[-1][kind, value] = name
        return name

    def _found(self, what: Any) -> Any:
        return next((known[what] for known in self._known if what in known), None)

    def closed(self, closed: Any, args: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The results of a jaxpr."""
        jaxpr, consts = getattr(closed, "jaxpr", closed), getattr(closed, "consts", ())
        known: dict[Any, np.ndarray] = dict(zip(jaxpr.constvars, map(constant, consts), strict=True))
        known.update(zip(jaxpr.invars, args, strict=True))

        def read(x: Any) -> np.ndarray:
            return constant(x.val, x.aval.dtype) if hasattr(x, "val") else known[x]

        for eqn in jaxpr.eqns:
            results = self._results(eqn, [read(x) for x in eqn.invars])
            known.update(zip(eqn.outvars, (np.asarray(x, dtype=object) for x in results), strict=True))
        return [read(x) for x in jaxpr.outvars]

    def _results(self, eqn: Any, args: list[np.ndarray]) -> Sequence[np.ndarray]:
        name, params = str(eqn.primitive), eqn.params
        out = eqn.outvars[0].aval if eqn.outvars else None
        if name in SAME:
            return args
        if name in _CALLS:
            return self.closed(next(params[key] for key in _INNER if key in params), args)
        if name == "call_hi_primitive":
            return self.closed(_expanded(params["_prim"], eqn.invars), args)
        if name in ("while", "cond", "scan"):
            return getattr(self, f"_{name}")(eqn, args)
        if out is None:
            raise UnwritableError(f"{name}, which has no result")
        if (found := moved(name, params, args, out.shape, len(eqn.outvars))) is not None:
            return found
        if name in _PUT_TOGETHER:
            return [self._reduced(_PUT_TOGETHER[name], args[0], params["axes"], out)]
        if name == "dot_general":
            return [self._product(args[0], args[1], params["dimension_numbers"], out)]
        kinds = [np.dtype(x.aval.dtype) for x in eqn.invars]
        if name == "convert_element_type" and kinds[0] == out.dtype:
            return args
        made = one_by_one(name, params, kinds, np.dtype(out.dtype))
        if made is None:
            raise UnwritableError(f"the operation {name!r}")
        return [self._each(name, made, out, args, kinds[0].kind == "f")]

    def _each(self, name: str, made: Any, out: Any, args: list[np.ndarray], may_fold: bool) -> np.ndarray:
        result = np.empty(out.shape, object)
        whole = [np.broadcast_to(x, out.shape) for x in args]
        for at in np.ndindex(out.shape):
            texts = tuple(str(x[at]) for x in whole)
            known = folded(name, texts) if may_fold else None
            result[at] = self.named(out.dtype, made(*texts)) if known is None else known
        return result

    def _reduced(self, operation: str, x: np.ndarray, axes: Any, out: Any) -> np.ndarray:
        kind = np.dtype(out.dtype)
        made = one_by_one(operation, {}, [kind, kind], kind)
        rows = rows_reduced(x, tuple(axes))
        total = rows[0]
        for row in rows[1:]:
            total = self._each(operation, made, out, [total, row], kind.kind == "f")
        return total

    def _product(self, a: np.ndarray, b: np.ndarray, dimension_numbers: Any, out: Any) -> np.ndarray:
        result = np.empty(out.shape, object)
        for at, pairs in factors(a, b, dimension_numbers):
            terms = [folded("mul", pair) or self.named(out.dtype, f"{pair[0]} * {pair[1]}") for pair in pairs]
            total = terms[0]
            for term in terms[1:]:
                total = folded("add", (total, term)) or self.named(out.dtype, f"{total} + {term}")
            result[at] = total
        return result

    def variables(self, avals: Sequence[Any], values: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Names that may be given other values, with these to begin with."""
        made = []
        for aval, value in zip(avals, values, strict=True):
            names, whole = np.empty(aval.shape, object), np.broadcast_to(value, aval.shape)
            for at in np.ndindex(aval.shape):
                names[at] = self.named(aval.dtype, str(whole[at]), fixed=False)
            made.append(names)
        return made

    def assign(self, names: Sequence[np.ndarray], values: Sequence[np.ndarray]) -> None:
        """All at once."""
        pairs = [
            (name[at], np.broadcast_to(value, name.shape)[at])
            for name, value in zip(names, values, strict=True)
            for at in np.ndindex(name.shape)
        ]
        pairs = [(name, value) for name, value in pairs if name != value]
        overwritten, aside = {name for name, _ in pairs}, {}
        for _, value in pairs:
            if value in overwritten and value not in aside:
                aside[value] = f"w{next(self._names)}"
                self.put(f"const auto {aside[value]} = {value};")
        for name, value in pairs:
            self.put(f"{name} = {aside.get(value, value)};")

    def _while(self, eqn: Any, args: list[np.ndarray]) -> list[np.ndarray]:
        p = eqn.params
        n, m = p["cond_nconsts"], p["cond_nconsts"] + p["body_nconsts"]
        carried = self.variables([x.aval for x in eqn.outvars], args[m:])
        with self.inside("while (true)"):
            (go,) = self.closed(p["cond_jaxpr"], [*args[:n], *carried])
            self.put(f"if (!{go[()]}) break;")
            self.assign(carried, self.closed(p["body_jaxpr"], [*args[n:m], *carried]))
        return carried

    def _cond(self, eqn: Any, args: list[np.ndarray]) -> list[np.ndarray]:
        which, *given = args
        what = str(eqn.params["branches"]), *(tuple(x.ravel()) for x in args)
        if found := self._found(what):
            return found
        avals = [x.aval for x in eqn.outvars]
        results = []
        for aval in avals:
            names = np.empty(aval.shape, object)
            for at in np.ndindex(aval.shape):
                names[at] = f"v{next(self._names)}"
                self.put(f"{TYPES[np.dtype(aval.dtype).name]} {names[at]};")
            results.append(names)
        *some, last = enumerate(eqn.params["branches"])
        for k, branch in some:
            with self.inside(f"{'else ' if k else ''}if ({which[()]} == {k})"):
                self.assign(results, self.closed(branch, given))
        with self.inside("else"):
            self.assign(results, self.closed(last[1], given))
        self._known[-1][what] = results
        return results

    def _scan(self, eqn: Any, args: list[np.ndarray]) -> list[np.ndarray]:
        """A loop over rows of coefficients."""
        p = eqn.params
        if "num_consts" in p:
            n, carry = p["num_consts"], p["num_carry"]
        else:  # of a newer JAX
            n, carry = (len(group) for group in list(p["ft_in"].unpack())[:2])
        m = n + carry
        if len(eqn.outvars) != carry or p["reverse"]:
            raise UnwritableError("a scan that returns what it made on its way")
        tables = []
        for x, var in zip(args[m:], eqn.invars[m:], strict=True):
            name, kind = f"t{next(self._names)}", TYPES[np.dtype(var.aval.dtype).name]
            self.put(f"const {kind} {name}[{x.size}] = {{{', '.join(x.ravel())}}};")
            tables.append((name, var.aval))
        carried = self.variables([x.aval for x in eqn.outvars], args[n:m])
        k = f"k{next(self._names)}"
        self.put("#pragma unroll 1")
        with self.inside(f"for (int {k} = 0; {k} < {p['length']}; ++{k})"):
            rows = []
            for name, aval in tables:
                row, size = np.empty(aval.shape[1:], object), math.prod(aval.shape[1:])
                for j, at in enumerate(np.ndindex(row.shape)):
                    row[at] = self.named(aval.dtype, f"{name}[{k} * {size} + {j}]")
                rows.append(row)
            self.assign(carried, self.closed(p["jaxpr"], [*args[:n], *carried, *rows]))
        return carried
