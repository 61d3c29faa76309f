"""The three-field step for systems of hundreds of bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from polhode.mechanics.checks import InputError
from polhode.multibody.equations import Equations
from polhode.multibody.sparse_equations import SparseEquations
from polhode.multibody.three_field import ThreeField


@dataclass(frozen=True)
class ThreeFieldSparse(ThreeField):
    """The three-field step with sparse matrices: linear time for chains and trees of hundreds of bodies.

    The equations, and so the motion, are those of `ThreeField` to round-off; only their solution
    differs: the Newton matrix is factored by SuperLU on the host. Rows may not follow from each other,
    and "projection" is not among its stabilisations. For a few bodies `ThreeField` is faster."""

    name: ClassVar[str] = "three-field-sparse"
    equations: ClassVar[type[Equations]] = SparseEquations

    def __post_init__(self) -> None:
        if self.stabilisation == "projection":
            raise InputError(
                "three-field-sparse keeps joints closed by stabilisation 'both', 'kappa' or 'none'; got 'projection', "
                "whose matrices are dense. Use three-field for it"
            )
