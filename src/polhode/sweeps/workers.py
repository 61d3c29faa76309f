"""Workers that run the groups of a sweep: processes on all cores of this machine, or those of a cluster, by Dask."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from polhode.model.checks import InputError
from polhode.results.store import SaveError
from polhode.sweeps.group import Group

_NEEDED = "a sweep runs on Dask, which is not installed here: pip install 'polhode[sweep]'"
_WAIT = "5s"  # for a scheduler to answer
_DEATHS = 5  # of workers that ran a group, before it is given up


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_all(
    groups: Sequence[Group],
    done: Callable[[Group, list[dict[str, Any]]], None],
    scheduler: str | None = None,
    workers: int | None = None,
) -> None:
    """Every group, on a worker; `done` is told of each as it ends. What a killed worker had begun, another goes on
    with; a group that kills its workers again and again has failed."""
    with _client(scheduler, workers) as client:
        import distributed

        # Under names of their own: what ran before under the same would be taken for the same.
        futures = {
            client.submit(_run, group, key=f"{group.folder}/{group.name}", pure=False): group for group in groups
        }
        try:
            for future in distributed.as_completed(list(futures)):
                group, error = futures[future], future.exception()
                if isinstance(error, SaveError):
                    raise error
                done(group, future.result() if error is None else _given_up(group, error))
        except BaseException:
            client.cancel(list(futures))
            raise


def _run(group: Group) -> list[dict[str, Any]]:
    return group.run()


def _given_up(group: Group, error: BaseException) -> list[dict[str, Any]]:
    why = f"{type(error).__name__}: {error}"
    if type(error).__name__ == "KilledWorker":
        why = f"{_DEATHS} processes that ran it were killed, by the system for want of memory, or by someone"
    about = {"store": "", "row": -1, "ok": False, "why": why, "status": "NOT_RUN", "steps": 0, "end_time": None}
    return [{"member": number, **about} for number in group.members]


@contextmanager
def _client(scheduler: str | None, workers: int | None) -> Iterator[Any]:
    try:
        import dask
        import distributed
    except ImportError:
        raise InputError(_NEEDED) from None
    with ExitStack() as stack:
        stack.enter_context(dask.config.set({"distributed.scheduler.allowed-failures": _DEATHS}))
        address: Any = scheduler
        if scheduler is None:
            address = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=workers or cores(),
                    threads_per_worker=1,
                    dashboard_address=None,
                    memory_limit=0,  # what a run needs it says before it begins
                    silence_logs=logging.CRITICAL,
                )
            )
        try:
            client = stack.enter_context(distributed.Client(address, timeout=_WAIT))
        except (OSError, ValueError) as error:
            raise InputError(
                f"there is no Dask scheduler at {scheduler!r}: {error}. Start one with `dask scheduler`, or leave it "
                "out to use the cores of this machine"
            ) from error
        yield client
