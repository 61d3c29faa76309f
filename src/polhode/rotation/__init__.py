"""One rotating body: inertia, loads, states, its quantities, the exact motion."""

from polhode.rotation.body import NonTwistingBody, RigidBody
from polhode.rotation.loads import Free, Load, Potential, Torque
from polhode.rotation.state import Start, State
from polhode.rotation.system import Rotation

__all__ = [
    "Free",
    "Load",
    "NonTwistingBody",
    "Potential",
    "RigidBody",
    "Rotation",
    "Start",
    "State",
    "Torque",
]
