"""From where a run that was written can go on: its last commit, or, where something of it is torn, before that."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np

from polhode.results.checkpoints import Mark, SpoiltError, asked_of
from polhode.results.growing import SLOTS
from polhode.results.tree import TornError, Tree


def sound(tree: Tree, start: Mark) -> tuple[Mark, str | None]:
    """The last mark that all before it bears out, and what was wrong with those after it. `start`: before all samples,
    with a state like those of the run. TornError where the folder's zarr.json is not that of its marks."""
    if "checkpoint" not in tree.attributes:  # it ended before its first commit
        return start, None
    committed, wrong = _mark(tree, str(tree.attributes.get("checkpoint")), start)
    known = committed or next((mark for mark, _ in (_mark(tree, name, start) for name in SLOTS) if mark), None)
    if known is not None and known.asked != asked_of(tree.attributes):
        raise TornError("its zarr.json is that of another run, to another end")
    if committed is not None and committed.samples > tree.samples:
        committed, wrong = None, "the mark of where it stands is of more samples than there are"
    parts, torn = _sound_parts(tree, committed, start)
    wrong = torn or wrong
    if committed is not None and not wrong:
        wrong = _tail(tree, committed)
    if committed is not None and not wrong:
        return committed, None
    events = () if committed is None else committed.events
    for part in sorted(parts, reverse=True):
        mark, _ = _mark(tree, f"c{part}", start)
        if mark is not None and mark.chain == parts[part] and mark.happened <= len(events):
            return replace(mark, events=events[: mark.happened]), wrong
    return start, wrong


def _mark(tree: Tree, name: str, start: Mark) -> tuple[Mark | None, str | None]:
    try:
        return Mark.read(tree.hidden / name, start.at.state), None
    except SpoiltError as error:
        return None, f"the mark of where it stands is not what was written ({error})"


def _sound_parts(tree: Tree, committed: Mark | None, start: Mark) -> tuple[dict[int, bytes], str | None]:
    """By the number of full parts up to there, which are as they were written, their chain; and what is wrong after."""
    found, chain = dict[int, bytes](), b""
    samples = tree.samples if committed is None else committed.samples
    for part in range(samples // tree.rows):
        try:
            tree.part(part)
            chain = hashlib.sha256(chain + tree.sums(part)).digest()
        except TornError as error:
            return found, str(error)
        known, why = _mark(tree, f"c{part + 1}", start)
        if known is None and (tree.hidden / f"c{part + 1}").exists():
            return found, str(why)
        if known is not None and known.chain != chain:
            return found, f"part {part} is not the one that was written: its checksums differ"
        found[part + 1] = chain
    if committed is not None and committed.chain != chain:
        return found, "its parts are not those that were written: their checksums differ"
    return found, None


def _tail(tree: Tree, mark: Mark) -> str | None:
    part, filled = divmod(mark.samples, tree.rows)
    try:
        values = tree.part(part) if filled else {}
    except TornError as error:
        return str(error)
    tail = hashlib.sha256()
    for name in tree.growing:
        if filled:
            tail.update(np.ascontiguousarray(values[name][:filled]).view(np.uint8).data)
    return None if tail.digest() == mark.tail else f"part {part} is not the one that was written"


def planned(plan: Any) -> dict[str, Any]:
    """A plan as data."""
    at = None if plan.at is None or plan.seconds is not None else [[n, float(offset).hex()] for n, offset in plan.at]
    return {"step": plan.step, "total": plan.total, "every": plan.every, "at": at, "seconds": plan.seconds}
