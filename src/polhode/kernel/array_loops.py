"""`Loops`: loops and branches of a `Program` in C, of all lanes of a member together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from polhode.kernel.array_values import Value
from polhode.kernel.flat import Block, Op, Var
from polhode.kernel.indices import Index
from polhode.kernel.lanes import Lanes, kind_of
from polhode.kernel.memory import Buffer
from polhode.kernel.weights import Weights


class Loops(Lanes):
    """What they carry is in two places by turns: the new numbers are worked out from the old ones."""

    weights: Weights

    def block(self, block: Block, known: dict[Var, Value]) -> list[Value]:
        raise NotImplementedError

    def carried(self, avals: Sequence[Var], values: Sequence[Value], weights: Sequence[float]) -> list[Any]:
        """Names of numbers, and pairs of buffers, with these values to begin with: (now, next)."""
        made: list[Any] = []
        for aval, value, n in zip(avals, values, weights, strict=True):
            if aval.size == 1:
                text = self.read(value)
                name = self.name()
                self.put(f"{kind_of(aval.dtype)} {name} = {text};")
                made.append((self.scalar(aval.shape, aval.dtype, name), name))
                continue
            now, then = self.pair(aval.shape, aval.dtype, n)
            for x in (now, then):
                x.base = self.name("b")
                self.put(f"int {x.base} = {x.first};")
            self.store(value, now)
            made.append((now, then))
        return made

    def next(self, carried: Sequence[Any], values: Sequence[Value]) -> None:
        """All at once."""
        new = []
        for (_, then), value in zip(carried, values, strict=True):
            if isinstance(then, Buffer):
                self.store(value, then)
            else:
                text = self.read(value)
                new.append((then, self.name()))
                self.put(f"const {kind_of(value.dtype)} {new[-1][1]} = {text};")
        for name, text in new:
            self.put(f"{name} = {text};")
        for now, then in carried:
            if isinstance(then, Buffer):
                self.put(f"{{ const int b = {now.base}; {now.base} = {then.base}; {then.base} = b; }}")

    def _while(self, op: Op, args: list[Value], here: dict[Var, Value]) -> list[Value]:
        test, body = op.blocks
        carried = self.carried(op.outs, args, [math.inf] * len(args))
        now = [x for x, _ in carried]
        self.sync()
        with self.inside("while (true)"):
            (go,) = self.block(test, {**here, **dict(zip(test.given, now, strict=True))})
            going = self.name()
            self.put(f"const bool {going} = {self.read(go)};")
            self.put(f"if (!{'ANY' if not self._branches else ''}({going})) break;")
            new = self.block(body, {**here, **dict(zip(body.given, now, strict=True))})
            with self.of_some(f"if ({going})"):
                self.next(carried, new)
            del new
            self.sync()
        self.sync()  # of those that the test has kept waiting
        for x, then in carried:
            x.other = then  # which of the two places it is in is not known here
        return now

    def _scan(self, op: Op, args: list[Value], here: dict[Var, Value]) -> list[Value]:
        (body,), count, length = op.blocks, len(op.outs), op.params["length"]
        carried = self.carried(op.outs, args[:count], [math.inf] * count)
        now, tables = [x for x, _ in carried], args[count:]
        self.sync()
        i = self.name("i")
        step = Index.named(i, length)
        with self.inside(f"ONE_AT_A_TIME for (int {i} = 0; {i} < {length}; ++{i})"):
            rows = [
                Value(x.shape[1:], x.dtype, lambda place, x=x: x.at([step, *place]))  # type: ignore[misc]
                for x in tables
            ]
            self.next(carried, self.block(body, {**here, **dict(zip(body.given, [*now, *rows], strict=True))}))
            self.sync()
        for x, then in carried:
            if isinstance(x, Buffer):
                if length % 2:
                    x.piece, then.piece = then.piece, x.piece
                x.base = None
        return now

    def _cond(self, op: Op, args: list[Value], here: dict[Var, Value]) -> list[Value]:
        which = self.read(args[0])
        results: list[Any] = []
        for out in op.outs:
            if out.size == 1:
                results.append(self.name())
                self.put(f"{kind_of(out.dtype)} {results[-1]};")
            else:
                results.append(self.buffer(out.shape, out.dtype, self.weights.reads[out]))
        self.sync()
        self._branches += 1
        for k, block in enumerate(op.blocks):
            head = f"if ({which} == {k})" if k == 0 else f"else if ({which} == {k})"
            with self.inside(head if k < len(op.blocks) - 1 else "else"):
                for to, value in zip(results, self.block(block, here), strict=True):
                    if isinstance(to, Buffer):
                        self.store(value, to)
                    else:
                        text = self.read(value)
                        self.put(f"{to} = {text};")
                self.sync()
        self._branches -= 1
        return [
            x if isinstance(x, Buffer) else self.scalar(out.shape, out.dtype, x)
            for x, out in zip(results, op.outs, strict=True)
        ]
