import json
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest

from grn_tvcs import Expression, SteadyStates, infer, simulate, write_expression
from grn_tvcs.expression.scales import (
    describe_scale,
    guess_scale,
    of_one_size,
    on_scale,
    scale_like,
)
from tests.makers.commands import check_done, check_refused, grn_tvcs

SIZE = 40, 12


@pytest.fixture(scope="module")
def levels():
    """Levels in [0, 1], as simulators and the DREAM challenge give them."""
    return simulate(12, 6, 11, n_edges=15, rng=4).expression


def table(values, **more):
    values = np.array(values, dtype=float)
    n, n_genes = values.shape
    genes = tuple(f"G{i}" for i in range(n_genes))
    return Expression(values, np.arange(n), ("1",) * n, genes, **more)


def looks(kind):
    """Numbers as machines and programs give them."""
    rng = np.random.default_rng(7)
    raw = np.exp(rng.normal(3, 2, (1, SIZE[1])) + rng.normal(0, 0.7, SIZE))
    counts = rng.poisson(raw / 10).astype(float)
    return {
        "normalised to 1": raw / raw.max(),
        "beside a control": np.minimum(raw / raw.mean(axis=0) / 4, 2.0),
        "mean log1p of cells": np.log1p(rng.poisson(np.minimum(raw, 200) / 90, (90, *SIZE))).mean(
            axis=0
        ),
        "RMA": np.clip(np.log2(raw) + 4, 4, 15),
        "log1p of counts": np.log1p(counts * (counts < 8000)),
        "raw counts": np.append(counts, [[600] * SIZE[1]], axis=0),
        "TPM": raw * 10,
        "qPCR, few high": np.minimum(np.exp(rng.normal(-1, 1.2, SIZE)), 24.0),
        "centred log ratios": rng.normal(0, 1, SIZE),
        "z-scores of 3 digits": rng.normal(0, 1, SIZE).round(3),
        "log2 of TPM + .01": np.log2(raw / 20 + 0.01),
        "expected counts": np.where(rng.random(SIZE) < 0.4, raw, np.rint(raw)),
        "TPM of 4 digits": np.array([[float(f"{x:.4g}") for x in row] for row in raw]),
        "small whole numbers": rng.integers(0, 9, SIZE).astype(float),
    }[kind]


OTHER = {"levels": "log", "log": "levels", "counts": "levels"}  # of a doubtful guess, mostly
GUESSES = [
    ("normalised to 1", "levels", False),
    ("beside a control", "levels", False),
    ("mean log1p of cells", "levels", True),
    ("RMA", "log", True),
    ("log1p of counts", "log", True),
    ("raw counts", "counts", True),  # of 12 genes
    ("TPM", "levels", False),
    ("TPM of 4 digits", "levels", False),
    ("expected counts", "levels", True),
    ("qPCR, few high", "levels", True),
    ("centred log ratios", "log", False),
    ("z-scores of 3 digits", "log", False),
    ("log2 of TPM + .01", "log", False),
    ("small whole numbers", "counts", True),
]


@pytest.mark.parametrize(("kind", "scale", "is_doubtful"), GUESSES)
def test_a_scale_is_guessed_and_doubt_is_reported(kind, scale, is_doubtful):
    values = looks(kind)
    guess = guess_scale(values)
    assert (guess.scale, guess.other is not None) == (scale, is_doubtful)
    data = table(values)
    if is_doubtful:
        other = "counts" if kind == "expected counts" else OTHER[scale]
        with pytest.warns(UserWarning, match=f"are taken as {scale}, for .* give scale={other!r}"):
            settled = on_scale(data)
    else:
        settled = on_scale(data)
    assert (settled.scale, settled.guessed_from) == (scale, guess.why)
    assert f"(guessed: {guess.why})" in describe_scale(settled)
    again = on_scale(settled)
    assert np.allclose(again.values, settled.values)
    assert (again.scale, again.guessed_from) == (scale, guess.why)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (np.log2, r"series b seems to hold logarithms, unlike series [ac] \(their medians are"),
        (np.rint, r"series b seems to hold counts, unlike series [ac] \(their medians are"),
        (lambda levels: levels, None),
    ],
)
def test_a_series_in_another_unit_is_pointed_out(change, message, recwarn):
    values = np.exp(np.random.default_rng(0).normal(4, 1, (12, 5)))
    values[4:8] = change(values[4:8])
    data = replace(table(values), series=tuple("aaaabbbbcccc"))
    on_scale(data)
    said = [str(one.message) for one in recwarn if "seems to hold" in str(one.message)]
    assert len(said) == (message is not None)
    assert not message or re.match(message, said[0])
    on_scale(data, "levels")
    assert len([one for one in recwarn if "seems to hold" in str(one.message)]) == len(said)


