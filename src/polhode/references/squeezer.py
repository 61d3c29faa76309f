"""Andrews' squeezing mechanism in one coordinate, the angle β of its crank; in the x-y plane, without weight.

Seven bodies: K1 is OF, K2 FE, K3 the triangle BDE, K4 GE, K5 AG, K6 HE, K7 AH. O, A, B and C are fixed; a spring
pulls D to C, a constant torque turns the crank. From β, E is where two circles meet, then G and H too:

    F = r e(β),   |E - F| = d, |E - B| = s,   |G - E| = e, |G - A| = z,   |H - E| = f, |H - A| = u.

Data and letters: Schiehlen (ed.), Multibody Systems Handbook (1990); Hairer, Wanner, Solving ODEs II, VII.7; Test
Set for IVP Solvers (Bari), whose angles at t = 0.03 s the tests compare with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from polhode.references import one_freedom
from polhode.references.one_freedom import OneFreedom, Places

START = -0.0617138900142764496358948458001  # of β at rest, rad, where crank and K2 lie on one line
A, B, C = (np.array(p) for p in ((-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)))  # m
# Of K1 to K7, named by foot and tip; in the order of the letters r, d, s, e, z, f, u of the books.
LENGTHS = {"OF": 0.007, "FE": 0.028, "BE": 0.035, "GE": 0.02, "AG": 0.04, "HE": 0.02, "AH": 0.04}  # m
D = np.array((0.02, -0.018))  # from B, on axes on which E is at (0, -s), m
MASSES = np.array([0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498])  # kg
INERTIAS = np.array([2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5])  # about z, kg m²
# Centres of mass, m, each from the foot of its body: along its length and to the left.
CENTRES = np.array([
    (0.00092, 0.0),
    (0.0115, 0.0),
    (0.01874, 0.01043),
    (0.02 - 0.01421, 0.0),
    (0.02308, 0.00916),
    (0.02 - 0.01421, 0.0),
    (0.01228, -0.00449),
])  # fmt: skip


@dataclass(frozen=True)
class Squeezer:
    torque: float = 0.033  # on the crank, N m
    stiffness: float = 4530.0  # of the spring, N/m
    rest: float = 0.07785  # its length without force, m


class SqueezerMotion(NamedTuple):
    """Arrays over the times."""

    crank: np.ndarray  # β, rad, not wrapped
    rate: np.ndarray  # rad/s
    joint: np.ndarray  # (x, y) of F, m
    energy: np.ndarray  # kinetic and of the spring, J
    rotations: np.ndarray  # of K1 to K7, (n, 7, 3, 3)


def meeting(p: Any, q: Any, to_p: float, to_q: float, left: bool) -> Any:
    """The point at these distances from p and q, to the left or right of the way from p to q."""
    way = q - p
    reach2 = way @ way
    along = (to_p**2 - to_q**2 + reach2) / (2 * reach2)
    aside = np.sqrt(to_p**2 / reach2 - along**2) * (1 if left else -1)
    return p + along * way + aside * np.array([-way[1], way[0]])


def joints(beta: Any) -> dict[str, Any]:
    """F, E, G, H in the plane, on the branch of the start."""
    l = LENGTHS
    F = l["OF"] * np.array([np.cos(beta), np.sin(beta)])
    E = meeting(F, B, l["FE"], l["BE"], left=True)
    G = meeting(E, A, l["GE"], l["AG"], left=False)
    return {"F": F, "E": E, "G": G, "H": meeting(E, A, l["HE"], l["AH"], left=True)}


def places(beta: Any) -> Places:
    at = {"O": np.zeros(2), "A": A, "B": B, **joints(beta)}
    centres, rotations = np.zeros((7, 3), complex), np.zeros((7, 3, 3), complex)
    for i, (name, length) in enumerate(LENGTHS.items()):
        foot, tip = at[name[0]], at[name[1]]
        x, y = (tip - foot) / length
        turn = np.array([[x, -y], [y, x]])
        centres[i, :2] = foot + turn @ CENTRES[i]
        rotations[i, :2, :2], rotations[i, 2, 2] = turn, 1.0
    return Places(centres, rotations) if np.iscomplexobj(beta) else Places(centres.real, rotations.real)


def mechanism(squeezer: Squeezer) -> OneFreedom:
    def potential(beta: Any, at: Places) -> Any:
        # the axes of K3 have x along BE, which is -y of the axes on which D is given
        end = B + at.rotations[2, :2, :2] @ np.array([-D[1], D[0]])
        way = end - C
        return 0.5 * squeezer.stiffness * (np.sqrt(way @ way) - squeezer.rest) ** 2

    inertias = INERTIAS[:, None, None] * np.diag([0.5, 0.5, 1.0])  # only that about z enters
    return OneFreedom(MASSES, inertias, places, potential, squeezer.torque)


def motion(squeezer: Squeezer, times: Any, *, crank: float = START, rate: float = 0.0) -> SqueezerMotion:
    """The motion at `times`, s, from β = `crank`, rad, and `rate`, rad/s, at t = 0."""
    m = one_freedom.motion(mechanism(squeezer), times, coordinate=crank, rate=rate)
    joint = LENGTHS["OF"] * np.stack([np.cos(m.coordinate), np.sin(m.coordinate)], -1)
    return SqueezerMotion(m.coordinate, m.rate, joint, m.energy, m.rotations)
