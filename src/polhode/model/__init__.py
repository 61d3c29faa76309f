"""What every system, method, quantity and problem is; and the checks of what users give."""

from polhode.model.checks import InputError

__all__ = ["InputError"]
