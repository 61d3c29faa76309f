"""`flow`: a motion as a pure function of its start and of every number in the system, for derivatives."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import fields, is_dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from polhode._programs import stored
from polhode._programs.names import calls_back
from polhode.model.checks import InputError, double_precision, positive, shown, whole
from polhode.model.family import Problems
from polhode.model.functions import as_arrays, as_numbers, is_traced
from polhode.model.halving import Halving
from polhode.model.method import Method
from polhode.model.problem import Problem
from polhode.model.registry import DEFAULTS, method_of
from polhode.simulation.loop import step_of
from polhode.simulation.one_way import one_way
from polhode.simulation.status import StepError


def flow(
    system: Any,
    start: Any = None,
    *,
    method: str | Method | type[Method] | None = None,
    step: Any = None,
    steps: int,
    every: int | None = None,
) -> Any:
    """The state after so many steps, the same steps as `simulate` takes, as a pure function: under jit, vmap, grad,
    jacfwd and jacrev.

    system    ph.Rotation(body, load), ph.System(...), or a problem, which brings its start, t0, method and step
    start     of a Rotation, State.of(...) or a State in its own body axes, leading axes a batch; of a System, a
              `multibody.State`, or None for its own. A System's start is moved onto its constraints, inside of
              transformations by three Newton steps
    method    as for `simulate`
    step      length of a step (s); may be traced
    steps     their number; it shapes the program, and so is no number to trace
    every     return the states after every so many steps, that of the start first, stacked in front; `steps` must be
              a multiple

    Derivatives are those of the steps themselves, by the start, the step, t0, and every number of the system: moments,
    masses, inertias, parameters of loads and constraints, numbers that their functions close over. Implicit steps are
    differentiated by the implicit function theorem. Reverse mode keeps about √steps states, and as many steps as it
    goes back, and takes every step twice. halving-METHOD has forward mode only; three-field-sparse, which calls SuperLU
    on the host, has no derivatives and is refused.

    A step that fails makes all numbers of the state NaN, from there on, and with them the derivatives: of that member,
    in a batch. Where nothing is traced it raises StepError instead. What `simulate` does for systems in addition,
    halving a step that was not solved in one, is not done here.
    """
    double_precision()
    if isinstance(system, Problems):
        raise InputError(
            f"flow moves one problem; got a batch of shape {system.members.shape}. Take jax.vmap of a function that "
            "makes one problem of its numbers and calls flow, or the members one by one, "
            "[flow(problem, ...) for problem in batch.members.flat]; simulate runs all of them"
        )
    problem = system if isinstance(system, Problem) else Problem(system)
    kind = getattr(problem.system, "kind", None)
    if kind not in DEFAULTS:
        raise InputError(f"flow moves a Rotation(body, load), a System or a problem; got {shown(problem.system)}")
    chosen = method_of(method or problem.method or DEFAULTS[kind], kind)
    if calls_back(chosen):
        raise InputError(
            f"{chosen.name} calls back to the host in every step and has no derivatives, so it is no part of a pure "
            "function; use three-field here, or simulate"
        )
    total, stride = _counted(steps, every)
    h: Any = _length(problem.step if step is None else step)
    t0: Any = problem.t0
    now, state = problem.system.begun(problem.start if start is None else start, problem.t0)
    traced = is_traced((now, state, t0, h))
    with nullcontext() if traced else as_numbers():
        chosen.check(now)
        if not traced:
            now.look(state, t0)
        axes = None if getattr(now, "axes", None) is None else now
        stepped, first = (now, state) if axes is None else (axes.principal, axes.to_principal(state))
        first = jax.tree.map(lambda x: jnp.asarray(x, dtype=float), as_arrays(chosen.begin(stepped, first)))
        t0, h = (jnp.asarray(x, dtype=float) for x in (t0, h))
        found, done = _moved(chosen, total, stride, stepped, first, t0, h)
        if not traced and int(done) < total:
            raise StepError(
                f"{chosen.name} failed in step {int(done) + 1}, from t = {float(t0 + done * h):.6g} with step "
                f"{float(h):g}: its equations were not solved, or the new state is not finite. simulate, with the "
                "same start and step, keeps the motion up to there and says more",
                None,
            )
        return found if axes is None else axes.from_principal(found)


def _counted(steps: Any, every: Any) -> tuple[int, int | None]:
    total = whole("steps", steps, 0)
    if every is None:
        return total, None
    stride = whole("every", every, 1)
    if total % stride:
        raise InputError(f"steps must be a multiple of every, here of {stride}; got {total}")
    return total, stride


def _length(step: Any) -> Any:
    """Of a step."""
    if step is None:
        raise InputError("step is missing: give the length of a step (s), flow(..., step=0.01, steps=100)")
    if not is_traced(step):
        return positive("step", step)
    if jnp.shape(step) != ():
        raise InputError(f"step must be one number; got shape {jnp.shape(step)}")
    return step


def _moved_of(method: Any, total: int, stride: int | None, system: Any, state: Any, t0: Any, h: Any) -> tuple[Any, Any]:
    """The last state, or all that are kept; and how many steps were good."""
    chunk = max(1, math.isqrt(total))
    halved = any(isinstance(part, Halving) for part in _parts(method))
    no_reverse = (
        f"{method.name} has no reverse mode (grad, jacrev, vjp): how often a step is halved depends on the numbers. "
        "Use forward mode (jacfwd, jvp), or the method that it halves"
    )

    def one(carry: Any, real: Any) -> Any:
        if real is None:
            return take(carry), None
        return lax.cond(real, take, lambda carry: carry, carry), None

    def take(carry: Any) -> Any:
        state, n, done = carry
        new, _, ok = step_of(method, system, state, t0 + n * h, h)
        new = jax.tree.map(lambda a, b: jnp.broadcast_to(_where_good(ok, a), jnp.shape(b)), new, state)
        return one_way(new, no_reverse) if halved else new, n + 1, done + jnp.all(ok)

    def several(carry: Any, real: Any, length: int) -> Any:
        """So many steps in a row. Reverse mode keeps where they start, and takes them again."""
        again = jax.checkpoint(lambda carry, real: lax.scan(one, carry, real, length)[0], prevent_cse=False)
        return again(carry, real)

    def advance(carry: Any, count: int) -> Any:
        length, times = _divided(count, chunk)
        real = None if length * times == count else jnp.arange(length * times).reshape(times, length) < count
        if times == 1:
            return several(carry, real, length)
        return lax.scan(lambda carry, real: (several(carry, real, length), None), carry, real, times)[0]

    begun = (state, jnp.asarray(0), jnp.asarray(0))
    if stride is None:
        state, _, done = advance(begun, total) if total else begun
        return state, done

    def sample(carry: Any, _: Any) -> Any:
        carry = advance(carry, stride)
        return carry, carry[0]

    (_, _, done), samples = lax.scan(sample, begun, None, total // stride)
    return jax.tree.map(lambda a, b: jnp.concatenate([jnp.asarray(a)[None], b]), state, samples), done


_moved = stored(_moved_of, static=3)


def _divided(count: int, near: int) -> tuple[int, int]:
    """`count` steps as so many in a row, so many times: in equal parts of about `near` where there are such, else the
    last part is not full."""
    if count <= near:
        return count, 1
    exact = [n for n in range(max(1, near // 2), 2 * near + 1) if count % n == 0]
    length = min(exact, key=lambda n: abs(n - near)) if exact else near
    return length, -(-count // length)


def _where_good(ok: Any, x: Any) -> Any:
    """x, or NaN: by a factor, which derivatives share."""
    mark = jnp.where(ok, 1.0, jnp.nan)
    return x * mark.reshape(mark.shape + (1,) * (jnp.ndim(x) - mark.ndim))


def _parts(method: Any) -> list[Any]:
    """A method and the methods that it is made of."""
    if not is_dataclass(method) or isinstance(method, type):
        return []
    return [method, *(part for f in fields(method) for part in _parts(getattr(method, f.name)))]
