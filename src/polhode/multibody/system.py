"""`System`: bodies, forces and constraints, gathered so that a step evaluates like with like.

Constraints of one kind are stacked and evaluated together; each reads at most the bodies it
names. M = diag(m, J); quasi-velocities ϑ = (v, Ω), v in space axes, Ω in body axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import fields, replace
from itertools import compress
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from polhode._notices import warn
from polhode._programs import same_everywhere, stored
from polhode.drawing.shapes import Plane
from polhode.model.checks import InputError, double_precision, positive
from polhode.model.functions import as_arrays
from polhode.model.pytree import Code, Static, tree
from polhode.model.quantity import Quantity
from polhode.multibody.describe.applied import Applied
from polhode.multibody.describe.bodies import Body
from polhode.multibody.describe.constraints import Constraint
from polhode.multibody.describe.potential import Potential
from polhode.multibody.describe.state import State
from polhode.multibody.describe.views import OfView, View, bodies_used, frame_of
from polhode.multibody.quantities import OF_SYSTEMS, observed
from polhode.multibody.rows import assembly
from polhode.multibody.rows.floating import acts_within, anchors, parts_of
from polhode.multibody.rows.gathered import Group, gathered
from polhode.multibody.rows.rank import dependent, weighted
from polhode.multibody.rows.row_blocks import blocks_of, matrix_of
from polhode.multibody.start.consistent import consistent_start
from polhode.multibody.start.nearness import is_round_off, too_far

TOLERANCE = 1e-8  # of constraints that follow from others
_FLAT = 0.05  # rad: a wheel this near to flat, or so at the end of the step that failed, is why it failed
_ROUND_OFF = 1e-12

_KINDS: dict[type, str] = {Body: "bodies", Applied: "forces", Constraint: "constraints"}

Observed = Callable[[View], Any] | tuple[Callable[[View], Any], str]  # a function of a view, or with its unit


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

    kind: ClassVar[str] = "system"

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
        labels, holonomic, groups = gathered(bound, held, tuple(named))
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
            if name not in (known := [f.name for f in fields(self)]):
                raise InputError(f"a system has no field {name!r}; it has {', '.join(known)}")
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

    # What is asked of every system, see `model.system`.

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        return (*OF_SYSTEMS, *observed(tuple(name for name, _ in self.observables), self.observable_units))

    def plain(self) -> System:
        watched = {n: tuple(replace(w, fn=None) for w in getattr(self, n)) for n in ("observables", "traces")}
        return self.replaced(forces=(), groups=(), shapes=(), within=(), **watched)

    def begun(self, start: Any) -> tuple[System, State]:
        """From the start its bodies give, which may be a little off its constraints, unless another is given."""
        system = self if start is None else self.replaced(start=start)
        state, correction = consistent_start(system)
        if not is_round_off(system, correction):
            if (why := too_far(system, correction)) is not None:
                raise InputError(why)
            warn(f"the start was made consistent with its constraints: {correction}")
        return as_arrays(system.bare(observed=True)), as_arrays(state)

    def fits(self, method: Any) -> None:
        pass

    def look(self, state: State, t0: float) -> None:
        pass

    def fastest(self, state: State) -> Any:
        return jnp.sqrt(jnp.max(jnp.sum(state.omegas**2, axis=-1)))

    @property
    def labels(self) -> dict[str, tuple[str, ...]]:
        return {"body": self.names, "row": self.row_names, "point": tuple(name for name, _ in self.traces)}

    def describe(self) -> dict[str, Any]:
        return {"up": self.up, "masses": np.asarray(self.masses).tolist()}

    def conserved(self, states: State, t: np.ndarray) -> tuple[str, ...]:
        """Energy, where every force has one that does not depend on time, and no constraint moves by itself."""
        if not all(force.conservative for force in self.forces):
            return ()
        timed = any(isinstance(force, Potential) for force in self.forces)
        if not timed and not any(group.kind.rheonomic for group in self.groups):
            return ("energy",)
        found = _moves(self.replaced(observables=(), traces=()), t, states.positions, np.asarray(states.rotations))
        return ("energy",) if np.abs(np.asarray(found)).max(initial=0.0) < _ROUND_OFF else ()

    def why_failed(self, state: State, t: float, h: float) -> str | None:
        """A wheel that falls flat is looked for first: the flatter it lies, the faster its contact runs around it, so
        that it may turn by π in a step as well."""
        u = jnp.concatenate([state.velocities, state.omegas], axis=-1)
        for name, nearness, rate in assembly.singularities(self, (jnp.asarray(state.positions), state.rotations), u):
            if min(nearness, nearness + rate * h) < _FLAT:
                return (
                    f"{name!r} comes to where its contact has no meaning: the axis of the wheel is {nearness:.2g} rad "
                    "from the normal of the plane, so the wheel lies flat. The motion up to there is kept; for a wheel "
                    "that spins and only comes near to flat, take a smaller step"
                )
        turned = np.linalg.norm(np.asarray(state.omegas), axis=-1) * h
        if turned.max() > 0.9 * np.pi:
            name = self.names[int(turned.argmax())]
            return (
                f"{name!r} turns by {turned.max():.3g} rad in a step, and a step can turn a body by less than π; take "
                f"a step below {h * np.pi / turned.max() / 2:.2g}"
            )
        return None


@stored(briefly=True)
def _moves(system: System, t: Any, r: Any, R: Any) -> Any:
    """∂U/∂t of each potential, and ψ at rest of each row, at each sample: what does work by itself."""
    potentials = [force for force in system.forces if isinstance(force, Potential)]

    def of_one(t: Any, r: Any, R: Any) -> Any:
        view = lambda t: system.seen((r, R), jnp.zeros((system.size, 6)), t)  # noqa: E731
        rates = [jax.grad(lambda t, force=force: force.energy(view(t)))(t) for force in potentials]
        return jnp.concatenate([jnp.array(rates), assembly.drift(system, (r, R), t)])

    return jax.vmap(of_one)(t, r, R)


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
    _, afloat = parts_of(len(names), rows, [[number[b] for b in bodies] for bodies in tied])
    floats = np.any(afloat, axis=0) if afloat else np.zeros(len(names), dtype=bool)
    return [c.floating() if floats[b[0]] else c for c, (b, _) in zip(constraints, rows, strict=True)]
