"""Exudyn (Gerstmayr, Multibody System Dynamics 60 (2024) 389-427) on the bicycle and the rolling disk, constant step.

Rigid bodies on Euler parameters, revolute joints, `ObjectJointRollingDisc` for the wheels: the parts of
Exudyn's own example of this benchmark. Its rolling joint is a disk on a plane, and constrains velocities
only, the normal one too; no joint of Exudyn lets a sphere roll inside a cylinder, so that system is not here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.mechanics.checks import InputError, positive, unknown
from polhode.peers.installed import load
from polhode.peers.runs import BicycleRun, Bodies, Cost, DiskRun, bicycle_run, disk_run
from polhode.references import bicycle, rolling_disk

SOLVERS = ("generalized-alpha", "generalized-alpha-index2", "trapezoidal-index2")
_QUANTITIES = ("Position", "Velocity", "RotationMatrix", "AngularVelocity")
_Z_DOWN = np.diag([1.0, -1.0, -1.0])  # the bicycle's axes in those of Exudyn, whose ground has its normal along +z


def bicycle_motion(
    bike: bicycle.Bicycle, start: bicycle.BicycleStart, *, step: float, until: float, solver: str = SOLVERS[0]
) -> BicycleRun:
    """The bicycle from `start` in steps of `step` s to `until` s: four bodies, three hinges, two rolling wheels."""
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

    bodies, cost = _run(build, step=step, until=until, solver=solver)
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
    solver: str = SOLVERS[0],
) -> DiskRun:
    """The rolling disk from `start` in steps of `step` s to `until` s."""
    first = rolling_disk.motion(disk, start, [0.0])
    inertia = np.diag([disk.diametral, disk.polar, disk.diametral])
    R = first.attitude[0]

    def build(exu: Any, mbs: Any) -> list[Any]:
        gravity = [0, 0, -disk.gravity]
        state = (first.position[0], R, first.velocity[0], R @ first.omega[0])
        body = _body(exu, mbs, gravity, disk.mass, inertia, *state)
        _roll(exu, mbs, body, disk.radius)
        return [body]

    bodies, cost = _run(build, step=step, until=until, solver=solver)
    return disk_run(disk, bodies, cost)


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


def _run(build: Callable[[Any, Any], list[Any]], *, step: float, until: float, solver: str) -> tuple[Bodies, Cost]:
    positive("step", step)
    positive("until", until)
    if solver not in SOLVERS:
        raise unknown("solver of Exudyn", solver, SOLVERS)
    steps = round(until / step)
    if steps < 1 or abs(steps * step - until) > 1e-9 * until:
        raise InputError(f"until = {until} s is no whole number of steps of {step} s; give a multiple of the step")
    exu = load("exudyn")
    items = load("exudyn.itemInterface")
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    bodies = build(exu, mbs)
    sensors = [
        [
            mbs.AddSensor(
                items.SensorBody(
                    bodyNumber=body, storeInternal=True, outputVariableType=getattr(exu.OutputVariableType, quantity)
                )
            )
            for quantity in _QUANTITIES
        ]
        for body in bodies
    ]
    mbs.Assemble()
    settings = _settings(exu, steps, until, solver)
    began = time.perf_counter()
    done = mbs.SolveDynamic(settings)
    cost = Cost(steps, time.perf_counter() - began)
    if not done:
        raise InputError(
            f"Exudyn's {solver} did not converge at step = {step} s; take a smaller step, or end before the fall"
        )
    stored = [np.stack([mbs.GetSensorStoredData(s[i]) for s in sensors], 1) for i in range(len(_QUANTITIES))]
    position, velocity, attitude, omega = (data[..., 1:] for data in stored)
    return Bodies(stored[0][:, 0, 0], position, velocity, attitude.reshape(*attitude.shape[:2], 3, 3), omega), cost


def _settings(exu: Any, steps: int, until: float, solver: str) -> Any:
    """Exudyn's defaults (spectral radius 0.9, Newton to 1e-8, one thread), but for the step: constant, all recorded."""
    settings = exu.SimulationSettings()
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = until / steps
    settings.parallel.numberOfThreads = 1
    integration = settings.timeIntegration
    integration.numberOfSteps = steps
    integration.endTime = until
    integration.verboseMode = 0
    integration.adaptiveStep = False
    if solver == "trapezoidal-index2":
        integration.solverType = exu.DynamicSolverType.TrapezoidalIndex2
    else:
        integration.solverType = exu.DynamicSolverType.GeneralizedAlpha
        integration.generalizedAlpha.useIndex2Constraints = solver == "generalized-alpha-index2"
    return settings
