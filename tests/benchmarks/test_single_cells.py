"""The study of cells: every table has a network of its own, and differences have an error."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.networks import single_cells as study


@pytest.fixture
def seeds(monkeypatch):
    """Seeds that are asked for; an answer's AUPR is its seed, and .5 more for ``combined``."""
    asked = []

    def cells_of(lineages, n_genes, regulators, n_cells, seed):
        asked.append(seed)
        return seed, None

    def infer(seed, method, **options):
        return seed + 0.5 * (method == "combined")

    def score(aupr, true):
        return SimpleNamespace(aupr=aupr, aupr_by_chance=0.0)

    for made in (cells_of, infer, score):
        monkeypatch.setattr(study, made.__name__, made)
    monkeypatch.setattr(study, "in_bins", lambda data, bins: data)
    return asked


def test_no_two_tables_share_a_network_and_ways_are_held_against_the_peer(
    seeds, monkeypatch, capsys
):
    words = ["--networks", "3", "--ways", "auto, combined", study.PEER]
    monkeypatch.setattr(sys, "argv", ["single_cells", *words])
    study.main()
    assert len(seeds) == len(set(seeds)) == 3 * len(study.TOPOLOGIES)
    *_, means, differences = capsys.readouterr().out.splitlines()
    middle = np.mean(seeds)
    assert means == f"| mean | {middle + 0.5:.3f} | {middle:.3f} | 0.000 |"
    assert "auto, combined +0.500 (0.000)" in differences


def test_a_difference_is_said_with_its_standard_error():
    assert study.said(np.array([0.1, 0.3, 0.2, 0.2])) == "+0.200 (0.041)"
    assert study.said(np.array([0.25])) == "+0.250 (nan)"
