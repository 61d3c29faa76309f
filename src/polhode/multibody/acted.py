"""What an action of the user's made of a state, as one that a run can go on from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from polhode.model.checks import InputError
from polhode.model.functions import as_arrays
from polhode.multibody.describe.state import State
from polhode.multibody.start.consistent import consistent_start
from polhode.multibody.start.nearness import too_far_away


def acted(system: Any, state: State, t: float) -> State:
    """A state that an action returned at t (s), with velocities that go with its constraints, which answer an impulse
    by theirs. Where the bodies are must fulfil them."""
    q = np.asarray(state.quaternions)
    unit = replace(state, quaternions=q / np.linalg.norm(q, axis=-1, keepdims=True))  # the attitude that it names
    given = system.replaced(start=system.matched(unit, system))
    new, correction = consistent_start(given, t)
    if too_far_away(given, correction):
        raise InputError(
            f"an action moved bodies to where the constraints do not hold, at t = {t:g}; it may change velocities, and "
            f"positions along what the constraints allow. To fulfil them would need:\n{correction}"
        )
    return as_arrays(new)
