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
    joints: list[Joint] = []
    lines: list[Between] = []
    for c in system.constraints:
        kind: Any = c
        if type(c) not in (Revolute, Prismatic, Distance) or c.rheonomic:
            raise InputError(f"a mechanism for other codes has hinges, slides and bars; got a {type(c).__name__}")
        sides = [(kind.a, kind.at_a, kind.triad_a), (kind.b, kind.at_b, kind.triad_b)]
        (one, at_a, _), (other, at_b, triad) = sides[::-1] if kind.b == GROUND else sides
        a, b, at_a, at_b, triad = number.get(one), number[other], *map(np.asarray, (at_a, at_b, triad))
        if type(c) is Distance:
            lines.append(Between(a, b, at_a, at_b, length=float(kind.length), stiff=True))
        else:
            part = parts[b]
            axis, at = part.attitude @ triad[:, 2], part.position + part.attitude @ at_b
            joints.append(Joint(a, b, at, axis, slides=type(c) is Prismatic))
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
        parts,
        tuple(joints),
        tuple(lines),
        gravity,
        tuple(torques),
    )
