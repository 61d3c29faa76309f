"""The tables of the command line: every number whole, at any width; and in any encoding."""

import io
import re
import sys
from typing import Any

import pytest

from polhode.cli.streams import standard_streams
from polhode.cli.tables import show_table

WIDTHS = (200, 120, 80, 60, 40)
DRIFT = r"\d\.\d\de[-+]\d\d"


def pieces(text: str) -> str:
    """Without lines and frames, so that a number that was broken or cut is not found."""
    return re.sub(r"[^\x00-\x7fΠπ∥₃]+", " ", text)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_run_of_one_body(polhode: Any, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    methods = ["--method", "imidm", "--method", "akw", "--method", "rig_neg"]
    code, out, _ = polhode("run", "heavy-top", "--until", "0.1", *methods)
    assert code == 0
    assert max(len(line) for line in out.splitlines()) <= width
    assert len(re.findall(DRIFT, pieces(out))) == 6  # of the energy and the vertical part of the momentum
    assert len(re.findall(r"–", out)) == 3  # the whole momentum, which gravity changes
    assert pieces(out).count("1269.975005") == 3
    assert "…" not in out


@pytest.mark.parametrize("width", WIDTHS)
def test_runs_of_a_non_twisting_body_and_of_a_system(polhode: Any, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    _, out, _ = polhode("run", "nontwisting-1", "--until", "0.02", "--method", "em", "--method", "dla")
    assert max(len(line) for line in out.splitlines()) <= width
    assert len(re.findall(DRIFT, pieces(out))) == 6
    _, out, _ = polhode("run", "pendulum", "--until", "0.02")
    assert max(len(line) for line in out.splitlines()) <= width
    assert len(re.findall(DRIFT, pieces(out))) == 1
    assert len(re.findall(r"\d\.\de[-+]\d\d", pieces(out))) == 2  # slip and gap
    assert "…" not in out


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "arguments", ["methods", "problems", "methods imidm", "problems bicycle", "problems heavy-top"]
)
def test_lists(polhode: Any, monkeypatch: pytest.MonkeyPatch, arguments: str, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, _ = polhode(*arguments.split())
    assert code == 0
    assert "…" not in out
    monkeypatch.setenv("COLUMNS", "1000")
    assert numbered(polhode(*arguments.split())[1]) <= numbered(out)


def numbered(text: str) -> set[str]:
    """The words with a digit: numbers, and most of the names."""
    return {word for word in re.split(r"[\s:;,]+", pieces(text)) if re.search(r"\d", word)}


def test_without_a_terminal_the_page_is_wide(polhode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("os.get_terminal_size", lambda *_: (_ for _ in ()).throw(OSError))
    _, out, _ = polhode("run", "heavy-top", "--until", "0.1")
    assert len(re.findall(rf"│\s+{DRIFT}", out)) == 2


def test_longer_than_the_page(
    polhode: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    with standard_streams():
        show_table(
            ("what", "measured", ""), [("a long name", "1.23456789e-123", "NOT MET"), ("b", "", "")], texts=("what",)
        )
    out = capsys.readouterr().out
    assert "1.23456789e-123" in out
    assert "NOT MET" in out


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_any_encoding(polhode: Any, monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    code, _, err = polhode("run", "nontwisting-1", "--until", "0.02", "--method", "em")
    assert (code, err) == (0, "")
    text = raw.getvalue().decode(encoding)
    assert ("Pi1, Pi2" if encoding != "utf-8" else "Π1, Π2") in text
    lines = [line for line in text.splitlines() if line[0] in "+|┏┃┡│└"]
    assert len({len(line) for line in lines}) == 1  # laid out as it is shown
    assert len(re.findall(DRIFT, text)) == 3


def test_greek_and_accents_in_ascii(polhode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    polhode("problems", "bicycle")
    text = raw.getvalue().decode("ascii")
    assert "lambda, of the steer axis" in text
    assert "kg m2" in text
