"""Cells in bins against loops over cells."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grn_tvcs import Expression, infer
from grn_tvcs.expression import bins
from grn_tvcs.expression.bins import average_in_bins, holds_cells, prepared
from grn_tvcs.expression.scales import on_scale
from grn_tvcs.expression.subset import subset_genes
from tvcs_core import DataError


def by_cells(times, values, weights, n):
    """One lineage, cell by cell: each joins the bin where the middle of its time lies."""
    total = sum(weights)
    sums = {}
    for time in sorted(set(times)):
        before = sum(w for t, w in zip(times, weights, strict=True) if t < time)
        here = sum(w for t, w in zip(times, weights, strict=True) if t == time)
        number = int((before + here / 2) * n / total)
        mine = sums.setdefault(number, [0.0, 0.0, np.zeros(len(values[0]))])
        for t, x, w in zip(times, values, weights, strict=True):
            if t == time:
                mine[0] += w
                mine[1] += w * t
                mine[2] += w * np.array(x)
    return [(t / w, x / w, w) for _, (w, t, x) in sorted(sums.items())]


def lineages(sizes, rng):
    """Cells at uneven times, one series for each size."""
    n = sum(sizes)
    times = np.concatenate([np.sort(rng.random(size)) for size in sizes])
    names = tuple(f"L{k}" for k, size in enumerate(sizes) for _ in range(size))
    values = rng.random((n, 3)) * (rng.random((n, 3)) > 0.4)
    return Expression(values, times, names, ("A", "B", "C"))


def beeline(folder, times, values, weights=None):
    """Write BEELINE's files; None is no time."""
    levels = folder / "ExpressionData.csv"
    cells = [f"c{c}" for c in range(len(values))]
    rows = [["", *cells]] + [
        [f"G{g}", *map(repr, x)] for g, x in enumerate(zip(*values, strict=True))
    ]
    levels.write_text("\n".join(",".join(row) for row in rows))
    clock, extra = folder / "PseudoTime.csv", folder / "Weights.csv"
    for path, columns in ((clock, times), (extra, weights)):
        if columns is not None:
            body = [
                ",".join([cell, *("" if t is None else repr(t) for t in row)])
                for cell, row in zip(cells, zip(*columns, strict=True), strict=True)
            ]
            head = ",".join(["", *(f"T{k}" for k in range(len(columns)))])
            path.write_text("\n".join([head, *body]))
    return levels, clock, None if weights is None else extra


def read(files):
    levels, clock, weights = files
    return Expression.of(levels, pseudotime=clock, lineage_weights=weights)


