"""Papers recomputed side by side: a process each, as many as there are cores, with what each is doing."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from queue import Empty
from typing import Any

from polhode.papers.base import Paper, Result

Told = Callable[[dict[str, str], int], None]  # what each paper under way is doing, and how many are still to begin
_LOOK = 0.1  # s

_messages: Any = None


def recomputed(papers: Sequence[Paper], told: Told) -> dict[Paper, Result]:
    """All results, in the order of the papers; in this process where there is one paper, or one core."""
    cores = min(len(papers), _cores())
    if cores < 2:
        return {paper: _here(paper, len(papers) - i - 1, told) for i, paper in enumerate(papers)}
    context = multiprocessing.get_context("spawn")
    messages = context.Queue()
    doing: dict[str, str] = {}
    # The longest first: the printed order ends with it.
    order = sorted(range(len(papers)), reverse=True)
    with context.Pool(cores, _begin, (messages,)) as pool:  # which ends with them, also on an error or Ctrl-C
        results = {i: pool.apply_async(_there, (papers[i].id, papers[i].compute)) for i in order}
        while not all(result.ready() for result in results.values()):
            try:
                paper, what = messages.get(timeout=_LOOK)
            except Empty:
                continue
            if what is None:
                doing.pop(paper, None)
            else:
                doing[paper] = what
            ended = sum(result.ready() for result in results.values())
            told(doing, max(0, len(papers) - ended - len(doing)))
        return {papers[i]: results[i].get() for i in sorted(results)}


def _here(paper: Paper, left: int, told: Told) -> Result:
    return paper.compute(lambda what: told({paper.id: what}, left))


def _begin(messages: Any) -> None:
    """Of a process: Ctrl-C is for the one that waits."""
    global _messages
    _messages = messages
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _there(name: str, compute: Callable[[Callable[[str], None]], Result]) -> Result:
    result = compute(lambda what: _messages.put((name, what)))
    _messages.put((name, None))
    return result


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
