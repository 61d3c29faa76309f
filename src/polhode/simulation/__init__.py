"""The loop that runs every method: blocks of compiled steps, status, progress."""

from polhode.simulation.driver import Plan, Samples, count_steps, integrate
from polhode.simulation.rotation import Trajectory, rotate
from polhode.simulation.status import Interrupted, Status, StepError

__all__ = ["Interrupted", "Plan", "Samples", "Status", "StepError", "Trajectory", "count_steps", "integrate", "rotate"]
