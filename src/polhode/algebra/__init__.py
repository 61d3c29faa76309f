"""Vectors and rotations in components, over any kind of number and any batch shape."""

from polhode.algebra.quaternions import Quaternion
from polhode.algebra.rotations import (
    cayley,
    cayley_inverse,
    dexp_left,
    dexp_left_inverse,
    dexp_right,
    dexp_right_inverse,
    exp,
    log,
)
from polhode.algebra.scalars import Scalar
from polhode.algebra.vectors import Mat3, Vec3

__all__ = [
    "Mat3",
    "Quaternion",
    "Scalar",
    "Vec3",
    "cayley",
    "cayley_inverse",
    "dexp_left",
    "dexp_left_inverse",
    "dexp_right",
    "dexp_right_inverse",
    "exp",
    "log",
]
