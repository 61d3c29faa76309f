"""Iteration and its derivative: the only place with a loop that ends by convergence."""

from polhode.solve.chord import Chord
from polhode.solve.dense_newton import DenseNewton
from polhode.solve.iteration import Fixed, FixedPoint, Newton, PlainNewton, Report, Residual, until_converged
from polhode.solve.ladder import Ladder
from polhode.solve.least_norm import LeastNorm

__all__ = [
    "Chord",
    "DenseNewton",
    "Fixed",
    "FixedPoint",
    "Ladder",
    "LeastNorm",
    "Newton",
    "PlainNewton",
    "Report",
    "Residual",
    "until_converged",
]
