"""What a motion may conserve, from attitude, body momentum and time. Any batch shape."""

from __future__ import annotations

from polhode.algebra import Scalar, Vec3
from polhode.rotation.body import RigidBody
from polhode.rotation.state import State


def angular_velocity(body: RigidBody, state: State) -> Vec3:
    """Ω = I⁻¹ Π, body components (rad/s)."""
    Pi, I = state.momentum, body.moments
    if body.axes is None:
        return Vec3(Pi.x / I.x, Pi.y / I.y, Pi.z / I.z)
    Pi = body.axes.unrotate(Pi)
    return body.axes.rotate(Vec3(Pi.x / I.x, Pi.y / I.y, Pi.z / I.z))


def kinetic_energy(body: RigidBody, state: State) -> Scalar:
    """½ Π · I⁻¹ Π (J)."""
    return 0.5 * state.momentum.dot(angular_velocity(body, state))


def spatial_momentum(state: State) -> Vec3:
    """π = R Π; constant without a torque."""
    return state.attitude.rotate(state.momentum)


def vertical_momentum(state: State) -> Scalar:
    """π₃, constant under a torque with no vertical component in space."""
    return spatial_momentum(state).z


def casimir(state: State) -> Scalar:
    """½ |Π|², the Casimir function of the free body."""
    return 0.5 * state.momentum.norm2()
