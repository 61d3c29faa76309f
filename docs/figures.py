"""The figure of the README, made by polhode: `python docs/figures.py`."""

from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import polhode as ph
from polhode.results.style import COLOURS, house_style

FOLDER = Path(__file__).parent / "figures"
TINY = {"steps": 20, "until": 100.0}  # for the tests: all of it, in no time


def polhodes(ax, steps: int) -> None:  # type: ignore[no-untyped-def]
    """Thirty-four motions of one body with one energy, in one batch."""
    body = ph.RigidBody((1.0, 2.0, 2.9))
    energy = 1.0
    moments = np.array([*body.moments])
    angles = np.concatenate([np.linspace(-0.48, 0.48, 17) * np.pi, np.linspace(0.52, 1.48, 17) * np.pi])
    directions = np.stack([np.cos(angles), 0.02 + 0 * angles, np.sin(angles)], axis=-1)
    omega = directions * np.sqrt(2 * energy / (directions**2 @ moments))[:, None]
    run = ph.simulate(body, None, ph.State.of(omega=omega), method="akw", step=0.02, steps=steps, every=2)
    semi_axes = np.sqrt(2 * energy / moments)
    u, v = np.mgrid[0 : 2 * np.pi : 81j, 0 : np.pi : 41j]
    surface = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)], axis=-1) * semi_axes * 0.985
    ax.plot_surface(*np.moveaxis(surface, -1, 0), color="#dbe7f2", linewidth=0, alpha=0.95, shade=True)
    ax.computed_zorder = False
    up, around = np.radians((18, -52))
    eye = np.array([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)])
    for k in range(len(angles)):
        path = run.omega[:, k] * 1.002
        facing = (path / semi_axes**2) @ eye > 0
        path = np.where(facing[:, None], path, np.nan)
        about_first = ((moments * omega[k]) ** 2).sum() < 2 * energy * moments[1]
        ax.plot(*path.T, color=COLOURS[0] if about_first else COLOURS[1], linewidth=1.1, zorder=5)
    ax.view_init(18, -52)
    ax.set_aspect("equal")
    ax.set_box_aspect(ax._box_aspect, zoom=1.45)
    ax.set_axis_off()
    ax.set_title("Polhodes: 34 motions of one body, one batch")


def energies(ax, until: float) -> None:  # type: ignore[no-untyped-def]
    """Energy of a tumbling body over some thousand turns."""
    setup = ph.problems.problem_of("free-body").problem()
    inertia, start = setup.body.tensor, setup.start.on(setup.body)
    times = np.linspace(0, until, 400)

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        return np.cross(y, y / np.diag(inertia))

    solution = solve_ivp(slope, (0, until), start.momentum.array, t_eval=times, rtol=1e-6, atol=1e-8)
    kinetic = 0.5 * (solution.y.T**2 / np.diag(inertia)).sum(axis=1)
    ax.semilogy(times[1:], np.abs(kinetic / kinetic[0] - 1)[1:], color=COLOURS[6], label="scipy RK45, rtol 1e-6")
    for name, colour in (("imidm", COLOURS[4]), ("swc1", COLOURS[2])):
        run = ph.simulate(setup.body, None, setup.start, method=name, step=0.05, until=until, every=round(until / 20))
        ax.semilogy(
            run.t[1:],
            np.abs(run.energy / run.energy[0] - 1)[1:] + 1e-17,
            color=colour,
            label=f"polhode {name}, h = 0.05 s",
        )
    ax.set(title="Energy error of a free body", xlabel="t (s)", ylabel="|E/E₀ − 1| (1)", ylim=(1e-17, 1e-0))
    ax.legend(loc="center right", fontsize=9)


def draw(folder: Path, steps: int = 2500, until: float = 1e4) -> None:
    with house_style() as Figure:
        figure = Figure(figsize=(11, 4.6))
        grid = figure.add_gridspec(1, 2, width_ratios=(1, 1.2))
        polhodes(figure.add_subplot(grid[0], projection="3d"), steps)
        energies(figure.add_subplot(grid[1]), until)
        figure.savefig(folder / "polhode.png", dpi=130)


if __name__ == "__main__":
    draw(FOLDER)
