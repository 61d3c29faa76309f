"""Importing polhode where the home, the cache or XLA's flags are not as usual."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from polhode._startup import private

CACHE = "import polhode, jax; print(jax.config.jax_compilation_cache_dir)"
FLAGS = "import polhode, os; print(os.environ.get('XLA_FLAGS'))"
OPTION = "--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=1048576"


def python(*arguments: str, **environment: str) -> str:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "XLA_", "XDG_"))} | environment
    return subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True, check=True).stdout


def test_without_a_home_nothing_is_kept() -> None:
    assert python("-c", CACHE, HOME="/dev/null/none").strip() == "None"
    assert python("-m", "polhode", "--help", HOME="/dev/null/none").startswith("Usage: ")
    nobody = "import pathlib\ndef home(*_): raise RuntimeError('no home')\npathlib.Path.expanduser = home\n"
    nobody += "import os; os.path.expanduser = lambda path: path\n"
    assert python("-c", nobody + CACHE).strip() == "None"


def test_flags_in_a_file(tmp_path: Path) -> None:
    """A documented form of XLA_FLAGS: what does not start with dashes names a file."""
    file = tmp_path / "flags"
    file.write_text("--xla_cpu_enable_fast_math=false\n--xla_force_host_platform_device_count=2\n", encoding="utf-8")
    both = "import polhode, jax, os; print(len(jax.devices()), os.environ['XLA_FLAGS'])"
    assert python("-c", both, XLA_FLAGS=str(file)).split() == [
        "2", "--xla_cpu_enable_fast_math=false", "--xla_force_host_platform_device_count=2", OPTION,
    ]  # fmt: skip
    assert python("-c", FLAGS, XLA_FLAGS="/no/such/file").strip() == "/no/such/file"  # XLA will say so


def test_a_cache_that_others_can_write_to_is_made_ours_or_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache" / "polhode"
    assert private(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    assert private(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    assert not private(folder)
    file = tmp_path / "file"
    file.touch()
    assert not private(file)
    assert not private(file / "below")
