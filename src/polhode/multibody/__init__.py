"""Rigid bodies that move together: joints, rolling, forces, and steps that keep them true."""
from polhode.multibody import shapes
from polhode.multibody.bodies import GROUND, Body
from polhode.multibody.constraints import Constraint, Holonomic, Nonholonomic
from polhode.multibody.forces import Applied, Damper, Force, Gravity, Potential, Spring, Torque
from polhode.multibody.joints import Ball, Cylindrical, Distance, Fixed, Planar, Prismatic, Revolute, Universal
from polhode.multibody.rolling import KnifeEdge, RollingDisk, RollingSphere, SphereOnCylinder
from polhode.multibody.state import State
from polhode.multibody.system import System
from polhode.multibody.view import View
from polhode.multibody.invariants import angular_momentum, energy, linear_momentum, residuals
from polhode.multibody.start import Correction, consistent_start
from polhode.multibody.three_field import ThreeField
from polhode.multibody.composed import Composed
from polhode.multibody.halving import Halving
from polhode.multibody.literal import ThreeFieldLiteral
from polhode.multibody.mm_dae import MMDAE
