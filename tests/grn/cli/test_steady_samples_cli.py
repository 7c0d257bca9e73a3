"""`infer` and `check` on steady-state samples, alone and beside series."""

import json

import numpy as np
import pytest

from grn_tvcs.report.time_courses import letters
from tests.makers.commands import check_done, grn_tvcs


def facts(done):
    """The lines of `check` by their names."""
    return {line[:13].strip(): line[13:] for line in done.stdout.splitlines()}


def test_a_table_without_time_is_taken_and_its_limits_are_reported(small, tmp_path):
    out = tmp_path / "out"
    words = ("infer", small / "multifactorial.tsv", "--out", out, "--option", "resamples=2")
    done = check_done(grn_tvcs(*words))
    assert "8 genes, 8 steady-state samples; " in done.stderr
    assert "method combined, " in done.stderr
    assert "the order and lag of changes are unknown" in done.stderr
    record = json.loads((out / "run.json").read_text())
    assert record["parameters"]["method"] == "combined"
    assert record["samples"] == {"in_series": 0, "series": 0, "steady": 8}
    assert "are unknown" in record["not_known"]
    page = (out / "report.html").read_text()
    assert "<b>8</b> steady-state samples" in page
    assert "in 0 series" not in page
    assert "was inferred from 8 steady-state samples with tvcs" in page
    again = grn_tvcs(*words, "--resume")
    assert "nothing is left to do" in again.stderr


@pytest.mark.filterwarnings("default")
def test_series_and_steady_samples_go_together(small, tmp_path):
    files = small / "timeseries.tsv", small / "multifactorial.tsv"
    done = grn_tvcs("check", *files)
    found = facts(done)
    assert found["samples"] == "44"
    assert found["series"] == "4 of 9 time points"
    assert found["steady state"] == "8 of 44 samples"
    out = tmp_path / "out"
    words = ["--method", "tvcs", "--option", "resamples=4"]
    done = check_done(grn_tvcs("infer", *files, "--out", out, *words))
    assert "36 samples in 4 series and 8 steady-state samples" in done.stderr
    assert "tvcs uses only time series and ignores 8 steady-state samples" in done.stderr
    record = json.loads((out / "run.json").read_text())
    assert record["parameters"]["method"] == "tvcs"
    assert record["samples"] == {"in_series": 36, "series": 4, "steady": 8}
    assert record["not_known"] is None
    assert "The steady-state samples were not used." in (out / "report.html").read_text()
    check_done(grn_tvcs("infer", files[0], "--out", tmp_path / "series", *words))
    alone, both = ((f / "edges.tsv").read_bytes() for f in (tmp_path / "series", out))
    assert alone == both
    assert "steady" not in (tmp_path / "series" / "run.json").read_text()


def test_check_tells_of_a_table_without_time(small):
    done = check_done(grn_tvcs("check", small / "multifactorial.tsv"))
    found = facts(done)
    assert found["series"] == "none, no sample has a time"
    assert found["steady state"] == "8 of 8 samples"
    assert "are unknown" in found["not known"]
    assert not {"spacing", "stability", "perturbed"} & set(found)


def test_the_report_shows_steady_samples_by_number(small, tmp_path):
    out = tmp_path / "out"
    done = grn_tvcs("infer", small / "multifactorial.tsv", "--out", out, "--method", "clr")
    assert "clr scores both directions of a pair equally, so direction is unknown" in done.stderr
    page = (out / "report.html").read_text()
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert [s["name"] for s in data["series"]] == ["steady-state samples, by number"]
    number, low, high, text, _, _ = data["profiles"][0]
    gene = data["genes"][number]
    rows = [line.split("\t") for line in (small / "multifactorial.tsv").read_text().splitlines()]
    result = [float(row[rows[0].index(gene)]) for row in rows[1:]]
    assert text == letters(np.array(result), low, high)
    assert (low, high) == (min(result), max(result))
