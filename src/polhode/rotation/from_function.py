"""`FromFunction`: a load that holds a function of the user's own, and the numbers passed to it by name.

Such functions are written for one body: R and ω behave as arrays (3, 3) and (3,), and batches
are mapped over.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode._programs import Traced, fingerprint, is_from, traced
from polhode.algebra import Mat3, Vec3
from polhode.algebra.arraylike import as_array
from polhode.model.checks import InputError
from polhode.model.functions import as_float, parameters_of
from polhode.rotation.loads import Load
from polhode.rotation.members import (
    AmbiguousError,
    batch_shape,
    begins_with,
    for_each_member,
    mapped,
    one_each,
    together,
)


@dataclass(frozen=True)
class TracedFunction(Traced):
    """The function of a load for one body, of the first few of its arguments and of parameters by name; `each` of
    which have one value for every member of a batch."""

    each: tuple[str, ...] = ()

    @property
    def how(self) -> Any:
        return self.each

    @classmethod
    def made(cls, program: Any, captured: tuple[Any, ...], how: Any) -> Any:
        return cls(program, captured, how)

    def __call__(self, values: tuple[Any, ...], parameters: dict[str, Any], shape: tuple[int, ...]) -> Any:
        """For every member of a batch of any shape, in front in those parameters."""

        def of_one(*values: Any, **parameters: Any) -> Any:
            return self.evaluate(values, parameters)

        return mapped(of_one, values, parameters, self.each, shape)


class FromFunction(Load):
    """Holds a function and the numbers passed to it by name. The function is part of
    the compiled program; the numbers are not, so changing them compiles nothing."""

    fn: Callable[..., Any]
    parameters: dict[str, Any]

    def __init__(self, fn: Callable[..., Any], *, parameters: Any = None, **by_keyword: Any) -> None:
        self.fn = fn
        self.parameters = parameters_of(type(self).__name__, fn, parameters, by_keyword)
        self._arity = self._count_arguments()

    called = ""  # what users know it as, if not by its class
    _allowed: tuple[str, ...] = ()

    def _count_arguments(self) -> int:
        kind = self.called or type(self).__name__
        if not callable(self.fn):
            raise InputError(f"{kind} needs a function of {', '.join(self._allowed)}; got {self.fn!r}")
        # the class of an Enum speaks for its members from Python 3.13 on, and says how those are made
        called = self.fn.__call__ if isinstance(self.fn, Enum) else self.fn
        arguments = [
            p
            for p in inspect.signature(called).parameters.values()
            if p.name not in self.parameters and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        least = sum(p.default is p.empty for p in arguments)
        if not arguments or least > len(self._allowed):
            raise InputError(
                f"the function of a {kind} takes ({', '.join(self._allowed)}), or the first few of them, and the "
                f"parameters given by name; this one takes ({', '.join(p.name for p in arguments)})"
            )
        if least == 0:
            return min(len(arguments), len(self._allowed))
        for argument, name in zip(arguments[least:], self._allowed[least:], strict=False):
            if argument.name != name:
                break
            least += 1  # it has a default, but its name says that it is asked for
        return least

    def _call(self, *values: Any) -> Any:
        shape = batch_shape(values)
        if isinstance(self.fn, TracedFunction):
            return self.fn(values[: self._arity], self.parameters, shape)
        return for_each_member(self._of_one, values[: self._arity], self.parameters, shape)

    def _of_one(self, *values: Any, **parameters: Any) -> Any:
        seen = (as_array(v) if isinstance(v, Mat3 | Vec3) else v for v in values)
        return self._checked(self.fn(*seen, **parameters))

    def _checked(self, value: Any) -> Any:
        """What the function returned, of the one shape that is allowed."""
        raise NotImplementedError

    def batch(self, shape: tuple[int, ...], of: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
        """By what its function can work with, as everywhere."""
        fronts = {np.shape(x)[:n] for x in jax.tree.leaves(self.parameters) for n in range(1, np.ndim(x) + 1)}
        if not fronts or isinstance(self.fn, TracedFunction) or self._works(shape):
            return shape
        for front in sorted(fronts, key=len):
            if self._works(front):
                names = [name for name, p in self.parameters.items() if begins_with(front, p)]
                words = {f"parameter {name!r} of the {type(self).__name__}": front for name in names}
                whole = together(**of, **words)
                if whole != front:
                    raise InputError(
                        f"a parameter with one value for each member has all axes of the batch, {whole}; got "
                        f"{', '.join(f'{word} {front}' for word in words)}. Use numpy.broadcast_to"
                    )
                return front
        return shape  # where it is traced, it says what is wrong

    def _works(self, shape: tuple[int, ...]) -> bool:
        numbers = jax.tree.map(as_float, self.parameters)
        try:
            jax.eval_shape(
                lambda values, p: for_each_member(self._of_one, values, p, shape), self._examples(shape), numbers
            )
        except AmbiguousError:  # whoever traces it asks
            return True
        except Exception:  # whatever the function raises where it is given what it was not written for
            return False
        return True

    def _examples(self, shape: tuple[int, ...]) -> tuple[Any, ...]:
        """Of the arguments, for a batch of this shape."""
        number = jax.ShapeDtypeStruct(shape, float)
        examples = {"R": Mat3(*[number] * 9), "t": jax.ShapeDtypeStruct((), float), "omega": Vec3(*[number] * 3)}
        return tuple(examples[name] for name in self._allowed[: self._arity])

    def traced(self, shape: tuple[int, ...]) -> Any:
        if isinstance(self.fn, TracedFunction):
            return self
        numbers = jax.tree.map(as_float, self.parameters)
        each = one_each(self._of_one, self._examples(shape), numbers, shape)
        own = {n: jax.tree.map(lambda x: x[(0,) * len(shape)], p) if n in each else p for n, p in numbers.items()}

        def call(values: Any, parameters: Any) -> Any:
            return jax.tree.map(lambda x: jnp.asarray(x, dtype=float), self._of_one(*values, **parameters))

        names, made_of = tuple(sorted(numbers)), (type(self), self.fn, self._arity, self._static())
        known = traced(call, self._examples(()), own, of=made_of)
        leaves = [TracedFunction(*known, each), *(numbers[n] for n in names)]
        return self.tree_unflatten((None, names, self._arity, self._static()), leaves)

    def mark(self) -> Hashable | None:
        if not is_from(type(self), "polhode"):
            return None
        found = fingerprint(self.fn, self._arity, self._static(), self.parameters)
        return found and (type(self), found)

    def own_numbers(self) -> Any:
        each = self.fn.each if isinstance(self.fn, TracedFunction) else ()
        leaves, aux = self.tree_flatten()
        own = [
            jax.tree.map(lambda x, name=name: name in each, leaf)
            for name, leaf in zip(("", *aux[1]), leaves, strict=True)
        ]
        return self.tree_unflatten(aux, own)

    def tree_flatten(self) -> Any:
        names = tuple(sorted(self.parameters))
        known = isinstance(self.fn, Traced)
        leaves = [self.fn if known else None, *(self.parameters[n] for n in names)]
        return leaves, (None if known else self.fn, names, self._arity, self._static())

    def _static(self) -> tuple[Any, ...]:
        return ()

    @classmethod
    def tree_unflatten(cls, aux: Any, leaves: Any) -> Any:
        fn, names, arity, static = aux
        known, *numbers = leaves
        load = object.__new__(cls)
        load.fn = known if fn is None else fn
        load.parameters = dict(zip(names, numbers, strict=True))
        load._arity = arity
        for name, value in static:
            setattr(load, name, value)
        return load

    def __repr__(self) -> str:
        words = [getattr(self.fn, "__name__", repr(self.fn)), *(f"{k}={v!r}" for k, v in self.parameters.items())]
        return f"{type(self).__name__}({', '.join(words)})"
