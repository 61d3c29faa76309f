"""Sweeps: runs over a design of parameters, methods and steps, on all cores or on a cluster."""

from polhode.sweeps.gathering import Sweep
from polhode.sweeps.sweeping import sweep

__all__ = ["Sweep", "sweep"]
