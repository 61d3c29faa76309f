"""`View`: a moment of the motion as functions see it, by the names of bodies.

Users' functions ask for arrays. Built-in constraints ask for a `Frame`, whose numbers are
components: what is differentiated twice in every step then holds no small array at all.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode._programs import Program, Traced, fingerprint, has_64_bits, settings, traced
from polhode.algebra import Mat3, Vec3
from polhode.model.checks import InputError, unknown
from polhode.model.functions import as_float, failures_named, is_traced
from polhode.multibody.describe.bodies import GROUND

_MANY = 256
_uses: dict[Hashable, tuple[tuple[str, ...], Any]] = {}  # of functions that were looked at, see `bodies_used`


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Frame:
    """One body: position and rotation (body to space), velocity in space axes, Ω in body axes."""

    r: Vec3
    R: Mat3
    v: Vec3
    Omega: Vec3

    def direction(self, s: Any) -> Vec3:
        """R s."""
        return self.R @ vec(s)

    def point(self, s: Any) -> Vec3:
        """r + R s."""
        return self.r + self.R @ vec(s)

    def spin(self) -> Vec3:
        """ω = RΩ, space axes."""
        return self.R @ self.Omega

    def point_velocity(self, s: Any) -> Vec3:
        """v + R(Ω × s), space axes."""
        return self.v + self.R @ self.Omega.cross(vec(s))


def vec(s: Any) -> Vec3:
    return s if isinstance(s, Vec3) else Vec3(s[0], s[1], s[2])


def frame_of(r: Any, R: Any, u: Any) -> Frame:
    """From arrays (3,), (3, 3), (6,)."""
    return Frame(vec(r), Mat3(*(R[i, j] for i in range(3) for j in range(3))), vec(u), vec(u[3:]))


_NUMBER = jax.ShapeDtypeStruct((), float)
_THREE = Vec3(_NUMBER, _NUMBER, _NUMBER)
FRAME = Frame(_THREE, Mat3(*[_NUMBER] * 9), _THREE, _THREE)  # to trace with
_O = Vec3(0.0, 0.0, 0.0)
_GROUND = Frame(_O, Mat3.identity(), _O, _O)


class View:
    """Positions, rotations and velocities of bodies at time `t` (s). Bodies are named, or
    numbered in the order in which the system lists them; "ground" is at rest at the origin.

    `numbered`: `names` are all bodies of the system. A view of some of them does not answer to numbers."""

    def __init__(self, names: Sequence[str], frames: Callable[[int], Frame], t: Any, *, numbered: bool = False) -> None:
        self.t = t
        self.numbered = numbered
        self._names = tuple(names)
        self._frames = frames
        self._seen: dict[str, Frame] = {}

    @property
    def used(self) -> tuple[str, ...]:
        """The bodies that were asked for."""
        return tuple(name for name in self._names if name in self._seen)

    def among(self, names: Sequence[str]) -> View:
        """The same, with numbers that count these bodies: all those of the system."""
        return View(names, lambda i: self.frame(names[i]), self.t, numbered=True) if names else self

    def frame(self, body: str | int) -> Frame:
        """All of one body, in components."""
        if isinstance(body, int):
            if not self.numbered:
                raise InputError(
                    f"body number {body} was asked for where only some bodies of the system are at hand; ask for it by "
                    f"its name: {', '.join(self._names)}"
                )
            if not -len(self._names) <= body < len(self._names):
                raise InputError(f"there is no body number {body}; the system has {len(self._names)}")
            body = self._names[body]
        if body == GROUND:
            return _GROUND
        if body not in self._seen:
            if body not in self._names:
                raise unknown("body", body, [*self._names, GROUND])
            self._seen[body] = self._frames(self._names.index(body))
        return self._seen[body]

    def position(self, body: str | int) -> Any:
        """Of the centre of mass, space axes (m)."""
        return _array(self.frame(body).r)

    def rotation(self, body: str | int) -> Any:
        """R, body to space, 3x3."""
        return jnp.stack([jnp.asarray(x, dtype=float) for x in self.frame(body).R.entries]).reshape(3, 3)

    def velocity(self, body: str | int) -> Any:
        """Of the centre of mass, space axes (m/s)."""
        return _array(self.frame(body).v)

    def omega(self, body: str | int) -> Any:
        """Ω, angular velocity in body axes (rad/s)."""
        return _array(self.frame(body).Omega)

    def spin(self, body: str | int) -> Any:
        """ω = RΩ, angular velocity in space axes (rad/s)."""
        return _array(self.frame(body).spin())

    def direction(self, body: str | int, s: Any) -> Any:
        """R s: a direction of the body, in space axes."""
        return _array(self.frame(body).direction(s))

    def point(self, body: str | int, s: Any) -> Any:
        """r + R s (m, space axes): a point of the body, s (m) in body axes, from the centre of mass."""
        return _array(self.frame(body).point(s))

    def point_velocity(self, body: str | int, s: Any) -> Any:
        """v + R(Ω × s) (m/s, space axes), of that point."""
        return _array(self.frame(body).point_velocity(s))


def _array(v: Vec3) -> Any:
    return jnp.stack([jnp.asarray(x, dtype=float) for x in v])


class OfView(Traced):
    """A function of a view, of the bodies in `uses`, and of parameters by name."""

    uses: tuple[str, ...]

    def __init__(self, program: Program, captured: tuple[Any, ...], uses: tuple[str, ...]) -> None:
        super().__init__(program, captured)
        object.__setattr__(self, "uses", uses)

    @property
    def how(self) -> tuple[str, ...]:
        return self.uses

    @classmethod
    def made(cls, program: Program, captured: tuple[Any, ...], how: Any) -> OfView:
        return cls(program, captured, how)

    @staticmethod
    def of(
        what: str, fn: Callable[..., Any], names: Sequence[str], parameters: Mapping[str, Any], shape: tuple[int, ...]
    ) -> OfView:
        """The function of `what` as it is now, among bodies of these names; `shape` is that of its result when the
        system was made."""
        if isinstance(fn, OfView):
            return fn
        numbers = jax.tree.map(as_float, dict(parameters))
        known = _marked(fn, names, numbers)
        uses, found = _used(known, fn, names, numbers, what)
        if found != shape:
            raise InputError(
                f"the function of {what} returned an array of shape {shape} when the system was made, and now one of "
                f"shape {found}; make the system again"
            )

        def call(frames: list[Frame], t: Any, parameters: dict[str, Any]) -> Any:
            seen = View(names, lambda i: frames[uses.index(names[i])], t, numbered=True)
            return jnp.asarray(fn(seen, **parameters), dtype=float)

        of = None if known is None else (fn, tuple(names), uses)
        return OfView(*traced(call, [FRAME] * len(uses), _NUMBER, numbers, of=of), uses)

    def __call__(self, view: View, **parameters: Any) -> Any:
        return self.evaluate([view.frame(body) for body in self.uses], view.t, parameters)


def _marked(fn: Callable[..., Any], names: Sequence[str], numbers: Any) -> Hashable | None:
    """What tells a function, as it is now, from others; None where that cannot be told."""
    mark = None if is_traced(numbers) else fingerprint(fn)
    if mark is None:
        return None
    leaves, tree = jax.tree.flatten(numbers)
    return mark, tuple(names), tree, tuple(np.shape(x) for x in leaves), settings(), has_64_bits()


def _used(
    known: Hashable | None, fn: Callable[..., Any], names: Sequence[str], numbers: Any, what: str
) -> tuple[tuple[str, ...], Any]:
    """As `bodies_used`; of a function that is known, what was seen before."""
    seen = None if known is None else _uses.get(known)
    found = seen or bodies_used(lambda view: fn(view, **numbers), names, what)
    if known is not None and seen is None:
        if len(_uses) >= _MANY:  # other threads may be at it, too
            _uses.clear()
        _uses[known] = found
    return found


def shape_of(fn: Callable[[View], Any], names: Sequence[str], what: str) -> Any:
    """Of what the function of `what` returns, among bodies of these names."""
    return _used(_marked(fn, names, {}), fn, names, {}, what)[1]


def bodies_used(fn: Callable[[View], Any], names: Sequence[str], what: str) -> tuple[tuple[str, ...], Any]:
    """The bodies that the function of `what` asks for, and the shape of what it returns, from one abstract call."""
    used: tuple[str, ...] = ()

    def call(r: Any, R: Any, u: Any, t: Any) -> Any:
        nonlocal used
        view = View(names, lambda i: frame_of(r, R, u), t, numbered=True)
        value = fn(view)
        used = view.used
        return jnp.asarray(value, dtype=float)

    shapes = [jax.ShapeDtypeStruct(shape, float) for shape in ((3,), (3, 3), (6,), ())]
    with failures_named(what, "given a view, which answers with arrays that JAX traces"):
        out = jax.eval_shape(call, *shapes)
    return used, out.shape