def test_counts_of_many_genes_are_no_doubt():
    values = np.random.default_rng(0).poisson(300, (10, 150))
    assert guess_scale(values.astype(float)).other is None


def whole(largest, genes, zeros=0):
    values = np.ones((20, genes))
    values.flat[:zeros], values[-1, -1] = 0, largest
    return values


def parts(largest, often=1):
    values = np.full((20, 12), 0.7)
    values.flat[:often] = largest
    return values


def halves(high):
    """The median is 1, between the halves."""
    return np.where(np.arange(240) < 120, 0.5, np.where(np.arange(240) < 230, 1.5, high)).reshape(
        20, 12
    )


def thirds(largest):
    values = np.where(np.arange(240).reshape(20, 12) < 80, 3.0, 3.5)
    values[-1, -1] = largest
    return values


@pytest.mark.parametrize(
    ("values", "scale", "other"),
    [
        (whole(50, 9), "levels", None),
        (whole(51, 9), "counts", "levels"),
        (whole(51, 99), "counts", "levels"),
        (whole(51, 100), "counts", None),
        (whole(5, 10, 10), "levels", None),  # a twentieth is 0
        (whole(5, 10, 11), "counts", "levels"),
        (whole(5, 9, 90), "levels", None),
        (whole(5, 100, 200), "counts", None),
        (parts(2.0), "levels", None),
        (parts(2.1), "log", "levels"),
        (parts(25.0), "log", "levels"),
        (parts(25.1), "levels", None),
        (parts(6 * 0.7, 9), "log", "levels"),  # the 99th percentile and the median
        (parts(6.1 * 0.7, 9), "levels", "log"),
        (halves(6.0), "log", "levels"),
        (halves(6.1), "levels", "log"),
        (thirds(25.0), "log", "levels"),
        (thirds(25.1), "levels", "counts"),  # many are whole
        (parts(-1.0), "log", None),
    ],
)
def test_where_one_guess_ends_and_another_begins(values, scale, other):
    guess = guess_scale(values)
    assert (guess.scale, guess.other) == (scale, other)
    shown = [f"{values.min():g} to {values.max():g}", "all are whole", "are negative"]
    assert sum(word in guess.why for word in shown) == 1 + ("are 0" in guess.why)


def test_levels_in_the_unit_interval_are_inferred_as_they_always_were(levels):
    plain, result = (infer(levels, scale=s, resamples=6, rng=0) for s in (None, "levels"))
    assert plain.edges() == result.edges()


def test_one_value_just_below_zero_does_not_turn_the_table_over(levels):
    values = np.array(levels.values)
    values[14, 3] = -1e-6
    clipped = np.maximum(values, 0.0)
    dipped, clean = (
        Expression(v, levels.times, levels.series, levels.genes) for v in (values, clipped)
    )
    with pytest.warns(
        UserWarning,
        match=r"1 of 792 values are just below 0 .* lowest -1e-06 of gene G4 at time .* series 2",
    ):
        found = infer(dipped, resamples=6, rng=0)
    assert found.edges() == infer(clean, resamples=6, rng=0).edges()


