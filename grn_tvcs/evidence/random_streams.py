"""Streams of random numbers, one per gene and known by its name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tvcs_core.streams import seed_of, stream


def stream_of(gene: str, seed: int) -> np.random.Generator:
    """Make the generator of a gene.

    What a gene draws depends neither on its place nor on which other genes there are.
    """
    return stream(seed, "target", gene)


def streams_by_name(genes: Sequence[str], rng: np.random.Generator) -> list[np.random.Generator]:
    """Make the generators of all genes, from one draw of `rng`."""
    seed = seed_of(rng)
    return [stream_of(gene, seed) for gene in genes]
