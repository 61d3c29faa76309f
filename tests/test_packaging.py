"""What is shipped: the metadata, what a wheel and an sdist hold, and that they install and run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_string
from pathlib import Path

import pytest
import yaml

import polhode

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SOURCE = ROOT / "src" / "polhode"
# What git ignores is no part of the tree that is shipped.
SHIPPED = ("README.md", "LICENSE", "CITATION.cff", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile", "constraints.txt")
TREE = (*SHIPPED, "pyproject.toml", "MANIFEST.in", "src", "docs", "tests", "benchmarks")


def test_the_citation_is_that_of_this_version() -> None:
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(cff)  # what the format requires
    assert (cff["version"], cff["license"]) == (polhode.__version__, PROJECT["license"])
    assert (cff["title"], cff["abstract"], cff["keywords"]) == tuple(
        PROJECT[key] for key in ("name", "description", "keywords")
    )
    assert [a["name"] for a in cff["authors"]] == [a["name"] for a in PROJECT["authors"]]


def test_pythons_that_are_declared() -> None:
    declared = re.findall(r"Python :: 3\.(\d+)", "\n".join(PROJECT["classifiers"]))
    assert declared == ["11", "12", "13"]
    assert PROJECT["requires-python"] == f">=3.{declared[0]}"
    assert f"3.{sys.version_info.minor}" in {f"3.{minor}" for minor in declared}


@pytest.fixture(scope="module", name="built")
def both_archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel and an sdist, made by the backend itself from a copy of the tree: no network, nothing left behind."""
    tree, out = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("dist")
    for name in TREE:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(ROOT / name, tree / name)
    made(f"b.build_sdist({str(out)!r}); b.build_wheel({str(out)!r})", tree)
    return out


def made(code: str, tree: Path) -> None:
    code = f"from setuptools import build_meta as b; {code}"
    subprocess.run([sys.executable, "-c", code], cwd=tree, check=True, capture_output=True)


def test_what_is_installed_of_an_sdist_is_what_is_installed_of_the_tree(built: Path, tmp_path: Path) -> None:
    """A wheel made of it, unpacked as an installer does: same files, byte by byte; and it answers from there."""
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.iterdir()
    made(f"b.build_wheel({str(tmp_path)!r})", tree)
    (again,) = tmp_path.glob("*.whl")
    assert again.name == wheel.name
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(again) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())
        checked = {info.filename: info.CRC for info in one.infolist()}
        assert checked == {info.filename: info.CRC for info in other.infolist()}
        other.extractall(tmp_path / "installed")
    command = [sys.executable, "-c", "import polhode; print(polhode.__file__, polhode.__version__)"]
    env = os.environ | {"PYTHONPATH": str(tmp_path / "installed")}
    said = subprocess.run(command, check=True, cwd=tmp_path, env=env, capture_output=True, text=True).stdout
    assert said.split() == [str(tmp_path / "installed" / "polhode" / "__init__.py"), polhode.__version__]


def test_a_wheel_has_all_files_and_an_sdist_too(built: Path) -> None:
    files = {str(p.relative_to(SOURCE.parent)) for p in SOURCE.rglob("*") if p.is_file() and p.suffix != ".pyc"}
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    inside = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in inside if not name.startswith("polhode-")} == files
    assert any(name.endswith("licenses/LICENSE") for name in inside)
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/{name}" for name in files} | set(SHIPPED) <= names
    assert {"docs/_site/conf.py", "tests/conftest.py", "tests/pictures.py"} <= names
    linked = re.findall(r"\]\(([^)#:]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(linked) > 10
    assert {*linked} <= names  # its links lead somewhere from there
    assert wheel.stat().st_size < 1_000_000  # measured: 0.61 MB


def test_metadata_of_a_wheel(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith("METADATA"))
        about = message_from_string(archive.read(name).decode())
        (points,) = (n for n in archive.namelist() if n.endswith("entry_points.txt"))
        assert "polhode = polhode.cli.main:main" in archive.read(points).decode()
    assert (about["Name"], about["Version"]) == ("polhode", polhode.__version__)
    assert about["Summary"] == PROJECT["description"]
    assert about.get_all("Classifier") == PROJECT["classifiers"]
    assert about["License-Expression"] == "BSD-3-Clause"
    assert about["Description-Content-Type"] == "text/markdown"
    assert about.get_payload() == (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.parametrize("kind", ["whl", "tar.gz"])
def test_it_installs_and_runs(built: Path, tmp_path: Path, kind: str) -> None:
    """Into an environment of its own that sees the dependencies of this one; as a command and as a module."""
    (archive,) = built.glob(f"*.{kind}")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    python = str(tmp_path / "env" / "bin" / "python")
    (place,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    (place / "dependencies.pth").write_text(f"{Path(yaml.__file__).parents[1]}\n")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--no-index", "--ignore-installed", str(archive)], check=True, cwd=tmp_path)
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"HOME": str(tmp_path)}
    for command in ([str(tmp_path / "env" / "bin" / "polhode")], [python, "-m", "polhode"]):
        arguments = [*command, "run", "heavy-top", "--until", "0.01", "--plot", "top.html", "--json"]
        answer = subprocess.run(arguments, check=True, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert f'"version": "{polhode.__version__}", "problem": "heavy-top"' in answer.stdout
        assert (tmp_path / "top.html").stat().st_size > 20_000
    where = subprocess.run(
        [python, "-c", "import polhode; print(polhode.__file__)"], check=True, env=env, capture_output=True, text=True
    )
    assert where.stdout.startswith(str(place))
