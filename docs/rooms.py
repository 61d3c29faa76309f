"""The picture of the rooms in docs/architecture.md, from the packages themselves: `python docs/rooms.py`."""

import importlib
import textwrap
from pathlib import Path

from polhode.results.style import COLOURS, house_style

FOLDER = Path(__file__).parent / "figures"
TINY: dict[str, int] = {}  # for the tests: it is small

FLOORS = {  # each floor stands on those below it
    "what things are": ("algebra", "solve", "model", "drawing"),
    "what moves": ("rotation", "methods", "multibody.describe", "multibody.rows", "multibody.start", "multibody.step"),
    "what it is judged by": ("references", "peers", "problems"),
    "a run": ("simulation", "accuracy", "results", "api"),
    "who asks": ("inputs", "verify", "papers", "bench", "cli"),
}


def draw(folder: Path) -> None:
    with house_style() as Figure:
        figure = Figure(figsize=(12, 6.6))
        ax = figure.add_subplot()
        ax.set(xlim=(-1.9, 12), ylim=(-0.15, len(FLOORS) * 1.3 + 0.1))
        ax.axis("off")
        for floor, (name, rooms) in enumerate(FLOORS.items()):
            y, width = 1.3 * floor, 12 / len(rooms)
            ax.text(-1.75, y + 0.5, textwrap.fill(name, 14), va="center", fontsize=11, color="0.35")
            for k, room in enumerate(rooms):
                said = (importlib.import_module(f"polhode.{room}").__doc__ or "").split("\n")[0].rstrip(".")
                box = {"facecolor": COLOURS[floor % len(COLOURS)], "alpha": 0.16, "edgecolor": "0.6"}
                ax.add_patch(_rectangle(k * width + 0.06, y, width - 0.12, 1.1, **box))
                ax.text(k * width + 0.18, y + 0.9, f"{room}/", va="center", fontsize=9, weight="bold")
                text = textwrap.fill(said.replace("`", ""), max(12, int(width * 12)))
                ax.text(k * width + 0.18, y + 0.73, text, va="top", fontsize=7.5)
        figure.savefig(folder / "rooms.png")


def _rectangle(x, y, width, height, **how):  # type: ignore[no-untyped-def]
    from matplotlib.patches import FancyBboxPatch

    return FancyBboxPatch((x, y), width, height, boxstyle="round,pad=0,rounding_size=0.06", **how)


if __name__ == "__main__":
    draw(FOLDER)
