"""`System`: bodies, forces and constraints, gathered so that a step evaluates like with like.

Constraints of one kind are stacked and evaluated together; each reads at most the bodies it
names. M = diag(m, J); quasi-velocities ϑ = (v, Ω), v in space axes, Ω in body axes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import compress
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode._programs import is_from, same_everywhere, stored
from polhode.drawing.shapes import Plane
from polhode.model.checks import InputError, double_precision, positive
from polhode.model.pytree import Code, Static, tree
from polhode.multibody.describe.affine import check_class
from polhode.multibody.describe.bodies import GROUND, Body
from polhode.multibody.describe.constraints import Constraint
from polhode.multibody.describe.forces import Applied
from polhode.multibody.describe.state import State
from polhode.multibody.describe.views import OfView, View, bodies_used, frame_of
from polhode.multibody.rows import ties
from polhode.multibody.rows.internal import acts_within, anchors
from polhode.multibody.rows.rank import dependent, weighted
from polhode.multibody.rows.row_blocks import blocks_of, matrix_of

TOLERANCE = 1e-8  # of constraints that follow from others

_KINDS: dict[type, str] = {Body: "bodies", Applied: "forces", Constraint: "constraints"}

Observed = Callable[[View], Any] | tuple[Callable[[View], Any], str]  # a function of a view, or with its unit


@tree
class Group:
    """Constraints of one kind: `kind` with each number stacked, the bodies and rows of each."""

    kind: Constraint
    bodies: Static[tuple[tuple[int, ...], ...]]  # of each constraint, in the order of kind.bodies
    first: Static[tuple[int, ...]]  # row of each constraint
    anchors: Static[bool]  # they hold their bodies to the ground, or make them roll

    @property
    def rows(self) -> int:
        return self.kind.holonomic + self.kind.nonholonomic

    def traced(self, names: Sequence[str]) -> Group:
        """With users' functions as they are now."""
        one = jax.tree.map(lambda x: x[0], self.kind)
        known = one.traced(names)  # a function stands in a group of its own
        if not is_from(type(one), "polhode"):
            check_class(one)
        return self if known is one else replace(self, kind=jax.tree.map(lambda x: x[None], known))


@tree
class Watched:
    """A function of a view, by name, for results and pictures."""

    name: Static[str]
    fn: Code[Callable[[View], Any]]
    shape: Static[tuple[int, ...]] = ()

    def __iter__(self) -> Iterator[Any]:
        return iter((self.name, self.fn))

    def traced(self, names: Sequence[str]) -> Watched:
        return replace(self, fn=OfView.of(repr(self.name), self.fn, names, {}, self.shape))


