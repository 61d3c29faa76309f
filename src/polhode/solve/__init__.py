"""Iteration with convergence status, differentiable by the implicit function theorem."""

from polhode.solve.iteration import FixedPoint, Newton, PlainNewton, Report, Residual

__all__ = ["FixedPoint", "Newton", "PlainNewton", "Report", "Residual"]
