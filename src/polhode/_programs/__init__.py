"""Programs: users' functions by what they compute, and compiled programs kept from process to process."""

from polhode._programs.names import NamelessError, same_everywhere
from polhode._programs.stored import Stored, forget, has_64_bits, stored
from polhode._programs.traced import Program, Traced, trace_number, traced

__all__ = [
    "NamelessError",
    "Program",
    "Stored",
    "Traced",
    "forget",
    "has_64_bits",
    "same_everywhere",
    "stored",
    "trace_number",
    "traced",
]
