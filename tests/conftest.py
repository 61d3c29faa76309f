"""Every test runs with compiled programs kept on disk, and repeats the same random examples."""

import os

import jax
import psutil
from hypothesis import settings

import polhode  # noqa: F401  (before JAX starts)

os.environ.setdefault("MPLBACKEND", "Agg")
settings.register_profile("polhode", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("polhode")


def pytest_runtest_teardown() -> None:
    """Compiled programs pile up over hundreds of tests; let them go when they take much room."""
    if psutil.Process().memory_info().rss > 3 * 2**30:
        jax.clear_caches()
