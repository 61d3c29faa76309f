"""Programs kept on disk as JAX traced them: a new process compiles or loads them without tracing again.

JAX's own cache keeps what XLA compiled, under a key that can only be found by tracing; for a
system of bodies that takes seconds. Here the key is the question itself: the function, its
static arguments, the shapes of its numbers, the settings of JAX and the source of all that makes the program. Users'
functions are in it by what they compute (see `traced`). What cannot be named for sure, such as a
user's class, is traced at every call, and compiled where what came out is new.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, partial, update_wrapper
from typing import Any

import jax
import jaxlib
import numpy as np

from polhode._programs import files
from polhode._programs.at_once import AtOnce
from polhode._programs.called import Called, arrays, is_plain
from polhode._programs.compiling import compiler_options
from polhode._programs.flat import Flat, shapes_of
from polhode._programs.folder import bounded, traced_folder
from polhode._programs.names import Key, NamelessError, add, add_tree, calls_back
from polhode._programs.settings import has_64_bits, settings
from polhode._programs.sources import source_of
from polhode._programs.traced import anew

_ALL: list[Stored] = []
# Programs in memory, those used last at the end. Each takes some hundred maps of memory, of which Linux lets a process
# have 65,530; then XLA aborts it. Those let go are on disk.
_MOST = 128
_recent: OrderedDict[tuple[Stored, str], Any] = OrderedDict()
_NAMES = 4096
_held: ContextVar[dict[Any, Called] | None] = ContextVar("held", default=None)


@contextmanager
def unchanged() -> Iterator[None]:
    """Within, what cannot be named computes what it did when it was first asked: it is traced once, not at every call.
    For calls that belong together."""
    before = _held.set(_held.get() or {})
    try:
        yield
    finally:
        _held.reset(before)


def forget() -> None:
    """Lets go of all programs in memory, for `jax.clear_caches`; they are on disk."""
    _recent.clear()
    for function in _ALL:
        function._names.clear()
        function._called.clear()


class Stored:
    """`jax.jit(fn)` that remembers what it traced, in the folder of JAX's cache of compiled programs."""

    def __init__(self, fn: Callable[..., Any], static: int, **compiled: bool) -> None:
        update_wrapper(self, fn)
        self._fn, self._static, self._options = fn, static, compiled
        self.made = 0  # programs that were not in memory when they were asked for
        self._names: dict[Any, str] = {}
        self._called: dict[str, tuple[Flat, Callable[..., Any]]] = {}
        _ALL.append(self)

    def __call__(self, *args: Any) -> Any:
        return self.prepared(*args)(*args[self._static :])

    def prepared(self, *args: Any, held: int = 0, then: Stored | None = None) -> Callable[..., Any]:
        """The program for arguments like these, as a function of their numbers: for calling it many times. The first
        `held` of these are as they are here in every call, and are not given again; with some there may be a `then`,
        which is called with the same numbers and the result, and its own comes beside that."""
        static, numbers = args[: self._static], args[self._static :]
        leaves, tree = jax.tree.flatten(numbers)
        if not all(map(is_plain, leaves)):  # part of what the user transforms
            inside, call = self._inside(Flat(self._fn, static, tree), leaves)
            return lambda *rest: inside.result(call(*jax.tree.leaves((numbers[:held], rest))))
        program: Any = self._for(static, tree, arrays(leaves))
        following = None if then is None else lambda result: then._like((*numbers, result))
        if held:
            program = program.after(jax.tree.leaves(numbers[:held]), following)
        return lambda *rest: program(jax.tree.leaves(rest))

    def _like(self, numbers: tuple[Any, ...]) -> Called:
        leaves, tree = jax.tree.flatten(numbers)
        return self._for((), tree, arrays(leaves))

    def _for(self, static: Any, tree: Any, leaves: list[Any]) -> Called:
        flat = Flat(self._fn, static, tree)
        try:
            name = self._name_again(static, tree, leaves)
        except NamelessError:
            return self._anew_unless_held(flat, leaves)
        return self._known(name) or self._made(name, flat, leaves)

    def name_of(self, *args: Any) -> str | None:
        """What tells the program for arguments like these from all others; None where that cannot be told."""
        leaves, tree = jax.tree.flatten(args[self._static :])
        try:
            return self._name_again(args[: self._static], tree, leaves)
        except NamelessError:
            return None

    def _known(self, name: str) -> Any:
        found = _recent.get((self, name))
        if found is not None:
            with suppress(KeyError):  # another thread has let go of it
                _recent.move_to_end((self, name))
        return found

    def _keep(self, name: str, program: Any) -> None:
        _recent[self, name] = program
        with suppress(KeyError):
            while len(_recent) > _MOST:
                _recent.popitem(last=False)

    def _inside(self, flat: Flat, leaves: list[Any]) -> tuple[Flat, Callable[..., Any]]:
        """For a call inside of another, which takes no options: the same function again where it can be named, so that
        JAX finds what it has compiled."""
        shapes = [x if hasattr(x, "dtype") else np.asarray(x) for x in leaves]
        try:
            name = f"inside {self._name(flat.static, flat.tree, shapes)}"
        except NamelessError:
            return flat, jax.jit(flat)
        return self._called.setdefault(name, (flat, jax.jit(flat)))

    def _jit(self, fn: Callable[..., Any]) -> Any:
        return jax.jit(fn, compiler_options=compiler_options(**self._options))

    def _compiled(self, fn: Callable[..., Any], leaves: list[Any], shaped: Any, results: Any = None) -> Called:
        """Once for arrays of numpy and of JAX, on a device or not: `jax.jit` would compile for each. `results`: their
        shapes and kinds, if they are known."""
        given = shapes_of(leaves)
        if results is None or not AtOnce.fits(given, results):
            return Called(self._jit(fn).lower(*given).compile(), shaped)
        packed = AtOnce(fn, given, results)
        return Called(self._jit(packed).lower(packed.shape).compile(), shaped, packed)

    def _made(self, name: str, flat: Flat, leaves: list[Any]) -> Called:
        program = self._program(name, flat, leaves)
        self.made += 1
        self._keep(name, program)
        return program

    def _program(self, name: str, flat: Flat, leaves: list[Any]) -> Called:
        folder = None if any(map(calls_back, flat.static)) else traced_folder()
        path = None if folder is None else folder / f"{self._fn.__name__}-{name}"
        found = None if path is None else files.read(path)
        if found is not None:
            program = self._found(found, leaves)
            if program is not None:
                return program
        exported = None if path is None else flat.exported(leaves)
        if path is not None and exported is not None:
            files.write(path, flat.result(range(flat.count)), exported)
            bounded()
        if exported is None:
            return self._compiled(flat, leaves, flat.result)
        return self._compiled(exported.call, leaves, flat.result, exported.out_avals)

    def _found(self, found: tuple[Any, Any], leaves: list[Any]) -> Called | None:
        """A program from disk, if it runs: one of another make of JAX may not."""
        example, program = found
        shape: Any = jax.tree.structure(example)
        try:
            return self._compiled(program.call, leaves, shape.unflatten, program.out_avals)
        except Exception:  # whatever is wrong with the numbers, tracing will say
            return None

    def _anew_unless_held(self, flat: Flat, leaves: list[Any]) -> Called:
        held = _held.get()
        if held is None:
            return self._anew(flat, leaves)
        key = (self, flat.static, flat.tree, tuple((x.shape, x.dtype) for x in leaves), settings(), has_64_bits())
        try:
            found = held.get(key)
        except TypeError:  # not all of it can be compared
            return self._anew(flat, leaves)
        if found is None:
            found = held[key] = self._anew(flat, leaves)
        return found

    def _anew(self, flat: Flat, leaves: list[Any]) -> Called:
        """Traced now, compiled if it never came out like this before."""
        with anew():
            lowered = self._jit(flat).trace(*leaves).lower()
        text = lowered.as_text()
        shapes = [(x.shape, str(x.dtype)) for x in leaves]  # those too that the text does without
        name = hashlib.sha256(f"{shapes} {text}".encode()).hexdigest()
        compiled = self._known(name)
        if compiled is None:
            compiled = lowered.compile()
            self.made += 1
        if "callback" not in text:  # of which the text says no more than an address
            self._keep(name, compiled)
        return Called(compiled, flat.result)

    def _name_again(self, static: Any, tree: Any, leaves: list[Any]) -> str:
        """The name of what was asked for before, found by comparing, which is quick."""
        try:
            key = (static, tree, tuple((x.shape, x.dtype) for x in leaves), settings(), has_64_bits())
            found = self._names.get(key)
        except TypeError:  # not all of it can be compared
            return self._name(static, tree, leaves)
        if found is None:
            if len(self._names) >= _NAMES:
                self._names.clear()
            found = self._names[key] = self._name(static, tree, leaves)
        return found

    def _name(self, static: Any, tree: Any, leaves: list[Any]) -> str:
        h = Key(_here())
        set_to = [repr(setting) for setting in settings()]
        add(h, (self._fn, static, [(x.shape, str(x.dtype)) for x in leaves], set_to, has_64_bits()))
        add_tree(h, tree)
        h.update(source_of(frozenset(h.modules)))
        return h.hexdigest()[:40]


def stored(
    fn: Callable[..., Any] | None = None, *, static: int = 0, briefly: bool = False, widely: bool = False
) -> Any:
    """A decorator: compiled, its first `static` arguments static, and remembered from process to process.
    `briefly` compiles what is called a few times only: soon, not well; `widely` what has many numbers side by side."""
    if fn is None:
        return partial(stored, static=static, briefly=briefly, widely=widely)
    return Stored(fn, static, briefly=briefly, widely=widely)


def kept_on_disk() -> bool:
    return traced_folder() is not None


@cache
def _here() -> bytes:
    """What all programs of this process have in common."""
    device = jax.devices()[0]
    versions = f"{jax.__version__} {jaxlib.__version__} {np.__version__} {device.platform} {device.device_kind}"
    return hashlib.sha256(versions.encode()).digest()
