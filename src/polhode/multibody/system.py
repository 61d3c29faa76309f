"""`System`: bodies, forces and constraints, gathered so that a step evaluates like with like.

Constraints of one kind are stacked and evaluated together; each reads at most the bodies it
names. M = diag(m, J); quasi-velocities ϑ = (v, Ω), v in space axes, Ω in body axes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import fields, replace
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np

from polhode._notices import warn
from polhode._programs import same_everywhere
from polhode.drawing.shapes import Plane
from polhode.model.checks import InputError, double_precision
from polhode.model.functions import as_arrays, as_numbers, is_traced
from polhode.model.pytree import Static, tree
from polhode.model.quantity import Quantity
from polhode.model.system import described
from polhode.multibody.acted import acted
from polhode.multibody.card import card, line
from polhode.multibody.describe.applied import Applied
from polhode.multibody.describe.bodies import Body, some_slender
from polhode.multibody.describe.constraints import Constraint
from polhode.multibody.describe.state import State
from polhode.multibody.describe.views import View, frame_of
from polhode.multibody.describe.watched import (
    Observed,
    Watched,
    check_functions,
    check_mapping,
    each_of,
    named_bodies,
    tolerance_of,
    with_unit,
)
from polhode.multibody.judgement import conserved_in, why_it_failed
from polhode.multibody.quantities import OF_SYSTEMS, observed
from polhode.multibody.released import difference, made_of, matched, released
from polhode.multibody.rows.floating import acts_within, anchors
from polhode.multibody.rows.gathered import gathered
from polhode.multibody.rows.group import Group
from polhode.multibody.several import several
from polhode.multibody.start.consistent import consistent_start
from polhode.multibody.start.dependent_rows import redundant_rows
from polhode.multibody.start.nearness import is_round_off, too_far
from polhode.multibody.start.traced_start import traced_start
from polhode.multibody.watching import watched_number

TOLERANCE = 1e-8  # of constraints that follow from others


@described
@tree
class System:
    """Bodies that move together. A pytree: it passes through jit, vmap and grad with masses,
    inertias and the parameters of forces and constraints as its numbers.

    `observables` and `traces` are functions of a view, by name, for results and pictures: a
    number each, alone or with its unit, `{"lean": (lean, "rad")}`, and a point (m, space axes) to
    follow. `ground` and `up` are for pictures only. `tolerance`: constraints that come this near to following from
    others (relative, in the metric of kinetic energy), as those of a loop whose axes are not quite parallel, are
    taken to follow from them, and may disagree by as much (of a length, or rad).

    Leading axes on masses, inertias, starts, anchors, axes, radii, stiffnesses, gravity are a batch of systems for
    `simulate`; else there is `ph.batch`."""

    kind: ClassVar[str] = "system"

    names: Static[tuple[str, ...]]
    masses: Any  # (N,) kg
    inertias: Any  # (N, 3, 3) kg m², body axes, about the centres of mass
    forces: tuple[Applied, ...]
    within: Static[tuple[bool, ...]]  # which forces act within the bodies that they name
    groups: tuple[Group, ...]  # rows of constraints, by kind: all their numbers are here
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
    slender: Static[bool]  # whether there are slender bodies, which a step takes care of

    def __new__(cls, *bodies: Any, **given: Any) -> Any:
        return several(cls, *bodies, **given) or object.__new__(cls)

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
        bodies = each_of("bodies", bodies, Body)
        named = named_bodies(bodies)
        applied = tuple(f.bind(named) for f in each_of("forces", forces, Applied))
        start = np.array([body.position for body in bodies], dtype=float)
        within = tuple(acts_within(f, tuple(named), start) for f in applied)
        bound = [c.bind(named) for c in each_of("constraints", constraints, Constraint)]
        held = [anchors(c, start[[list(named).index(b) for b in c.bodies]]) for c in bound]
        labels, holonomic, groups = gathered(bound, held, tuple(named))
        check_mapping("observable", observables)
        watched = {name: with_unit(name, given) for name, given in (observables or {}).items()}
        check_functions("observable", {name: fn for name, (fn, _) in watched.items()}, (), tuple(named))
        check_functions("trace", traces, (3,), tuple(named))
        values = {
            "names": tuple(named),
            "masses": np.array([body.mass for body in bodies], dtype=float),
            "inertias": (inertias := np.array([body.tensor for body in bodies])),
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
            "tolerance": tolerance_of(tolerance),
            "shapes": tuple(body.shape for body in bodies),
            "slender": some_slender(inertias),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_given", (bound, held))
        object.__setattr__(self, "_constraints", tuple(bound))
        object.__setattr__(self, "redundant", redundant_rows(self.bare()))

    def bare(self, *, observed: bool = False) -> System:
        """Without what the motion does not depend on, so that a change of shapes, or, unless they are
        `observed`, of observables and traces, compiles nothing anew; and with users' functions as they are now,
        whatever they read may have changed since."""
        watched = {
            name: tuple(w.traced(self.names) for w in getattr(self, name)) if observed else ()
            for name in ("observables", "traces")
        }
        bare = self.replaced(
            inertias=self.inertias,
            shapes=(),
            observable_units=(),
            ground=None,
            up="z",
            groups=tuple(g.traced(self.names) for g in self.groups),
            forces=tuple(f.traced(self.names) for f in self.forces),
            **watched,
        )
        if all(same_everywhere(g) for g in self.groups) or is_traced(bare):
            return bare
        return bare.replaced(redundant=redundant_rows(bare))  # of rows as they are now

    def replaced(self, **changes: Any) -> System:
        """With other values of these fields, unchecked: for derivatives, `system.replaced(masses=masses)`."""
        made = copy(self)
        if "inertias" in changes:
            changes["slender"] = some_slender(changes["inertias"])
        for name in changes:
            if name not in (known := [f.name for f in fields(self)]):
                raise InputError(f"a system has no field {name!r}; it has {', '.join(known)}")
        made.__dict__.update(changes)
        return made

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """As they were given, for pictures and for other codes; derivatives by their numbers are in `groups`."""
        return self._constraints  # type: ignore[attr-defined]

    size = property(lambda self: len(self.names), doc="The number of bodies.")
    rows = property(lambda self: len(self.row_names), doc="The number of rows of all constraints.")

    @property
    def holonomic_rows(self) -> np.ndarray:
        """Numbers of the rows that hold positions."""
        return np.flatnonzero(np.array(self.holonomic, dtype=bool))

    def view(self, state: State, t: Any) -> View:
        """The system at time t (s), as users' functions see it."""
        u = jnp.concatenate([state.velocities, state.omegas], axis=-1)
        return self.seen((state.positions, state.rotations), u, t)

    def seen(self, q: tuple[Any, Any], u: Any, t: Any) -> View:
        """The same at t (s), of positions (m) and rotations, and of velocities (N, 6)."""
        return View(self.names, lambda i: frame_of(q[0][i], q[1][i], u[i]), t, numbered=True)

    # What is asked of every system, see `model.system`.

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        return (*OF_SYSTEMS, *observed(tuple(name for name, _ in self.observables), self.observable_units))

    def plain(self) -> System:
        watched = {n: tuple(replace(w, fn=None) for w in getattr(self, n)) for n in ("observables", "traces")}
        return self.replaced(forces=(), groups=(), shapes=(), within=(), **watched)

    def begun(self, start: Any, t0: Any = 0.0) -> tuple[System, State]:
        """At t0 (s), from the start its bodies give, which may be a little off its constraints, or from another."""
        system = self if start is None else self.replaced(start=self.matched(start, self))
        with nullcontext() if is_traced(system) else as_numbers():
            bare = system.bare()
        if is_traced((bare, t0)):  # what its functions close over, too
            now = as_arrays(bare)
            return now, as_arrays(traced_start(now, t0))
        with as_numbers():
            state, correction = consistent_start(system, float(t0))
            if not is_round_off(system, correction):
                if (why := too_far(system, correction)) is not None:
                    raise InputError(why)
                warn(f"the start was made consistent with its constraints: {correction}")
            return made_of(system, as_arrays(system.bare(observed=True))), as_arrays(state)

    def fits(self, method: Any) -> None: ...
    def look(self, state: State, t0: float) -> None: ...

    def fastest(self, state: State) -> Any:
        return jnp.sqrt(jnp.max(jnp.sum(state.omegas**2, axis=-1)))

    @property
    def labels(self) -> dict[str, tuple[str, ...]]:
        return {"body": self.names, "row": self.row_names, "point": tuple(name for name, _ in self.traces)}

    def describe(self) -> dict[str, Any]:
        return {"up": self.up, "masses": np.asarray(self.masses).tolist()}

    def conserved(self, states: State, t: np.ndarray) -> tuple[str, ...]:
        return conserved_in(self.replaced(observables=(), traces=()), states, t)

    def why_failed(self, state: State, t: float, h: float) -> str | None:
        return why_it_failed(self, state, h)

    watched, acted, _repr_html_, __repr__ = watched_number, acted, card, line
    differs, matched, released = difference, matched, released
