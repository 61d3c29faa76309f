"""`Chance`: choices read from bytes; and what hostile texts are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")


class Chance:
    """When the bytes are used up, the first of every choice."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def below(self, count: int) -> int:
        size = 1 if count <= 256 else 2 if count <= 65536 else 4
        part = self._data[self._at : self._at + size]
        self._at += size
        return int.from_bytes(part, "little") % count

    def pick(self, choices: Sequence[T]) -> T:
        return choices[self.below(len(choices))]

    def one_in(self, count: int) -> bool:
        return self.below(count) == count - 1

    def bytes(self, most: int) -> bytes:
        count = self.below(most + 1)
        part = self._data[self._at : self._at + count]
        self._at += count
        return part

    def text(self, most: int) -> str:
        return self.bytes(most).decode("utf-8", "replace")


LETTERS = "[]{}=\"'#.,\n\t -+eE_019xR*()$\\\x00１é\ufeff<>:;/|&`~!?%^@\r\x1b\u2028\ud7ff\U0001f600"
NUMBERS = (
    "0", "1", "-1", "-0.0", "1e-400", "1e400", "1e-320", "1e300", "-1e300", "1e-300", "nan", "inf", "-inf", "0.1", "3",
    "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1" * 310, "0x10", "1_000", "0b1", "0o7",
    "1e5", "1e15", "1e-12", "2.5", "1e154", "1e155", "1e-154", "1e-170", "4.9e-324", "1.7976931348623157e308",
    "1" * 5000,
)  # fmt: skip
TRAP = "fuzzing_trap"  # a module that is there, and that no file may make us import


def spoilt(chance: Chance, text: str, words: Sequence[str]) -> str:
    """A text with some of it taken out, put in, doubled or exchanged."""
    for _ in range(chance.below(5)):
        at = chance.below(max(1, len(text)))
        match chance.below(6):
            case 0:
                text = text[:at] + chance.pick(LETTERS) + text[at:]
            case 1:
                text = text[:at] + text[at + 1 + chance.below(9) :]
            case 2:
                text = text[:at] + chance.pick(words) + text[at:]
            case 3:
                text = text[:at] + chance.pick(words) + text[at + 1 + chance.below(9) :]
            case 4:
                end = at + chance.below(40)
                text = text[:end] + text[at:end] * (1 + chance.below(4)) + text[end:]
            case 5:
                text = text[:at] + chance.text(8) + text[at:]
    return text


def spoilt_bytes(chance: Chance, data: bytes) -> bytes:
    for _ in range(1 + chance.below(3)):
        at = chance.below(max(1, min(len(data), 2**32 - 1)))
        match chance.below(6):
            case 0:
                data = data[:at] + bytes([data[at] ^ (1 << chance.below(8))] if data else b"") + data[at + 1 :]
            case 1:
                data = data[:at]
            case 2:
                data = data[:at] + data[at + 1 + chance.below(64) :]
            case 3:
                data = data[:at] + chance.bytes(16) + data[at:]
            case 4:
                new = chance.pick((b"\0", b"\xff")) * (1 + chance.below(16))
                data = data[:at] + new + data[at + len(new) :]
            case 5:
                data = data[:at] + chance.bytes(8) + data[at + 8 :]
    return data


def value(chance: Chance, depth: int = 0) -> Any:
    """Anything that JSON can hold."""
    kinds = 10 if depth < 4 else 7
    match chance.below(kinds):
        case 0:
            return chance.pick((0, 1, -1, 2, 3, 10**6, 2**31, 2**62, 2**63, 2**64, -(2**63), 10**30))
        case 1:
            return chance.pick((0.0, -0.0, 0.5, 1e-320, 1e308, -1e308, 1e-3, float("inf"), float("nan"), 1e19))
        case 2:
            return chance.pick((True, False, None))
        case 3:
            return chance.pick(("", "x", "imidm", "three-field", f"{TRAP}:Method", "polhode.__main__:x", "OK", "a", "b",
                                "STOPPED", "BROKEN", "../../x", "/etc/passwd", "polhode.methods:IMIDM", "rotation",
                                "polhode.cli.main:app", "polhode.results.store:os.system", "float64", "<f8",
                                "|O"))  # fmt: skip
        case 4:
            return chance.text(12)
        case 5:
            return chance.pick(("{}", "[]", "null", '{"a":1}', "[[[]]]", '"x"', "1", "nan", "{", "[" * 2000))
        case 6:
            return [1.0, 2.0, 3.0][: chance.below(4)]
        case 7:
            return [value(chance, depth + 1) for _ in range(chance.below(4))]
        case 8:
            return {
                chance.pick(("class", "options", "a", "method", "step")): value(chance, depth + 1) for _ in range(3)
            }
        case _:
            nested: Any = chance.pick(([], {}, 1))
            for _ in range(chance.pick((3, 30, 300))):
                nested = [nested]
            return nested


def spoilt_json(chance: Chance, data: Any) -> Any:
    """The same with a value somewhere in it exchanged, taken out or added."""
    if isinstance(data, dict) and data and not chance.one_in(5):
        key = chance.pick(sorted(data))
        match chance.below(8):
            case 0:
                return {k: v for k, v in data.items() if k != key}
            case 1:
                return {**data, chance.pick(("", "x", key + "x", "format", "class")): value(chance)}
            case _:
                return {**data, key: spoilt_json(chance, data[key])}
    if isinstance(data, list) and data and not chance.one_in(5):
        i = chance.below(len(data))
        match chance.below(6):
            case 0:
                return data[:i] + data[i + 1 :]
            case 1:
                return data[:i] + data[i : i + 1] * 2 + data[i + 1 :]
            case _:
                return [*data[:i], spoilt_json(chance, data[i]), *data[i + 1 :]]
    if isinstance(data, str) and chance.one_in(2):
        return spoilt(chance, data, NUMBERS)
    return value(chance)
