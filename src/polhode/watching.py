"""Events of a run: their functions as numbers along its states, and what their actions make of a state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode._programs import stored
from polhode.model.checks import InputError, shown
from polhode.model.functions import as_arrays
from polhode.multibody.watching import NormalForce
from polhode.simulation.events import Event, Watch

_AT_A_TIME = 256  # samples


@dataclass(frozen=True)
class Change:
    """A system that an action made: as it was given, as it was begun, and the state it begins in."""

    system: Any
    now: Any
    state: Any


@stored(briefly=True)
def _values(watched: Any, system: Any, states: Any, t: Any) -> Any:
    def of_one(state: Any, t: Any) -> Any:
        return jnp.stack([jnp.asarray(w.value(system, state, t), dtype=float) for w in watched])

    return jax.vmap(of_one)(states, t)


def watch_of(events: Any, leg: Any, before: Watch | None = None) -> Watch | None:
    """Of what begins there; `before`: until the system changed."""
    events = _checked(events)
    if not events:
        return None
    system, state = leg.now, leg.begin.state
    if state.shape != ():
        raise InputError(f"events are of one motion; this is a batch of shape {state.shape}: run its members alone")
    watched = tuple(system.watched(event.fn) for event in events)

    def values(states: Any, t: np.ndarray) -> np.ndarray:
        states = leg.seen(states)
        each, parts = 1 if len(t) == 1 else _AT_A_TIME, []
        for first in range(0, len(t), each):  # always as many: one program serves all
            which = np.minimum(np.arange(first, first + each), len(t) - 1)
            some = jax.tree.map(lambda x: np.asarray(x)[which], states)  # noqa: B023
            parts.append(np.asarray(_values(watched, system, some, t[which]))[: len(t) - first])
        return np.concatenate(parts).T

    def acted(acting: Sequence[Event], t: float, state: Any) -> tuple[Any, Any]:
        new, change = leg.now.acted(leg.seen(state), t), None
        for event in acting:
            given, new = _given(event, t, new, leg.run.now)
            now = leg.now if change is None else change.now
            if given is None:
                new = now.acted(new, t)
                change = change and Change(change.system, now, new)
            else:
                change = Change(given, *given.begun(given.acted(given.matched(new, now), t), t))
                new = change.state
        return (state, change) if change is not None else (leg.begun(new), None)

    found = Watch(events, values, acted, leg.seen, before, leg.run.events)
    at = leg.run.t0 + leg.run.step * leg.begin.done + leg.begin.offset
    for event, value in zip(events, values(jax.tree.map(lambda x: np.asarray(x)[None], state), np.array([at]))[:, 0],
                            strict=True):  # fmt: skip
        if not np.isfinite(value):
            raise InputError(f"the function of event {event.name!r} is {value} at the start, t = {at:g}")
    found.begin(state, at)
    return found


def _checked(events: Any) -> list[Event]:
    if events is None:
        return []
    try:
        events = [events] if isinstance(events, Event) else list(events)
    except TypeError:
        raise InputError(f"events must be a list of ph.Event(...); got {shown(events)}") from None
    for event in events:
        if not isinstance(event, Event):
            raise InputError(f"events must be a list of ph.Event(...); got {shown(event)}")
    return events


def _given(event: Event, t: float, state: Any, first: Any) -> tuple[Any, Any]:
    """The system that an action returned, or None, and the state; `first`: the system as the run began."""
    try:
        made: Any = event.action(t, state) if event.action is not None else state
    except InputError:
        raise
    except Exception as error:
        said = f"the action of event {event.name!r} failed at t = {t:g}: {type(error).__name__}: {error}"
        raise InputError(said) from error
    system, new = made if isinstance(made, tuple) and len(made) == 2 else (made, None)
    if new is None and isinstance(made, type(state)):
        system, new = None, made
    new = state if new is None else new
    if made is None or not isinstance(new, type(state)) or not (system is None or type(system) is type(first)):
        raise InputError(
            f"the action of event {event.name!r} must return a state like the one it is given, replace(state, ...), a "
            f"{type(first).__name__}, or both, (system, state); got {shown(made)}"
        )
    shapes = [[np.shape(x) for x in jax.tree.leaves(as_arrays(s))] for s in (new, state)]
    if shapes[0] != shapes[1]:
        raise InputError(
            f"the action of event {event.name!r} must return a state of the same shape, {shapes[1]}; got {shapes[0]}"
        )
    if not all(np.isfinite(x).all() for x in jax.tree.leaves(as_arrays(new))):
        raise InputError(f"the action of event {event.name!r} returned numbers that are not finite, at t = {t:g}")
    if system is not None and (other := first.differs(system)):
        raise InputError(
            f"the action of event {event.name!r}: {other}. Stop the run there, and simulate the other system from its "
            "last state"
        )
    return system, new


def lifts_off(contact: str, *, stop: bool | int = True, name: str = "") -> Event:
    """Where the force of a rolling contact, by its name or that of its body, turns from push to pull: what rolls on
    the ground would leave it. Of a system."""
    return Event(NormalForce(contact), -1, stop, name or f"{contact} lifts off")
