"""What methods that are made of another method share."""

from __future__ import annotations

from typing import Any

from polhode.model.method import Method


class Combinator(Method):
    """Moves what its base moves, and starts as it does."""

    base: Method

    @property
    def kind(self) -> str:  # type: ignore[override]
        return self.base.kind

    def check(self, system: Any) -> None:
        super().check(system)
        self.base.check(system)

    def begin(self, system: Any, state: Any) -> Any:
        return self.base.begin(system, state)
