"""What must be settled before JAX starts: 64-bit numbers, one XLA option, the disk cache.

Importing polhode runs this once. JAX itself is not imported here, so that the command
line answers at once; the settings go through the environment, or, where the user has
imported JAX already, through its configuration.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from polhode._notices import warn

# XLA's CPU backend turns a loop into one native function only if it thinks the loop
# small; its limit of 1024 bytes is far too low for a step (three to twenty times slower).
LOOP_OPTION = "xla_cpu_small_while_loop_byte_threshold"
_EXTRA = "--xla_backend_extra_options="


def prepare() -> None:
    _set_loop_option()
    _set_jax("jax_enable_x64", True)
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ and not _jax_has("jax_compilation_cache_dir"):
        folder = cache_folder()
        if folder is not None:
            _set_jax("jax_compilation_cache_dir", folder)
            _set_jax("jax_persistent_cache_min_compile_time_secs", 0.1)


def private(folder: Path) -> bool:
    """Whether the folder is there, or could be made, and is ours alone to write to: what is in it is run."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not hasattr(os, "geteuid"):
            return True
        if folder.stat().st_uid == os.geteuid() and folder.stat().st_mode & 0o022:
            folder.chmod(0o700)
        found = folder.stat()
    except OSError:
        return False
    return found.st_uid == os.geteuid() and not found.st_mode & 0o022


def cache_folder() -> str | None:
    """Where compiled programs are kept; None for a user without a home, or one that cannot be written to."""
    import platformdirs

    try:
        folder = platformdirs.user_cache_path("polhode")
    except (OSError, RuntimeError):  # there is no home
        return None
    return str(folder) if folder.is_absolute() and private(folder) else None


def _set_loop_option() -> None:
    words = _flags()
    if words is None or any(LOOP_OPTION in word for word in words):
        return
    if _backend_started():
        warn(
            "JAX had started before polhode was imported, so loops on the CPU run several times slower than they "
            f"could. Import polhode first, or set XLA_FLAGS={_EXTRA}{LOOP_OPTION}=1048576."
        )
        return
    option = f"{LOOP_OPTION}=1048576"
    extra = [i for i, word in enumerate(words) if word.startswith(_EXTRA)]
    if extra:
        words[extra[-1]] += f",{option}"
    else:
        words.append(_EXTRA + option)
    os.environ["XLA_FLAGS"] = " ".join(words)


def _flags() -> list[str] | None:
    """The user's XLA_FLAGS; what does not start with dashes is the name of a file that holds them, and None is
    one that cannot be read, which XLA will say."""
    flags = os.environ.get("XLA_FLAGS", "").strip()
    if not flags or flags.startswith("--"):
        return flags.split()
    try:
        return Path(flags).read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError):
        return None


def _backend_started() -> bool:
    bridge = sys.modules.get("jax._src.xla_bridge")
    return bridge is not None and bool(bridge.backends_are_initialized())


def _jax_has(name: str) -> bool:
    jax = sys.modules.get("jax")
    return jax is not None and getattr(jax.config, name) is not None


def _set_jax(name: str, value: object) -> None:
    jax = sys.modules.get("jax")
    if jax is not None:
        jax.config.update(name, value)
    os.environ[name.upper()] = str(value)
