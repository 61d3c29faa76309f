"""What `module:Name` names: code of the user's own."""

from __future__ import annotations

import importlib
import sys
import traceback
from typing import Any

from polhode.model.checks import InputError, shown

_PARTS = ("algebra", "methods", "model", "multibody", "rotation", "solve")  # of polhode, where methods are made


def imported(path: Any, *, trust: bool) -> Any:
    """Of those modules of polhode's own that methods are made of, or, with `trust`, of any: importing runs what is in
    them."""
    module, _, name = path.partition(":") if isinstance(path, str) else ("", "", "")
    if not all(part.isidentifier() for part in (*module.split("."), *name.split("."))):
        raise InputError(f"cannot import method {shown(path)}: write module:Class, as in mymodule:MyMethod")
    own = module.split(".")[:2] in [["polhode", part] for part in _PARTS]
    if not trust and not own:
        raise InputError(
            f"{path!r} is to be imported, which runs the code in the module {module!r}; if you trust the file and that "
            "code, say so with --trust (in Python: trust=True), or name another method with --method"
        )
    if trust and "" not in sys.path:
        sys.path.insert(0, "")  # a module beside the user, as with `python -m`
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a module may do anything when it is imported, sys.exit() too
        raise InputError(f"cannot import method {shown(path)}: {told(error)}; write module:Class") from error
    return found


def told(error: BaseException) -> str:
    """What was raised, and the line of the user's file where."""
    passed = (__file__, importlib.__file__)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename not in passed and f.filename[0] != "<"]
    where = f" at {frames[0].filename}:{frames[0].lineno}" if frames else ""
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}{where}: {text}" if text else f"{type(error).__name__}{where}"
