"""Checks of what users give. Messages say what was given, what is allowed, what to do."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from polhode._programs import has_64_bits
from polhode.algebra.library import library_of
from polhode.algebra.reals import reals


class InputError(ValueError):
    """Something the user gave cannot be used."""


# A decimal number in ASCII. `float` alone takes digits of any script, underscores and spaces too.
DECIMAL = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
SMALLEST = float(np.finfo(float).tiny)  # below it, numbers lose digits, then become 0
LARGEST = float(np.finfo(float).max)
LARGEST_COUNT = 2**62
_SHOWN = 100  # numbers; of more, one that is wrong


def shown(value: Any) -> str:
    """What was given, for a message: at most some 200 characters of it, whatever it is."""
    try:
        text = re.sub(r"\s*\n\s*", " ", repr(value))
    except Exception:  # whole numbers of 5000 digits, what is nested too deep, a class of the user's
        return f"a {type(value).__name__} that cannot be shown"
    return shortened(text)


def shortened(said: object) -> str:
    """At most some 200 characters of a text, or of what a library says of input that may hold anything."""
    text = str(said)
    return text if len(text) <= 200 else f"{text[:150]} ... {text[-40:]}"


def shape_of(needed: str, values: Any) -> tuple[int, ...]:
    """The shape of what is numbers; `needed` begins the sentence for what is not."""
    try:
        return reals(values).shape
    except (TypeError, ValueError) as error:
        raise InputError(f"{needed}; got {shown(values)}: {_first_line(error)}") from error


def numbers(name: str, values: Any, shape_end: tuple[int, ...] = ()) -> np.ndarray:
    """`values` as finite floats whose last axes have the given shape."""
    try:
        array = reals(values)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers; got {shown(values)}: {_first_line(error)}") from error
    if array.shape[array.ndim - len(shape_end) :] != shape_end:
        wanted = " x ".join(str(n) for n in shape_end)
        raise InputError(f"{name} must be {wanted} numbers; got an array of shape {array.shape}: {shown(values)}")
    if not library_of(array).isfinite(array).all():
        bad = np.argwhere(~np.isfinite(array))[0].tolist() if array.size > _SHOWN else None
        raise InputError(
            f"{name} must be finite; got {shown(values if bad is None else float(array[tuple(bad)]))}"
            f"{'' if bad is None else f' at {bad}'}"
        )
    return array


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]


def positive(name: str, value: Any) -> float:
    if type(value) in (float, int) and SMALLEST <= value <= LARGEST:  # most are
        return float(value)
    number = numbers(name, value)
    if number.shape != () or not number > 0:
        raise InputError(f"{name} must be one positive number; got {shown(value)}")
    if number < SMALLEST:
        raise InputError(f"{name} must be at least {SMALLEST:.2g}, below which numbers lose digits; got {shown(value)}")
    return float(number)


def whole(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}; got {shown(value)}")
    if value > LARGEST_COUNT:
        raise InputError(f"{name} must be a whole number of at most 2**62; got {shown(value)}")
    return int(value)


def double_precision() -> None:
    """An InputError where JAX's 64-bit mode is off, whoever switched it off: results would be float32 in silence."""
    if not has_64_bits():
        raise InputError(
            "JAX's 64-bit mode, which importing polhode turns on, is off here: another library, or this program, has "
            'switched it off. Turn it on again with jax.config.update("jax_enable_x64", True), or leave the '
            "`jax.enable_x64(False)` block"
        )


def decimal(text: str) -> float:
    """The number that `text` writes, infinite if too large; refused where 64 bits would make it 0 or a few digits."""
    value = float(text)
    mantissa = text.lower().split("e")[0]
    if (value == 0 and any(digit in mantissa for digit in "123456789")) or 0 < abs(value) < SMALLEST:
        raise InputError(f"{shown(text)} is too small: numbers below {SMALLEST:.2g} lose digits or become 0")
    return value


def number(name: str, text: str) -> float:
    """One number written in ASCII, as on the command line."""
    if not re.fullmatch(rf"[+-]?(?:{DECIMAL}|inf|nan)", text.strip(), re.IGNORECASE):
        raise InputError(f"{name} must be a number, as in 0.01 or 1e-3; got {shown(text)}")
    return float(numbers(name, decimal(text.strip())))


def closest(word: str, known: Iterable[str]) -> str | None:
    """What known is most like `word`, if anything is."""
    return next(iter(difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)), None)


def nearest(word: str, known: Iterable[str]) -> str:
    """The end of a sentence: '; did you mean X?' if something known is like `word`, else a full stop."""
    close = closest(word, known)
    return f"; did you mean {close!r}?" if close else "."


def unknown(kind: str, word: str, known: Iterable[str]) -> InputError:
    names = sorted(set(known))
    near = nearest(word, names) if isinstance(word, str) else "."
    return InputError(f"unknown {kind} {shown(word)}{near} Known: {', '.join(names)}")


def ending(path: str | Path) -> str:
    """Of a file's name, by which its format is known: `.png` of `top.PNG`."""
    return Path(path).suffix.lower()


def rotation_matrix(name: str, values: Any) -> np.ndarray:
    """A rotation matrix, made orthonormal to round-off if it is one to 1e-8."""
    matrix = np.asarray(numbers(name, values, (3, 3)))
    with np.errstate(over="ignore", invalid="ignore"):
        defect = np.abs(np.swapaxes(matrix, -1, -2) @ matrix - np.eye(3)).max(initial=0.0)
    if not defect <= 1e-8:  # nor if it overflowed
        raise InputError(
            f"{name} is not a rotation: RᵀR differs from the identity by {defect:.2g} (at most 1e-8 is allowed); "
            "orthonormalise it, or give a quaternion, which is normalised for you"
        )
    if (np.linalg.det(matrix) < 0).any():
        raise InputError(f"{name} is a reflection (determinant -1), not a rotation; swap or negate one axis")
    return matrix


def unit_quaternion(name: str, values: Any) -> np.ndarray:
    q = numbers(name, values, (4,))
    size = abs(q).max(axis=-1, keepdims=True)
    if (size < SMALLEST).any():
        raise InputError(f"{name} has length zero and so names no rotation; no rotation is (1, 0, 0, 0)")
    q = q / size  # its square neither overflows nor vanishes
    return q / library_of(q).linalg.norm(q, axis=-1, keepdims=True)


def check_unit(name: str, values: Any) -> None:
    """An InputError unless these are unit quaternions, to 1e-8: steps take them as they are."""
    q = numbers(name, values, (4,))
    length = library_of(q).linalg.norm(q, axis=-1)
    off = abs(length - 1.0)
    if not (off <= 1e-8).all():
        found = float(np.ravel(length)[int(off.argmax())])
        raise InputError(
            f"{name} must be a unit quaternion, (w, x, y, z) of length 1; its length is {found:.9g}. Divide it by "
            "that, or make the state by State.of(attitude=...)"
        )
