"""One rotating body: inertia, loads, states, its quantities, the exact motion."""

from polhode.rotation.body import NonTwistingBody, RigidBody
from polhode.rotation.loads import Free, Load
from polhode.rotation.state import Start, State
from polhode.rotation.system import Rotation
from polhode.rotation.users_loads import Potential, Torque

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
