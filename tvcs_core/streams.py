"""Random number streams: one per purpose, all derived from the user's seed.

Two commands with the same seed must not draw the same numbers. For example, a random plan for a
crowd simulated with the same seed would prefer its worst workers.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from tvcs_core.arguments import check_number


def stream(rng: int | np.random.Generator | None, *words: str) -> np.random.Generator:
    """Return the random generator of seed `rng` for the purpose named by `words`.

    Different words give independent streams. The first word belongs to one place in the code
    (`tests/test_streams.py` checks it); further words separate methods, genes or rounds. A
    generator is returned unchanged, since its maker has named it. None gives a fresh generator
    whose numbers cannot be repeated.
    """
    check_seed(rng)
    if rng is None or isinstance(rng, np.random.Generator):
        return np.random.default_rng(rng)
    key = blake2b("\0".join(words).encode(), digest_size=16).digest()
    return np.random.default_rng([rng, int.from_bytes(key, "little")])


def seed_of(rng: int | np.random.Generator | None) -> int:
    """Draw one seed from `rng`, for a function that needs several streams."""
    check_seed(rng)
    return int(np.random.default_rng(rng).integers(2**63))


def check_seed(rng: object) -> None:
    """Raise unless `rng` is an integer >= 0, a generator or None."""
    if not (rng is None or isinstance(rng, np.random.Generator)):
        check_number("rng", rng, whole=True, least=0)
