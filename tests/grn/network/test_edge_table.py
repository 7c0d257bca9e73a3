"""edges.tsv: written in blocks, whole or its top alone, plain or compressed, and read back."""

import gzip
import subprocess
import sys

import numpy as np
import pytest

from grn_tvcs import Network, Rules, read_network, write_edges
from grn_tvcs.network import ranking
from tests.memory import PEAK

GENES = tuple(f"G{i}" for i in range(12))


@pytest.fixture
def network():
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 9, (12, 12)) / 8
    np.fill_diagonal(scores, 0.0)
    named = ("=1", "NA", 'a"b', *GENES[3:])
    signs = rng.integers(-1, 2, (12, 12))
    stability = rng.uniform(size=(12, 12)).round(3)
    return Network.of(named, scores, signs, stability=stability).select_under_caps(Rules(2, 3, 15))


def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("block", [1, 7, 10**6])
def test_blocks_change_no_byte(network, tmp_path, monkeypatch, block):
    write_edges(network, tmp_path / "edges.tsv")
    monkeypatch.setattr(ranking, "BLOCK", block)
    for top in (None, 0, 5, 10**6):
        write_edges(network, tmp_path / "again.tsv", top=top)
        if top in (None, 10**6):
            same = (tmp_path / "again.tsv").read_bytes() == (tmp_path / "edges.tsv").read_bytes()
            assert same


def test_ranks_and_scores_are_those_of_the_edges(network, tmp_path):
    write_edges(network, tmp_path / "edges.tsv")
    written = [line.split("\t") for line in lines_of(tmp_path / "edges.tsv")[1:]]
    edges = network.edges()
    assert [int(cells[4]) for cells in written] == [edge.rank for edge in edges]
    assert [float(cells[2]) for cells in written] == [edge.score for edge in edges]
    assert read_network(tmp_path / "edges.tsv", network.genes).edges() == edges


@pytest.mark.parametrize("top", [0, 1, 6, 20, 131, 132, 133, 500])
def test_the_top_are_the_first_lines_and_every_selected_one(network, tmp_path, top):
    write_edges(network, tmp_path / "edges.tsv")
    write_edges(network, tmp_path / "top.tsv", top=top)
    header, *lines = lines_of(tmp_path / "edges.tsv")
    is_in = [i < top or line.split("\t")[5] == "1" for i, line in enumerate(lines)]
    expected = [line for line, keep in zip(lines, is_in, strict=True) if keep]
    assert lines_of(tmp_path / "top.tsv") == [header, *expected]


def test_compressed_edges_are_the_same_bytes_each_time_and_are_read_back(network, tmp_path):
    write_edges(network, tmp_path / "edges.tsv")
    for name in ("a.tsv.gz", "b.tsv.gz"):
        write_edges(network, tmp_path / name)
    packed = (tmp_path / "a.tsv.gz").read_bytes()
    assert packed == (tmp_path / "b.tsv.gz").read_bytes()
    assert packed[3] == 0  # no name
    assert packed[4:8] == bytes(4)  # no time
    assert gzip.decompress(packed) == (tmp_path / "edges.tsv").read_bytes()
    assert read_network(tmp_path / "a.tsv.gz", network.genes).edges() == network.edges()


def test_a_top_below_0_is_refused_before_the_file_is_there(network, tmp_path):
    with pytest.raises(ValueError, match="top must be >= 0, found -1"):
        write_edges(network, tmp_path / "edges.tsv", top=-1)
    assert not (tmp_path / "edges.tsv").exists()


WRITES = f"""
import sys
import numpy as np
from pathlib import Path
from grn_tvcs import Network, write_edges
{PEAK}
n = int(sys.argv[1])
rng = np.random.default_rng(0)
scores = rng.uniform(size=(n, n))
np.fill_diagonal(scores, 0.0)
network = Network.of(tuple(f"G{{i}}" for i in range(n)), scores).select_top(10)
write_edges(network, Path(sys.argv[2]))
print(peak_memory())
"""


def test_memory_does_not_grow_by_a_line_of_text_per_edge(tmp_path):
    peaks = []
    for n in (30, 700):
        words = [sys.executable, "-c", WRITES, str(n), str(tmp_path / "edges.tsv")]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout))
    assert (peaks[1] - peaks[0]) / 700**2 < 150  # bytes per edge; with all lines at once 480
