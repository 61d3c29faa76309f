"""Exudyn (Gerstmayr, Multibody System Dynamics, 2023, doi:10.1007/s11044-023-09937-1): bicycle, disk, mechanisms.

At a constant step: rigid bodies on Euler parameters, revolute joints, `ObjectJointRollingDisc` for the wheels, as in
Exudyn's own example of this bicycle. Its rolling joint is a disk on a plane and constrains velocities alone, the
normal one too. A sphere that rolls inside a cylinder is not here: no joint of Exudyn does that, its contacts of spheres
are penalties, and a constraint as a user function would be Python called in each iteration, not Exudyn.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.model.checks import InputError, positive, unknown
from polhode.peers.installed import load
from polhode.peers.mechanism import Mechanism
from polhode.peers.runs import BicycleRun, Bodies, Cost, DiskRun, bicycle_run, disk_run
from polhode.references import bicycle, rolling_disk

SOLVERS = ("generalized-alpha", "trapezoidal-index2")
# Exudyn's own default is 0.9. Of 0.9, 0.8, ... this is the first at which the three starts of the three-field paper run
# for 20 s at h = 0.01: hinges at position level (index 3) beside rolling at velocity level are weakly unstable above.
SPECTRAL_RADIUS = 0.7
_QUANTITIES = ("Position", "Velocity", "RotationMatrix", "AngularVelocity")
_Z_DOWN = np.diag([1.0, -1.0, -1.0])  # the bicycle's axes in those of Exudyn, whose ground has its normal along +z


def bicycle_motion(
    bike: bicycle.Bicycle,
    start: bicycle.BicycleStart,
    *,
    step: float,
    until: float,
    solver: str = "trapezoidal-index2",
    spectral_radius: float = SPECTRAL_RADIUS,
) -> BicycleRun:
    """The bicycle from `start` in steps of `step` s to `until` s: four bodies, three hinges, two rolling wheels.

    `solver` is one of `SOLVERS`; `spectral_radius`, in [0, 1], is that of generalized-alpha at infinity.
    """
    first = bicycle.motion(bike, start, [0.0])
    T = _Z_DOWN
    position, attitude = first.position[0] @ T, T @ first.attitude[0] @ T
    velocity, omega = first.velocity[0] @ T, first.omega[0] @ T
    frame_centre = np.array([bike.frame_position[0], 0, bike.frame_position[1]])
    head = position[1] + attitude[1] @ T @ (np.array([bike.wheelbase + bike.trail, 0, 0]) - frame_centre)
    steer_axis = attitude[1] @ T @ [np.sin(bike.tilt), 0, np.cos(bike.tilt)]

    def build(exu: Any, mbs: Any) -> list[Any]:
        gravity = [0, 0, -bike.gravity]
        inertias = T @ bike.inertias @ T
        parts = zip(bike.masses, inertias, position, attitude, velocity, omega, strict=True)
        rear, frame, fork, front = (_body(exu, mbs, gravity, *part) for part in parts)
        for pair, place, axis in (
            ([frame, rear], position[0], attitude[1][:, 1]),
            ([frame, fork], head, steer_axis),
            ([fork, front], position[3], attitude[2][:, 1]),
        ):
            mbs.CreateRevoluteJoint(itemNumbers=pair, position=place, axis=axis, show=False)
        _roll(exu, mbs, rear, bike.rear_radius)
        _roll(exu, mbs, front, bike.front_radius)
        return [rear, frame, fork, front]

    bodies, cost = _run(build, step, until, solver, spectral_radius)
    turned = bodies._replace(
        position=bodies.position @ T,
        velocity=bodies.velocity @ T,
        attitude=T @ bodies.attitude @ T,
        omega=bodies.omega @ T,
    )
    return bicycle_run(bike, turned, cost)


def disk_motion(
    disk: rolling_disk.RollingDisk,
    start: rolling_disk.DiskStart,
    *,
    step: float,
    until: float,
    solver: str = "trapezoidal-index2",
    spectral_radius: float = SPECTRAL_RADIUS,
) -> DiskRun:
    """The rolling disk from `start` in steps of `step` s to `until` s; options as for the bicycle."""
    first = rolling_disk.motion(disk, start, [0.0])
    inertia = np.diag([disk.diametral, disk.polar, disk.diametral])
    R = first.attitude[0]

    def build(exu: Any, mbs: Any) -> list[Any]:
        gravity = [0, 0, -disk.gravity]
        state = (first.position[0], R, first.velocity[0], R @ first.omega[0])
        body = _body(exu, mbs, gravity, disk.mass, inertia, *state)
        _roll(exu, mbs, body, disk.radius)
        return [body]

    bodies, cost = _run(build, step, until, solver, spectral_radius)
    return disk_run(disk, bodies, cost)


def mechanism_motion(
    mechanism: Mechanism,
    *,
    step: float,
    until: float,
    every: int = 1,
    solver: str = "generalized-alpha",
    spectral_radius: float = 0.9,
) -> tuple[Bodies, Cost]:
    """A mechanism in steps of `step` s to `until` s, a sample at each `every`-th; options as for the bicycle, the
    spectral radius Exudyn's own.

    Loops make joints follow from each other, for which Exudyn has a factorisation with full pivoting."""

    def build(exu: Any, mbs: Any) -> list[Any]:
        ground = mbs.CreateGround()
        made = [
            _body(exu, mbs, mechanism.gravity, p.mass, p.inertia, p.position, p.attitude, p.velocity, p.omega)
            for p in mechanism.parts
        ]
        items: dict[int | None, Any] = {None: ground, **dict(enumerate(made))}
        for j in mechanism.joints:
            create = mbs.CreatePrismaticJoint if j.slides else mbs.CreateRevoluteJoint
            create(itemNumbers=[items[j.a], items[j.b]], position=j.at, axis=j.axis, show=False)
        for line in mechanism.lines:
            ends = {
                "itemNumbers": [items[line.a], items[line.b]],
                "localPosition0": line.at_a,
                "localPosition1": line.at_b,
                "show": False,
            }
            if line.stiff:
                mbs.CreateDistanceConstraint(**ends)
            else:
                mbs.CreateSpringDamper(
                    **ends, stiffness=line.stiffness, damping=line.damping, referenceLength=line.length
                )
        for body, torque in mechanism.torques:
            mbs.CreateTorque(itemNumber=made[body], loadVector=torque, show=False)
        return made

    return _run(build, step, until, solver, spectral_radius, every, redundant=len(mechanism.joints) > 1)


def _body(exu: Any, mbs: Any, gravity: Any, mass: float, inertia: Any, r: Any, R: Any, v: Any, omega: Any) -> Any:
    return mbs.CreateRigidBody(
        referencePosition=r,
        referenceRotationMatrix=R,
        initialVelocity=v,
        initialAngularVelocity=omega,
        inertia=load("exudyn.utilities").RigidBodyInertia(mass=float(mass), inertiaTensor=inertia),
        gravity=gravity,
        nodeType=exu.NodeType.RotationEulerParameters,
        show=False,
    )


def _roll(exu: Any, mbs: Any, wheel: Any, radius: float) -> None:
    """The wheel, with its axle along body y, rolls on z = 0."""
    items = load("exudyn.itemInterface")
    ground = mbs.AddObject(items.ObjectGround())
    markers = [mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=body)) for body in (ground, wheel)]
    mbs.AddObject(items.ObjectJointRollingDisc(markerNumbers=markers, discRadius=radius, discAxis=[0, 1, 0]))


def _run(
    build: Callable[[Any, Any], list[Any]],
    step: float,
    until: float,
    solver: str,
    spectral_radius: float,
    every: int = 1,
    redundant: bool = False,
) -> tuple[Bodies, Cost]:
    positive("step", step)
    positive("until", until)
    if solver not in SOLVERS:
        raise unknown("solver of Exudyn", solver, SOLVERS)
    if not 0 <= spectral_radius <= 1:
        raise InputError(f"spectral_radius must lie in 0 to 1, 1 for no damping; got {spectral_radius!r}")
    steps = round(until / step)
    if steps < 1 or abs(steps * step - until) > 1e-9 * until:
        raise InputError(f"until = {until} s is no whole number of steps of {step} s; give a multiple of the step")
    exu = load("exudyn")
    exu.config.printToConsole = False
    mbs = exu.SystemContainer().AddSystem()
    bodies = build(exu, mbs)
    sensors = [[_sensor(exu, mbs, body, quantity) for body in bodies] for quantity in _QUANTITIES]
    mbs.Assemble()
    settings = _settings(exu, steps, until, solver, spectral_radius, every)
    if redundant:
        settings.linearSolver.solverType = exu.LinearSolverType.EigenDense
        settings.linearSolver.ignoreSingularJacobian = True
    began = time.perf_counter()
    try:
        mbs.SolveDynamic(settings)
    except exu.SolverError as error:
        raise InputError(
            f"Exudyn's {solver} did not converge on the way to {until} s with step = {step} s; take a smaller step, "
            "a smaller spectral_radius, or end before the fall"
        ) from error
    cost = Cost(steps, time.perf_counter() - began)
    stored = [np.stack([mbs.GetSensorStoredData(s) for s in row], 1) for row in sensors]
    position, velocity, attitude, omega = (data[..., 1:] for data in stored)
    return Bodies(stored[0][:, 0, 0], position, velocity, attitude.reshape(*attitude.shape[:2], 3, 3), omega), cost


def _sensor(exu: Any, mbs: Any, body: Any, quantity: str) -> Any:
    """A record in memory at each step: less than 1 % of the time of the bicycle's solver (measured 0.4 %)."""
    variable = getattr(exu.OutputVariableType, quantity)
    items = load("exudyn.itemInterface")
    return mbs.AddSensor(items.SensorBody(bodyNumber=body, storeInternal=True, outputVariableType=variable))


def _settings(exu: Any, steps: int, until: float, solver: str, spectral_radius: float, every: int) -> Any:
    """Exudyn's defaults (modified Newton to 1e-8, dense matrices, one thread) but for a constant step and records."""
    settings = exu.SimulationSettings()
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = every * until / steps
    settings.parallel.numberOfThreads = 1
    integration = settings.timeIntegration
    integration.numberOfSteps = steps
    integration.endTime = until
    integration.adaptiveStep = False
    integration.generalizedAlpha.spectralRadius = spectral_radius
    types = exu.DynamicSolverType
    integration.solverType = types.TrapezoidalIndex2 if solver == "trapezoidal-index2" else types.GeneralizedAlpha
    return settings
