"""Iteration with convergence status, differentiable by the implicit function theorem."""

from polhode.solve.iteration import FixedPoint, Newton, Report, Residual

__all__ = ["FixedPoint", "Newton", "Report", "Residual"]
