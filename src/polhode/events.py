"""Events that are built in; `ph.Event` is for your own."""

from polhode.watching import lifts_off

__all__ = ["lifts_off"]
