"""The cache that numba asks for a compiled function, and gives new ones to."""

import contextlib
import hashlib
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from tvcs_core.jit.compiling import add_compiling
from tvcs_core.jit.folder import read_sealed, write_sealed
from tvcs_core.jit.turn import Turn
from tvcs_core.jit.uninterrupted import uninterrupted


class SealedCache(NullCache):
    """The compiled signatures of one function, each in a sealed file of `folder`.

    After any error in here numba compiles, and its result replaces the file.
    """

    def __init__(self, function: Callable[..., Any], folder: Path | None) -> None:
        self._folder = folder
        line = function.__code__.co_firstlineno
        self._name = f"{function.__module__}.{function.__qualname__}-{line}"
        self._missed_at = 0.0
        self._turn: Turn | None = None

    @property
    def cache_path(self) -> str | None:
        """The folder, for numba's statistics."""
        return None if self._folder is None else str(self._folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the compiled function for `sig`; None if it must be compiled.

        While another process compiles it, wait, and load its result.
        """
        found = self._load(sig, target_context)
        if found is None:
            with contextlib.suppress(Exception):
                path = self._path(sig, target_context)
                self._turn = Turn(path)
                self._turn.wait()
                if path.exists():
                    found = self._load(sig, target_context)
            if found is not None:
                self._end_turn()
        self._missed_at = time.perf_counter()
        return found

    def _load(self, sig: Any, target_context: Any) -> Any:
        # LLVM asks for the machine code by a callback; cut off there, it would make a function
        # of nothing, and the next call would end the process.
        with uninterrupted(), contextlib.suppress(Exception):
            payload = read_sealed(self._path(sig, target_context))
            if payload is not None:
                target_context.refresh()
                return CompileResult._rebuild(target_context, *pickle.loads(payload))
        return None

    def save_overload(self, sig: Any, compiled: Any) -> None:
        """Keep the compiled function for `sig`, if there is a folder."""
        add_compiling(time.perf_counter() - self._missed_at, self._folder)
        with contextlib.suppress(Exception):
            if not (compiled.lifted or compiled.library.has_dynamic_globals):
                path = self._path(sig, compiled.target_context)
                write_sealed(path, bytes(dumps(compiled._reduce())))
        self._end_turn()

    def _end_turn(self) -> None:
        if self._turn is not None:
            self._turn.end()
            self._turn = None

    def _path(self, sig: Any, target_context: Any) -> Path:
        """Return the file for a signature and a processor."""
        if self._folder is None:
            raise FileNotFoundError
        key = sig, [_fields(kind) for kind in sig], target_context.codegen().magic_tuple()
        digest = hashlib.sha256(repr(key).encode()).hexdigest()
        return self._folder / f"{self._name}-{digest[:16]}.kernel"


def _fields(kind: Any) -> Any:
    """Return the names of a record's fields: numba's word for its type has none."""
    return getattr(kind, "fields", ()), [_fields(part) for part in getattr(kind, "types", ())]
