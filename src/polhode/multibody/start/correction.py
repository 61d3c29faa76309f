"""`Correction`: what had to be changed in a start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Correction:
    """What `consistent_start` changed: of each body `shift` (m), `velocity` (m/s) in space axes, `turn` (rad), `omega`
    (rad/s) in body axes; and what each row was before, `phi` (m or rad) and `psi` (m/s or rad/s)."""

    names: tuple[str, ...]
    row_names: tuple[str, ...]
    shift: np.ndarray  # (N, 3) m, space axes
    turn: np.ndarray  # (N, 3) rad, body axes
    velocity: np.ndarray  # (N, 3) m/s, space axes
    omega: np.ndarray  # (N, 3) rad/s, body axes
    phi: np.ndarray  # (k,) before
    psi: np.ndarray  # (k,) before
    redundant: tuple[str, ...]  # rows that follow from others

    @property
    def parts(self) -> tuple[np.ndarray, ...]:
        """shift, turn, velocity and omega."""
        return (self.shift, self.turn, self.velocity, self.omega)

    def __str__(self) -> str:
        lines = []
        kinds = list(zip(self.parts, ("m", "rad", "m/s", "rad/s"), strict=True))
        least = [1e-6 * np.linalg.norm(part, axis=-1).max(initial=0.0) for part, _ in kinds]
        for i, name in enumerate(self.names):
            sizes = [(np.linalg.norm(part[i]), unit) for part, unit in kinds]
            words = [f"{s:.3g} {unit}" for (s, unit), low in zip(sizes, least, strict=True) if s > max(low, 1e-12)]
            if words:
                lines.append(f"{name}: moved by {', '.join(words)}")
        if self.redundant:
            lines.append(f"rows that follow from others: {', '.join(self.redundant)}")
        return "\n".join(lines) or "nothing was changed"
