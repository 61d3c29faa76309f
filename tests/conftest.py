"""Every test runs with compiled programs kept on disk, and repeats the same random examples."""

import os

from hypothesis import settings

import polhode  # noqa: F401  (before JAX starts)

os.environ.setdefault("MPLBACKEND", "Agg")
settings.register_profile("polhode", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("polhode")
