"""Rigid bodies that move together: joints, rolling, forces, and steps that keep them true."""

from polhode.drawing import shapes
from polhode.model.composition import Composition as Composed
from polhode.model.halving import Halving
from polhode.model.method import Step
from polhode.model.pytree import Static, tree
from polhode.multibody.describe.applied import Applied, Gravity
from polhode.multibody.describe.bodies import GROUND, Body
from polhode.multibody.describe.constraints import Constraint, Holonomic, Nonholonomic
from polhode.multibody.describe.forces import Force, Torque
from polhode.multibody.describe.joints import Ball, Cylindrical, Distance, Fixed, Planar, Prismatic, Universal
from polhode.multibody.describe.potential import Potential
from polhode.multibody.describe.revolute import Revolute
from polhode.multibody.describe.rolling import KnifeEdge, RollingDisk, RollingSphere, SphereOnCylinder
from polhode.multibody.describe.springs import Damper, Spring
from polhode.multibody.describe.state import State
from polhode.multibody.describe.views import View
from polhode.multibody.rows.invariants import angular_momentum, energy, linear_momentum, residuals
from polhode.multibody.start.consistent import consistent_start
from polhode.multibody.start.correction import Correction
from polhode.multibody.step import registry as _registry  # noqa: F401 (registers its methods)
from polhode.multibody.step.base import MultibodyMethod
from polhode.multibody.step.mm_dae import MMDAE
from polhode.multibody.step.three_field import ThreeField
from polhode.multibody.step.three_field_literal import ThreeFieldLiteral
from polhode.multibody.step.three_field_sparse import ThreeFieldSparse
from polhode.multibody.system import System
from polhode.solve import Chord, DenseNewton, Ladder, LeastNorm

__all__ = [
    "GROUND",
    "MMDAE",
    "Applied",
    "Ball",
    "Body",
    "Chord",
    "Composed",
    "Constraint",
    "Correction",
    "Cylindrical",
    "Damper",
    "DenseNewton",
    "Distance",
    "Fixed",
    "Force",
    "Gravity",
    "Halving",
    "Holonomic",
    "KnifeEdge",
    "Ladder",
    "LeastNorm",
    "MultibodyMethod",
    "Nonholonomic",
    "Planar",
    "Potential",
    "Prismatic",
    "Revolute",
    "RollingDisk",
    "RollingSphere",
    "SphereOnCylinder",
    "Spring",
    "State",
    "Static",
    "Step",
    "System",
    "ThreeField",
    "ThreeFieldLiteral",
    "ThreeFieldSparse",
    "Torque",
    "Universal",
    "View",
    "angular_momentum",
    "consistent_start",
    "energy",
    "linear_momentum",
    "residuals",
    "shapes",
    "tree",
]
