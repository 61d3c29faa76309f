"""Moments of inertia of a tumbling body from noisy attitudes, by derivatives of `ph.flow`: `python docs/estimation.py`.

Free motion does not change when all moments are multiplied by one factor, so only their ratios can be seen: the
largest moment is set to 1. With a load of known strength its size could be seen too.
"""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import polhode as ph
from polhode.results.style import COLOURS, house_style

FOLDER = Path(__file__).parent / "figures"
TINY = {"draws": 20}  # for the tests: all of it, soon

SIGMA = 0.01  # rad: noise of a measured attitude, about each axis
STEP, STEPS, EVERY = 0.05, 240, 6  # 12 s, some three turns; 41 measurements
NAMES = ("I1/I3", "I2/I3", *(f"{what} {axis}" for what in ("attitude", "omega") for axis in "xyz"))
RATIOS, TURN, OMEGA = np.array([0.45, 0.77]), np.array([0.4, -0.2, 0.9]), np.array([0.9, 1.1, -0.6])


def motion(ratios: Any, attitude: Any, omega: Any) -> Any:
    """Attitudes at the times of measurement."""
    system = ph.Rotation(ph.RigidBody(jnp.array([*ratios, 1.0])))
    start = ph.State(attitude, system.momentum(ph.Vec3.of(omega)))
    return ph.flow(system, start, method="dmv4", step=STEP, steps=STEPS, every=EVERY).attitude


def measured(key: Any) -> Any:
    """What an instrument would say: the true attitudes, each turned a little about a random axis."""
    noise = SIGMA * jax.random.normal(key, (STEPS // EVERY + 1, 3))
    return motion(RATIOS, ph.exp(TURN), OMEGA) * ph.exp(noise)


def residuals(x: Any, seen: Any) -> Any:
    """Of every measurement the rotation vector from it to the motion: x is two ratios, the rotation from the first
    measurement to the attitude at the start, and the angular velocity there."""
    first = ph.Quaternion.of(seen.array[0])
    attitudes = motion(x[:2], first * ph.exp(x[2:5]), x[5:])
    return jnp.ravel(ph.log(seen.conjugate * attitudes).array)


def estimate(seen: Any) -> tuple[Any, Any, Any]:
    """Estimate, its covariance, and the mean square of what is left of the residuals, in units of the noise: by
    Levenberg and Marquardt's method from a rough guess, the derivatives by `jax.jacfwd`."""
    slope = jax.jacfwd(lambda x: (residuals(x, seen),) * 2, has_aux=True)  # and what it is the slope of

    def better(now: Any, _: Any) -> Any:
        tried, damping, best = now
        J, r = slope(tried)
        gained = r @ r < best[1] @ best[1]  # so that NaN is none
        x, r, J = best = jax.tree.map(lambda new, old: jnp.where(gained, new, old), (tried, r, J), best)
        damping = jnp.where(gained, damping / 10, damping * 10)
        N = J.T @ J
        return (x - jnp.linalg.solve(N + damping * jnp.diag(jnp.diag(N)), J.T @ r), damping, best), None

    turned = ph.log(ph.Quaternion.of(seen.array[0]).conjugate * ph.Quaternion.of(seen.array[1]))
    guess = jnp.concatenate([jnp.array([0.7, 0.9]), jnp.zeros(3), turned.array / (STEP * EVERY)])
    size = 3 * len(seen.w)
    nothing = guess, jnp.full(size, jnp.inf), jnp.zeros((size, len(guess)))
    _, _, (x, r, J) = jax.lax.scan(better, (guess, 1e-2, nothing), None, 13)[0]
    return x, SIGMA**2 * jnp.linalg.inv(J.T @ J), jnp.sum(r**2) / SIGMA**2 / (len(r) - len(x))


def repeated(draws: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """As often, with other noise each time: what was found, off the truth; how uncertain it says it is (one sigma);
    the covariances; and what is left."""
    keys = jax.random.split(jax.random.key(7), draws)

    def one(key: Any) -> Any:
        seen = measured(key)
        x, covariance, left = estimate(seen)
        # The rotation vector is one from the first measurement; what counts is the attitude at the start.
        start = ph.Quaternion.of(seen.array[0]) * ph.exp(x[2:5])
        off = ph.log(ph.exp(TURN).conjugate * start).array
        return jnp.concatenate([x[:2] - RATIOS, off, x[5:] - OMEGA]), covariance, left

    off, covariances, left = jax.device_get(jax.jit(jax.vmap(one))(keys))
    return off, np.sqrt(np.diagonal(covariances, axis1=1, axis2=2)), covariances, left


def table(off: np.ndarray, sigma: np.ndarray) -> str:
    """Of one estimate; the attitude as a rotation vector (rad) from the true one."""
    truth = np.concatenate([RATIOS, np.zeros(3), OMEGA])
    rows = zip(NAMES, truth, truth + off, sigma, strict=True)
    return "\n".join(f"{name:10} {value:8.5f} ± {s:.5f}   (true {true:g})" for name, true, value, s in rows)


def draw(folder: Path, draws: int = 200) -> None:
    off, sigma, covariances, left = repeated(draws)
    print(table(off[0], sigma[0]))
    print(f"left of the residuals, in units of the noise: {left[0]:.2f}")
    scatter = off.std(axis=0)
    print(f"scatter of {draws} estimates over their own sigma:", np.round(scatter / sigma.mean(axis=0), 2))
    with house_style() as Figure:
        figure = Figure(figsize=(9.5, 3.8))
        one, two = figure.subplots(1, 2)
        one.plot(*(off[:, :2] + RATIOS).T, ".", color=COLOURS[5], label=f"{draws} estimates, each with other noise")
        around = np.linspace(0, 2 * np.pi, 200)
        for k, style in ((1, "-"), (2, "--")):
            ring = np.linalg.cholesky(covariances[0, :2, :2]) @ np.stack([np.cos(around), np.sin(around)])
            one.plot(*(k * ring + RATIOS[:, None]), style, color=COLOURS[0], label=f"{k} sigma, as the first one says")
        one.plot(*RATIOS, "+", color=COLOURS[1], markersize=12, label="truth")
        one.set(title="Ratios of moments of inertia", xlabel="I₁/I₃ (1)", ylabel="I₂/I₃ (1)")
        one.legend(fontsize=8, loc="lower right")
        places = np.arange(len(NAMES))
        two.bar(places, scatter / sigma.mean(axis=0), color=COLOURS[5])
        two.axhline(1.0, color=COLOURS[1])
        two.set_xticks(places, NAMES, rotation=45, ha="right", fontsize=8)
        two.set(title="Scatter of the estimates over their own sigma", ylabel="(1)", ylim=(0, 2))
        figure.savefig(folder / "estimation.png", dpi=130)


if __name__ == "__main__":
    draw(FOLDER)
