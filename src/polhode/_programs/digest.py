"""What a jaxpr says, as a hash: the same for the same program in every process."""

from __future__ import annotations

import hashlib
from typing import Any

import jax
import numpy as np
from jax.extend import core

from polhode._programs.names import is_from


class Digest:
    """Of all that a jaxpr says; `anonymous` are the objects in it that can only be told by being themselves,
    `rules` whether it holds functions with derivatives of their own."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.anonymous: list[Any] = []
        self.rules = False

    def text(self, text: str) -> None:
        self.hash.update(f"{len(text)}:{text}".encode())

    def closed(self, closed: Any) -> None:
        self.jaxpr(closed.jaxpr)
        for value in closed.consts:
            self.value(np.asarray(value))

    def jaxpr(self, jaxpr: Any) -> None:
        number: dict[Any, int] = {}

        def declare(v: Any) -> str:
            number[v] = len(number)
            return f"{v.aval.str_short()}{getattr(v.aval, 'weak_type', '')}"

        def use(v: Any) -> None:
            if isinstance(v, core.Literal):
                self.text("literal")
                self.value(np.asarray(v.val))
            else:
                self.text(str(number[v]))

        self.text(" ".join(["const", *map(declare, jaxpr.constvars), "in", *map(declare, jaxpr.invars)]))
        for eqn in jaxpr.eqns:
            self.text(eqn.primitive.name)
            self.params(eqn)
            for v in eqn.invars:
                use(v)
            self.text(" ".join(map(declare, eqn.outvars)))
        self.text("out")
        for v in jaxpr.outvars:
            use(v)

    def params(self, eqn: Any) -> None:
        rules = eqn.primitive.name == "custom_jvp_call"
        self.rules |= rules
        for name, value in sorted(eqn.params.items()):
            self.text(name)
            if not (rules and callable(value) and not isinstance(value, core.ClosedJaxpr)):
                self.value(value)

    def value(self, x: Any) -> None:
        self.text(type(x).__qualname__)
        if isinstance(x, core.ClosedJaxpr):
            self.closed(x)
        elif isinstance(x, core.Jaxpr):
            self.jaxpr(x)
        elif x is None or type(x) in (bool, int, float, complex, str, bytes) or isinstance(x, np.dtype | np.generic):
            self.text(repr(x))
        elif isinstance(x, np.ndarray):
            self.text(f"{x.shape} {x.dtype}")
            self.hash.update(x.tobytes())
        elif isinstance(x, jax.Array) and not isinstance(x, jax.core.Tracer):
            self.value(np.asarray(x))
        elif isinstance(x, dict):
            self.value(sorted(x.items(), key=repr))
        elif isinstance(x, tuple | list | frozenset | set):
            self.text(f"{len(x)}")
            for item in sorted(x, key=repr) if isinstance(x, frozenset | set) else x:
                self.value(item)
        elif isinstance(x, jax.sharding.Mesh) or (
            is_from(type(x), "jax") and not callable(x) and " at 0x" not in repr(x)
        ):
            self.text(repr(x))
        else:
            self.text("anonymous")
            self.anonymous.append(x)
