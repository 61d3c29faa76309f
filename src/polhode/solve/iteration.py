"""Iteration: the one place where implicit equations are solved.

A method writes its residual, zero at the solution, and a guess; what comes back is the
root and a `Report`. The root carries derivatives by the implicit function theorem (one
linear solve, however many iterations were needed), forward and in reverse. Unknowns are
pytrees of components of one batch shape; a batch is solved member by member, each frozen
once it has converged, so its result does not depend on its neighbours.

On a CPU iteration runs until converged. On a GPU a loop with a data-dependent end costs
a launch and a check by the host each time, so a fixed number is unrolled there and the
error left reported. `mode` overrides this choice, which `runs_until_converged` makes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jax import lax

from polhode._programs import platform
from polhode.algebra import Scalar
from polhode.algebra.computed_once import once
from polhode.algebra.scalars import is_mpmath
from polhode.solve.columns import Residual, solve_linear, solver_of, with_columns


def _none() -> Any:
    return jnp.asarray(0)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Report:
    """How an iteration ended, for each member of a batch."""

    converged: Scalar  # bool
    iterations: Scalar  # int
    error: Scalar  # estimate of what is left, relative to the scale of the unknown
    renewals: Scalar = field(default_factory=_none)  # solutions that needed the whole Jacobian at every iterate
    halvings: Scalar = field(default_factory=_none)  # steps that were taken in parts

    @classmethod
    def explicit(cls) -> Report:
        """Nothing was iterated."""
        return cls(jnp.asarray(True), jnp.asarray(0), jnp.asarray(0.0))

    def then(self, other: Report) -> Report:
        """Of two solves, one after the other."""
        return Report(
            self.converged & other.converged,
            self.iterations + other.iterations,
            jnp.maximum(self.error, other.error),
            self.renewals + other.renewals,
            self.halvings + other.halvings,
        )


_looping: ContextVar[bool] = ContextVar("looping", default=False)


@contextmanager
def until_converged() -> Iterator[None]:
    """Within, what is made loops until converged wherever it will run: inside of a kernel that costs nothing."""
    before = _looping.set(True)
    try:
        yield
    finally:
        _looping.reset(before)


def runs_until_converged(mode: str) -> bool:
    """The one place that decides between looping until converged and a fixed count."""
    return mode == "converge" or (mode == "auto" and (_looping.get() or platform() == "cpu"))


@dataclass(frozen=True)
class Fixed:
    """The residual x - g(x) of a fixed point of g; `FixedPoint` iterates g itself."""

    image: Callable[[Any], Any]

    def __call__(self, x: Any) -> Any:
        return _minus(x, self.image(x))


@dataclass(frozen=True)
class _Iteration:
    """Shared by `Newton` and `FixedPoint`: when to stop, and what to report. Sizes are compared by their squares, which
    need no root; they are relative to the scale of the unknown, so that none vanishes that matters."""

    tolerance: float  # on the error left, relative
    stalled: float  # or this, where it no longer falls: round-off
    limit: int  # of iterations, until converged
    count: int  # of iterations, when fixed
    mode: Literal["auto", "converge", "fixed"] = "auto"
    first: int = 0  # iterations before it is asked whether there are enough

    def improve(self, residual: Residual, x: Any, each: Scalar) -> tuple[Any, Scalar]:
        """A better x, and the square of the error it still has, estimated; `each` is one over the scale."""
        raise NotImplementedError

    def __call__(self, residual: Residual, guess: Any, scale: Scalar) -> tuple[Any, Report]:
        """The root of `residual` near `guess`, and how it was reached. `scale` is the
        size that corrections are compared with."""
        if any(is_mpmath(leaf) for leaf in jax.tree.leaves(guess)):
            return _in_many_digits(residual, guess, scale)
        each = 1.0 / (scale + jnp.finfo(jnp.float64).tiny)
        guess = jax.tree.map(jnp.asarray, guess)

        def solve(f: Residual, x: Any) -> tuple[Any, Any]:
            far = jnp.full(jnp.shape(each), jnp.inf)
            s = (x, far, far, jnp.zeros(jnp.shape(each)))
            looping = runs_until_converged(self.mode)
            for _ in range(self.first if looping else self.count):
                s = self._advance(residual, each, s)
            if looping:
                s = lax.while_loop(
                    lambda s: jnp.any(self._unfinished(s)), lambda s: self._advance_some(residual, each, s), s
                )
            return s[0], s[1:]

        # All that custom_root passes on must be floats; the counts turn whole afterwards.
        x, ending = lax.custom_root(residual, guess, solve, solve_linear, has_aux=True)
        size, before, n = jax.tree.map(lax.stop_gradient, ending)
        return x, Report(self._settled(size, before), n.astype(int), jnp.sqrt(size))

    def _settled(self, size: Scalar, before: Scalar) -> Any:
        """Within tolerance, or stalled by round-off a little above it."""
        return (size <= self.tolerance**2) | ((size >= before) & (size <= self.stalled**2))

    def _unfinished(self, s: Any) -> Any:
        _, size, before, n = s
        return ~self._settled(size, before) & ~jnp.isnan(size) & (n < self.limit)

    def _advance(self, f: Residual, each: Scalar, s: Any) -> Any:
        x, size, _, n = s
        return *self.improve(f, x, each), size, n + 1

    def _advance_some(self, f: Residual, each: Scalar, s: Any) -> Any:
        """Of a batch, those that are not finished."""
        new = self._advance(f, each, s)
        if jnp.shape(s[1]) == ():
            return new
        go = self._unfinished(s)
        return jax.tree.map(lambda a, b: jnp.where(go, a, b), new, s)


@dataclass(frozen=True)
class Newton(_Iteration):
    """Newton's method with the Jacobian, by automatic differentiation, used twice.

    Each iteration is a Newton step and a second one with the same Jacobian, which costs
    one more residual and makes convergence cubic (Potra & Pták 1984). With corrections a
    and b the error left is 2 b²/a to leading order. It has the same sign step after step,
    unlike round-off, so it is asked to be well below that.
    """

    tolerance: float = 1e-18
    stalled: float = 1e-14
    limit: int = 25
    count: int = 2

    def improve(self, residual: Residual, x: Any, each: Scalar) -> tuple[Any, Scalar]:
        y, columns = once(partial(with_columns, residual), x)
        solve = solver_of(columns, y)
        first = solve(y)
        x = _minus(x, first)
        second = solve(residual(x))
        a, b = _squared(first, each), _squared(second, each)
        left = 4.0 * b * (b / (a + b + jnp.finfo(jnp.float64).tiny))
        return _minus(x, second), jnp.where(a < 1e-24, 0.0, left)  # then b is round-off, and squares vanish


@dataclass(frozen=True)
class PlainNewton(_Iteration):
    """Newton's method as textbooks have it, until a correction is below 1e-10 of the unknown; the
    next would be below round-off. For counting iterations as papers do."""

    tolerance: float = 1e-10
    stalled: float = 1e-10
    limit: int = 25
    count: int = 4

    def improve(self, residual: Residual, x: Any, each: Scalar) -> tuple[Any, Scalar]:
        y, columns = once(partial(with_columns, residual), x)
        dx = solver_of(columns, y)(y)
        return _minus(x, dx), _squared(dx, each)


@dataclass(frozen=True)
class FixedPoint(_Iteration):
    """x <- x - residual(x), for residuals of the form x - g(x) with g a contraction.

    Corrections fall by a constant factor, so with b after a the next one is b²/a: that is asked to be below the
    tolerance, and well below round-off, as it has the same sign step after step."""

    tolerance: float = 1e-18
    stalled: float = 1e-12
    limit: int = 200
    count: int = 12

    def improve(self, residual: Residual, x: Any, each: Scalar) -> tuple[Any, Scalar]:
        new = residual.image(x) if isinstance(residual, Fixed) else _minus(x, residual(x))
        return new, _squared(_minus(new, x), each)

    def _settled(self, size: Scalar, before: Scalar) -> Any:
        falls = (size * size <= self.tolerance**2 * before) & (before < jnp.inf)
        return falls | ((size >= before) & (size <= self.stalled**2))


def _in_many_digits(residual: Residual, x: Any, scale: Scalar) -> tuple[Any, Report]:
    """Fixed-point iteration on mpmath numbers, which have no derivatives: for tests of order."""
    for n in range(1, 1000):
        dx = residual(x)
        x = _minus(x, dx)
        size = sum(leaf * leaf for leaf in jax.tree.leaves(dx))
        if size <= (scale * scale.context.eps) ** 2:
            return x, Report(True, n, 0.0)
    return x, Report(False, n, float(size) ** 0.5)


def _minus(x: Any, y: Any) -> Any:
    return jax.tree.map(lambda a, b: a - b, x, y)


def _squared(x: Any, each: Scalar) -> Scalar:
    """The sum of squares of x, in units of which there are `each` to one: as it stands, that of a small x would vanish
    where neither x nor its scale does."""
    return sum((leaf * each) ** 2 for leaf in jax.tree.leaves(x))