def test_many_negative_values_are_reported_as_logarithms(levels):
    logs = Expression(np.log(levels.values + 0.1), levels.times, levels.series, levels.genes)
    assert "logarithms, used as they are (guessed: " in describe_scale(on_scale(logs))
    assert "of 792 values are negative" in describe_scale(on_scale(logs))
    with pytest.raises(ValueError, match=r"levels must be >= 0, but \d+ of 792 values are not, "):
        infer(logs, scale="levels")
    with pytest.raises(ValueError, match="counts must be >= 0"):
        infer(logs, scale="counts")


@pytest.mark.parametrize(
    ("marker", "cells", "says"),
    [
        (-999.0, 9, r"lie between -64 and 64, and levels are not below 0, found -999 of gene G4"),
        (-99.0, 9, r"found -99 of gene G4 at time .* of series 2 \(9 such cells\)"),
        (1e30, 1, r"levels and counts are at most 1e15, found 1e\+30 of gene G4 at time"),
    ],
)
def test_a_marker_of_missing_values_is_no_measurement(levels, marker, cells, says):
    values = np.array(levels.values)
    values[14, 3 : 3 + cells] = marker
    marked = Expression(values, levels.times, levels.series, levels.genes)
    with pytest.raises(ValueError, match=says + ".*leave the cell empty and give missing="):
        infer(marked)
    scale = guess_scale(values).scale
    assert on_scale(marked, scale).scale == scale  # who names the scale vouches for the values


def test_levels_far_below_zero_after_a_background_are_not_taken_as_logarithms(levels):
    values = np.array(levels.values) * 1000 - 200
    below = Expression(values, levels.times, levels.series, levels.genes)
    with pytest.raises(ValueError, match="set levels that a subtracted background left below 0"):
        on_scale(below)


def test_logarithms_are_not_logged_again(levels):
    """One transformation more or less is another network; said once, it is the same one."""
    offset = 0.2
    logs = np.log(levels.values / levels.values.max(axis=0) + offset)
    result = Expression(logs, levels.times, levels.series, levels.genes, scale="log")
    a = infer(levels, "tvcs", resamples=6, rng=0)
    assert a.edges() == infer(result, "tvcs", resamples=6, rng=0).edges()
    above = Expression(logs - logs.min() + 1, levels.times, levels.series, levels.genes)
    b = infer(above, "tvcs", scale="log", resamples=6, rng=0)
    np.testing.assert_allclose(a.scores, b.scores, rtol=1e-4, atol=1e-6)
    assert b.edges() != infer(above, "tvcs", scale="levels", resamples=6, rng=0).edges()


def test_levels_that_are_called_logarithms_are_warned_of(levels):
    with pytest.warns(UserWarning, match=r"scale is log, but values go up to .*: logarithms lie"):
        found = on_scale(replace(levels, values=levels.values * 1e4, scale=None), "log")
    assert (found.values == levels.values * 1e4).all()


def test_counts_do_not_know_how_deep_a_sample_was_read(levels):
    counts = np.rint(levels.values * 1000)
    deep = np.where(np.arange(len(counts)) % 2, 3.0, 1.0)[:, None]
    a, b = (
        infer(
            Expression(c, levels.times, levels.series, levels.genes),
            "tvcs",
            scale="counts",
            resamples=6,
            rng=0,
        )
        for c in (counts, counts * deep)
    )
    np.testing.assert_allclose(a.scores, b.scores, rtol=1e-4, atol=1e-6)
    sizes = of_one_size(counts * deep).sum(axis=1)
    assert sizes == pytest.approx(np.full(len(counts), np.median((counts * deep).sum(axis=1))))
    empty = of_one_size(np.array([[0.0, 0.0], [1.0, 3.0]]))
    assert empty.tolist() == [[0, 0], [1, 3]]


