"""The equations of a step, and the methods that take it."""
