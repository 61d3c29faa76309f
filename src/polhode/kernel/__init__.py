"""A function of a few numbers as one kernel over many: jaxpr, C, machine code of a GPU."""

from polhode.kernel.source import Unwritable, source_of_steps

__all__ = ["Unwritable", "source_of_steps"]
