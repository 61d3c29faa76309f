"""Rigid bodies that move together: joints, rolling, forces, and steps that keep them true."""

from polhode.mechanics import drawing as shapes
from polhode.multibody.bodies import GROUND, Body
from polhode.multibody.catalogue import multibody_method_of, multibody_methods
from polhode.multibody.chord import Chord
from polhode.multibody.composed import Composed
from polhode.multibody.constraints import Constraint, Holonomic, Nonholonomic
from polhode.multibody.forces import Applied, Damper, Force, Gravity, Potential, Spring, Torque
from polhode.multibody.halving import Halving
from polhode.multibody.invariants import angular_momentum, energy, linear_momentum, residuals
from polhode.multibody.joints import Ball, Cylindrical, Distance, Fixed, Planar, Prismatic, Revolute, Universal
from polhode.multibody.ladder import Ladder
from polhode.multibody.least_norm import LeastNorm
from polhode.multibody.literal import ThreeFieldLiteral
from polhode.multibody.mm_dae import MMDAE
from polhode.multibody.newton import DenseNewton
from polhode.multibody.rolling import KnifeEdge, RollingDisk, RollingSphere, SphereOnCylinder
from polhode.multibody.sparse import ThreeFieldSparse
from polhode.multibody.start import Correction, consistent_start
from polhode.multibody.state import State
from polhode.multibody.step import Method as MultibodyMethod
from polhode.multibody.step import Step
from polhode.multibody.system import System
from polhode.multibody.three_field import ThreeField
from polhode.multibody.view import View

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
    "multibody_method_of",
    "multibody_methods",
    "residuals",
    "shapes",
]