@tree
class System:
    """Bodies that move together. A pytree: it passes through jit, vmap and grad with masses,
    inertias and the parameters of forces and constraints as its numbers.

    `observables` and `traces` are functions of a view, by name, for results and pictures: a
    number each, alone or with its unit, `{"lean": (lean, "rad")}`, and a point (in space axes) to
    follow. `ground` and `up` are for pictures only. `tolerance`: constraints that come this near to following from
    others (relative, in the metric of kinetic energy), as those of a loop whose axes are not quite parallel, are
    taken to follow from them, and may disagree by as much (of a length, or rad)."""

    names: Static[tuple[str, ...]]
    masses: Any  # (N,) kg
    inertias: Any  # (N, 3, 3) kg m², body axes, about the centres of mass
    forces: tuple[Applied, ...]
    within: Static[tuple[bool, ...]]  # which forces act within the bodies that they name
    groups: tuple[Group, ...]
    start: State  # as the bodies were given
    row_names: Static[tuple[str, ...]]
    holonomic: Static[tuple[bool, ...]]  # per row
    redundant: Static[tuple[int, ...]]  # rows that follow from those before them, where the bodies start
    observables: tuple[Watched, ...]
    observable_units: Static[tuple[str, ...]]  # "" where none was given
    traces: tuple[Watched, ...]  # points to follow
    shapes: Static[tuple[Any, ...]]
    ground: Static[Plane | None]  # for pictures
    up: Static[str]
    tolerance: Static[float]

    def __init__(
        self,
        bodies: Sequence[Body],
        *,
        forces: Sequence[Applied] = (),
        constraints: Sequence[Constraint] = (),
        observables: Mapping[str, Observed] | None = None,
        traces: Mapping[str, Callable[[View], Any]] | None = None,
        ground: Plane | None = None,
        up: str = "z",
        tolerance: float = TOLERANCE,
    ) -> None:
        double_precision()
        bodies = _each("bodies", bodies, Body)
        named = _named(bodies)
        applied = tuple(f.bind(named) for f in _each("forces", forces, Applied))
        start = np.array([body.position for body in bodies], dtype=float)
        within = tuple(acts_within(f, tuple(named), start) for f in applied)
        tied = [f.bodies for f in compress(applied, within)]
        bound = [c.bind(named) for c in _each("constraints", constraints, Constraint)]
        held = [anchors(c, start[[list(named).index(b) for b in c.bodies]]) for c in bound]
        bound = _turning(bound, held, tied, tuple(named))
        labels, holonomic, groups = _gather(bound, held, tuple(named))
        _check_mapping("observable", observables)
        watched = {name: _with_unit(name, given) for name, given in (observables or {}).items()}
        _check_functions("observable", {name: fn for name, (fn, _) in watched.items()}, (), tuple(named))
        _check_functions("trace", traces, (3,), tuple(named))
        values = {
            "names": tuple(named),
            "masses": np.array([body.mass for body in bodies], dtype=float),
            "inertias": np.array([body.tensor for body in bodies]),
            "forces": applied,
            "within": within,
            "groups": groups,
            "start": State.of(bodies, len(labels)),
            "row_names": labels,
            "holonomic": holonomic,
            "redundant": (),
            "observables": tuple(Watched(name, fn) for name, (fn, _) in watched.items()),
            "observable_units": tuple(unit for _, unit in watched.values()),
            "traces": tuple(Watched(name, fn, (3,)) for name, fn in (traces or {}).items()),
            "ground": ground,
            "up": up,
            "tolerance": _tolerance(tolerance),
            "shapes": tuple(body.shape for body in bodies),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "redundant", _redundant(self.bare()))

    def bare(self, *, observed: bool = False) -> System:
        """Without what the motion does not depend on, so that a change of shapes, or, unless they are
        `observed`, of observables and traces, compiles nothing anew; and with users' functions as they are now,
        whatever they read may have changed since."""
        watched = {
            name: tuple(w.traced(self.names) for w in getattr(self, name)) if observed else ()
            for name in ("observables", "traces")
        }
        bare = self.replaced(
            shapes=(),
            observable_units=(),
            ground=None,
            up="z",
            groups=tuple(g.traced(self.names) for g in self.groups),
            forces=tuple(f.traced(self.names) for f in self.forces),
            **watched,
        )
        if all(same_everywhere(g.kind) for g in self.groups) or _is_traced(bare):
            return bare
        return bare.replaced(redundant=_redundant(bare))  # of rows as they are now

    def replaced(self, **changes: Any) -> System:
        """With other values of these fields, unchecked: for derivatives, `system.replaced(masses=masses)`."""
        made = copy(self)
        for name, value in changes.items():
            if name not in self.__dataclass_fields__:
                raise InputError(f"a system has no field {name!r}; it has {', '.join(self.__dataclass_fields__)}")
            object.__setattr__(made, name, value)
        return made

    @property
    def size(self) -> int:
        """Number of bodies."""
        return len(self.names)

    @property
    def rows(self) -> int:
        """Number of constraint rows."""
        return len(self.row_names)

    @property
    def holonomic_rows(self) -> np.ndarray:
        return np.flatnonzero(np.array(self.holonomic, dtype=bool))

    def view(self, state: State, t: Any) -> View:
        """What users' functions see of a state."""
        u = jnp.concatenate([state.velocities, state.omegas], axis=-1)
        return self.seen((state.positions, state.rotations), u, t)

    def seen(self, q: tuple[Any, Any], u: Any, t: Any) -> View:
        """The same of positions and rotations, and of velocities (N, 6)."""
        return View(self.names, lambda i: frame_of(q[0][i], q[1][i], u[i]), t, numbered=True)


def _redundant(system: System) -> tuple[int, ...]:
    """Rows that follow from those before them, where the bodies start."""
    if not system.groups:
        return ()
    A = matrix_of(system, _rows_at_start(system))
    return tuple(dependent(weighted(A, system.masses, system.inertias), system.tolerance))


def _is_traced(system: System) -> bool:
    return any(isinstance(x, jax.core.Tracer) for x in jax.tree.leaves(system))


@stored(briefly=True)
def _rows_at_start(system: System) -> Any:
    return blocks_of(system, (system.start.positions, system.start.rotations), jnp.zeros(()))


def _with_unit(name: str, given: Any) -> tuple[Any, str]:
    if callable(given) or not isinstance(given, tuple):
        return given, ""
    if len(given) != 2 or not isinstance(given[1], str):
        raise InputError(
            f'observable {name!r} must be a function of a view, or a pair of one and its unit, (fn, "rad"), or '
            f'"1" where it has none; got {given!r}'
        )
    return given


def _tolerance(given: Any) -> float:
    positive("tolerance", given)
    if not 1e-14 <= given <= 0.1:
        raise InputError(f"tolerance must be between 1e-14 (round-off) and 0.1; got {given!r}")
    return float(given)


def _check_mapping(what: str, given: Any) -> None:
    if given is not None and not isinstance(given, Mapping):
        raise InputError(f"{what}s must be a dictionary of names and functions of a view; got {given!r}")


