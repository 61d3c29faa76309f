"""How XLA compiles our programs on a CPU."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax

from polhode._programs.settings import platform

# XLA's newer emitters of fused operations take a pipeline of passes for each; a step has hundreds, of a few numbers
# each. Without them a bicycle's first steps come a quarter sooner, and a step takes 70 µs instead of 94.
_PLAINLY = {"xla_cpu_use_fusion_emitters": False}
_SOON = {"xla_backend_optimization_level": 0}
_WELL = {"xla_backend_optimization_level": 3}  # XLA's own, whatever XLA_FLAGS say of a process's other programs
# XLA uses vectors of 256 bits though a processor may have wider ones: twice the time of a tile of many bodies.
_WIDELY = {"xla_cpu_prefer_vector_width": 512}


def compiler_options(*, briefly: bool, widely: bool = False) -> dict[str, Any]:
    """For `jax.jit`. `briefly`: soon rather than well, for what is called a few times only. `widely`: with the widest
    vectors there are, for many numbers side by side."""
    known = {**_PLAINLY, **(_WIDELY if widely else {})} if platform() == "cpu" and _are_known() else {}
    return {**known, **(_SOON if briefly else _WELL)}


@cache
def _are_known() -> bool:
    """Whether this XLA has these options; others refuse a program that names them."""
    try:
        jax.jit(lambda x: x, compiler_options=_PLAINLY | _WIDELY).lower(0.0).compile()
    except Exception:  # jaxlib has no public class for it
        return False
    return True
