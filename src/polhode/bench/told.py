"""A system of polhode as other codes are told of it: hinges, slides, bars, springs, dampers, weight and torques."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.model import InputError
from polhode.multibody import GROUND, Damper, Distance, Gravity, Prismatic, Revolute, Spring, System, Torque
from polhode.peers.mechanism import Between, Joint, Mechanism, Part


def mechanism_of(system: System) -> Mechanism:
    """What stands in it is all there is: what a mechanism cannot say is an InputError."""
    start, number = system.start, {name: i for i, name in enumerate(system.names)}
    rotations = np.asarray(start.rotations)
    parts = tuple(
        Part(name, float(m), np.asarray(J), np.asarray(r), R, np.asarray(v), R @ np.asarray(w))
        for name, m, J, r, R, v, w in zip(
            system.names, system.masses, system.inertias, start.positions, rotations, start.velocities, start.omegas,
            strict=True,
        )
    )  # fmt: skip
    joints: list[tuple[int, Joint]] = []  # with their first rows: in the order given, not by kind
    lines: list[Between] = []
    for group in system.groups:
        kind: Any = group.kind
        for i, (bodies, first) in enumerate(zip(group.bodies, group.first, strict=True)):
            a, b = bodies if len(bodies) > 1 else (None, bodies[0])
            at_a, at_b, triad = (np.asarray(x[i]) for x in (kind.at_a, kind.at_b, kind.triad_b))
            if kind.b == GROUND:
                at_a, at_b, triad = at_b, at_a, np.asarray(kind.triad_a[i])
            if type(kind) in (Revolute, Prismatic) and getattr(kind, "angle", None) is None:
                part = parts[b]
                axis = part.attitude @ triad[:, 2]
                at = part.position + part.attitude @ at_b
                joints.append((first, Joint(a, b, at, axis, slides=type(kind) is Prismatic)))
            elif type(kind) is Distance:
                lines.append(Between(a, b, at_a, at_b, length=float(kind.length[i]), stiff=True))
            else:
                raise InputError(
                    f"a mechanism for other codes has hinges, slides and bars; got a {type(kind).__name__}"
                )
    gravity, torques = np.zeros(3), []
    for force in system.forces:
        if isinstance(force, Gravity):
            gravity = gravity + np.asarray(force.g)
        elif isinstance(force, Spring | Damper):
            one, other = (force.a, force.at_a), (force.b, force.at_b)
            if force.b == GROUND:
                one, other = other, one
            ends = (number.get(one[0]), number[other[0]], one[1], other[1])
            if isinstance(force, Spring):
                lines.append(Between(*ends, stiffness=float(force.stiffness), length=float(force.length)))
            else:
                lines.append(Between(*ends, damping=float(force.coefficient)))
        elif isinstance(force, Torque) and "value" in force.parameters and force.frame == "space":
            torques.append((number[force.body], np.asarray(force.parameters["value"])))
        else:
            raise InputError(
                "other codes are told of weight, springs, dampers and constant torques in space axes; got a "
                f"{type(force).__name__}"
            )
    return Mechanism(
        parts, tuple(joint for _, joint in sorted(joints, key=lambda pair: pair[0])), tuple(lines), gravity,
        tuple(torques),
    )  # fmt: skip
