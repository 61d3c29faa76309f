"""What the methods for systems share, and the state of those that carry the paper's fields along."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from polhode.model.method import Method
from polhode.model.pytree import tree
from polhode.multibody.describe.state import State

PAPER = (
    "Natsiavas, Passas, Paraskevopoulos: a time-stepping method for multibody systems involving nonholonomic "
    "constraints"
)


@dataclass(frozen=True)
class MultibodyMethod(Method):
    """A one-step method for systems of bodies."""

    kind: ClassVar[str] = "system"
    paper: ClassVar[str] = PAPER


@tree
class FieldState(State):
    """With the unknowns of the paper's scheme."""

    mu: Any  # (k,) M̄μ accumulates the impulse of the rows
    lam: Any  # (k,) λ, the integral of μ; of mm-dae the multiplier itself

    @classmethod
    def on(cls, state: State, mu: Any, lam: Any) -> FieldState:
        return cls(**{f.name: getattr(state, f.name) for f in fields(State)}, mu=mu, lam=lam)
