"""The loop that runs every method: blocks of compiled steps, status, progress."""

from polhode.simulation.driver import Rungs, Trajectory, integrate
from polhode.simulation.plan import Plan, count_steps
from polhode.simulation.progress import Progress
from polhode.simulation.status import Interrupted, Status, StepError

__all__ = ["Interrupted", "Plan", "Progress", "Rungs", "Status", "StepError", "Trajectory", "count_steps", "integrate"]
