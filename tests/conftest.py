"""Every test runs with compiled programs kept on disk, and repeats the same random examples."""

import os
import sys
from pathlib import Path
from typing import Any

import jax
import psutil
import pytest
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")
settings.register_profile("polhode", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("polhode")


def pytest_runtest_teardown() -> None:
    """Compiled programs pile up over hundreds of tests; let them go when they take much room."""
    if psutil.Process().memory_info().rss > 3 * 2**30:
        jax.clear_caches()


@pytest.fixture(name="polhode")
def command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    """The command line, called in an empty folder: exit code, stdout, stderr."""
    from polhode.cli.main import main

    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["polhode", *arguments])
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call
