"""Streams of random numbers, one per gene and known by its name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tvcs_core.streams import seed_of, stream


def streams_by_name(genes: Sequence[str], rng: np.random.Generator) -> list[np.random.Generator]:
    """Make a generator for every gene from one draw of `rng` and the gene's name.

    What a gene draws depends neither on its place nor on which other genes there are.
    """
    seed = seed_of(rng)
    return [stream(seed, "target", gene) for gene in genes]
