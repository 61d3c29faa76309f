"""A homogeneous sphere that rolls inside a vertical cylinder: an exact harmonic motion.

Frame (e1, e2, e3): e3 up along the axis of the cylinder, e1 horizontal from the axis through
the centre of the sphere to the contact, e2 = e3 × e1; φ is the angle of e1 from the x axis of
space. With a the radius of the sphere, b that of the cylinder and k its radius of gyration,

    z' = a ω2,   (b - a) φ' = -a ω3,   ω3' = 0,   ω1' = φ' ω2,
    (k² + a²) ω2' = -k² φ' ω1 - a g,

so ω2 = A sin(νt + E) with ν² = φ'² k²/(k² + a²): the sphere goes up and down and never falls
out. Neimark and Fufaev, Dynamics of Nonholonomic Systems (1972); the three-field paper,
section 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from polhode.model.checks import InputError, numbers, positive


@dataclass(frozen=True)
class RollingSphere:
    """Sphere and motion. The height starts at z0 and the azimuth φ at 0; SI units."""

    mass: float = 1.0  # kg
    radius: float = 0.4  # a, m
    cylinder_radius: float = 1.0  # b, m
    gyration: float = 0.4  # k²/a²; 2/5 for a homogeneous sphere
    gravity: float = 9.81  # m/s², along -z
    height: float = 1.224  # z0, m
    spin: float = -5.0  # ω3, rad/s
    amplitude: float = 1.0  # A of ω2, rad/s
    phase: float = 0.0  # E, rad

    def __post_init__(self) -> None:
        for name in ("mass", "radius", "cylinder_radius", "gyration"):
            positive(name, getattr(self, name))
        numbers("parameters", (self.gravity, self.height, self.spin, self.amplitude, self.phase))
        if not self.radius < self.cylinder_radius:
            raise InputError(
                f"a sphere of radius {self.radius} m does not fit into a cylinder of radius "
                f"{self.cylinder_radius} m; give radius < cylinder_radius"
            )
        if self.spin == 0:
            raise InputError("spin is 0: a sphere that does not spin about the vertical falls; give spin other than 0")

    @property
    def azimuth_rate(self) -> float:
        """φ' = -a ω3/(b - a), rad/s, constant."""
        return -self.radius * self.spin / (self.cylinder_radius - self.radius)

    @property
    def frequency(self) -> float:
        """ν = φ' √(k²/(k² + a²)), rad/s, with the sign of φ'."""
        return self.azimuth_rate * np.sqrt(self.gyration / (1 + self.gyration))


class SphereMotion(NamedTuple):
    """Arrays over the times; vectors on the last axis."""

    height: np.ndarray  # z of the centre, m
    azimuth: np.ndarray  # φ, rad
    omega: np.ndarray  # (ω1, ω2, ω3) along e1, e2, e3, rad/s
    omega_space: np.ndarray  # the same vector in space axes
    position: np.ndarray  # of the centre, in space axes, m
    velocity: np.ndarray  # of the centre, in space axes, m/s
    energy: np.ndarray  # kinetic and m g z, J


def motion(sphere: RollingSphere, times: Any) -> SphereMotion:
    """The exact motion at `times` (any real numbers), s."""
    t = numbers("times", times)
    a, k2 = sphere.radius, sphere.gyration * sphere.radius**2
    turn, nu, A, E = sphere.azimuth_rate, sphere.frequency, sphere.amplitude, sphere.phase

    phi = turn * t
    omega2 = A * np.sin(nu * t + E)
    omega1 = -(a * sphere.gravity + (k2 + a**2) * A * nu * np.cos(nu * t + E)) / (k2 * turn)
    omega3 = np.full_like(t, sphere.spin)
    z = sphere.height + (a * A / nu) * (np.cos(E) - np.cos(nu * t + E))

    zero, rho = np.zeros_like(t), sphere.cylinder_radius - a
    e1 = np.stack([np.cos(phi), np.sin(phi), zero], -1)
    e2 = np.stack([-np.sin(phi), np.cos(phi), zero], -1)
    e3 = np.array([0.0, 0.0, 1.0])
    omega = np.stack([omega1, omega2, omega3], -1)
    velocity = rho * turn * e2 + (a * omega2)[..., None] * e3
    return SphereMotion(
        height=z,
        azimuth=phi,
        omega=omega,
        omega_space=omega1[..., None] * e1 + omega2[..., None] * e2 + omega3[..., None] * e3,
        position=rho * e1 + z[..., None] * e3,
        velocity=velocity,
        energy=sphere.mass * (0.5 * (velocity**2).sum(-1) + 0.5 * k2 * (omega**2).sum(-1) + sphere.gravity * z),
    )
