"""The grammar of formulas from files. They are parsed here and never given to Python.

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
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from polhode.model.checks import DECIMAL, SMALLEST, InputError, decimal, nearest, shown

# Of each name: the function of arrays, the function of constants, and how many arguments they take.
FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., float], int]] = {
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
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
}
_NAME = r"[A-Za-z_][A-Za-z0-9_]*(?:\.[a-z]+)*"
_TOKEN = re.compile(rf"\s*(?:(?P<number>{DECIMAL})|(?P<name>{_NAME})|(?P<op>\*\*|[-+*/(),]))")
_DEPTH = 100
_FACTORS = 50  # of one product, whose derivatives have as many terms
_LENGTH = 10_000

# A formula is a list of steps for a stack: a number or a symbol is put on it; an operator or a function takes the last
# one or two values off it and puts its result on. The list is flat, so that a sum of thousands of terms is no deeper
# than a sum of two.
Steps = tuple[float | str, ...]


class Parser:
    """Makes `Steps` of a text, with one method for each rule of the grammar."""

    def __init__(self, text: str, symbols: tuple[str, ...]) -> None:
        if not isinstance(text, str):
            raise InputError(f"an expression must be text; got {shown(text)}")
        self.text, self.symbols = text, symbols
        if len(text) > _LENGTH:
            raise self.error(0, f"it has {len(text)} characters; at most {_LENGTH} are allowed")
        self.tokens = self.tokenize()
        self.i = 0
        self.depth = 0

    def error(self, position: int, what: str) -> InputError:
        text = self.text if len(self.text) <= 60 else self.text[:57] + "..."
        sentence = what if what.endswith(("?", ".")) else what + "."
        return InputError(
            f"cannot read the expression {text!r} at character {position + 1}: {sentence} Allowed: numbers, "
            f"+ - * / ** ( ), pi, {', '.join(self.symbols)}, {', '.join(FUNCTIONS)}"
        )

    def tokenize(self) -> list[tuple[str, str, int]]:
        tokens, position, end = [], 0, len(self.text.rstrip())
        while position < end:
            match = _TOKEN.match(self.text, position)
            if match is None:
                start = end - len(self.text[position:end].lstrip())
                raise self.error(start, f"{self.text[start]!r} is not part of the grammar")
            kind = match.lastgroup or ""
            tokens.append((kind, match[kind], match.start(kind)))
            position = match.end()
        return [*tokens, ("end", "", len(self.text))]

    def parse(self) -> Steps:
        steps = self.sum()
        if self.tokens[self.i][0] != "end":
            raise self.error(self.tokens[self.i][2], f"{shown(self.tokens[self.i][1])} was not expected here")
        return tuple(steps)

    def accept(self, *ops: str) -> str | None:
        kind, word, _ = self.tokens[self.i]
        if kind == "op" and word in ops:
            self.i += 1
            return word
        return None

    def expect(self, op: str) -> None:
        if not self.accept(op):
            _, word, position = self.tokens[self.i]
            raise self.error(position, f"{op!r} is missing" + (f" before {shown(word)}" if word else ""))

    def join(self, op: str, a: list[float | str], b: list[float | str], position: int) -> None:
        """Makes `a` the steps of the operation on both; folded if both are numbers, so that overflow shows at once."""
        x, y = a[0], b[0]
        if len(a) == len(b) == 1 and isinstance(x, float) and isinstance(y, float):
            a[0] = self.number(lambda: OPERATORS[op](x, y), position, vanishes=op not in "+-" and x != 0)
        else:
            a += b
            a.append(op)

    def number(self, compute: Callable[[], Any], position: int, *, vanishes: bool = False) -> float:
        """A constant; `vanishes`: 0 could only come from a number too small."""
        try:
            value = compute()
        except (OverflowError, ZeroDivisionError, ValueError) as error:
            raise self.error(position, f"a constant cannot be computed ({error})") from None
        if isinstance(value, complex) or not math.isfinite(value):
            raise self.error(position, f"a constant is not a finite real number ({value})")
        if 0 < abs(value) < SMALLEST or (value == 0 and vanishes):
            raise self.error(position, f"a constant is too small: below {SMALLEST:.2g} it loses digits or becomes 0")
        return float(value)

    def sum(self) -> list[float | str]:
        self.depth += 1
        if self.depth > _DEPTH:
            raise self.error(self.tokens[self.i][2], f"it is nested more than {_DEPTH} deep")
        steps = self.product()
        while op := self.accept("+", "-"):
            self.join(op, steps, self.product(), self.tokens[self.i - 1][2])
        self.depth -= 1
        return steps

    def product(self) -> list[float | str]:
        steps, factors = self.sign(), 1
        while op := self.accept("*", "/"):
            factors += 1
            if factors > _FACTORS:
                raise self.error(
                    self.tokens[self.i][2], f"a product has more than {_FACTORS} factors; write powers, as in R11**9"
                )
            self.join(op, steps, self.sign(), self.tokens[self.i - 1][2])
        return steps

    def sign(self) -> list[float | str]:
        negative = False
        while op := self.accept("+", "-"):
            negative ^= op == "-"
        steps = self.power()
        if not negative:
            return steps
        if len(steps) == 1 and isinstance(steps[0], float):
            return [-steps[0]]
        return [-1.0, *steps, "*"]

    def power(self) -> list[float | str]:
        base = self.atom()
        position = self.tokens[self.i][2]
        if not self.accept("**"):
            return base
        self.depth += 1
        if self.depth > _DEPTH:
            raise self.error(position, f"it is nested more than {_DEPTH} deep")
        self.join("**", base, self.sign(), position)
        self.depth -= 1
        return base

    def atom(self) -> list[float | str]:
        kind, word, position = self.tokens[self.i]
        self.i += 1
        if kind == "number":
            return [self.number(lambda: decimal(word), position)]
        if word == "(":
            steps = self.sum()
            self.expect(")")
            return steps
        if word == "pi":
            return [math.pi]
        if word in FUNCTIONS:
            return self.call(word, position)
        if word in self.symbols:
            return [word]
        if kind == "name":
            raise self.error(position, f"unknown name {shown(word)}{nearest(word, (*self.symbols, *FUNCTIONS, 'pi'))}")
        raise self.error(position, "a number, a name or '(' is missing" + (f" before {shown(word)}" if word else ""))

    def call(self, name: str, position: int) -> list[float | str]:
        self.expect("(")
        arguments = [self.sum()]
        while self.accept(","):
            arguments.append(self.sum())
        self.expect(")")
        _, on_numbers, count = FUNCTIONS[name]
        if len(arguments) != count:
            raise self.error(position, f"{name} takes {count} argument{'s' * (count > 1)}; got {len(arguments)}")
        if all(len(a) == 1 and isinstance(a[0], float) for a in arguments):
            return [self.number(lambda: on_numbers(*(a[0] for a in arguments)), position, vanishes=name == "exp")]
        return [*(step for a in arguments for step in a), name]
