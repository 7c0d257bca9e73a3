"""Streams of random numbers, each named after what it is for.

Two commands that are given the same seed must not draw the same numbers: a random plan for a
crowd that was simulated with the same seed would prefer its worst workers.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from tvcs_core.arguments import require_number


def stream(rng: int | np.random.Generator | None, *words: str) -> np.random.Generator:
    """Return the generator of the seed `rng` for the purpose that `words` name.

    It depends on nothing that is drawn elsewhere, and no other words give the same numbers. The
    first word belongs to one place in the code (`tests/test_streams.py`); further ones tell its
    methods, genes or rounds apart. A generator is handed on as it is: whoever made it has named
    it. None gives numbers that nobody can repeat.
    """
    require_seed(rng)
    if rng is None or isinstance(rng, np.random.Generator):
        return np.random.default_rng(rng)
    key = blake2b("\0".join(words).encode(), digest_size=16).digest()
    return np.random.default_rng([rng, int.from_bytes(key, "little")])


def seed_of(rng: int | np.random.Generator | None) -> int:
    """Draw a seed, for a function that needs several streams, from what its caller gave."""
    require_seed(rng)
    return int(np.random.default_rng(rng).integers(2**63))


def require_seed(rng: object) -> None:
    """Refuse what is no integer >= 0, no generator and not None."""
    if not (rng is None or isinstance(rng, np.random.Generator)):
        require_number("rng", rng, whole=True, least=0)
