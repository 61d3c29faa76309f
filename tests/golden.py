"""Golden bits: the last state of every method on its problems, to the last bit.

    python tests/golden.py record FILE    before something is rebuilt
    python tests/golden.py compare FILE   after it: the same bits, or what differs and by how much

Bits depend on the CPU and on the versions of JAX and XLA, so no such file is kept with the source: record and compare
on one machine.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import polhode as ph

STEPS = 25
FREE, TOP, TENSOR = "free-body", "heavy-top", "a tensor that is not diagonal"


def of_rotations() -> list[tuple[str, str]]:
    """(method, problem)."""
    pairs = []
    for name, method in ph.methods.all_methods("rotation").items():
        pairs.append((name, FREE))
        if method.traits.loads != "none":
            pairs += [(name, TOP), (name, TENSOR)]
        if method.traits.non_twisting:
            pairs += [(name, p) for p in ph.problems.PROBLEMS if p.startswith("nontwisting")]
    return [*pairs, ("em-full", FREE), ("dla-full", FREE)]


def of_systems() -> list[tuple[str, str]]:
    systems = [name for name, p in ph.problems.PROBLEMS.items() if p.method.startswith("three-field")]
    pairs = [("three-field", name) for name in systems]
    pairs += [(name, "rolling-disk") for name in ph.methods.all_methods("system") if name != "three-field"]
    pairs += [("three-field-literal", "rolling-sphere"), ("mm-dae", "pendulum"), ("three-field-sparse", "chain")]
    return pairs


def last(method: str, problem: str) -> Any:
    """The last state, in the user's axes."""
    if problem == TENSOR:
        body = ph.RigidBody([[3.0, 0.2, 0.1], [0.2, 2.0, -0.3], [0.1, -0.3, 2.5]])
        start = ph.State.of(attitude=ph.exp((0.3, 0.2, -0.1)), omega=(0.5, 3.0, 1.0))
        run: Any = ph.simulate(body, ph.Potential(lambda R: 4 * R[2, 2]), start, method=method, step=0.01, steps=STEPS)
    else:
        known = ph.problems.problem_of(problem)
        run = ph.simulate(known.problem(), method=method, steps=STEPS)
    final = run.summary()["final"]
    if run.kind == "system":
        return {name: final[name] for name in ("attitude", "omega", "position", "velocity")} | {
            "multipliers": run.multipliers[-1].tolist()
        }
    return {name: final[name] for name in ("attitude", "momentum")}


def numbers(x: Any) -> list[float]:
    if isinstance(x, dict):
        return [n for v in x.values() for n in numbers(v)]
    return [n for v in x for n in numbers(v)] if isinstance(x, list) else [float(x)]


def main(what: str, file: str) -> int:
    path, found, worst = Path(file), {}, 0.0
    before = json.loads(path.read_text()) if what == "compare" else {}
    warnings.simplefilter("ignore")
    for method, problem in [*of_rotations(), *of_systems()]:
        name, began = f"{method}, {problem}", time.perf_counter()
        try:
            found[name] = last(method, problem)
        except Exception as error:  # kept as what happens, too
            found[name] = f"{type(error).__name__}: {error}"
        if what == "record":
            print(f"{name}: {time.perf_counter() - began:.1f} s", flush=True)
            path.write_text(json.dumps(found, indent=1))
            continue
        if name not in before:
            print(f"{name}: not recorded")
        elif found[name] != before[name]:
            if isinstance(found[name], str) or isinstance(before[name], str):
                print(f"{name}: {before[name]!r:.150} -> {found[name]!r:.150}", flush=True)
                worst = float("inf")
                continue
            a, b = numbers(before[name]), numbers(found[name])
            off = max((abs(x - y) / (abs(x) + 1.0) for x, y in zip(a, b, strict=True)), default=0.0)
            worst = max(worst, off)
            print(f"{name}: differs by {off:.2g}", flush=True)
    print(f"{len(found)} runs" + ("" if what == "record" else f", differences up to {worst:.2g}"))
    return int(worst > 0.0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
