"""Formulas from files: a small grammar, parsed here and never given to Python.

sum     = product { ("+" | "-") product }
product = sign { ("*" | "/") sign }
sign    = ("+" | "-") sign | power
power   = atom [ "**" sign ]
atom    = number | name | function "(" sum { "," sum } ")" | "(" sum ")"
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp

from polhode.algebra import Mat3, Vec3
from polhode.mechanics.checks import InputError, nearest

_FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., float], int]] = {
    "sqrt": (jnp.sqrt, math.sqrt, 1),
    "sin": (jnp.sin, math.sin, 1),
    "cos": (jnp.cos, math.cos, 1),
    "tan": (jnp.tan, math.tan, 1),
    "exp": (jnp.exp, math.exp, 1),
    "log": (jnp.log, math.log, 1),
    "abs": (jnp.abs, abs, 1),
    "min": (jnp.minimum, min, 2),
    "max": (jnp.maximum, max, 2),
}
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
}
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<op>\*\*|[-+*/(),]))"
)
_DEPTH = 100
_LENGTH = 10_000

Node = Any  # float | str | tuple[str, Node, ...]


@dataclass(frozen=True)
class Expression:
    """A formula in named symbols. Equal texts are equal, and share a compiled program."""

    text: str
    tree: Node

    @classmethod
    def parse(cls, text: str, symbols: Iterable[str]) -> Expression:
        return cls(text, _Parser(text, tuple(symbols)).parse())

    def __call__(self, values: Mapping[str, Any]) -> Any:
        return _evaluate(self.tree, values)


ROTATION = tuple(f"R{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3))
OMEGA = ("W1", "W2", "W3")


@dataclass(frozen=True)
class PotentialFormula:
    """U(R) by a formula in R11..R33, as the function of a `Potential`."""

    expression: Expression

    @staticmethod
    def parse(text: str) -> PotentialFormula | TimedPotentialFormula:
        expression = Expression.parse(text, (*ROTATION, "t"))
        return (TimedPotentialFormula if "t" in _names(expression.tree) else PotentialFormula)(expression)

    def __call__(self, R: Mat3) -> Any:
        return self.expression(dict(zip(ROTATION, R.entries, strict=True)))


@dataclass(frozen=True)
class TimedPotentialFormula:
    """U(R, t) by a formula in R11..R33 and t."""

    expression: Expression

    def __call__(self, R: Mat3, t: Any) -> Any:
        return self.expression({**dict(zip(ROTATION, R.entries, strict=True)), "t": t})


@dataclass(frozen=True)
class TorqueFormula:
    """Three formulas in t and R11..R33, as the function of a `Torque`."""

    components: tuple[Expression, Expression, Expression]

    @staticmethod
    def parse(texts: Iterable[str]) -> TorqueFormula | OmegaTorqueFormula:
        a, b, c = (Expression.parse(text, (*ROTATION, "t", *OMEGA)) for text in texts)
        names = set().union(*(_names(expression.tree) for expression in (a, b, c)))
        return (OmegaTorqueFormula if names & {*OMEGA} else TorqueFormula)((a, b, c))

    def __call__(self, t: Any, R: Mat3) -> Any:
        values = {**dict(zip(ROTATION, R.entries, strict=True)), "t": t}
        return tuple(c(values) for c in self.components)


@dataclass(frozen=True)
class OmegaTorqueFormula:
    """Three formulas in t, R11..R33 and the body angular velocity W1, W2, W3."""

    components: tuple[Expression, Expression, Expression]

    def __call__(self, t: Any, R: Mat3, omega: Vec3) -> Any:
        values = {**dict(zip(ROTATION, R.entries, strict=True)), "t": t, **dict(zip(OMEGA, omega, strict=True))}
        return tuple(c(values) for c in self.components)


class _Parser:
    def __init__(self, text: str, symbols: tuple[str, ...]) -> None:
        if not isinstance(text, str):
            raise InputError(f"an expression must be text; got {text!r}")
        self.text, self.symbols = text, symbols
        if len(text) > _LENGTH:
            raise self.error(0, f"it has {len(text)} characters; at most {_LENGTH} are allowed")
        self.tokens = self.tokenize()
        self.i = 0
        self.depth = 0

    def error(self, position: int, what: str) -> InputError:
        shown = self.text if len(self.text) <= 60 else self.text[:57] + "..."
        sentence = what if what.endswith(("?", ".")) else what + "."
        return InputError(
            f"cannot read the expression {shown!r} at character {position + 1}: {sentence} Allowed: numbers, "
            f"+ - * / ** ( ), pi, {', '.join(self.symbols)}, {', '.join(_FUNCTIONS)}"
        )

    def tokenize(self) -> list[tuple[str, str, int]]:
        tokens, position = [], 0
        while self.text[position:].strip():
            match = _TOKEN.match(self.text, position)
            if match is None:
                start = position + len(self.text[position:]) - len(self.text[position:].lstrip())
                raise self.error(start, f"{self.text[start]!r} is not part of the grammar")
            kind = match.lastgroup or ""
            tokens.append((kind, match[kind], match.start(kind)))
            position = match.end()
        return [*tokens, ("end", "", len(self.text))]

    def parse(self) -> Node:
        tree = self.sum()
        if self.tokens[self.i][0] != "end":
            raise self.error(self.tokens[self.i][2], f"{self.tokens[self.i][1]!r} was not expected here")
        return tree

    def accept(self, *ops: str) -> str | None:
        kind, word, _ = self.tokens[self.i]
        if kind == "op" and word in ops:
            self.i += 1
            return word
        return None

    def expect(self, op: str) -> None:
        if not self.accept(op):
            _, word, position = self.tokens[self.i]
            raise self.error(position, f"{op!r} is missing" + (f" before {word!r}" if word else ""))

    def make(self, op: str, a: Node, b: Node, position: int) -> Node:
        """An operation; folded if both sides are numbers, so that overflow shows at once."""
        if isinstance(a, float) and isinstance(b, float):
            return self.number(lambda: _OPERATORS[op](a, b), position)
        return (op, a, b)

    def number(self, compute: Callable[[], Any], position: int) -> float:
        try:
            value = compute()
        except (OverflowError, ZeroDivisionError, ValueError) as error:
            raise self.error(position, f"a constant cannot be computed ({error})") from None
        if isinstance(value, complex) or not math.isfinite(value):
            raise self.error(position, f"a constant is not a finite real number ({value})")
        return float(value)

    def sum(self) -> Node:
        self.depth += 1
        if self.depth > _DEPTH:
            raise self.error(self.tokens[self.i][2], f"it is nested more than {_DEPTH} deep")
        tree = self.product()
        while op := self.accept("+", "-"):
            tree = self.make(op, tree, self.product(), self.tokens[self.i - 1][2])
        self.depth -= 1
        return tree

    def product(self) -> Node:
        tree = self.sign()
        while op := self.accept("*", "/"):
            tree = self.make(op, tree, self.sign(), self.tokens[self.i - 1][2])
        return tree

    def sign(self) -> Node:
        negative = False
        while op := self.accept("+", "-"):
            negative ^= op == "-"
        tree = self.power()
        if not negative:
            return tree
        return -tree if isinstance(tree, float) else ("*", -1.0, tree)

    def power(self) -> Node:
        base = self.atom()
        position = self.tokens[self.i][2]
        if not self.accept("**"):
            return base
        self.depth += 1
        if self.depth > _DEPTH:
            raise self.error(position, f"it is nested more than {_DEPTH} deep")
        tree = self.make("**", base, self.sign(), position)
        self.depth -= 1
        return tree

    def atom(self) -> Node:
        kind, word, position = self.tokens[self.i]
        self.i += 1
        if kind == "number":
            return self.number(lambda: float(word), position)
        if word == "(":
            tree = self.sum()
            self.expect(")")
            return tree
        if word == "pi":
            return math.pi
        if word in _FUNCTIONS:
            return self.call(word, position)
        if word in self.symbols:
            return word
        if kind == "name":
            raise self.error(position, f"unknown name {word!r}{nearest(word, (*self.symbols, *_FUNCTIONS, 'pi'))}")
        raise self.error(position, "a number, a name or '(' is missing" + (f" before {word!r}" if word else ""))

    def call(self, name: str, position: int) -> Node:
        self.expect("(")
        arguments = [self.sum()]
        while self.accept(","):
            arguments.append(self.sum())
        self.expect(")")
        _, on_numbers, count = _FUNCTIONS[name]
        if len(arguments) != count:
            raise self.error(position, f"{name} takes {count} argument{'s' * (count > 1)}; got {len(arguments)}")
        if all(isinstance(a, float) for a in arguments):
            return self.number(lambda: on_numbers(*arguments), position)
        return (name, *arguments)


def _evaluate(tree: Node, values: Mapping[str, Any]) -> Any:
    if isinstance(tree, float):
        return tree
    if isinstance(tree, str):
        return values[tree]
    op, *arguments = tree
    if op == "**" and isinstance(arguments[1], float) and arguments[1].is_integer() and abs(arguments[1]) < 1000:
        return _evaluate(arguments[0], values) ** int(arguments[1])  # keeps its derivative at zero and below
    computed = [_evaluate(a, values) for a in arguments]
    return _OPERATORS[op](*computed) if op in _OPERATORS else _FUNCTIONS[op][0](*computed)


def _names(tree: Node) -> set[str]:
    if isinstance(tree, float):
        return set()
    if isinstance(tree, str):
        return {tree}
    return set().union(*(_names(a) for a in tree[1:]))