def test_steady_states_are_brought_beside_the_series():
    data = on_scale(table([[100, 300], [200, 600], [50, 350]], scale="counts"))
    assert data.values.sum(axis=1) == pytest.approx([400.0] * 3)
    assert scale_like(data, np.array([[1.0, 3.0]])) == pytest.approx(np.array([[100.0, 300.0]]))
    below = np.array([[-0.1, 2.0]])
    with pytest.warns(UserWarning, match="1 of 2 values of steady states are below 0 and taken"):
        assert scale_like(table([[1.0, 2], [2, 1]], scale="levels"), below).tolist() == [[0, 2]]
    assert scale_like(table([[1.0, 2], [2, 1]], scale="log"), below).tolist() == below.tolist()
    with pytest.raises(ValueError, match=r"lowest value -3, .*negative ones seem to be changes"):
        scale_like(table([[1.0, 2], [2, 1]], scale="levels"), np.array([[-3.0, 2.0]]))


def test_steady_counts_read_twice_as_deep_say_the_same(levels):
    genes = levels.genes
    out = np.rint(np.random.default_rng(0).uniform(10, 900, (12, 12)))
    series = Expression(np.rint(levels.values * 1000), levels.times, levels.series, genes)
    a, b = (
        infer(series, scale="counts", resamples=4, rng=0,
              steady=SteadyStates(out * k, genes, np.ones(12, bool), genes))
        for k in (1.0, 2.0)
    )  # fmt: skip
    np.testing.assert_allclose(a.scores, b.scores, rtol=1e-4, atol=1e-6)


def test_logarithms_whose_squares_are_no_numbers_are_refused(levels):
    tiny = replace(levels, values=levels.values / levels.values.max() * 1e-160)
    with pytest.raises(ValueError, match=r"but no gene's do by more than .*e-16.; if"):
        infer(tiny, "tvcs", scale="log", resamples=2, rng=0)
    infer(tiny, "tvcs", scale="levels", resamples=2, rng=0)


@pytest.mark.filterwarnings("always")
def test_the_commands_say_which_scale_they_take_and_why(levels, tmp_path):
    logs = Expression(np.log1p(levels.values * 1e4), levels.times, levels.series, levels.genes)
    path = tmp_path / "x.tsv"
    write_expression(logs, path)
    for words in (["check"], ["infer", "--out", str(tmp_path / "a"), "--option", "resamples=4"]):
        done = check_done(grn_tvcs(words[0], path, *words[1:]))
        assert "warning" in done.stderr
        assert "values are taken as log, for no whole numbers, and they go from" in done.stderr
        text = done.stdout + done.stderr
        assert "logarithms, used as they are (guessed: no whole numbers" in text
    record = json.loads((tmp_path / "a" / "run.json").read_text())
    assert record["scale"]["used"] == "log"
    assert "no whole numbers" in record["scale"]["guessed_from"]
    page = (tmp_path / "a" / "report.html").read_text()
    assert "Values were taken as logarithms, as guessed from their range." in page
    words = ["infer", str(path), "--out", str(tmp_path / "b"), "--option", "resamples=4"]
    done = grn_tvcs(*words, "--scale", "levels")
    assert "warning" not in done.stderr
    record = json.loads((tmp_path / "b" / "run.json").read_text())
    assert record["scale"] == {"used": "levels", "guessed_from": None}
    assert record["parameters"]["scale"] == "levels"
    page = (tmp_path / "b" / "report.html").read_text()
    assert "Values were taken as levels and put on a log scale." in page
    assert "--scale levels" in page
    err = check_refused(grn_tvcs("check", path, "--scale", "ln"))
    assert "scale must be one of levels, log, counts, found 'ln'" in err


@pytest.mark.parametrize("is_logged", [False, True])
def test_logarithms_beside_small_levels_are_pointed_out(is_logged):
    rng = np.random.default_rng(3)
    levels = rng.lognormal(1, 1, 12) * rng.lognormal(0, 0.2, SIZE)
    states = np.median(levels, axis=0) * rng.lognormal(0, 0.2, (4, 12))
    states[:3, :3] += np.eye(3) * 8
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scale_like(table(levels, scale="levels"), np.log2(states + 1) if is_logged else states)
    found = ["like logarithms of the unit" in str(one.message) for one in caught]
    assert found == [True] * is_logged
