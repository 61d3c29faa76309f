"""The loop that runs every method: blocks of compiled steps, status, progress."""

from polhode.simulation.driver import Trajectory, count_steps, integrate
from polhode.simulation.status import Status, StepError

__all__ = ["Status", "StepError", "Trajectory", "count_steps", "integrate"]
