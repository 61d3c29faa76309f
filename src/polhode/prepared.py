"""What was looked at for one run, for the next of the same body, load, start and method: nothing is looked at again.

The same means the same numbers, bit by bit, and users' functions that compute what they did (see `fingerprint`). What
cannot be told is prepared anew; so is everything of systems and batches, whose runs take longer than to look at them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from itertools import count
from typing import Any

import jax
import numpy as np

from polhode._programs import fingerprint, has_64_bits, settings
from polhode.given import problem_from
from polhode.model.method import Method
from polhode.model.problem import Problem
from polhode.rotation import Load, RigidBody, Rotation, Start, State

_MOST = 32


class Recent:
    """Things made, those asked for last at the end; at most so many."""

    def __init__(self) -> None:
        self._made: OrderedDict[Hashable, Any] = OrderedDict()

    def known(self, mark: Hashable | None) -> Any:
        """If it is there."""
        return None if mark is None else self._made.get(mark)

    def get(self, mark: Hashable | None, make: Callable[[], Any]) -> Any:
        """Made anew unless it is there; always where there is no mark."""
        if mark is None:
            return make()
        found = self._made.get(mark)
        if found is None:
            found = self._made[mark] = make()
        try:
            self._made.move_to_end(mark)
            while len(self._made) > _MOST:
                self._made.popitem(last=False)
        except KeyError:  # other threads take some away, too
            return found
        return found


_problems, legs, grounds = Recent(), Recent(), Recent()
_methods: dict[int, tuple[Method, int | None]] = {}
_numbers: dict[Method, int] = {}  # of equal ones the same
_next = count(1)
_OF_START = 7 * 8 + 1  # bytes: a quaternion and a vector, and how many numbers there are


def problem_like(what: Any, load: Any, start: Any) -> tuple[Problem, Hashable | None]:
    """The problem, and what tells it from others; None where that is not told."""
    if isinstance(what, RigidBody) and isinstance(start, Start):
        mark = _mark(what, load, start)
        return _problems.get(mark, lambda: problem_from(what, load, start)), mark
    problem = problem_from(what, load, start)
    if isinstance(problem.system, Rotation) and isinstance(problem.start, Start | State):
        return problem, _mark(problem.system, problem.system.load, problem.start)
    return problem, None


def leg_mark(problem: Hashable | None, t0: float, method: Method) -> Hashable | None:
    """What tells the beginning of a run from that of others."""
    if problem is None or (number := _number_of(method)) is None:
        return None
    return problem, float(t0).hex(), number, settings(), has_64_bits()


def ground_mark(leg: Any) -> Hashable | None:
    """Of what is told apart by `leg_mark`, what does not depend on the start."""
    if leg is None:
        return None
    (kind, _, _, numbers, load, of_load), _, *rest = leg
    return kind, numbers[:-_OF_START], load, of_load, *rest


def _number_of(method: Method) -> int | None:
    """By which it is told from others, if it is one of ours, in all its parts."""
    found = _methods.get(id(method))
    if found is None or found[0] is not method:
        if len(_methods) >= _MOST:
            _methods.clear()
            _numbers.clear()
        number = None if fingerprint(method) is None else _numbers.setdefault(method, next(_next))
        found = _methods[id(method)] = (method, number)
    return found[1]


def _mark(body: Any, load: Any, start: Any) -> Hashable | None:
    """The load itself is part of it, which a run holds; and what it computes now. Of a body that may not twist there
    is none: each of its runs may say that it starts with a twist."""
    of_load = load.mark() if isinstance(load, Load) else () if load is None else None
    if of_load is None or body.twist_axis is not None or type(start) not in (Start, State):
        return None
    numbers = _bits((body.moments, body.axes, *_parts(start)))
    return numbers and (type(body), type(start), getattr(start, "kind", None), numbers, id(load), of_load)


def _parts(start: Any) -> tuple[Any, Any]:
    return start.attitude, start.turning if isinstance(start, Start) else start.momentum


def _bits(tree: Any) -> bytes | None:
    """Of numbers of one body alone, none of which JAX traces."""
    leaves = jax.tree.leaves(tree)
    for x in leaves:
        if type(x) is not np.float64 and type(x) is not float and (type(x) is not np.ndarray or x.ndim):
            return None
    return np.array(leaves, dtype=float).tobytes() + bytes([len(leaves)])
