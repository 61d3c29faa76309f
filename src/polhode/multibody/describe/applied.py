"""`Applied`, the base of every applied force, and gravity.

A force gives, for each of the bodies it acts on, a force in space axes and a torque in body axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import jax.numpy as jnp

from polhode.model.checks import InputError, numbers, unknown
from polhode.model.pytree import Static, replaced, tree
from polhode.multibody.describe.bodies import GROUND, Body
from polhode.multibody.describe.views import View


class Applied:
    """Base of every force."""

    conservative: Any = False  # all of it accounted for by `energy`, with no explicit time
    constant: Any = False  # the same force in space axes at all times, and no torque
    along_a_line: Any = False  # between points of two bodies, each pulled as much as the other

    @property
    def bodies(self) -> tuple[str, ...]:
        """The bodies it acts on."""
        raise NotImplementedError

    def bind(self, bodies: Mapping[str, Body]) -> Applied:
        """Complete, once the bodies are known."""
        for body in self.bodies:
            if body not in bodies:
                raise InputError(f"{type(self).__name__}: {unknown('body', body, [*bodies, GROUND])}")
        return self

    def traced(self, names: Sequence[str]) -> Applied:
        """The same with users' functions as they are now, among bodies of these names; see `Traced`."""
        return self

    def look(self, view: View) -> None:
        """At a start: raises InputError where the force is not determined there."""
        return

    def loads(self, view: View) -> list[tuple[Any, Any]]:
        """(force in space axes, N; torque about the centre of mass in body axes, N m) for each of `bodies`."""
        raise NotImplementedError

    def everywhere(self, masses: Any) -> Any:
        """The same for every body of the system, (N, 6), of these masses (kg), where the force is constant."""
        raise NotImplementedError

    def energy(self, view: View) -> Any:
        """Potential energy (J); 0 for a force that has none. Not asked for where the force is constant: it is
        -Σ f · r."""
        return jnp.asarray(0.0)


@tree
class Gravity(Applied):
    """A uniform field on every body: U = -Σ m g · r.

    g  m/s², space axes"""

    g: Any = (0.0, 0.0, -9.81)
    uses: Static[tuple[str, ...]] = field(default=(), init=False, repr=False)
    conservative = True
    constant = True

    @property
    def bodies(self) -> tuple[str, ...]:
        return self.uses

    def bind(self, bodies: Mapping[str, Body]) -> Applied:
        """With its field as three numbers."""
        return replaced(self, g=numbers("gravity", self.g, (3,)), uses=tuple(bodies))

    def everywhere(self, masses: Any) -> Any:
        return jnp.pad(jnp.asarray(masses)[:, None] * self.g, ((0, 0), (0, 3)))
