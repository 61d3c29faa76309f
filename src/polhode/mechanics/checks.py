"""Checks of what users give. Messages say what was given, what is allowed, what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

import numpy as np

from polhode._programs import has_64_bits


class InputError(ValueError):
    """Something the user gave cannot be used."""


def numbers(name: str, values: Any, shape_end: tuple[int, ...] = ()) -> np.ndarray:
    """`values` as finite floats whose last axes have the given shape."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers; got {values!r}") from error
    if array.shape[array.ndim - len(shape_end) :] != shape_end:
        wanted = " x ".join(str(n) for n in shape_end)
        raise InputError(f"{name} must be {wanted} numbers; got an array of shape {array.shape}: {values!r}")
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite; got {values!r}")
    return array


def positive(name: str, value: Any) -> float:
    number = numbers(name, value)
    if number.shape != () or not number > 0:
        raise InputError(f"{name} must be one positive number; got {value!r}")
    return float(number)


def whole(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}; got {value!r}")
    return int(value)


def double_precision() -> None:
    """An InputError where JAX's 64-bit mode is off, whoever switched it off: results would be float32 in silence."""
    if not has_64_bits():
        raise InputError(
            "JAX's 64-bit mode, which importing polhode turns on, is off here: another library, or this program, has "
            'switched it off. Turn it on again with jax.config.update("jax_enable_x64", True), or leave the '
            "`jax.enable_x64(False)` block"
        )


def nearest(word: str, known: Iterable[str]) -> str:
    """The end of a sentence: '; did you mean X?' if something known is like `word`, else a full stop."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else "."


def unknown(kind: str, word: str, known: Iterable[str]) -> InputError:
    names = sorted(set(known))
    return InputError(f"unknown {kind} {word!r}{nearest(word, names)} Known: {', '.join(names)}")


def rotation_matrix(name: str, values: Any) -> np.ndarray:
    """A rotation matrix, made orthonormal to round-off if it is one to 1e-8."""
    matrix = numbers(name, values, (3, 3))
    defect = np.abs(np.swapaxes(matrix, -1, -2) @ matrix - np.eye(3)).max()
    if defect > 1e-8:
        raise InputError(
            f"{name} is not a rotation: RᵀR differs from the identity by {defect:.2g} (at most 1e-8 is allowed); "
            "orthonormalise it, or give a quaternion, which is normalised for you"
        )
    if (np.linalg.det(matrix) < 0).any():
        raise InputError(f"{name} is a reflection (determinant -1), not a rotation; swap or negate one axis")
    return matrix


def unit_quaternion(name: str, values: Any) -> np.ndarray:
    q = numbers(name, values, (4,))
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    if (length < 1e-150).any():
        raise InputError(f"{name} has length zero and so names no rotation; no rotation is (1, 0, 0, 0)")
    return q / length
