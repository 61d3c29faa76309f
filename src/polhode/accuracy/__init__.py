"""How far a motion is from the true one: estimated from the same motion in other steps."""

from polhode.accuracy.estimate import ErrorEstimate, estimated
from polhode.accuracy.repeated import Repeated
from polhode.accuracy.tolerance import within

__all__ = ["ErrorEstimate", "Repeated", "estimated", "within"]
