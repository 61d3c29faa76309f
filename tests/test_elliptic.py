"""Elliptic functions and integrals against mpmath, from the same double-precision arguments."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest

from polhode.algebra.elliptic import (
    Ladder,
    ascend,
    carlson_rc,
    carlson_rf,
    carlson_rj,
    complete_k,
    jacobi,
    third_kind,
    two_product,
)

COMPLEMENTS = [1.0, 1 - 1e-12, 0.9, 0.5, 0.1, 1e-3, 1e-8, 1e-16, 1e-30, 1e-50]


def exactly(function: Callable[..., Any], *arguments: Any) -> np.ndarray:
    """A function of mpmath numbers at 80 digits, elementwise, rounded."""
    with mp.workdps(80):
        return np.vectorize(lambda *a: float(function(*(mp.mpf(float(x)) for x in a))))(*arguments)


@pytest.mark.parametrize("m1", COMPLEMENTS)
def test_jacobi(m1: float) -> None:
    """Each is right to the rounding of u and a few units in its own last place, however small it is."""
    K = float(exactly(lambda x: mp.ellipk(1 - x), m1))
    u = np.concatenate([np.linspace(-5, 5, 24), [1e-6, 0.0, 0.999, 1.001, 1.9999]]) * K
    u = u[np.abs(u) < 250]
    got = jacobi(jnp.asarray(u), jnp.full(u.shape, 1 - m1), jnp.full(u.shape, m1))
    values = {name: exactly(lambda x, c, n=name: mp.ellipfun(n, x, m=1 - c), u, m1) for name in ("sn", "cn", "dn")}
    sn, cn, dn = values.values()
    slopes = (cn * dn, sn * dn, (1 - m1) * sn * cn)
    for value, expected, slope in zip(got, values.values(), slopes, strict=True):
        np.testing.assert_array_less(np.abs(value - expected), 1e-70 + 2e-15 * (np.abs(expected) + np.abs(slope * u)))


def test_complete() -> None:
    m1 = np.array(COMPLEMENTS)
    np.testing.assert_allclose(complete_k(1 - m1, m1), exactly(lambda x: mp.ellipk(1 - x), m1), rtol=5e-16)


@pytest.mark.parametrize("m1", COMPLEMENTS[:-1])
@pytest.mark.parametrize("n", [1e-12, 0.03, 1.0])
def test_third_kind(m1: float, n: float) -> None:
    """G J by the ladder, against n sn³ R_J/3."""
    m = 1 - m1
    K = float(exactly(lambda x: mp.ellipk(1 - x), m1))
    u = jnp.linspace(-0.99, 0.99, 9) * K
    rungs = Ladder.of(jnp.ones_like(u), jnp.full(u.shape, m1) ** 0.5)
    z = rungs.a[-1] * u
    s, c, d = ascend(rungs, jnp.sin(z), jnp.cos(z))
    e = 0.5 * (n * (n + m) / (1 + n)) ** 0.5 + 0 * u
    rate, (x, y) = third_kind(rungs, e, 1 + n + 0 * u, s, c, d)

    def expected(x: Any) -> Any:
        k, c1 = mp.mpf(n), mp.mpf(m1)
        s, c, d = (mp.ellipfun(name, x, m=1 - c1) for name in ("sn", "cn", "dn"))
        J = k / 3 * s**3 * mp.elliprj(c * c, d * d, 1, 1 + k * s * s)
        return J * mp.sqrt((1 + k) * (k + 1 - c1) / k)

    bound = 4e-16 * (1 + (n + m) ** 0.5 * K)
    np.testing.assert_allclose(rate * u - jnp.arctan2(y, x), exactly(expected, u), rtol=0, atol=bound)


def test_carlson() -> None:
    rng = np.random.default_rng(0)
    x, y, z, p = np.exp(rng.uniform(-12, 3, (4, 40)))
    x[:3] = 0.0
    np.testing.assert_allclose(carlson_rc(x, y), exactly(mp.elliprc, x, y), rtol=2e-15)
    np.testing.assert_allclose(carlson_rf(x, y, z), exactly(mp.elliprf, x, y, z), rtol=2e-15)
    np.testing.assert_allclose(carlson_rj(x, y, z, p), exactly(mp.elliprj, x, y, z, p), rtol=3e-14)


@pytest.mark.parametrize("level", [0, 3])
def test_the_rest_of_a_product_does_not_depend_on_how_it_is_compiled(level: int) -> None:
    """Without optimisation nothing is contracted to fused products: the products of halves are exact by themselves."""
    a, b = np.random.default_rng(4).uniform(1.0, 2.0, (2, 1000))
    p, rest = jax.jit(two_product, compiler_options={"xla_backend_optimization_level": level})(a, b)
    for x, y, product, left in zip(a, b, np.asarray(p), np.asarray(rest), strict=True):
        assert Fraction(x) * Fraction(y) == Fraction(product) + Fraction(left)


@pytest.mark.parametrize("m1", [1.0, 0.5, 1e-10])
def test_derivative(m1: float) -> None:
    """sn' = cn dn, cn' = -sn dn, dn' = -m sn cn."""
    u, m, c1 = jnp.float64(1.3), jnp.float64(1 - m1), jnp.float64(m1)
    (s, c, d), slopes = jax.jvp(lambda x: jacobi(x, m, c1), (u,), (jnp.float64(1.0),))
    np.testing.assert_allclose(slopes, (c * d, -s * d, -m * s * c), rtol=1e-13)
