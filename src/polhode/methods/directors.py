"""Gebhardt & Romero (2020): energy-momentum (EM) and discrete Lagrange-d'Alembert (DLA) in directors.

The unknowns of the paper are three directors, the columns of R, with six multipliers λ for
their orthonormality and one, μ, for the non-twisting row. Here they are reduced to the three
of c in R₁ = R₀ cay[2c]. With skew(c) written ĉ, the plain averages of the directors are
½(R₀ + R₁) = R_m = R₀ (1 - ĉ)⁻¹, and R₁ - R₀ = 2 R_m ĉ. Orthonormality holds by construction,
its force R_m S, S symmetric, leaves the equation with all symmetric parts of R_m⁻¹(...), and
the non-twisting row G(q_m)(q₁ - q₀) = 0 becomes c · n = 0. `axial(A)` below is the vector of
A - Aᵀ. The full systems are in `directors_full`; both give the same motion to round-off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import jax

from polhode.algebra import Mat3, Quaternion, Scalar, Vec3, cayley
from polhode.algebra.library import library_of
from polhode.methods.base import Implicit, Step, Traits
from polhode.rotation import Free, Rotation, State
from polhode.rotation.loads import torque_of

PAPER = "Gebhardt, Romero, J. Nonlinear Sci. 30 (2020) 3199-3233"


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class DirectorState(State):
    """With the velocities of the directors, which EM does not keep tangent to the rotations."""

    rates: Mat3  # Rᵀ(ḋ1 ḋ2 ḋ3); skew(Ω) if tangent

    def kinetic(self, system: Rotation) -> Scalar:
        """½ ḋ_i J^{ij} ḋ_j, all of it: what the method conserves."""
        W, E = self.rates, euler_inertia(system)
        return 0.5 * (E.x * W.column(0).norm2() + E.y * W.column(1).norm2() + E.z * W.column(2).norm2())


def axial(A: Mat3) -> Vec3:
    """The vector of the skew matrix A - Aᵀ."""
    return Vec3(A.m32 - A.m23, A.m13 - A.m31, A.m21 - A.m12)


def euler_inertia(system: Rotation) -> Vec3:
    """J^{11}, J^{22}, J^{33} of (66): ∫ρ θ_i², half of what the two other moments are more than this one.

    Large moments are taken from each other first: then two of these make a moment to its last digits, that of a rod
    about itself too.
    """
    I, library = system.moments, library_of(*system.moments)

    def less(own: Scalar, a: Scalar, b: Scalar) -> Scalar:
        return 0.5 * ((library.maximum(a, b) - own) + library.minimum(a, b))

    return Vec3(less(I.x, I.y, I.z), less(I.y, I.z, I.x), less(I.z, I.x, I.y))


def columns_scaled(A: Mat3, s: Vec3) -> Mat3:
    return Mat3.from_columns(*(A.column(j) * s[j] for j in range(3)))


def without_twist(system: Rotation, v: Vec3, along: Scalar = 0.0) -> Vec3:
    """v with its component on the twist axis replaced; v itself for the standard body."""
    n = system.twist_axis
    return v if n is None else v + n * (along - n.dot(v))


@dataclass(frozen=True)
class _Moved:
    """The attitudes that a step of c passes: start, plain average of the directors, end."""

    q0: Quaternion
    c: Vec3

    @property
    def spread(self) -> Scalar:
        return 1.0 + self.c.norm2()

    @property
    def share(self) -> Scalar:
        """One over it."""
        return 1.0 / self.spread

    @property
    def turn(self) -> Quaternion:
        return cayley(2.0 * self.c)

    @property
    def start(self) -> Mat3:
        return self.q0.matrix()

    @property
    def average(self) -> Mat3:
        """R₀ (1 - ĉ)⁻¹, (1 - ĉ)⁻¹ = (1 + ĉ + c cᵀ)/(1 + c·c)."""
        c = self.c
        return self.start @ ((Mat3.identity() + c.skew() + c.outer(c)) * self.share)

    @property
    def end(self) -> Mat3:
        return (self.q0 * self.turn).matrix()


@dataclass(frozen=True)
class EM(Implicit):
    """Energy-momentum method in directors: kinetic energy exact, with all or the first two momenta.

    Gebhardt & Romero (86)-(94): (2/h²) M(q₁ - q₀ - h v₀) - Q + H(q_m)ᵀλ + G(q_m)ᵀμ = 0,
    v₁ = 2(q₁ - q₀)/h - v₀, reduced to

        [(2/h) J + tr(B) - B] c = Π₀ + (h/2) L(c),   B = W₀E, Π₀ = axial(B),

    which is linear without a load. Loads act at the plain average of the directors: moments as
    in the paper, potentials by the discrete gradient of Gonzalez, so that the energy is exact
    under any potential. On the standard body the spatial momentum is exact; on the non-twisting
    body Π1 and Π2 are, if w∥ = 0 at the start (Theorem 9; otherwise they oscillate by O(w∥ h²)).
    """

    name = "em"
    paper = PAPER
    traits = Traits(order=2, energy="exact", spatial_momentum="exact", top_energy="exact", non_twisting=True)

    def begin(self, system: Rotation, state: State) -> DirectorState:
        if isinstance(state, DirectorState):
            return state
        return DirectorState(state.attitude, state.momentum, system.omega(state.momentum).skew())

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        now = self.begin(system, state)
        E, J = euler_inertia(system), system.moments
        B = columns_scaled(now.rates, E)
        Pi0 = axial(B)
        A = Mat3.identity() * B.trace() - B
        A = replace(A, m11=A.m11 + 2.0 / h * J.x, m22=A.m22 + 2.0 / h * J.y, m33=A.m33 + 2.0 / h * J.z)
        n = system.twist_axis
        if n is not None:  # the equation along n gives way to c · n = 0
            A = A + n.outer(n * (2.0 / h * J.norm()) - A.T @ n)
        unit = _largest(A)  # of entries that are large or small the determinant is no number
        inverse = (A * (1.0 / unit)).inverse() * (1.0 / unit)

        def turned(force: Vec3) -> Vec3:
            """The c of a force. Corrected by what is left, taken as a difference of velocities:
            the rounding of J, and of Π₀ and Jc apart, would add up over 10⁵ steps."""
            c = without_twist(system, inverse @ without_twist(system, Pi0 + h / 2 * force))
            left = axial(columns_scaled(now.rates - (2.0 / h * c).skew(), E)) + (B @ c - c * B.trace()) + h / 2 * force
            return c + without_twist(system, inverse @ without_twist(system, left))

        c = turned(Vec3(0.0, 0.0, 0.0))
        if isinstance(system.load, Free):
            return Step(self._end(system, now, c, h))
        c, report = self.solve_rotation(lambda c: c - turned(self._load(system, now, c, t, h)), c)
        return Step(self._end(system, now, c, h), report)

    def _load(self, system: Rotation, now: DirectorState, c: Vec3, t: Scalar, h: Scalar) -> Vec3:
        """L = axial(R_m⁻¹ Q)."""
        move, load, middle = _Moved(now.attitude, c), system.load, t + h / 2
        R = move.average
        m = load.moment(middle, R, 2.0 / h * c)
        # Q = ½ skew(R_m m) R_m, so R_m⁻¹Q = ½ (1 - ĉ²) skew(m)/(1 + c·c).
        from_moment = (m * (2.0 + c.norm2()) + c * c.dot(m)) * (0.5 * move.share)
        T = torque_of(lambda R: load.energy(middle, R), R, move.start @ (Mat3.identity() + c.skew()))
        change = load.energy(middle, move.end) - load.energy(middle, move.start)
        missing = 0.5 * move.spread * change + c.dot(T)  # of the work, third order in c
        return from_moment + T - c * (missing / (c.norm2() + _TINY))

    def _end(self, system: Rotation, now: DirectorState, c: Vec3, h: Scalar) -> DirectorState:
        move = _Moved(now.attitude, c)
        turn = move.turn
        moved = (c.skew() + c.skew() @ c.skew()) * (2.0 * move.share)  # cay[2c] - 1
        X = moved * (2.0 / h) - now.rates
        W1 = X + moved.T @ X
        return DirectorState(now.attitude * turn, axial(columns_scaled(W1, euler_inertia(system))), W1)


def _largest(A: Mat3) -> Scalar:
    """The sum of the sizes of its entries: at least the largest."""
    return sum((abs(x) for x in A.entries[1:]), abs(A.entries[0]))


_TINY = 1e-60  # its square is a number still, which derivatives at rest need


@dataclass(frozen=True)
class DLA(Implicit):
    """Discrete Lagrange-d'Alembert method of Cortés & Martínez, in directors.

    Gebhardt & Romero (124)-(129), arguments as in the errata: M(q_{i+1} - 2q_i + q_{i-1})/h
    + h H(q_i)ᵀλ + h G(q_i)ᵀμ = (h/2)(Q_{i-½} + Q_{i+½}), reduced to

        (2/h)(Jc + c × Jc)/(1 + c·c) = Π₀ + (h/2) L⁻(c)   (across n; c · n = 0),

    with the mirror image for Π₁. On the standard body without a load it is the discrete
    Moser-Veselov method; with a potential, a variational integrator. On the non-twisting body
    Π1, Π2 and with them the Hamiltonian (129) are exact without a load.
    """

    name = "dla"
    paper = PAPER
    traits = Traits(order=2, energy="exact", spatial_momentum="exact", poisson=True, symplectic=True, non_twisting=True)

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        q0, Pi0, J = state.attitude, state.momentum, system.moments

        def kicked(c: Vec3) -> Vec3:
            return Pi0 + h / 2 * self._load(system, _Moved(q0, c), c, t, h)[0]

        def residual(c: Vec3) -> Vec3:
            g = system.omega(kicked(c) * (h / 2 * (1.0 + c.norm2())) - c.cross(J.scale(c)))
            return c - without_twist(system, g)

        c, report = self.solve_rotation(residual, without_twist(system, h / 2 * system.omega(Pi0)))
        move = _Moved(q0, c)
        turn = move.turn
        before, after = self._load(system, move, c, t, h)
        Y = Pi0 + h / 2 * before
        if (n := system.twist_axis) is not None:  # the reaction μ is what is missing along n
            Y = without_twist(system, Y, n.dot(J.scale(c) + c.cross(J.scale(c))) * (2.0 / (h * move.spread)))
        Pi1 = without_twist(system, turn.unrotate(Y) + h / 2 * after)
        return Step(State(q0 * turn, Pi1), report)

    def _load(self, system: Rotation, move: _Moved, c: Vec3, t: Scalar, h: Scalar) -> tuple[Vec3, Vec3]:
        """L⁻ = axial(R₀ᵀQ) and L⁺ = axial(R₁ᵀQ)."""
        if isinstance(system.load, Free):
            none = Vec3(0.0, 0.0, 0.0)
            return none, none
        load, middle, R = system.load, t + h / 2, move.average
        m = load.moment(middle, R, 2.0 / h * c)
        arm, twist = m * move.share, c.cross(m) * (0.5 * move.share)
        before = torque_of(lambda R: load.energy(middle, R), R, move.start)
        after = torque_of(lambda R: load.energy(middle, R), R, move.end)
        return arm + twist + before, arm - twist + after
