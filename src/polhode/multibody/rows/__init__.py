"""Rows of constraints: their derivatives, gathered over a system, their rank, and what floats."""