class TestBins:
    @settings(max_examples=60)
    @given(
        times=st.lists(st.sampled_from(range(9)), min_size=2, max_size=30).filter(
            lambda t: len(set(t)) > 1
        ),
        n=st.integers(2, 9),
        seed=st.integers(0, 9),
        is_weighted=st.booleans(),
    )
    def test_are_those_of_a_loop_over_cells(self, tmp_path_factory, times, n, seed, is_weighted):
        rng = np.random.default_rng(seed)
        folder = tmp_path_factory.mktemp("cells")
        values = np.round(rng.random((len(times), 2)), 3).tolist()
        weights = [w / 4 for w in rng.integers(1, 5, len(times)).tolist()]
        files = beeline(folder, [times], values, [weights] if is_weighted else None)
        cells = read(files)
        n = min(n, len(cells.times))
        found = average_in_bins(cells, n)
        slow = by_cells(times, values, weights if is_weighted else [1.0] * len(times), n)
        assert len(found.times) == len(slow)
        for k, (time, mean, weight) in enumerate(slow):
            assert found.times[k] == pytest.approx(time)
            assert found.values[k] == pytest.approx(mean)
            assert found.cells[k] == pytest.approx(weight)

    def test_hold_equal_numbers_of_cells_and_lineages_stay_apart(self):
        cells = lineages([207, 130], np.random.default_rng(1))
        found = average_in_bins(cells, 20)
        assert [rows.stop - rows.start for rows in found.pieces.values()] == [20, 20]
        assert set(found.cells[:20]) == {10, 11}
        assert set(found.cells[20:]) == {6, 7}
        assert found.cells.sum() == 337
        for name, rows in cells.pieces.items():
            part = found.pieces[name]
            mean = np.average(found.values[part], axis=0, weights=found.cells[part])
            assert mean == pytest.approx(cells.values[rows].mean(axis=0))

    def test_the_number_is_the_root_of_the_cells_within_bounds(self):
        cells = lineages([400, 64, 2600, 7], np.random.default_rng(2))
        pieces = average_in_bins(cells).pieces.values()
        assert [rows.stop - rows.start for rows in pieces] == [20, 10, 50, 7]

    def test_a_note_says_the_cells_and_their_zeros(self):
        cells = lineages([400], np.random.default_rng(3))
        percent = round(100 * (cells.values == 0).mean())
        note = average_in_bins(cells).notes[-1]
        assert note.startswith("400 cells were averaged to 20 samples, bins of about equal numbers")
        assert f"{percent} % of their levels were 0 and count as 0 in the means" in note
        whole = Expression(cells.values + 1, cells.times, cells.series, cells.genes)
        assert "were 0" not in average_in_bins(whole).notes[-1]

    def test_steady_samples_stay_and_a_bin_is_perturbed_as_most_of_it(self):
        times, on = np.arange(8.0), np.arange(8) < 3
        data = Expression(
            np.arange(8.0)[:, None], times, ("1",) * 8, ("A",), on, steady_values=[[5.0], [6.0]]
        )
        found = average_in_bins(data, 4)
        assert found.values[:, 0].tolist() == [0.5, 2.5, 4.5, 6.5]
        assert found.perturbed.tolist() == [True, True, False, False]
        assert found.steady_values[:, 0].tolist() == [5, 6]
        assert average_in_bins(data, 2).perturbed.tolist() == [True, False]

    def test_are_made_by_themselves_of_cells_alone(self):
        rng = np.random.default_rng(4)
        cells = lineages([101], rng)
        assert holds_cells(cells)
        course = Expression(cells.values, np.arange(101.0), cells.series, cells.genes)
        few = lineages([100, 100], rng)
        on = Expression(cells.values, cells.times, cells.series, cells.genes, cells.times < 0.5)
        for expression in (course, few, on):
            assert not holds_cells(expression)
            assert average_in_bins(expression) is expression

    def test_too_many_or_too_few_are_refused(self):
        cells = lineages([30, 12], np.random.default_rng(5))
        with pytest.raises(ValueError, match="series L1 has 12 and 13 bins are asked for"):
            average_in_bins(cells, 13)
        for bad in (1, 0, -2, "many"):
            with pytest.raises(ValueError, match=f"auto or an integer >= 2, found {bad!r}"):
                average_in_bins(cells, bad)
        rest = Expression(np.zeros((0, 1)), [], (), ("A",), steady_values=[[1.0], [2.0]])
        assert average_in_bins(rest) is rest
        with pytest.raises(ValueError, match="all samples are in steady state"):
            average_in_bins(rest, 5)


