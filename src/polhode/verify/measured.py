"""`measured`: a run that is there to be judged."""

from __future__ import annotations

import warnings
from typing import Any

from polhode.api import simulate
from polhode.results.run import Run


def measured(*what: Any, **how: Any) -> Run:
    """As `simulate`, without the warning of an energy that grew: here that is a result."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*though nothing drives the body")
        return simulate(*what, **how)
