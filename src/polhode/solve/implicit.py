"""The derivative of a solution by the theorem on implicit functions: one linear system, however many iterations."""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

_CUT = 1e-9  # singular values below this part of the largest count as zero


class Solved(Protocol):
    """Equations with a parameter, and how they are solved; hashable, as it is part of the program."""

    def solution(self, *at: Any) -> tuple[Any, Any]:
        """x, and how it was reached, in floats."""

    def left(self, x: Any, *at: Any) -> Any:
        """What is left of the equations, zero at the solution."""

    def underdetermined(self, *at: Any) -> bool:
        """Whether some unknowns are not determined: they then change by the least."""


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def implicit(equations: Solved, *at: Any) -> tuple[Any, Any]:
    """`equations.solution(*at)`, with derivatives by `at`, forward and in reverse."""
    return equations.solution(*at)


@implicit.defjvp
def _slope(equations: Solved, at: Any, along: Any) -> tuple[Any, Any]:
    x, ending = implicit(equations, *at)
    flat, shaped = ravel_pytree(x)

    def left(x: Any, *at: Any) -> Any:
        return ravel_pytree(equations.left(shaped(x), *at))[0]

    change = jax.jvp(partial(left, flat), at, along)[1]
    slope = jax.jacfwd(left)(flat, *at)
    least = equations.underdetermined(*at)
    moved = jnp.linalg.pinv(slope, rtol=_CUT) @ change if least else jnp.linalg.solve(slope, change)
    return (x, ending), (shaped(-moved), jax.tree.map(jnp.zeros_like, ending))
