"""Newton's method on an array of unknowns with the Jacobian of every iterate, by automatic differentiation.

For the schemes that are kept as their paper wrote them; `chord` is the faster way. The root carries derivatives by the
implicit function theorem: one linear system, however many iterations were needed, forward and in reverse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from polhode.solve.iteration import Report


@dataclass(frozen=True)
class DenseNewton:
    """Until the norm of the residual is below `tolerance`, at most `limit` times; one correction at
    least. `frozen` keeps q⁺ fixed in the Jacobian, the paper's block iteration."""

    tolerance: float = 1e-10
    limit: int = 20
    frozen: bool = False

    def __call__(
        self, evaluate: Callable[[Any, Any], tuple[Any, Any]], place: Callable[[Any], Any], guess: Any
    ) -> tuple[Any, Report]:
        """`evaluate(x, place(x))` is (residual, zero at the solution; its norm)."""

        def advance(s: Any) -> Any:
            x, residual, _, n = s
            at = place(x)
            J = jax.jacfwd(lambda x: evaluate(x, at if self.frozen else place(x))[0])(x)
            x = x - jnp.linalg.solve(J, residual)
            return (x, *evaluate(x, place(x)), n + 1)

        def unfinished(s: Any) -> Any:
            _, _, size, n = s
            return ((size > self.tolerance) | (n == 0)) & (n < self.limit)

        def solve(_: Any, x: Any) -> tuple[Any, Any]:
            x, _, size, n = lax.while_loop(unfinished, advance, (x, *evaluate(x, place(x)), jnp.asarray(0)))
            return x, (size, 1.0 * n)  # floats, as all that custom_root passes on

        x, ending = lax.custom_root(lambda x: evaluate(x, place(x))[0], guess, solve, _over, has_aux=True)
        size, n = jax.tree.map(lax.stop_gradient, ending)
        return x, Report(size <= self.tolerance, n.astype(int), size)


def _over(slope: Callable[[Any], Any], b: Any) -> Any:
    """The x with slope(x) = b, for a linear function of arrays."""
    return jnp.linalg.solve(jax.jacfwd(slope)(jnp.zeros_like(b)), b)
