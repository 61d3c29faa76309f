"""Measuring methods: their order, what they conserve, the geometry of a step."""

from polhode.verify.audit import Certificate, audit
from polhode.verify.claims import Claim, claims

__all__ = ["Certificate", "Claim", "audit", "claims"]
