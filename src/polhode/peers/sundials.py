"""SUNDIALS IDA (Hindmarsh et al., ACM TOMS 31 (2005) 363-396), by scikit-sundae, on the three rolling systems.

Backward differences of variable step and order 1 to 5 on the equations of `polhode.peers.dae`: index 2, all
constraints at velocity level, or with the holonomic ones at position level too (`ggl=True`).
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from polhode.model.checks import InputError, positive
from polhode.peers.constraint_rows import Constraint
from polhode.peers.dae import Equations
from polhode.peers.installed import load
from polhode.peers.runs import BicycleRun, Bodies, Cost, DiskRun, SphereRun, bicycle_run, disk_run, sphere_run
from polhode.peers.systems import bicycle_constraints, disk_constraints, sphere_constraints
from polhode.references import bicycle, rolling_disk, rolling_sphere
from polhode.references.attitude import matrix
from polhode.references.ode import sample_times

# Multipliers of an index-2 equation converge one order lower and would hold the steps down, so the error test
# leaves them out; scikit-sundae has no IDASetSuppressAlg, and a large absolute tolerance does the same.
_LEAVE_OUT = 1e20
_MOST_STEPS = 1_000_000  # from one sample to the next


def sphere_motion(
    sphere: rolling_sphere.RollingSphere, times: Any, *, rtol: float = 1e-8, atol: float = 1e-8, ggl: bool = True
) -> SphereRun:
    """The sphere inside a cylinder at `times`, s, from the start of the exact motion."""
    first = rolling_sphere.motion(sphere, [0.0])
    inertia = sphere.mass * sphere.gyration * sphere.radius**2 * np.eye(3)
    equations = _equations([sphere.mass], inertia[None], -sphere.gravity, sphere_constraints(sphere), ggl)
    bodies, cost = _run(
        equations, times, first.position, np.eye(3)[None], first.velocity, first.omega_space, rtol=rtol, atol=atol
    )
    return sphere_run(sphere, bodies, cost)


def disk_motion(
    disk: rolling_disk.RollingDisk,
    start: rolling_disk.DiskStart,
    times: Any,
    *,
    rtol: float = 1e-8,
    atol: float = 1e-8,
    ggl: bool = True,
) -> DiskRun:
    """The rolling disk from `start` at `times`, s."""
    first = rolling_disk.motion(disk, start, [0.0])
    inertia = np.diag([disk.diametral, disk.polar, disk.diametral])
    equations = _equations([disk.mass], inertia[None], -disk.gravity, disk_constraints(disk), ggl)
    omega = np.einsum("nij,nj->ni", first.attitude, first.omega)
    bodies, cost = _run(equations, times, first.position, first.attitude, first.velocity, omega, rtol=rtol, atol=atol)
    return disk_run(disk, bodies, cost)


def bicycle_motion(
    bike: bicycle.Bicycle,
    start: bicycle.BicycleStart,
    times: Any,
    *,
    rtol: float = 1e-8,
    atol: float = 1e-8,
    ggl: bool = True,
) -> BicycleRun:
    """The bicycle from `start` at `times`, s: 24 velocities, 21 rows."""
    first = bicycle.motion(bike, start, [0.0])
    equations = _equations(bike.masses, bike.inertias, bike.gravity, bicycle_constraints(bike), ggl)
    state = (first.position[0], first.attitude[0], first.velocity[0], first.omega[0])
    bodies, cost = _run(equations, times, *state, rtol=rtol, atol=atol)
    return bicycle_run(bike, bodies, cost)


def _equations(
    masses: Any, inertias: np.ndarray, gravity: float, constraints: tuple[Constraint, ...], ggl: bool
) -> Equations:
    return Equations(np.array(masses, float), inertias, np.array([0, 0, gravity]), constraints, ggl)


def _run(
    equations: Equations,
    times: Any,
    r: np.ndarray,
    R: np.ndarray,
    v: np.ndarray,
    omega: np.ndarray,
    *,
    rtol: float,
    atol: float,
) -> tuple[Bodies, Cost]:
    t = sample_times(times)
    positive("rtol", rtol)
    positive("atol", atol)
    ida = load("sksundae.ida")
    q = Rotation.from_matrix(R).as_quat(scalar_first=True)
    y0, yp0 = equations.start(r, q, v, np.einsum("bji,bj->bi", R, omega))
    tried: list[float] = []

    def residual(now: float, y: np.ndarray, yp: np.ndarray, out: np.ndarray) -> None:
        if not tried or tried[-1] != now:
            tried.append(now)
        out[:] = equations.residual(y, yp)

    def jacobian(_: float, y: np.ndarray, yp: np.ndarray, __: np.ndarray, cj: float, out: np.ndarray) -> None:
        out[:] = equations.jacobian(y, yp, cj)

    tolerances = np.full(len(y0), float(atol))
    tolerances[equations.algebraic] = _LEAVE_OUT
    solver = ida.IDA(
        residual,
        jacfn=jacobian,
        rtol=rtol,
        atol=tolerances,
        algebraic_idx=equations.algebraic,
        max_num_steps=_MOST_STEPS,
    )
    began = time.perf_counter()
    solver.init_step(0.0, y0, yp0)
    tried.clear()
    samples = np.empty((len(t), len(y0)))
    for i, end in enumerate(t.tolist()):
        if end == 0:
            samples[i] = y0
            continue
        result = solver.step(end)
        if not result.success:
            raise InputError(
                f"IDA stopped at t = {float(result.t):.6g} s with rtol = {rtol}, atol = {atol}: {result.message} "
                "Change the tolerances, or ask for times before the fall"
            )
        samples[i] = result.y
    cost = Cost(len(tried), time.perf_counter() - began)
    now = equations.unknowns(samples)
    attitude = matrix(now.q)
    return Bodies(t, now.r, now.v, attitude, np.einsum("nbij,nbj->nbi", attitude, now.Omega)), cost
