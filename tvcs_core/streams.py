"""Streams of random numbers, each named after what it is for.

Two commands that are given the same seed must not draw the same numbers: a random plan for a
crowd that was simulated with the same seed would prefer its worst workers.
"""

from __future__ import annotations

from hashlib import blake2b
from numbers import Integral

import numpy as np


def stream(rng: int | np.random.Generator | None, *words: str) -> np.random.Generator:
    """Return the generator of the seed `rng` for the purpose that `words` name.

    It depends on nothing that is drawn elsewhere, and no other words give the same numbers. The
    first word belongs to one place in the code (`tests/test_streams.py`); further ones tell its
    methods, genes or rounds apart. A generator is handed on as it is: whoever made it has named
    it. None gives numbers that nobody can repeat.
    """
    _require_seed(rng)
    if rng is None or isinstance(rng, np.random.Generator):
        return np.random.default_rng(rng)
    key = blake2b("\0".join(words).encode(), digest_size=16).digest()
    return np.random.default_rng([rng, int.from_bytes(key, "little")])


def seed_of(rng: int | np.random.Generator | None) -> int:
    """Draw a seed, for a function that needs several streams, from what its caller gave."""
    _require_seed(rng)
    return int(np.random.default_rng(rng).integers(2**63))


def _require_seed(rng: object) -> None:
    if rng is None or isinstance(rng, np.random.Generator):
        return
    if not isinstance(rng, Integral):
        raise TypeError(f"rng must be a seed or a Generator, found {type(rng).__name__}")
    if rng < 0:
        raise ValueError(f"rng must be a seed >= 0, found {rng}")
