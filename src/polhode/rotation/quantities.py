"""What can be looked at in the motion of one body. Any batch shape, samples in front."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.algebra import Scalar, Vec3
from polhode.model.quantity import Quantity
from polhode.rotation.state import State


def angular_velocity(whose: Any, state: State) -> Vec3:
    """Ω = I⁻¹ Π, body components (rad/s); of a `RigidBody` or a `Rotation`."""
    Pi, I = state.momentum, whose.moments
    if whose.axes is None:
        return Vec3(Pi.x / I.x, Pi.y / I.y, Pi.z / I.z)
    Pi = whose.axes.unrotate(Pi)
    return whose.axes.rotate(Vec3(Pi.x / I.x, Pi.y / I.y, Pi.z / I.z))


def kinetic_energy(whose: Any, state: State) -> Scalar:
    """½ Π · I⁻¹ Π (J)."""
    return 0.5 * state.momentum.dot(angular_velocity(whose, state))


def spatial_momentum(state: State) -> Vec3:
    """π = R Π; constant without a torque."""
    return state.attitude.rotate(state.momentum)


def vertical_momentum(state: State) -> Scalar:
    """π₃, constant under a torque with no vertical component in space."""
    return spatial_momentum(state).z


def casimir(state: State) -> Scalar:
    """½ |Π|², the Casimir function of the free body."""
    return 0.5 * state.momentum.norm2()


def _defect(state: State) -> np.ndarray:
    R = np.asarray(state.attitude.matrix().array)
    return np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(axis=(-1, -2))


_VECTOR, _MOMENTUM = ("axis",), "kg m2/s"

OF_ROTATIONS = (
    Quantity("attitude", lambda s, x, t: x.attitude.array, "1", "attitude, body to space, as w, x, y, z",
             ("quaternion",), whole=True, attribute="quaternions"),
    Quantity("momentum", lambda s, x, t: x.momentum.array, _MOMENTUM, "angular momentum, body frame", _VECTOR,
             whole=True),
    Quantity("omega", lambda s, x, t: angular_velocity(s, x).array, "rad/s", "angular velocity, body frame", _VECTOR,
             whole=True),
    Quantity("spatial_momentum", lambda s, x, t: spatial_momentum(x).array, _MOMENTUM, "angular momentum, space frame",
             _VECTOR, whole=True),
    Quantity("vertical_momentum", lambda s, x, t: vertical_momentum(x), _MOMENTUM,
             "angular momentum about the vertical", whole=True),
    Quantity("kinetic", lambda s, x, t: x.kinetic(s), "J", "kinetic energy", whole=True),
    Quantity("potential", lambda s, x, t: _for_each(s.potential(t, x.attitude), x), "J", "potential energy"),
    Quantity("energy", None, "J", "total energy", made_of=("kinetic", "potential")),
    Quantity("casimir", lambda s, x, t: casimir(x), "kg2 m4/s2", "half the squared length of the momentum", whole=True),
)  # fmt: skip

_NOTHING = Quantity("potential", lambda s, x, t: 0.0 * x.momentum.x, "J", "potential energy", whole=True)
_TWIST = (
    Quantity("twist_rate", lambda s, x, t: angular_velocity(s, x).z, "rad/s", "w∥ = ω · d3, the non-twisting residual",
             whole=True, given="twist_rate"),
    Quantity("constraint_violation", lambda s, x, t: _defect(x), "1", "largest entry of DᵀD - 1, D = (d1 d2 d3)",
             whole=True, given="constraint_violation"),
)  # fmt: skip


def quantities_of(*, twists: bool, free: bool) -> tuple[Quantity, ...]:
    """Of a body that twists or does not, with a load or without."""
    return _OF[twists, free]


_OF = {
    (twists, free): tuple(_NOTHING if free and q.name == "potential" else q for q in OF_ROTATIONS)
    + (() if twists else _TWIST)
    for twists in (True, False)
    for free in (True, False)
}


def _for_each(value: Any, state: State) -> Any:
    """One number for each member, where a function of time alone gives one for all."""
    return value + 0.0 * state.momentum.x
