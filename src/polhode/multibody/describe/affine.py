"""Whether a function of a view depends on velocities, and if so in a way that a row of a constraint can.

Most functions show it by how they are written: what becomes of velocities is followed through the program. Where this
cannot tell, values and slopes are compared at velocities from slow to fast, in many places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core

from polhode.model.checks import InputError
from polhode.model.functions import as_float
from polhode.multibody.describe.views import FRAME, Frame, OfView, View, frame_of

FREE, AFFINE, ANY = 0, 1, 2  # of velocities: not a function of them; a(q, t)·ϑ + b(q, t); any

_SUMS = {"add", "sub", "add_any", "neg", "concatenate", "pad", "reduce_sum", "cumsum", "reshape", "broadcast_in_dim"}
_SUMS |= {"squeeze", "expand_dims", "transpose", "slice", "rev", "copy", "copy_p", "split", "reduce_precision"}
_PRODUCTS = {"mul", "dot_general"}
_CHOSEN = {"select_n": 1, "gather": 1, "dynamic_slice": 1, "div": 1}  # so many operands may be of velocities
_INSIDE = ("jit", "pjit", "closed_call", "core_call", "remat2", "checkpoint", "remat")

_SPEEDS = (1e-3, 1.0, 1e3, 1e6)  # m/s, rad/s
_PLACES = 6
_ROUND_OFF = 1e-9


def degrees(jaxpr: Any, given: Sequence[int]) -> list[int]:
    """FREE, AFFINE or ANY of each result, from those of the arguments; ANY also where it cannot be told."""
    known: dict[Any, int] = dict(zip(jaxpr.invars, given, strict=True))

    def of(x: Any) -> int:
        return FREE if isinstance(x, core.Literal) else known.get(x, FREE)

    for eqn in jaxpr.eqns:
        found = _degrees(eqn, [of(x) for x in eqn.invars])
        known.update(zip(eqn.outvars, found, strict=True))
    return [of(x) for x in jaxpr.outvars]


def _degrees(eqn: Any, given: list[int]) -> list[int]:
    name, most = eqn.primitive.name, max(given, default=FREE)
    if most == FREE:
        return [FREE] * len(eqn.outvars)
    if name in _INSIDE:
        inner = eqn.params["jaxpr"]
        return degrees(getattr(inner, "jaxpr", inner), given)
    if name in _SUMS:
        found = most
    elif name in _PRODUCTS:
        found = min(sum(given), ANY)
    elif name == "select_n":
        found = most if given[0] == FREE else ANY
    elif name in _CHOSEN:
        found = most if max(given[_CHOSEN[name] :], default=FREE) == FREE else ANY
    elif name == "convert_element_type" and np.issubdtype(eqn.params["new_dtype"], np.floating):
        found = most
    else:
        found = ANY
    return [found] * len(eqn.outvars)


def check(what: str, fn: Callable[[list[Frame], Any], Any], bodies: int, most: int, jaxpr: Any = None) -> None:
    """Refuse the function of `what`, of the frames of so many bodies and the time, unless it depends on velocities
    as `most` allows; `jaxpr` is its program, whose first arguments are these."""
    frames = [FRAME] * bodies
    jaxpr = jax.make_jaxpr(fn)(frames, FRAME.r.x).jaxpr if jaxpr is None else jaxpr
    moving = np.concatenate([[FREE] * 12 + [AFFINE] * 6] * bodies).astype(int).tolist()
    given = moving + [FREE] * (len(jaxpr.invars) - len(moving))
    if max(degrees(jaxpr, given), default=FREE) <= most:
        return
    wrong = _measured(fn, bodies, most)
    if wrong is not None:
        raise InputError(_refusal(what, most, wrong))


def _refusal(what: str, most: int, wrong: str) -> str:
    if most == FREE:
        remedy = (
            "a force of velocities is a Force or a Torque"
            if "Potential" in what
            else "a condition on velocities, linear or affine in them, is a Nonholonomic, or `psi` of a class"
        )
        return (
            f"{what} must be a function of positions, rotations and time alone, and depends on velocities: {wrong}; "
            f"{remedy}"
        )
    return (
        f"{what} must be linear or affine in the velocities, and is not: {wrong}. Write it as rows a·v + b = 0 whose "
        "a and b depend on positions and time alone; what cannot be written so is not supported"
    )


def _measured(fn: Callable[[list[Frame], Any], Any], bodies: int, most: int) -> str | None:
    """The worst that is wrong, in words; None if nothing is, or if its numbers are not known yet."""
    random = np.random.default_rng(0)
    found: list[tuple[float, str]] = []

    @jax.jit  # by itself each operation of the function would be a program of its own
    def measured(r: Any, R: Any, t: Any, first: Any, last: Any) -> Any:
        def at(u: Any) -> Any:
            frames = [frame_of(r[i], R[i], u[i]) for i in range(bodies)]
            return jnp.atleast_1d(jnp.asarray(fn(frames, t), dtype=float))

        return *jax.jvp(at, (jnp.zeros((bodies, 6)),), (last - first,)), at(first), at(last)

    for place in range(_PLACES):
        r = random.normal(size=(bodies, 3)) * 10.0 ** (place % 3 - 1)
        R = np.linalg.qr(random.normal(size=(bodies, 3, 3)))[0]
        R = R * np.linalg.det(R)[:, None, None]
        t = random.uniform(0, 3)
        for speed in _SPEEDS:
            values = measured(r, R, t, *(speed * random.normal(size=(bodies, 6)) for _ in range(2)))
            if any(isinstance(x, jax.core.Tracer) for x in values):
                return None
            rest, slope, first, last = (np.asarray(x) for x in values)
            if not all(np.isfinite(x).all() for x in (rest, first, last)):
                continue
            if most == FREE:
                said, pair, size = "is %.6g at rest and %.6g in motion", (rest, last), np.abs(rest) + np.abs(last)
            else:
                said, pair = "changes by %.6g where its slope at rest says %.6g", (last - first, slope)
                size = np.abs(first) + np.abs(last) + np.abs(slope)
            wrong = np.abs(pair[1] - pair[0]) / np.where(size > 0, size, 1.0)
            i = int(np.argmax(np.where(np.isnan(wrong), np.inf, wrong)))
            words = f"with velocities of {speed:g} m/s and rad/s it {said % (pair[0][i], pair[1][i])}"
            found.append((float(wrong[i]), words))
    if not found:
        return "what it does with them could not be followed, nor measured where bodies were put to try it"
    worst, words = max(found, key=lambda x: np.inf if np.isnan(x[0]) else x[0])
    return None if worst <= _ROUND_OFF else words


def check_function(what: str, fn: OfView, parameters: Mapping[str, Any], most: int) -> None:
    """The same for a user's function that was traced."""
    numbers = jax.tree.map(as_float, dict(parameters))
    check(what, lambda frames, t: fn.evaluate(frames, t, numbers), len(fn.uses), most, fn.program.jaxpr)


def check_class(constraint: Any) -> None:
    """The same for the rows of a constraint class of the user's own."""
    kind = f"{type(constraint).__name__} {constraint.name!r}"
    for rows, count, most in (("phi", constraint.holonomic, FREE), ("psi", constraint.nonholonomic, AFFINE)):
        if count:

            def fn(frames: list[Frame], t: Any, rows: str = rows, count: int = count) -> Any:
                values = getattr(constraint, rows)(View(constraint.bodies, frames.__getitem__, t))
                return jnp.stack([jnp.asarray(values[i], dtype=float) for i in range(count)])

            check(f"`{rows}` of {kind}", fn, len(constraint.bodies), most)
