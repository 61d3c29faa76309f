"""Measuring methods: their order, what they conserve, the geometry of a step."""

from polhode.verify.audit import Certificate, audit
from polhode.verify.claims import Claim, claims
from polhode.verify.quotient import Quotient, quotient

__all__ = ["Certificate", "Claim", "Quotient", "audit", "claims", "quotient"]
