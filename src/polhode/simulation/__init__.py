"""The loop that runs every method: blocks of compiled steps, status, progress."""

from polhode.simulation.driver import integrate
from polhode.simulation.lost import LostMember
from polhode.simulation.plan import Plan, count_steps
from polhode.simulation.progress import Progress
from polhode.simulation.rungs import Rungs
from polhode.simulation.status import Interrupted, Status, StepError
from polhode.simulation.trajectory import Checkpoint, Happened, Trajectory

__all__ = [
    "Checkpoint",
    "Happened",
    "Interrupted",
    "LostMember",
    "Plan",
    "Progress",
    "Rungs",
    "Status",
    "StepError",
    "Trajectory",
    "count_steps",
    "integrate",
]
