"""A number of the user's own along the motion of one body, for events."""

from __future__ import annotations

from typing import Any

import jax

from polhode.algebra import Scalar
from polhode.model.functions import one_number
from polhode.rotation.from_function import FromFunction


@jax.tree_util.register_pytree_node_class
class WatchedNumber(FromFunction):
    """A function of (t), (t, R) or (t, R, omega) that returns one number; written for one body, as of a `Torque`."""

    called = "Event"
    _allowed = ("t", "R", "omega")

    def _checked(self, value: Any) -> Any:
        return one_number("an Event", value)

    def value(self, system: Any, state: Any, t: Scalar) -> Scalar:
        omega = system.omega(state.momentum)
        return self._call(t, state.attitude.matrix(), omega)
