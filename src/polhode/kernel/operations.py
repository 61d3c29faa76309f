"""What JAX's primitives are in C, number by number.

What is rounded is rounded as JAX does it: nothing is reordered, x / c stays a division, and 0 x is not 0 where x may be
NaN. Only 1 x, x / 1, x + 0 and x - 0 are x.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

TYPES = {
    "float64": "double", "float32": "float", "int64": "long long", "int32": "int", "int8": "signed char",
    "uint64": "unsigned long long", "uint32": "unsigned int", "uint8": "unsigned char", "bool": "bool",
}  # fmt: skip


def literal(value: Any, dtype: Any) -> str:
    """Floats in hexadecimal, to the last bit."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return "true" if value else "false"
    if kind.kind in "iu":
        return f"({TYPES[kind.name]})({int(value)}LL)"
    x = float(value)
    if math.isnan(x):
        return "NOT_A_NUMBER"
    if math.isinf(x):
        return "INFINITE" if x > 0 else "(-INFINITE)"
    text = x.hex() if kind == np.float64 else f"(float)({x.hex()})"
    return f"({text})" if math.copysign(1.0, x) < 0 else text


ZERO, ONE = literal(0.0, float), literal(1.0, float)


def _infix(sign: str) -> Callable[..., str]:
    return lambda a, b: f"{a} {sign} {b}"


def _call(name: str) -> Callable[..., str]:
    return lambda *args: f"{name}({', '.join(args)})"


def _power(a: str, n: int) -> str:
    """By squaring, as XLA does."""
    if n < 0:
        return f"1.0 / ({_power(a, -n)})"
    if n < 2:
        return a if n else "1.0"
    half = f"({_power(a, n // 2)})"
    return f"{half} * {half}" if n % 2 == 0 else f"{half} * {half} * {a}"


# (writer's context aside) text of one result from texts of one number each
PLAIN: dict[str, Callable[..., str]] = {
    "add": _infix("+"), "add_any": _infix("+"), "sub": _infix("-"), "mul": _infix("*"), "div": _infix("/"),
    "lt": _infix("<"), "le": _infix("<="), "gt": _infix(">"), "ge": _infix(">="), "eq": _infix("=="),
    "ne": _infix("!="), "and": _infix("&"), "or": _infix("|"), "xor": _infix("^"),
    "neg": lambda a: f"-{a}",
    "square": lambda a: f"{a} * {a}",
    "sign": lambda a: f"{a} > 0 ? 1 : {a} < 0 ? -1 : {a}",
    "max": lambda a, b: f"({a} > {b} || {a} != {a}) ? {a} : {b}",
    "min": lambda a, b: f"({a} < {b} || {a} != {a}) ? {a} : {b}",
    "is_finite": lambda a: f"{a} - {a} == 0",
    "clamp": lambda low, a, high: f"{a} < {low} ? {low} : {a} > {high} ? {high} : {a}",
    **{name: _call(name) for name in ("sqrt", "rsqrt", "cbrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
                                      "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "exp2", "expm1", "log",
                                      "log1p", "floor", "ceil", "atan2", "pow", "erf", "erfc")},
}  # fmt: skip

# Those that hand on what they are given.
SAME = ("stop_gradient", "copy", "copy_p", "optimization_barrier", "one_way", "evaluated", "pvary")


def folded(name: str, args: tuple[str, ...]) -> str | None:
    """What needs no operation."""
    if name == "mul" and ONE in args:
        return args[1] if args[0] == ONE else args[0]
    if name in ("add", "add_any") and ZERO in args:
        return args[1] if args[0] == ZERO else args[0]
    if (name == "sub" and args[1] == ZERO) or (name == "div" and args[1] == ONE):
        return args[0]
    return None


def one_by_one(name: str, params: Any, kinds: list[np.dtype], out: np.dtype) -> Callable[..., str] | None:
    """How one number of the result is made of one number of each argument; None for what is no such operation."""
    first = kinds[0] if kinds else np.dtype(float)
    if name == "abs":
        return _call("fabs") if first.kind == "f" else (lambda a: f"{a} < 0 ? -{a} : {a}")
    if name == "not":
        return lambda a: f"!{a}" if first.kind == "b" else f"~{a}"
    if name == "integer_pow":
        return lambda a: _power(a, params["y"])
    if name == "rem":
        return _call("fmod") if first.kind == "f" else _infix("%")
    if name == "round":
        return _call("rint" if "EVEN" in str(params["rounding_method"]) else "round")
    if name == "select_n":
        return _select(first)
    if name == "convert_element_type":
        return lambda a: f"{a} != 0" if out.kind == "b" else f"({TYPES[out.name]}) {a}"
    if name == "reduce_precision" and first == np.float64 and params["exponent_bits"] == 11:
        return lambda a: f"rounded_to({a}, {52 - params['mantissa_bits']})"
    if name == "div" and first.kind in "iu":
        return _infix("/")
    return PLAIN.get(name)


def _select(which: np.dtype) -> Callable[..., str] | None:
    if which.kind == "b":
        return lambda c, no, yes: f"{c} ? {yes} : {no}"

    def chosen(c: str, *cases: str) -> str:
        *some, last = cases
        return " : ".join([*(f"{c} == {k} ? {case}" for k, case in enumerate(some)), last])

    return chosen
