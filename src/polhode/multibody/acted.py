"""What an action of the user's made of a state, as one that a run can go on from."""

from __future__ import annotations

from typing import Any

from polhode.model.checks import InputError
from polhode.model.functions import as_arrays
from polhode.multibody.describe.state import State
from polhode.multibody.start.consistent import consistent_start
from polhode.multibody.start.nearness import too_far_away


def acted(system: Any, state: State, t: float) -> State:
    """With velocities that go with its constraints, which answer an impulse by theirs. Where the bodies are must fulfil
    them."""
    given = system.replaced(start=system.matched(state, system))
    new, correction = consistent_start(given, t)
    if too_far_away(given, correction):
        raise InputError(
            f"an action moved bodies to where the constraints do not hold, at t = {t:g}; it may change velocities, and "
            f"positions along what the constraints allow. To fulfil them would need:\n{correction}"
        )
    return as_arrays(new)