class TestWeightsOfLineages:
    VALUES = ((1.0,), (2.0,), (4.0,), (8.0,))

    def test_weigh_cells_and_leave_out_those_of_weight_0(self, tmp_path):
        times = [[0.0, 1.0, 1.0, 2.0], [0.0, None, 3.0, 2.0]]
        weights = [[1.0, 0.75, 0.25, 0.0], [0.5, 1.0, None, 1.0]]
        found = read(beeline(tmp_path, times, self.VALUES, weights))
        assert found.series == ("T0", "T0", "T1", "T1")
        assert found.times.tolist() == [0, 1, 0, 2]
        assert found.values[:, 0].tolist() == [1, 0.75 * 2 + 0.25 * 4, 1, 8]
        assert found.cells.tolist() == [1, 1, 0.5, 1]

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("T0", "T9", r"must have the lineages of .*: T0, T9"),
            ("c3", "c9", r"must have the cells of .*: c3, c9"),
            ("0.25", "-0.25", r"Weights.csv:4, column 'T0': a weight must be >= 0, found -0.25"),
            ("0.25", "x", r"Weights.csv:4, column 'T0': must be a number"),
        ],
    )
    def test_of_other_cells_or_below_0_are_refused(self, tmp_path, old, new, message):
        weights = [[1.0, 0.75, 0.25, 0.5]]
        files = beeline(tmp_path, [[0.0, 1.0, 2.0, 3.0]], self.VALUES, weights)
        files[2].write_text(files[2].read_text().replace(old, new))
        with pytest.raises(DataError, match=message):
            read(files)

    def test_need_pseudotimes(self, tmp_path):
        with pytest.raises(ValueError, match="give pseudotime as well, or leave them out"):
            Expression.of(tmp_path / "x.csv", lineage_weights=tmp_path / "w.csv")


class TestCellsBeforeBins:
    def test_are_kept_for_evidence_without_time(self, rng):
        cells = lineages((40, 30), rng)
        found = average_in_bins(cells, 5)
        assert np.array_equal(found.unbinned, cells.values)
        assert np.array_equal(found.unbinned_levels, cells.values)
        assert np.array_equal(average_in_bins(found, 2).unbinned, cells.values)
        rest = replace(cells, steady_values=np.ones((2, 3)))
        both = average_in_bins(rest, 5)
        assert np.array_equal(both.unbinned_levels, np.vstack([cells.values, np.ones((2, 3))]))
        assert both.levels.shape == (12, 3)
        assert cells.unbinned is None
        assert np.array_equal(rest.unbinned_levels, rest.levels)

    def test_of_very_many_some_are_kept_evenly_spaced(self, rng, monkeypatch):
        monkeypatch.setattr(bins, "MAX_UNBINNED", 11)
        cells = lineages((40, 61), rng)
        assert np.array_equal(average_in_bins(cells, 5).unbinned, cells.values[::10])

    def test_follow_genes_and_scale(self, rng):
        cells = lineages((40,), rng)
        cells = replace(
            cells, values=np.round(100 * cells.values), genes=("C", "A", "B"), scale="levels"
        )
        found = average_in_bins(cells, 5)
        turned = found.in_name_order()
        rows = cells.values[:, [1, 2, 0]].tolist()
        assert turned.unbinned.tolist() == sorted(rows)
        assert subset_genes(found, ["A", "C"]).unbinned.shape == (40, 2)
        counts = on_scale(found, "counts")
        size = counts.unbinned.sum(axis=1)
        assert size[size > 0] == pytest.approx(size.max())
        assert found.part(np.arange(5) < 3).unbinned is None

    def test_of_counts_have_one_size_though_a_cell_holds_none(self, rng):
        cells = lineages((40,), rng)
        values = np.round(50 * cells.values)
        values[7] = 0.0
        found = prepared(replace(cells, values=values), 5, "counts")
        assert found.levels.sum(axis=1) == pytest.approx(found.levels[0].sum())

    def test_are_refused_with_other_genes_or_without_numbers(self, rng):
        found = average_in_bins(lineages((40,), rng), 5)
        with pytest.raises(ValueError, match="unbinned must have a column for each of the 3 genes"):
            replace(found, unbinned=np.ones((4, 2)))
        with pytest.raises(ValueError, match="levels of cells must be finite"):
            replace(found, unbinned=np.full((4, 3), np.nan))

    @pytest.mark.parametrize(
        "method", ["pcc", "spearman", "clr", "pidc", "aracne", "mrnet", "partial-correlation"]
    )
    def test_are_used_by_methods_without_time(self, method, rng):
        cells = lineages((40, 30), rng)
        found = infer(average_in_bins(cells, 5), method, scale="levels")
        assert np.array_equal(found.scores, infer(cells, method, scale="levels").scores)
