"""Input files and what they describe."""

from polhode.inputs.case import Case, case_of

__all__ = ["Case", "case_of"]
