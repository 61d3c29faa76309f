"""Where in a user's own code an error came from."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path


def users_line(error: BaseException) -> str | None:
    """The innermost frame in a file that is neither polhode's nor an installed package's."""
    ours = str(Path(__file__).parents[1])
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = str(Path(frame.filename).absolute())
        outside = not path.startswith((ours, sys.prefix, sys.base_prefix)) and "site-packages" not in path
        if outside and frame.filename.endswith(".py"):
            return f"{frame.filename}:{frame.lineno}"
    return None