def _check_functions(
    what: str, given: Mapping[str, Any] | None, shape: tuple[int, ...], names: tuple[str, ...]
) -> None:
    _check_mapping(what, given)
    for name, fn in (given or {}).items():
        if not callable(fn):
            raise InputError(f"{what} {name!r} must be a function of a view; got {fn!r}")
        _, found = bodies_used(fn, names, f"{what} {name!r}")
        if found != shape:
            wanted = "one number" if shape == () else "a point, three numbers"
            raise InputError(f"{what} {name!r} must return {wanted}; its function returned shape {found}")


def _named(bodies: Sequence[Body]) -> dict[str, Body]:
    if not bodies:
        raise InputError("a system needs at least one body")
    named = {body.name: body for body in bodies}
    if len(named) < len(bodies):
        names = [body.name for body in bodies]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise InputError(f"each body needs a name of its own; more than one is called {', '.join(map(repr, twice))}")
    return named


def _each(what: str, items: Sequence[Any], kind: type) -> tuple[Any, ...]:
    """As a tuple, each looked at."""
    if isinstance(items, kind):
        raise InputError(f"{what} must be a list, also of one: {what}=[...]; got {type(items).__name__} alone")
    if not isinstance(items, Iterable) or isinstance(items, str | Mapping):
        raise InputError(f"{what} must be a list; got {items!r}")
    made = tuple(items)
    for item in made:
        if not isinstance(item, kind):
            raise InputError(f"{what} must be a list of {_KINDS[kind]} of polhode.multibody; got {item!r}")
    return made


def _turning(
    constraints: list[Constraint], held: list[bool], tied: list[tuple[str, ...]], names: tuple[str, ...]
) -> list[Constraint]:
    """The constraints, those of parts that float as they are there; `held` says which anchor their bodies, `tied` are
    bodies that forces tie together."""
    number = {name: i for i, name in enumerate(names)}
    rows = [([number[b] for b in c.bodies], anchored) for c, anchored in zip(constraints, held, strict=True)]
    _, afloat = ties.parts(len(names), rows, [[number[b] for b in bodies] for bodies in tied])
    floats = np.any(afloat, axis=0) if afloat else np.zeros(len(names), dtype=bool)
    return [c.floating() if floats[b[0]] else c for c, (b, _) in zip(constraints, rows, strict=True)]


def _gather(
    constraints: list[Constraint], held: list[bool], names: tuple[str, ...]
) -> tuple[Any, Any, tuple[Group, ...]]:
    labels: list[str] = []
    holonomic: list[bool] = []
    kinds: dict[Any, list[tuple[Constraint, int]]] = {}
    for c, anchored in zip(constraints, held, strict=True):
        kinds.setdefault((_kind(c), anchored), []).append((c, len(labels)))
        labels += c.labels
        holonomic += [True] * c.holonomic + [False] * c.nonholonomic
    repeated = sorted(label for label, count in Counter(labels).items() if count > 1)
    if repeated:
        raise InputError(f"constraints need names of their own (name=...); more than one row is called {repeated[0]!r}")
    groups = []
    number = {name: i for i, name in enumerate(names)}
    for (_, anchored), members in kinds.items():
        leaves = [jax.tree.leaves(c) for c, _ in members]
        stacked = [np.stack([np.asarray(x, dtype=float) for x in column]) for column in zip(*leaves, strict=True)]
        kind = jax.tree.unflatten(jax.tree.structure(members[0][0]), stacked)
        bodies = tuple(tuple(number[body] for body in c.bodies) for c, _ in members)
        groups.append(Group(kind, bodies, tuple(first for _, first in members), anchored))
    return tuple(labels), tuple(holonomic), tuple(groups)


def _kind(c: Constraint) -> Any:
    """Two constraints with the same kind differ in numbers, names and bodies only: those that their fields a, b and
    body name. A function asks for bodies by their names, so it has a kind of its own."""
    tree: Any = jax.tree.structure(c)
    if tree.node_data() is None:
        raise InputError(
            f"constraint {c.name!r} is of the class {type(c).__name__}, which JAX cannot take apart; decorate the "
            "class with polhode.model.pytree.tree"
        )
    if any(callable(x) for x in tree.node_data()[1]):
        return (type(c), c.name)
    place = {GROUND: -1} | {name: i for i, name in enumerate(c.bodies)}
    named = {field: getattr(c, field, None) for field in _BODIES}
    alike = {field: f"body {place[n]}" for field, n in named.items() if isinstance(n, str) and n in place}
    if is_from(type(c), "polhode"):  # a class of the user's may make something of its name
        alike["name"] = ""
    unnamed = copy(c)
    for field, value in alike.items():
        object.__setattr__(unnamed, field, value)
    return (type(c), jax.tree.structure(unnamed), tuple(np.shape(x) for x in jax.tree.leaves(c)))


_BODIES = ("a", "b", "body")  # fields in which constraints name a body
