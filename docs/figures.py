"""The picture of the README, made by polhode: `python docs/figures.py`."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.collections import LineCollection
from scipy.integrate import solve_ivp

import polhode as ph
from polhode.results.style import house_style

FOLDER = Path(__file__).parent / "figures"
TINY = {"steps": 20, "until": 100.0, "pixels": 40, "methods": ("mk-forward-euler",) * 3}  # for the tests: in no time

MOMENTS, ENERGY = np.array([1.0, 1.9, 2.8]), 1.0
SEMI_AXES = np.sqrt(2 * ENERGY / MOMENTS)
NIGHT, PALE = "#0a0f1e", "#c8d3e6"

UP, AROUND = np.radians((24.0, -58.0))
EYE = np.array([np.cos(UP) * np.cos(AROUND), np.cos(UP) * np.sin(AROUND), np.sin(UP)])
RIGHT = np.array([-np.sin(AROUND), np.cos(AROUND), 0.0])
SCREEN = np.stack([RIGHT, np.cross(EYE, RIGHT)])
LIGHT = np.array([0.55, -0.25, 0.8])


def glass(ax: Any, pixels: int) -> None:
    """The ellipsoid of one energy, lit from above: where the line of sight through each pixel meets it."""
    u = np.linspace(-1.5, 1.5, pixels)
    points = u[None, :, None] * SCREEN[0] + u[:, None, None] * SCREEN[1]
    W = 1 / SEMI_AXES**2
    a, b, c = EYE @ (W * EYE), (points * W) @ EYE, (points**2) @ W - 1
    root = b * b - a * c
    on = root > 0
    surface = points + ((-b + np.sqrt(np.where(on, root, 0))) / a)[..., None] * EYE
    normal = surface * W
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    light = LIGHT / np.linalg.norm(LIGHT)
    half = (light + EYE) / np.linalg.norm(light + EYE)
    bright = 0.30 + 0.55 * np.clip(normal @ light, 0, 1) + 0.55 * np.clip(normal @ half, 0, 1) ** 25
    rim = (1 - np.clip(normal @ EYE, 0, 1)) ** 3
    colour = bright[..., None] * np.array([0.30, 0.42, 0.72]) + rim[..., None] * np.array([0.25, 0.45, 0.80]) * 0.8
    edge = np.clip(root / (4 * abs(u[1] - u[0])), 0, 1)[..., None] * on[..., None]
    ax.imshow(np.clip(np.concatenate([colour, edge], axis=-1), 0, 1), extent=(-1.5, 1.5, -1.5, 1.5), origin="lower")


def polhodes(ax: Any, steps: int, method: str) -> None:
    """Motions of one body with one energy, in one batch, coloured by their momentum."""
    angles = np.concatenate([(np.linspace(-0.495, 0.495, 46) + side) * np.pi for side in (0, 1)])
    directions = np.stack([np.cos(angles), 0.004 + 0 * angles, np.sin(angles)], axis=-1)
    omega = directions * np.sqrt(2 * ENERGY / (directions**2 @ MOMENTS))[:, None]
    body = ph.RigidBody(tuple(MOMENTS))
    run = ph.simulate(body, None, ph.State.of(omega=omega), method=method, step=0.02, steps=steps, every=2)
    squares = ((MOMENTS * omega) ** 2).sum(axis=1)
    share = (squares - squares.min()) / np.ptp(squares)
    for k in range(len(angles)):
        path = once_around(run.omega[:, k])
        facing = (path / SEMI_AXES**2) @ EYE
        facing = facing / np.abs(facing).max()
        flat = path @ SCREEN.T
        pieces = np.stack([flat[:-1], flat[1:]], axis=1)
        colour = np.array(colormaps["turbo"](0.08 + 0.84 * share[k]))
        front = np.clip(3 * facing[:-1] + 0.25, 0, 1)
        for width, strength in ((5.0, 0.10), (2.6, 0.20), (1.2, 0.95)):  # a glow, and the line
            colours = np.tile(colour, (len(pieces), 1))
            colours[:, 3] = strength * (0.06 + 0.94 * front)
            ax.add_collection(LineCollection(pieces, colors=colours, linewidths=width, capstyle="round", zorder=5))
    ax.set(xlim=(-1.42, 1.42), ylim=(-1.05, 1.05), aspect="equal")
    ax.set_axis_off()


def once_around(path: np.ndarray) -> np.ndarray:
    """Until it comes back to where it began."""
    away = np.linalg.norm(path - path[0], axis=1)
    pace = np.linalg.norm(np.diff(path, axis=0), axis=1).max(initial=0.0)
    left = np.argmax(away > 2 * pace)
    back = np.flatnonzero((away < pace) & (np.arange(len(path)) > left)) if left else []
    return path[: back[0] + 2] if len(back) else path


def energies(ax: Any, until: float, methods: tuple[str, ...]) -> None:
    """Energy of a tumbling body over some thousand turns."""
    setup = ph.problems.problem_of("free-body").problem()
    inertia, start = setup.body.tensor, setup.start.on(setup.body)
    times = np.linspace(0, until, 400)

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        return np.cross(y, y / np.diag(inertia))

    solution = solve_ivp(slope, (0, until), start.momentum.array, t_eval=times, rtol=1e-6, atol=1e-8)
    kinetic = 0.5 * (solution.y.T**2 / np.diag(inertia)).sum(axis=1)
    lines = [("scipy RK45, rtol 1e-6", times, kinetic, "#ff6b6b")]
    for name, colour in zip(methods, ("#ffd166", "#4dd6ff"), strict=True):
        run = ph.simulate(setup.body, None, setup.start, method=name, step=0.05, until=until, every=round(until / 20))
        lines.append((f"polhode {name}, h = 0.05 s", run.t, run.energy, colour))
    for name, t, energy, colour in lines:
        error = np.abs(energy / energy[0] - 1)[1:] + 1e-17
        ax.semilogy(t[1:], error, color=colour, linewidth=1.5)
        ax.annotate(name, (t[-1], error[len(error) // 2 :].max()), (-4, 8), textcoords="offset points",
                    color=colour, ha="right", fontsize=11)  # fmt: skip
    ax.set(xlabel="t (s)", ylabel="|E/E₀ − 1| (1)", ylim=(1e-17, 3e-1), facecolor="none")
    ax.set_title("Energy of a free body", color=PALE)
    ax.grid(color="#26314d", linewidth=0.6)
    ax.tick_params(colors=PALE, which="both")
    ax.xaxis.label.set_color(PALE)
    ax.yaxis.label.set_color(PALE)
    for spine in ax.spines.values():
        spine.set_color("#4a5877")


def draw(
    folder: Path,
    steps: int = 2500,
    until: float = 1e4,
    pixels: int = 900,
    methods: tuple[str, ...] = ("dmv10", "imidm", "swc1"),
) -> None:
    with house_style() as Figure:
        figure = Figure(figsize=(12, 5.2), facecolor=NIGHT)
        figure.set_layout_engine("none")
        left = figure.add_axes((0.01, 0.02, 0.58, 0.96))
        glass(left, pixels)
        polhodes(left, steps, methods[0])
        energies(figure.add_axes((0.67, 0.14, 0.305, 0.74)), until, methods[1:])
        figure.savefig(folder / "hero.png", dpi=130)


if __name__ == "__main__":
    draw(FOLDER)
