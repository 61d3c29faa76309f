"""`python -m fuzzing [--seed N] NAME COUNT ...`: cases of these names, so many of each."""

from __future__ import annotations

import importlib
import os
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

import fuzzing.commands
import fuzzing.files
import fuzzing.stores
import fuzzing.texts
from fuzzing.guard import checked

CASES = {
    "formulas": fuzzing.texts.formulas,
    "conditions": fuzzing.texts.conditions,
    "inputs": fuzzing.texts.inputs,
    "commands": fuzzing.commands.commands,
    "damage": fuzzing.files.damage,
    "contents": fuzzing.files.contents,
    "marks": fuzzing.files.marks,
    "numbers": fuzzing.stores.numbers,
    "datasets": fuzzing.stores.datasets,
    "sweeps": fuzzing.stores.sweeps,
    "members": fuzzing.stores.members,
    "programs": fuzzing.files.programs,
}


def fuzzed(name: str, count: int, seed: int = 0, most: int = 5) -> tuple[int, dict[str, tuple[int, bytes, str]]]:
    """How many were taken, and by where it happened what was found: how often, the first of them, its trace."""
    chance, taken = random.Random(f"{name} {seed}"), 0
    found: dict[str, tuple[int, bytes, str]] = {}
    for _ in range(count):
        data = chance.randbytes(chance.choice((4, 16, 64, 256)))
        try:
            taken += checked(CASES[name], data)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            key = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}: {str(error)[:200]}"
            where = f"{type(error).__name__} {last.filename}:{last.lineno}"
            known = found.get(where)
            found[where] = (
                (1, data, key + "\n" + traceback.format_exc()) if known is None else (known[0] + 1, *known[1:])
            )
            if len(found) >= most:
                break
    return taken, found


def in_a_folder() -> None:
    """Of its own, empty, with a module that nobody may import."""
    folder = Path(tempfile.mkdtemp(prefix="fuzzing-"))
    os.chdir(folder)
    fuzzing.texts.trap(folder)
    sys.path.insert(0, str(folder))
    fuzzing.files.saved()
    importlib.import_module("matplotlib.font_manager")  # which asks a program for fonts, once


def main(words: list[str]) -> int:
    seed = int(words.pop(words.index("--seed") + 1)) if "--seed" in words else 0
    words = [word for word in words if word != "--seed"]
    in_a_folder()
    asked = dict(zip(words[::2], map(int, words[1::2]), strict=True))
    found: Counter[str] = Counter()
    for name, count in asked.items():
        checked(CASES[name], b"")  # what is slow the first time
        began = time.process_time()
        taken, wrong = fuzzed(name, count, seed, most=20)
        for where, (often, data, trace) in wrong.items():
            print(f"--- {name}: {often} times {where}\n{data.hex()}\n{trace}")
        found[name] = len(wrong)
        took = time.process_time() - began
        print(f"{name}: {count} cases, {taken} taken, {len(wrong)} findings, {took:.0f} s of CPU", flush=True)
    return 1 if sum(found.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
