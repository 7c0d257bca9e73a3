"""Streams of random numbers, one per gene and known by its name."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np


def streams_by_name(genes: Sequence[str], rng: np.random.Generator) -> list[np.random.Generator]:
    """Make a generator for every gene from one draw of `rng` and the gene's name.

    What a gene draws depends neither on its place nor on which other genes there are.
    """
    seed = int(rng.integers(2**63))
    names = [int.from_bytes(blake2b(g.encode(), digest_size=8).digest(), "big") for g in genes]
    return [np.random.default_rng([seed, name]) for name in names]
