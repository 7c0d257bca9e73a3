"""`--bins` and `--lineage-weights` on BEELINE's files."""

import json

import numpy as np
import pytest

from tests.makers.commands import grn_tvcs


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """Files of 150 cells in one lineage and 40 of them in another."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("cells")
    levels = rng.random((4, 150)) * (rng.random((4, 150)) > 0.5)
    names = [f"c{c}" for c in range(150)]
    lines = [",".join(["", *names])]
    lines += [",".join([f"G{g}", *(f"{x:.4f}" for x in row)]) for g, row in enumerate(levels)]
    (folder / "ExpressionData.csv").write_text("\n".join(lines) + "\n")
    clock, weights = [",A,B"], [",A,B"]
    for c, name in enumerate(names):
        other = f"{rng.random():.12f}" if c < 40 else ""
        clock.append(f"{name},{rng.random():.12f},{other}")
        weights.append(f"{name},1,{0.5 if c < 20 else 0}")
    (folder / "PseudoTime.csv").write_text("\n".join(clock) + "\n")
    (folder / "Weights.csv").write_text("\n".join(weights) + "\n")
    return folder


def layout(cells, *words):
    return (cells / "ExpressionData.csv", "--pseudotime", cells / "PseudoTime.csv", *words)


def series(done):
    assert done.exit_code == 0, done.stderr
    return next(line[13:] for line in done.stdout.splitlines() if line.startswith("series "))


def test_check_prints_each_way_to_read_once(tmp_path):
    rng = np.random.default_rng(0)
    rows = [[f"AAC{c}-1", *(str(x) for x in 10 * rng.random(5))] for c in range(60)]
    lines = [",pseudotime,GATA1,SPI1,MYC,RUNX1", *(",".join(row) for row in rows)]
    (tmp_path / "cells.csv").write_text("\n".join(lines) + "\n")
    message = grn_tvcs("check", tmp_path / "cells.csv").stderr.splitlines()
    ways = [line for line in message if line.startswith("this reads it")]
    assert ways
    assert len(ways) == len(set(ways))


@pytest.mark.filterwarnings("always:.*cells were averaged")
def test_check_says_bins_cells_and_zeros(cells):
    done = grn_tvcs("check", *layout(cells))
    assert series(done) == "2 of 10 to 12 time points"
    assert "190 cells were averaged to 22 samples" in done.stderr
    assert "% of their levels were 0" in done.stderr
    assert series(grn_tvcs("check", *layout(cells, "--bins", 25))) == "2 of 25 time points"
    off = grn_tvcs("check", *layout(cells, "--bins", "off"))
    assert series(off) == "2 of 40 to 150 time points"
    assert "averaged" not in off.stderr
    weighted = layout(cells, "--bins", 5, "--lineage-weights", cells / "Weights.csv")
    assert "160 cells were averaged to 10 samples" in grn_tvcs("check", *weighted).stderr


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        ("41", "series B has 40 and 41 bins are asked for"),
        ("1", "bins must be auto or an integer >= 2, found 1"),
        ("some", "--bins must be auto, an integer >= 2 or off, found 'some'"),
    ],
)
def test_bad_bins_are_one_line_and_write_nothing(cells, tmp_path, bins, message):
    done = grn_tvcs("infer", *layout(cells, "--bins", bins), "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert message in done.stderr.splitlines()[-1]
    assert not (tmp_path / "out").exists()


@pytest.mark.filterwarnings("always:.*cells were averaged")
def test_infer_records_the_bins_that_were_made(cells, tmp_path):
    few = ("--option", "resamples=4", "--scale", "levels")
    records = {}
    for name, words in (("default", ()), ("auto", ("--bins", "auto")), ("off", ("--bins", "off"))):
        done = grn_tvcs("infer", *layout(cells, *words, *few), "--out", tmp_path / name)
        assert done.exit_code == 0, done.stderr
        records[name] = json.loads((tmp_path / name / "run.json").read_text())
    assert records["default"]["parameters"]["bins"] == "auto"
    assert records["default"]["cells"] == {"number": 190.0, "samples": 22}
    assert records["off"]["parameters"]["bins"] == "off"
    assert "cells" not in records["off"]
    files = [(tmp_path / name / "edges.tsv").read_bytes() for name in records]
    assert files[0] == files[1] != files[2]
    page = (tmp_path / "default" / "report.html").read_text()
    assert "190 cells were averaged to 22 samples" in page
    assert "--bins auto" in page
