"""Variation that many genes share and no edge explains: growth, operons, common courses.

Real samples differ by more than the network: growth and sample preparation move many genes at once,
the genes of an operon are one transcript, and a stimulus or a development moves genes that no
measured regulator changes. Log levels get a sum of factors,

    sum over factors k of l_ik f_k(sample),

with l_ik the loading of gene i and f_k of standard deviation 1. Factors of all genes change
slowly along a series, or go one way. They may be the same in all series, as after a common
stimulus. Factors of operons have loadings of one sign in 2 to 6 genes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Wide on purpose: docs/simulator.md says what real tables these reach.
N_FACTORS = (1, 3)  # of all genes
SIZE, OPERON_SIZE = (0.05, 0.8), (0.05, 0.5)  # standard deviation of log levels by a factor
AGREEMENT = (0.0, 2.0)  # mean loading, in standard deviations of loadings
MEMORY = (0.0, 0.98)  # correlation of a factor between two points
IN_OPERONS, OPERON = 0.6, (2, 6)  # largest fraction of genes in operons; genes of one
P_SAME_COURSE, P_ONE_WAY, P_OPERONS = 0.4, 0.4, 0.6  # of a factor, a factor, and a table

Array = NDArray[np.float64]


def draw_common_variation(lengths: list[int], n_genes: int, rng: np.random.Generator) -> Array:
    """Draw changes of log levels of series of some lengths, one below the other; (samples, genes).

    Samples at rest are series of one point.
    """
    found = np.zeros((sum(lengths), n_genes))
    for _ in range(int(rng.integers(N_FACTORS[0], N_FACTORS[1] + 1))):
        loading = rng.uniform(*AGREEMENT) + rng.standard_normal(n_genes)
        loading *= np.exp(rng.uniform(*np.log(SIZE))) / np.sqrt(np.mean(loading**2))
        found += np.outer(_factor(lengths, rng), loading)
    if rng.random() < P_OPERONS:
        found += _operons(lengths, n_genes, rng)
    return found


def _factor(lengths: list[int], rng: np.random.Generator) -> Array:
    """Draw a factor of mean 0 and standard deviation 1; (samples,)."""
    memory, is_same = rng.uniform(*MEMORY), rng.random() < P_SAME_COURSE
    is_one_way, offset = rng.random() < P_ONE_WAY, rng.uniform(0.0, 1.0)
    longest = max(lengths)
    courses = [_course(longest, memory, is_one_way, rng)] * len(lengths)
    if not is_same or longest == 1:
        courses = [_course(n, memory, is_one_way, rng) for n in lengths]
    parts = [
        course[:n] + offset * rng.standard_normal()
        for course, n in zip(courses, lengths, strict=True)
    ]
    factor = np.concatenate(parts)
    factor -= factor.mean()
    return factor / max(float(factor.std()), 1e-12)


def _course(n: int, memory: float, is_one_way: bool, rng: np.random.Generator) -> Array:
    """Draw a course of `n` points: with a memory, or from one level to another."""
    course = rng.standard_normal(n)
    for k in range(1, n):
        course[k] = memory * course[k - 1] + (1 - memory**2) ** 0.5 * course[k]
    if not is_one_way or n == 1:
        return course
    along = np.linspace(0.0, 1.0, n)
    middle, width = rng.uniform(0.0, 1.0), rng.uniform(0.05, 0.4)
    return 3.0 / (1.0 + np.exp((middle - along) / width)) + 0.3 * course


def _operons(lengths: list[int], n_genes: int, rng: np.random.Generator) -> Array:
    """Draw changes of log levels of operons, each with a factor of its own."""
    found = np.zeros((sum(lengths), n_genes))
    order = rng.permutation(n_genes)[: round(rng.uniform(0.0, IN_OPERONS) * n_genes)]
    size = np.exp(rng.uniform(*np.log(OPERON_SIZE)))
    while order.size:
        n = int(rng.integers(OPERON[0], OPERON[1] + 1))
        found[:, order[:n]] += size * _factor(lengths, rng)[:, None]
        order = order[n:]
    return found
