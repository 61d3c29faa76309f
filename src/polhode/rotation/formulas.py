"""Formulas from files: `Expression`, and the formulas of potentials and torques made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from polhode.algebra import Mat3, Vec3
from polhode.rotation.parser import FUNCTIONS, OPERATORS, Parser, Steps


@dataclass(frozen=True)
class Expression:
    """A formula in named symbols. Equal texts are equal, and share a compiled program."""

    text: str
    steps: Steps

    @classmethod
    def parse(cls, text: str, symbols: Iterable[str]) -> Expression:
        return cls(text, Parser(text, tuple(symbols)).parse())

    @property
    def names(self) -> set[str]:
        """The symbols it uses."""
        return {step for step in self.steps if isinstance(step, str) and step not in (*OPERATORS, *FUNCTIONS)}

    def __call__(self, values: Mapping[str, Any]) -> Any:
        return _evaluate(self.steps, values)


def _evaluate(steps: Steps, values: Mapping[str, Any]) -> Any:
    stack: list[Any] = []
    for step in steps:
        if isinstance(step, float):
            stack.append(step)
        elif step in OPERATORS:
            b = stack.pop()
            if step == "**" and isinstance(b, float) and b.is_integer() and abs(b) < 1000:
                b = int(b)  # a whole power has a derivative at zero and below it too
            stack.append(OPERATORS[step](stack.pop(), b))
        elif step in FUNCTIONS:
            function, _, count = FUNCTIONS[step]
            stack[-count:] = [function(*stack[-count:])]
        else:
            stack.append(values[step])
    return stack.pop()


ROTATION = tuple(f"R{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3))
OMEGA = ("W1", "W2", "W3")


@dataclass(frozen=True)
class PotentialFormula:
    """U(R) by a formula in R11..R33, as the function of a `Potential`."""

    expression: Expression

    @staticmethod
    def parse(text: str) -> PotentialFormula | TimedPotentialFormula:
        expression = Expression.parse(text, (*ROTATION, "t"))
        return (TimedPotentialFormula if "t" in expression.names else PotentialFormula)(expression)

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
        names = a.names | b.names | c.names
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
