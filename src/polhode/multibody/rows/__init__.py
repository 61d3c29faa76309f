"""Rows of constraints: derivatives, gathering, rank, what floats."""
