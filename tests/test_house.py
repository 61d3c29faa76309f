"""The house: which part may import which, and what importing polhode does to JAX."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import polhode

ROOT = Path(polhode.__file__).parent

# Each part may import those before it; the version and these may be read by all.
FOR_ALL = {"_notices", "_programs", "_signals", "_startup"}
LAYERS = [
    ("kernel",), ("algebra",), ("solve",), ("model",), ("drawing",), ("rotation",), ("methods",), ("multibody",),
    ("references",), ("peers",),
    ("problems",), ("simulation",), ("accuracy",), ("results",), ("watching", "given"), ("leg", "prepared"),
    ("events", "running"), ("asked", "device", "step_choice", "turning", "writing"), ("together",), ("members",),
    ("kept",), ("api",),
    ("inputs", "verify"), ("resuming",), ("sweeps",), ("papers",), ("bench",), ("cli",), ("__main__",),
]  # fmt: skip
MAY_NOT = {("problems", "methods"), ("multibody", "methods"), ("rotation", "solve")}


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("polhode."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("polhode.")}
    return found - FOR_ALL


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_one_way(path: Path) -> None:
    part = path.relative_to(ROOT).parts[0].removesuffix(".py")
    if part in ("__init__", *FOR_ALL):
        return
    rank = {name: i for i, layer in enumerate(LAYERS) for name in layer}
    for other in imports(path) - {part}:
        assert rank[other] < rank[part], f"{part} may not import {other}"
        assert (part, other) not in MAY_NOT, f"{part} may not import {other}"


ROOMS = ("describe", "rows", "start", "step")  # of multibody, in this order; `system` stands between the last two


@pytest.mark.parametrize("path", sorted((ROOT / "multibody").glob("*/*.py")), ids=lambda p: f"{p.parent.name}/{p.name}")
def test_rooms_of_multibody_import_one_way(path: Path) -> None:
    here = ROOMS.index(path.parent.name)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("polhode.multibody."):
            part = node.module.split(".")[2]
            assert part in ROOMS[: here + 1] or (path.parent.name == "step" and part == "system"), node.module


# The command line imports inside of its commands, so that `--help` answers at once.
LAZY = ("cli/main.py", "cli/options.py", "cli/sweep_options.py")


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_no_import_is_hidden(path: Path) -> None:
    """None of polhode's own inside of a function, or for the type checker alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    top = {id(node) for node in tree.body}
    hidden = [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("polhode") and id(node) not in top
    ]
    assert not hidden or str(path.relative_to(ROOT)) in LAZY, hidden


def test_loops_that_end_by_convergence_are_in_one_place() -> None:
    """And those of steps: a run's, and that of a step in parts."""
    found = {str(p.relative_to(ROOT)) for p in ROOT.rglob("*.py") if "while_loop(" in p.read_text(encoding="utf-8")}
    assert {p for p in found if not p.startswith("solve/")} == {"simulation/loop.py", "model/halving.py"}


def test_a_file_is_one_idea() -> None:
    lines = {str(p.relative_to(ROOT)): len(p.read_text(encoding="utf-8").splitlines()) for p in ROOT.rglob("*.py")}
    assert {name: count for name, count in lines.items() if count > 250} == {}


def python(code: str, **environment: str) -> str:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "XLA_"))} | environment
    return subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_importing_polhode_prepares_jax() -> None:
    out = python("import polhode, jax, os; print(jax.config.jax_enable_x64, os.environ['XLA_FLAGS'])")
    assert out == "True --xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=1048576"
    assert python("import jax, polhode; print(jax.numpy.ones(1).dtype)") == "float64"


def test_the_users_flags_are_kept() -> None:
    code = "import polhode, os; print(os.environ['XLA_FLAGS'])"
    assert python(code, XLA_FLAGS="--a=1 --xla_backend_extra_options=b=2") == (
        "--a=1 --xla_backend_extra_options=b=2,xla_cpu_small_while_loop_byte_threshold=1048576"
    )
    mine = "--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=1"
    assert python(code, XLA_FLAGS=mine) == mine
    cache = "import polhode, jax; print(jax.config.jax_compilation_cache_dir)"
    assert python(cache, JAX_COMPILATION_CACHE_DIR="/tmp/mine") == "/tmp/mine"
    assert python(cache).endswith("polhode")


def test_a_notice_where_jax_was_started_before() -> None:
    code = (
        "import jax, warnings; jax.numpy.ones(1).block_until_ready()\n"
        "with warnings.catch_warnings(record=True) as w:\n"
        "    warnings.simplefilter('always'); import polhode\n"
        "print([str(x.message)[:44] for x in w])"
    )
    assert python(code) == "['JAX had started before polhode was imported,']"
