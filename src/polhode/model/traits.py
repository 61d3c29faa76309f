"""What a method claims of itself; every claim is tested, see `polhode.verify`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Conserved = Literal["exact", "bounded", "drifts"]


@dataclass(frozen=True)
class Traits:
    """`exact` is to round-off over 10⁵ steps (10⁴ of a system); `bounded` oscillates without trend; `drifts` moves
    away with time.

    Energy and spatial momentum are those of a free body, or, of a method for systems, of a pendulum of two rods and of
    bodies that float.
    """

    order: float  # math.inf: exact
    energy: Conserved
    spatial_momentum: Conserved
    symmetric: bool = True  # a step forward and a step back is the identity

    # Of methods for one rotating body: the free body,
    momentum_length: Conserved = "exact"
    half_step_energy: bool = False  # the energy half a forward Euler step on is exact
    # the heavy symmetric top,
    top_energy: Conserved = "bounded"
    vertical_momentum: Conserved = "exact"
    # and the geometry of a step.
    poisson: bool = False  # Π₀ -> Π₁ keeps the Lie-Poisson bracket, on the free body
    symplectic: bool = False  # (R, Π) -> (R, Π) keeps the canonical form of T*SO(3)
    loads: Literal["any", "attitude", "none"] = "any"  # what they may depend on besides time
    non_twisting: bool = False  # moves bodies on the non-twisting frame too

    # Of methods for systems of bodies: the energy of a pair adrift on a ball joint and a spring,
    spring_energy: Conserved = "drifts"
    # and how well constraints are kept.
    joints: Conserved = "exact"  # positions of joints and contacts
    slip: Conserved = "exact"  # velocities of what rolls
