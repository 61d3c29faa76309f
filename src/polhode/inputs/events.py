"""Events from files: formulas whose zero is sought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from polhode.inputs.schema import EventTable
from polhode.model.checks import InputError
from polhode.model.pytree import Static, tree
from polhode.rotation.formulas import OMEGA, ROTATION, Expression
from polhode.simulation.events import Event


@dataclass(frozen=True)
class EventFormula:
    """A formula in t, R11..R33 and the body angular velocity W1, W2, W3, as the function of an event."""

    expression: Expression

    def __call__(self, t: Any, R: Any, omega: Any) -> Any:
        values = {**dict(zip(ROTATION, R.entries, strict=True)), **dict(zip(OMEGA, omega, strict=True))}
        return self.expression({**values, "t": t})


@tree
class WatchedFormula:
    """A formula in t and in observables of a system."""

    expression: Static[Expression]

    def of_system(self, system: Any) -> WatchedFormula:
        return self

    def value(self, system: Any, state: Any, t: Any) -> Any:
        view = system.view(state, t)
        return self.expression({"t": t, **{name: fn(view) for name, fn in system.observables}})


def events_of(tables: Sequence[EventTable], system: Any) -> tuple[Event, ...]:
    return tuple(_event(table, system) for table in tables)


def _event(table: EventTable, system: Any) -> Event:
    when = str(table.when)
    names = (*ROTATION, *OMEGA)
    if system.kind == "system":
        names = tuple(name for name, _ in system.observables if name.isidentifier())
        if not names:
            raise InputError(f"event {when!r}: this problem has no observables that a formula could be made of")
    expression = Expression.parse(when, (*names, "t"))
    if not expression.names:
        raise InputError(f"event {when!r} is a constant, which never passes through zero; write a formula")
    fn: Any = EventFormula(expression) if system.kind == "rotation" else WatchedFormula(expression)
    return Event(fn, direction=table.direction, stop=table.stop, name=table.name or when)
