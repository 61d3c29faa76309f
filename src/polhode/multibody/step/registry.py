"""The methods for systems of bodies, by name."""

from __future__ import annotations

from polhode.model.registry import combined, register
from polhode.multibody.step.mm_dae import MMDAE
from polhode.multibody.step.three_field import ThreeField
from polhode.multibody.step.three_field_literal import ThreeFieldLiteral
from polhode.multibody.step.three_field_sparse import ThreeFieldSparse

register(ThreeField(), ThreeFieldSparse(), ThreeFieldLiteral(), MMDAE())

# A few of the many; WEIGHTS-NAME and halving-NAME are understood of any that fits.
_COMBINED = ("triple4-three-field", "suzuki4-three-field", "kahan-li6-three-field", "halving-three-field")
register(*map(combined, _COMBINED))
