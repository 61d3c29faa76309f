"""Programs: users' functions by what they compute, and compiled programs kept from process to process."""

from polhode._programs.compiling import compiler_options
from polhode._programs.fingerprint import fingerprint
from polhode._programs.names import NamelessError, is_from, same_everywhere
from polhode._programs.settings import has_64_bits, platform, settings
from polhode._programs.stored import Stored, forget, kept_on_disk, stored, unchanged
from polhode._programs.traced import Program, Traced, once_in_a_trace, traced

__all__ = [
    "NamelessError",
    "Program",
    "Stored",
    "Traced",
    "compiler_options",
    "fingerprint",
    "forget",
    "has_64_bits",
    "is_from",
    "kept_on_disk",
    "once_in_a_trace",
    "platform",
    "same_everywhere",
    "settings",
    "stored",
    "traced",
    "unchanged",
]
