"""`Mark`: where a run that is written stood, whole, in a file with a checksum.

A line of JSON, the numbers of the state and of the gauges, and the sha256 of all that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np

from polhode.model.checks import shortened
from polhode.results.durable import written
from polhode.simulation import Checkpoint, Happened, LostMember, Status
from polhode.simulation.loop import Tally


class SpoiltError(Exception):
    """A mark that is not what was written."""


@dataclass(frozen=True)
class Mark:
    """All that it takes to go on as if the run had never stopped."""

    at: Checkpoint
    samples: int
    tally: Tally
    chain: bytes  # of the checksums of all parts that are full
    tail: bytes  # of the samples of the last one
    gauges: Mapping[str, np.ndarray] = field(default_factory=dict)  # what is known of the samples so far
    events: tuple[Happened, ...] = ()
    happened: int = 0  # events so far; of a mark without them
    watch: Mapping[str, Any] | None = None  # what the search for events remembers
    lost: tuple[LostMember, ...] = ()
    last: tuple[int, float] | None = None  # where the last sample is: steps, and seconds after them
    asked: str = ""  # of the run, as `asked_of` says; of a mark of a full part nothing, as it serves a longer run too

    def write(self, path: Path) -> None:
        leaves = [np.asarray(x, "<f8") for x in (*jax.tree.leaves(self.at.state), *self.gauges.values())]
        at, tally = self.at, self.tally
        head = {
            **{"done": at.done, "offset": at.offset.hex(), "rung": at.rung, "careful": at.careful},
            **{"samples": self.samples, "chain": self.chain.hex(), "tail": self.tail.hex()},
            "tally": [int(tally.iterations), float(tally.worst).hex(), int(tally.renewals), int(tally.halvings)],
            "events": [[e.name, e.t.hex(), e.acted, e.which] for e in self.events],
            "happened": self.happened,
            "watch": self.watch,
            "last": self.last and [self.last[0], float(self.last[1]).hex()],
            "lost": [[*_of(lost)] for lost in self.lost],
            "asked": self.asked,
            "gauges": list(self.gauges),
            "shapes": [list(x.shape) for x in leaves],
        }
        data = [json.dumps(head).encode() + b"\n", *(np.ascontiguousarray(x).tobytes() for x in leaves)]
        sha = hashlib.sha256()
        for each in data:
            sha.update(each)
        written(path, *data, sha.digest())

    @staticmethod
    def read(path: Path, like: Any) -> Mark:
        """With a state `like` this one."""
        try:
            data = path.read_bytes()
            if hashlib.sha256(data[:-32]).digest() != data[-32:]:
                raise SpoiltError(f"{path.name}: its checksum differs")
            line, _, numbers = data[:-32].partition(b"\n")
            return _made(json.loads(line), numbers, like)
        except OSError as error:
            raise SpoiltError(f"{path.name} is missing") from error
        except (ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError) as error:
            raise SpoiltError(f"{path.name}: {shortened(error)}") from error


def asked_of(attributes: Mapping[str, Any]) -> str:
    """A digest of what a folder says was asked of its run: a mark belongs to a folder that says the same."""
    said = [attributes.get(name) for name in ("fingerprint", "plan", "stop_if", "sentinels")]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def _made(head: dict[str, Any], numbers: bytes, like: Any) -> Mark:
    leaves, begin = [], 0
    counts = [head[name] for name in ("done", "rung", "careful", "samples", "happened")]
    counts += [*head["tally"][::2], head["tally"][3], *(head["last"] or ())[:1]]
    if not all(type(n) is int and 0 <= n < 2**63 for n in counts):
        raise SpoiltError("its counts are not whole numbers")
    for shape in head["shapes"]:
        count = int(np.prod(shape))
        leaves.append(np.frombuffer(numbers, "<f8", count, begin).reshape(shape).copy())
        begin += 8 * count
    wanted, tree = jax.tree.flatten(like)
    own = leaves[: len(wanted)]
    if [np.shape(x) for x in wanted] != [x.shape for x in own]:
        raise SpoiltError("it is of another system")
    iterations, worst, renewals, halvings = head["tally"]
    state = jax.tree.unflatten(tree, own)
    return Mark(
        Checkpoint(state, head["done"], float.fromhex(head["offset"]), head["rung"], head["careful"]),
        head["samples"],
        Tally(iterations, float.fromhex(worst), renewals, halvings),
        bytes.fromhex(head["chain"]),
        bytes.fromhex(head["tail"]),
        dict(zip(head["gauges"], leaves[len(wanted) :], strict=True)),
        tuple(Happened(name, float.fromhex(t), None, acted, which) for name, t, acted, which in head["events"]),
        head["happened"],
        _watch(head["watch"]),
        tuple(
            LostMember(tuple(member), step, float.fromhex(t), Status[status], float.fromhex(residual), iterations, why)
            for member, step, t, status, residual, iterations, why in head["lost"]
        ),
        head["last"] and (head["last"][0], float.fromhex(head["last"][1])),
        head["asked"],
    )


def _watch(memory: Any) -> Any:
    """What `remember` can be given."""
    if memory is not None:
        numbers = [float.fromhex(x) for x in (memory["last"], memory["length"], *memory["acted"])]
        if np.isnan([*numbers, *memory["signs"], memory["again"]]).any():  # infinite: before the first
            raise SpoiltError("what it knows of events is no number")
    return memory


def _of(lost: LostMember) -> tuple[Any, ...]:
    about = (float(lost.t).hex(), lost.status.name, float(lost.residual).hex(), lost.iterations, lost.why)
    return (list(lost.member), lost.step, *about)
