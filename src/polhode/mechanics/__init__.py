"""Bodies, states, loads and what a motion conserves."""

from polhode.mechanics.body import NonTwistingBody, RigidBody
from polhode.mechanics.checks import InputError
from polhode.mechanics.loads import Free, Load, Potential, Torque
from polhode.mechanics.state import Start, State
from polhode.mechanics.system import System, from_principal, to_principal

__all__ = [
    "Free",
    "InputError",
    "Load",
    "NonTwistingBody",
    "Potential",
    "RigidBody",
    "Start",
    "State",
    "System",
    "Torque",
    "from_principal",
    "to_principal",
]
