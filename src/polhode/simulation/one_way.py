"""Numbers that have derivatives forward, and a sentence for who asks for them in reverse."""

from __future__ import annotations

from typing import Any

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from polhode.model.checks import InputError

_one_way = Primitive("one_way")
_one_way.def_impl(lambda x, *, why: x)
_one_way.def_abstract_eval(lambda x, *, why: x)
mlir.register_lowering(_one_way, lambda _, x, *, why: [x])
batching.defvectorized(_one_way)


def _refuse(cotangent: Any, x: Any, *, why: str) -> Any:
    raise InputError(why)


ad.deflinear2(_one_way, _refuse)


def one_way(x: Any, why: str) -> Any:
    """A pytree of numbers as it is; an InputError, `why`, where reverse mode goes back through it."""
    return jax.tree.map(lambda leaf: _one_way.bind(leaf, why=why), x)
