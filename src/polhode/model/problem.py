"""`Problem`: a system, a start, and how it is run unless something else is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from polhode.model.html import folded, table


@dataclass(frozen=True)
class Problem:
    """What `simulate` runs: a system with its start, from t0 (s) on. What to watch and how it looks is said by the
    system. `method`, `step` and `until` are what a run takes where it is not told otherwise. `content` is what a file
    holds to make the same problem again; None where it was made in Python."""

    system: Any  # ph.Rotation(body, load), or ph.System(bodies, ...), which brings a start of its own
    start: Any = None
    t0: float = field(default=0.0, kw_only=True)
    name: str = field(default="", kw_only=True)
    method: Any = field(default=None, kw_only=True)
    step: float | None = field(default=None, kw_only=True)
    until: float | None = field(default=None, kw_only=True)
    content: dict[str, Any] | None = field(default=None, kw_only=True)
    events: tuple[Any, ...] = field(default=(), kw_only=True)  # ph.Event(...), where a run is given no others

    @property
    def kind(self) -> str:
        """Of system."""
        return self.system.kind

    # Of one rotating body:

    @property
    def body(self) -> Any:
        """The `RigidBody`."""
        return self.system.body

    @property
    def load(self) -> Any:
        """Its load; `Free()` where there is none."""
        return self.system.load

    def __repr__(self) -> str:
        named = [(name, getattr(self, name)) for name in ("method", "step", "until")]
        usual = "".join(f", {name}={value!r}" for name, value in named if value is not None)
        return f"Problem({self.name + ': ' if self.name else ''}{self.system!r}{usual})"

    def _repr_html_(self) -> str:
        usual = [("method", self.method), ("step (s)", self.step), ("until (s)", self.until)]
        parameters = (self.content or {}).get("parameters", {}).items()
        rows = [*parameters, *((name, value) for name, value in usual if value is not None)]
        about = table((), rows, f"Problem{f' {self.name}' if self.name else ''}")
        return about + folded("system", self.system._repr_html_())
