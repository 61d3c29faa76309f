"""Standard output that goes away, is full or was never there."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from polhode.cli.streams import UnwritableError, standard_streams

POLHODE = f"{sys.executable} -m polhode"


def shell(command: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command.replace("polhode ", f"{POLHODE} ", 1)], capture_output=True, text=True,
        env={**os.environ, **more}, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        ("polhode --help | true; exit ${PIPESTATUS[0]}", 141, ""),
        ("polhode --help >&-", 1, "polhode: cannot write to standard output: it is closed\n"),
        ("polhode --help >/dev/full", 1, "polhode: cannot write to standard output: No space left on device\n"),
        ("polhode run --step x y 2>&-", 2, ""),
    ],
)
def test_a_sentence_or_silence_and_no_traceback(command: str, code: int, says: str) -> None:
    done = shell(command)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", says)


def test_a_table_whose_reader_left(polhode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    monkeypatch.setattr(sys, "stdout", open(writing, "w"))  # noqa: SIM115
    code, _, err = polhode("problems")
    assert (code, err) == (141, "")
    sys.stdout.close()


def test_a_table_for_a_full_disk(polhode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", open("/dev/full", "w"))  # noqa: SIM115
    code, _, err = polhode("problems")
    assert (code, err) == (1, "polhode: cannot write to standard output: No space left on device\n")
    sys.stdout.close()


def test_nothing_is_lost_with_standard_streams_closed(tmp_path: Path) -> None:
    """The file must not take the place of stdout or stderr, into which libraries print."""
    out = tmp_path / "run.csv"
    assert shell(f"polhode run free-body --method rig_neg --until 0.1 --out {out} >&- 2>&- <&-").returncode == 1
    assert out.read_text().startswith("#")
    assert "cannot write" not in out.read_text()


def test_names_that_no_encoding_has(capsys: pytest.CaptureFixture[str]) -> None:
    with standard_streams():
        print("Written: \udcff.nc")
    assert capsys.readouterr().out == "Written: \\udcff.nc\n"


def test_only_a_reader_that_left_is_passed_over_in_silence(capsys: pytest.CaptureFixture[str]) -> None:
    assert UnwritableError(OSError(errno.EPIPE, "Broken pipe")).answer() == 141
    assert capsys.readouterr().err == ""
    assert UnwritableError(OSError(errno.EIO, "Input/output error")).answer() == 1
    assert "Input/output error" in capsys.readouterr().err
