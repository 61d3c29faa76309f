"""A function of a few numbers as one kernel over many: jaxpr, C, machine code of a GPU."""

from polhode.kernel.source import UnwritableError, source_of_steps

__all__ = ["UnwritableError", "source_of_steps"]
