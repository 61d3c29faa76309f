"""Krysl (2007), section 3: what the methods conserve in torque-free motion."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.algebra import Vec3
from polhode.api import simulate
from polhode.methods import method_of
from polhode.papers.base import Check
from polhode.problems import problem_of
from polhode.rotation import Rotation, State


def poisson_defect(name: str, h: float) -> float:
    """How far one free step is from a Poisson map of Π: ‖J skew(Π) Jᵀ - skew(Π₁)‖, J = ∂Π₁/∂Π."""
    setup = problem_of("free-body").problem()
    system = Rotation(setup.body)
    start = jax.tree.map(jnp.asarray, setup.start.on(setup.body))
    method = method_of(name)

    def end(Pi: Any) -> Any:
        return method.step(system, State(start.attitude, Vec3.of(Pi)), 0.0, h).state.momentum.array

    Pi = start.momentum.array
    J = np.asarray(jax.jit(jax.jacfwd(end))(Pi))
    return float(np.abs(J @ Vec3.of(Pi).skew().array @ J.T - Vec3.of(end(Pi)).skew().array).max())


def section_three_checks() -> list[Check]:
    defects = [poisson_defect("imidm", h) for h in (0.2, 0.1)]
    setup = problem_of("free-body").problem()
    kinetic = {
        name: simulate(setup.body, None, setup.start, method=name, step=0.1, steps=20_000, every=10)
        for name in ("imid", "imidm", "trapm")
    }
    drift = {name: run.drift(run.kinetic) for name, run in kinetic.items()}
    bounded = {
        name: np.abs(run.kinetic[1000:] - run.kinetic[0]).max() / np.abs(run.kinetic[:1000] - run.kinetic[0]).max()
        for name, run in kinetic.items()
    }
    return [
        Check(
            "3.5",
            "IMID conserves the kinetic energy of torque-free motion",
            "exactly",
            f"relative change {drift['imid']:.1e} over 20 000 steps",
            drift["imid"] < 1e-12,
        ),
        Check(
            "3.6",
            "IMIDM conserves the spatial momentum of torque-free motion",
            "exactly",
            f"relative change {kinetic['imidm'].drift(kinetic['imidm'].spatial_momentum):.1e} over 20 000 steps",
            kinetic["imidm"].drift(kinetic["imidm"].spatial_momentum) < 1e-12,
        ),
        Check(
            "3.7",
            "the energy error of TRAPM and IMIDM oscillates and stays bounded",
            "bounded",
            f"largest {drift['trapm']:.1e} and {drift['imidm']:.1e}; second half of the run over the first: "
            f"{bounded['trapm']:.3f} and {bounded['imidm']:.3f}",
            max(bounded["trapm"], bounded["imidm"]) < 1.05,
        ),
        Check(
            "3.7",
            "IMIDM appears to be symplectic",
            "appears so",
            f"not even Poisson: one-step defect {defects[0]:.1e} at h = 0.2 and {defects[1]:.1e} at h = 0.1",
            max(defects) < 1e-12,
            expected=False,
            note=f"the defect falls as h^{np.log2(defects[0] / defects[1]):.1f}; bounded energy comes with symmetry",
        ),
    ]
