"""Body-steps a second on a GPU, beside a kernel written by hand, and how much of a whole run they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.algebra import exp
from polhode.api import simulate
from polhode.bench.base import Row, best_of
from polhode.bench.native import FOLDER
from polhode.kernel.cuda import Kernel
from polhode.kernel.source import ENDED, TALLY
from polhode.methods import method_of
from polhode.model.problem import Problem
from polhode.rotation import Potential, RigidBody, Rotation, State
from polhode.simulation.member import kernel_of_steps

# G body-steps a second at 10⁷ bodies, on one H200
TARGETS = {
    "dmv": 70.0, "dmv10": 25.0, "imidm": 18.0, "akw": 22.0, "strang-dmv": 25.0, "mk-rk4": 15.0, "em": 10.0,
    "rkn6-dmv10": 4.0, "exact": 3.0,
}  # fmt: skip
SIZES = (10**3, 10**4, 10**5, 10**6, 10**7)
_WHOLE = 1.3  # of the kernel's time
_DRIFT = 1e-12
_SECONDS = 0.25  # of a launch that is measured


def measure(
    bodies: int = 10**7,
    sizes: Sequence[int] = SIZES,
    steps: int = 1000,
    many: tuple[int, int] = (10**5, 10**6),
    repeats: int = 3,
    methods: Sequence[str] = tuple(TARGETS),
    made: Callable[..., Any] = kernel_of_steps,
    peer: Callable[[int, int, int], float] | None = None,
) -> list[Row]:
    """`many`: how many bodies, and for how many steps, the drift of the energy is looked at. `made` makes kernels,
    `peer` tells the seconds of the one written by hand."""
    rows = []
    for count in dict.fromkeys((*sizes, bodies)):
        hand, ours = (peer or _by_hand)(count, steps, repeats) / steps, _of_kernel("dmv", count, repeats, made)
        rows.append(_row("dmv by hand", count, hand, hand))
        rows.append(_row("dmv", count, ours, hand, TARGETS["dmv"] if count == bodies else None))
    seconds = {name: _of_kernel(name, bodies, repeats, made) for name in methods}
    rows += [_row(name, bodies, each, None, TARGETS[name]) for name, each in seconds.items() if name != "dmv"]
    rows += [_whole(name, bodies, steps, seconds[name], repeats) for name in ("dmv", "imidm") if name in seconds]
    return [*rows, _energy(*many)]


def _row(name: str, bodies: int, each: float, hand: float | None, target: float | None = None) -> Row:
    """Of a step of all bodies that took so many seconds."""
    rate = bodies / each / 1e9
    ratio, said = None if hand is None else hand / each, "" if target is None else f"{target:g} G"
    met = None if target is None else rate >= target
    return Row(f"{name}, {bodies:,} bodies", f"{rate:.3g} G body-steps/s", ratio, said, met, 1.0 / rate)


def problem_for(method: str, bodies: int) -> tuple[Problem, float]:
    """Free bodies, or heavy tops, each a little faster than the one before; and the step."""
    near = 1.0 + 1e-3 * (np.arange(bodies) % 1000)[:, None] / 1000
    if method_of(method).traits.loads == "none":
        body, load, h, momentum = RigidBody((0.9144, 1.098, 1.66)), None, 0.01, np.array([0.4165, 0.907, 0.0577])
        attitude: Any = exp((0.05, 0.0, 0.0))
    else:
        body, load, h = RigidBody((5.0, 5.0, 1.0)), Potential(_weight, weight=20.0), 0.001
        momentum, attitude = np.array([0.0, 0.0, 50.0]), exp((0.05, 0.0, 0.0))
    return Problem(Rotation(body, load), State.of(attitude=attitude, momentum=momentum * near)), h


def _weight(R: Any, weight: Any) -> Any:
    return weight * R[2, 2]


def _of_kernel(name: str, bodies: int, repeats: int, made: Callable[..., Any]) -> float:
    """Seconds of a step of all bodies, in a launch that takes long enough to tell."""
    problem, h = problem_for(name, bodies)
    method = method_of(name)
    system, state = problem.system.begun(problem.start)
    state = method.begin(system, state)
    own = tuple(jax.tree.leaves(system.own_numbers()))
    kernel = made(method, system, own, state)
    shared = [jax.device_put(jnp.asarray(x), kernel.split(None)) for x in jax.tree.leaves(system)]
    now = [jax.device_put(jnp.asarray(x, dtype=float), kernel.split(0)) for x in jax.tree.leaves(state)]
    about = [jax.ShapeDtypeStruct((n, bodies), float, sharding=kernel.split(1)) for n in (ENDED, TALLY)]

    def launched(steps: int) -> float:
        numbers = (np.int64(0), np.int64(0), np.float64(0.0), np.float64(h), np.int64(steps))
        arrays = [*now, *about]
        return best_of(repeats, lambda: kernel(numbers, [*shared, *arrays], arrays))

    few = launched(10)
    steps = max(10, min(100_000, int(10 * _SECONDS / max(few, 1e-6))))
    return launched(steps) / steps


def _whole(name: str, bodies: int, steps: int, each: float, repeats: int) -> Row:
    """A call of `simulate` beside the steps in it: from a start that is there to a run that is judged."""
    problem, h = problem_for(name, bodies)
    run = partial(simulate, problem, method=name, step=h, steps=steps, every=steps, progress=False)
    run()
    ratio = best_of(repeats, run) / (each * steps)
    what = f"{name}, {bodies:,} bodies, {steps} steps: the whole call"
    return Row(what, f"{ratio:.2f} of its kernel", ratio, f"at most {_WHOLE:g}", ratio <= _WHOLE)


def _energy(bodies: int, steps: int) -> Row:
    problem, h = problem_for("dmv", bodies)
    drift = simulate(problem, method="dmv", step=h, steps=steps, every=steps, progress=False).drift("energy")
    what = f"dmv, {bodies:,} bodies, {steps:,} steps: drift of the energy"
    return Row(what, f"{drift:.1e}", None, f"at most {_DRIFT:g}", drift <= _DRIFT)


def _by_hand(bodies: int, steps: int, repeats: int) -> float:
    """Seconds of the kernel in `benchmarks/native/batch.cu`."""
    kernel = Kernel((FOLDER / "batch.cu").read_text(encoding="utf-8"), "dmv")
    state = [jnp.zeros((4, bodies)).at[0].set(1.0), jnp.ones((3, bodies)) * jnp.array([[0.4165], [0.907], [0.0577]])]

    def launched() -> None:
        kernel.launch(0, bodies, (np.int64(steps),), [x.unsafe_buffer_pointer() for x in state])
        kernel.wait()

    jax.block_until_ready(state)
    launched()
    return best_of(repeats, launched)
