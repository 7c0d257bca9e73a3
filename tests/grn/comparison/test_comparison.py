"""A difference that is there is found, one that is not there is not claimed."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from pytest import approx
from scipy import stats

from grn_tvcs import (
    Expression,
    compare,
    compare_all,
    infer,
    read_conditions,
    simulate,
    write_expression,
)
from grn_tvcs.comparison.permutations import ALPHA
from tests.grn.comparison.conftest import COMMON, GENES, network, series


@pytest.fixture(scope="module")
def found(conditions):
    return compare(*conditions, names=("wild", "mutant"), fdr=0.3, rng=0)


def test_an_edge_that_one_condition_has_alone_is_gained_or_lost(found, conditions):
    assert found.is_significant
    [edge] = found.significant
    assert (edge.regulator, edge.target, edge.kind) == ("G1", "G7", "gained")
    assert edge.p == found.min_p == 1 / 200
    assert edge.false_discovery <= found.fdr
    assert edge.strength_b < -0.4 < edge.strength_a < 0.2
    low, high = edge.intervals[2]
    assert low < edge.difference < high < 0
    assert found.describe().startswith("1 edge differs: 1 gained, 0 lost, 0 changed, 0 reversed")
    [edge] = compare(*conditions[::-1], fdr=0.3, rng=0).significant
    assert (edge.regulator, edge.target, edge.kind) == ("G1", "G7", "lost")


def test_an_edge_of_the_other_sign_is_reversed():
    a = series(network(("G1", "G2", 0.8)), 8, 5)
    b = series(network(("G1", "G2", -0.8)), 8, 6)
    edge = compare(a, b, rng=0).edges[0]
    assert (edge.regulator, edge.target, edge.kind) == ("G1", "G2", "reversed")


def test_no_difference_is_found_where_there_is_none():
    """The level is kept: of 40 pairs no more are said to differ than chance allows."""
    weights = network(*COMMON)
    pairs = [
        (series(weights, 5, 1000 + 2 * k, 10), series(weights, 5, 1001 + 2 * k, 10))
        for k in range(40)
    ]
    results = [compare(a, b, rng=0) for a, b in pairs]
    differing = sum(result.is_significant for result in results)
    assert differing <= stats.binom.isf(0.01, len(pairs), ALPHA)
    none = next(result for result in results if not result.is_significant)
    assert none.significant == ()
    assert none.edges == ()  # none is listed at a false discovery of 1
    assert none.describe().startswith("No significant difference")


def test_with_too_few_series_nothing_is_claimed_and_it_says_how_many_are_needed(conditions):
    few = [part.part(np.isin(part.series, ("01", "02", "03"))) for part in conditions]
    found = compare(*few, rng=0)
    assert found.permutations == found.possible == 10
    assert not found.is_testable
    testable = {n: replace(found, permutations=n).is_testable for n in (33, 34, 100)}
    assert testable == {33: False, 34: True, 100: True}  # at most .03
    assert found.significant == ()
    assert found.edges == ()
    assert found.describe() == (
        "Too few series for edges: 3 series of A and 3 of B have 10 permutations, so the smallest "
        "possible p value is 0.1; 4 series per condition are needed. What can be found is genes "
        "whose regulation differs, at a false discovery of 0.1 at best. 3 genes have a false "
        "discovery of 0.2 or less: G7, G1, G6."
    )
    two = [part.part(np.isin(part.series, ("01", "02"))) for part in conditions]
    assert "Nor can a gene have a false discovery of 0.2 or less. No gene has" in (
        compare(*two, rng=0).describe()
    )


def test_with_three_series_genes_keep_their_false_discovery_rate():
    """Where no regulation differs, a gene is named in at most the accepted share of pairs."""
    weights = network(*COMMON)
    pairs = [
        (series(weights, 3, 2000 + 2 * k, 10), series(weights, 3, 2001 + 2 * k, 10))
        for k in range(60)
    ]
    named = sum("1 gene" in text or "genes have" in text for text in map(described, pairs))
    assert 0 < named <= stats.binom.isf(0.01, len(pairs), 0.2)


def described(pair):
    return compare(*pair, rng=0).describe_genes()


def test_the_order_of_genes_and_series_and_a_shift_change_nothing(found, conditions):
    a, b = conditions
    turned = Expression(a.values[:, ::-1], a.times, a.series, a.genes[::-1], scale="log")
    by_series = [turned.part(np.array(turned.series) == name) for name in ("08", "03")]
    rest = turned.part(~np.isin(turned.series, ("08", "03")))
    parts = [*by_series, rest]
    mixed = Expression(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.times for part in parts]),
        tuple(name for part in parts for name in part.series),
        turned.genes,
        scale="log",
    )
    again = compare(mixed, b, names=("wild", "mutant"), fdr=0.3, rng=0)
    assert again.table() == found.table()
    shifted = replace(b, values=b.values + np.arange(8.0))
    [edge] = compare(a, shifted, fdr=0.3, rng=0).significant
    assert (edge.regulator, edge.target, edge.kind) == ("G1", "G7", "gained")


def test_only_regulators_that_are_named_regulate(conditions):
    found = compare(*conditions, regulators=["G1", "G3"], rng=0)
    assert found.regulators == ("G1", "G3")
    assert {edge.regulator for edge in found.edges} == {"G1", "G3"}
    assert len(found.edges) == 14
    assert found.edges[0].target == "G7"


def test_a_known_perturbation_and_a_constant_gene_are_no_trouble(conditions):
    parts = [
        replace(part.with_perturbation_until(6.0), values=part.values * np.r_[np.ones(7), 0.0])
        for part in conditions
    ]
    found = compare(*parts, rng=0)
    assert np.isfinite(found.probability).all()
    assert found.edges[0].target == "G7"


def test_a_frame_a_folder_and_a_report_hold_the_same(found, tmp_path):
    frame = found.to_frame()
    assert len(frame) == 8 * 7
    assert frame.iloc[0][["regulator", "target", "kind", "significant"]].tolist() == [
        "G1", "G7", "gained", 1,
    ]  # fmt: skip
    assert frame.probability.is_monotonic_decreasing
    assert frame.false_discovery.is_monotonic_increasing
    assert (frame.difference_low <= frame.difference).all()
    assert (frame.difference <= frame.difference_high).all()
    found.save(tmp_path / "out")
    lines = (tmp_path / "out" / "differences.tsv").read_text().splitlines()
    assert lines[0].split("\t") == list(frame.columns)
    assert len(lines) == 1 + 8 * 7
    genes = (tmp_path / "out" / "genes.tsv").read_text().splitlines()
    assert genes[0].split("\t") == ["gene", "p", "false_discovery", "probability"]
    assert genes[1].startswith("G7\t0.005\t")
    assert len(genes) == 1 + len(GENES)
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["conditions"] == ["wild", "mutant"]
    assert record["significant"] == 1
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    found.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert page.count('<line class="gained"') == 1
    assert found.describe() in page
    with pytest.raises(ValueError, match="not empty"):
        found.save(tmp_path / "out")


def test_the_report_of_no_difference_draws_nothing_and_says_so(conditions, tmp_path):
    a, _ = conditions
    halves = [a.part(np.isin(a.series, names)) for names in (("01", "02"), ("03", "04"))]
    compare(*halves, rng=0).report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<svg" not in page
    assert "there is nothing to draw or to list" in page
    assert "false discovery</th>" not in page
    assert "Too few series" in page
    assert "Power with" not in page


def test_common_genes_are_compared_and_counted(conditions):
    a, b = conditions
    fewer = replace(b, values=b.values[:, :7], genes=b.genes[:7])
    with pytest.warns(UserWarning, match="7 genes are in both conditions; removed: 1 of A, 0 of"):
        found = compare(a, fewer, rng=0)
    assert found.genes == GENES[:7]
    assert found.notes[-1].startswith("7 genes are in both conditions")


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda b: replace(b, genes=tuple(f"X{j}" for j in range(8))), {},
         "share at least half of their genes, found 0 of 8 in A and 8 in B"),
        (lambda b: b.part(np.array(b.series) == "01"), {},
         "at least 2 time series .* but B has 1; 4 per condition are needed"),
        (lambda b: replace(b, values=np.abs(b.values), scale="levels"), {},
         "A is read as log and B as levels; give both on one scale, or scale if one was"),
        (lambda b: replace(b, genes=tuple(map(str.lower, GENES))), {},
         "there g1, .*G1, .* would match if capitals did not count"),
        (lambda b: replace(b, notes=("Times are in min, as the file says.",)), {},
         "^A: must give times in the unit of the other files, .* Times are in min"),
        (lambda b: replace(b, values=b.values + 1000), {},
         "^B: must hold values of the unit of A, found the medians"),
        (lambda b: replace(b, values=b.values[:0], times=b.times[:0], series=(),
                           steady_values=b.values), {},
         "no sample of B has a time; infer a network of each condition and compare the two"),
        (lambda b: b, {"fdr": 0}, "fdr must be above 0 and below 1, found 0"),
        (lambda b: b, {"permutations": 5}, r"permutations must be >= 34, found 5"),
        (lambda b: b, {"names": ("x", "x")}, "names must be two different ones"),
        (lambda b: b, {"regulators": ["nobody"]}, "nobody"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(conditions, change, options, message):
    a, b = conditions
    with pytest.raises(ValueError, match=message):
        compare(a, change(b), **options)


def test_two_tables_of_the_same_values_are_pointed_out(conditions):
    a, b = conditions
    with pytest.warns(UserWarning, match="A and B hold the same values, so nothing can differ"):
        compare(a, replace(b, values=a.values), permutations=40, rng=0)


def table_of_both(conditions, path):
    """One table with a column of conditions, the second one in front, rows in turns."""
    lines = ["Time,replicate,State," + ",".join(GENES)]
    a, b = conditions
    for i in range(len(a.times)):
        for name, part in (("mutant", b), ("wild", a)):
            cells = [f"{part.times[i]:g}", part.series[i], name]
            lines.append(",".join(cells + [f"{x:.12g}" for x in part.values[i]]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_times_of_other_steps_are_warned_of(conditions):
    a, b = conditions
    with pytest.warns(UserWarning, match="between samples is 1 in A and 60 in B: all"):
        compare(a, replace(b, times=60 * b.times), rng=0)


def test_one_table_with_a_column_is_two_tables(conditions, tmp_path):
    path = table_of_both(conditions, tmp_path / "both.csv")
    parts = read_conditions(path, "state", ("wild", "mutant"))
    assert list(parts) == ["wild", "mutant"]
    for part, wanted in zip(parts.values(), conditions, strict=True):
        assert part.series == wanted.series
        assert part.genes == wanted.genes
        assert part.values == approx(wanted.values, abs=1e-9)
    assert list(read_conditions(path, "State")) == ["mutant", "wild"]


def test_a_column_of_conditions_is_read_from_any_source(conditions, tmp_path):
    """Of the table, of its sheet of samples or of obs; a row, where genes stand in rows."""
    table = pd.read_csv(table_of_both(conditions, tmp_path / "both.csv"), dtype={"replicate": str})
    table.insert(0, "sample", [f"S{i}" for i in range(len(table))])
    facts, levels = table[["sample", "Time", "replicate", "State"]], table[["sample", *GENES]]
    turned = table.set_index("sample").T
    sheet, of_genes = tmp_path / "sheet.csv", levels.set_index("sample").T
    facts.to_csv(sheet, index=False)
    levels.to_csv(tmp_path / "levels.csv.gz", index=False)
    table.to_excel(tmp_path / "both.xlsx", index=False)
    turned.to_csv(tmp_path / "turned.csv")
    of_genes.to_csv(tmp_path / "of_genes.tsv", sep="\t")
    text = ['!Series_title\t"x"\n!Sample_geo_accession\t' + "\t".join(facts["sample"])]
    text += [
        "!Sample_characteristics_ch1\t" + "\t".join(f"{name}: {cell}" for cell in facts[name])
        for name in ("Time", "replicate", "State")
    ]
    text += ["!series_matrix_table_begin", of_genes.to_csv(sep="\t", index_label="ID_REF").strip()]
    (tmp_path / "x_series_matrix.txt").write_text(
        "\n".join([*text, "!series_matrix_table_end", ""]), encoding="utf-8"
    )
    sources = [
        (tmp_path / "both.xlsx", {}),
        (tmp_path / "turned.csv", {"genes_in_rows": True}),
        (tmp_path / "levels.csv.gz", {"samples": sheet}),
        (tmp_path / "of_genes.tsv", {"samples": sheet, "genes_in_rows": True}),
        (tmp_path / "x_series_matrix.txt", {}),
        (table, {}),
        (table.set_index(["Time", "State", "replicate"]).drop(columns="sample"), {}),
        (turned, {"genes_in_rows": True}),
        (levels, {"samples": facts}),
        (of_genes, {"samples": facts.set_index("sample"), "genes_in_rows": True}),
    ]
    for data, options in sources:
        parts = read_conditions(data, "state", ("wild", "mutant"), **options)
        for part, wanted in zip(parts.values(), conditions, strict=True):
            assert part.series == wanted.series
            assert part.genes == wanted.genes
            assert part.values == approx(wanted.values, abs=1e-9)


def test_a_column_of_conditions_of_obs(conditions, tmp_path):
    anndata = pytest.importorskip("anndata")
    pytest.importorskip("h5py")
    table = pd.read_csv(table_of_both(conditions, tmp_path / "both.csv"), dtype={"replicate": str})
    table.index = [f"S{i}" for i in range(len(table))]
    obs, var = table[["Time", "replicate", "State"]], pd.DataFrame(index=list(GENES))
    made = anndata.AnnData(table[list(GENES)].to_numpy(), obs, var)
    made.write_h5ad(tmp_path / "both.h5ad")
    for data in (made, tmp_path / "both.h5ad"):
        parts = read_conditions(data, "State")
        assert list(parts) == ["mutant", "wild"]
        for part, wanted in zip(parts.values(), conditions[::-1], strict=True):
            assert part.series == wanted.series
            assert part.values == approx(wanted.values, abs=1e-9)
    with pytest.raises(ValueError, match="no column 'stat' for condition_column; did you mean"):
        read_conditions(made, "stat")


def test_pseudotimes_have_no_column_of_conditions(tmp_path):
    with pytest.raises(ValueError, match="give a table and pseudotimes for each condition"):
        read_conditions(tmp_path / "x.csv", "state", pseudotime=tmp_path / "y.csv")


def test_a_blank_line_still_parts_series_when_the_column_is_gone(tmp_path):
    path = tmp_path / "t.tsv"
    body = "".join(
        f"{time}\t{name}\t{time + 1}\t{7 - time}\n" + ("\n" if time == 2 else "")
        for _ in range(2)
        for name in ("a", "b")
        for time in range(3)
    )
    path.write_text("Time\twhich\tG1\tG2\n" + body, encoding="utf-8")
    parts = read_conditions(path, "which")
    assert [list(part.pieces) for part in parts.values()] == [["1", "2"], ["1", "2"]]


@pytest.mark.parametrize(
    ("column", "wanted", "message"),
    [
        ("stat", (), "has no column 'stat' for condition_column; did you mean 'State'\\?; it has"),
        ("Strain", (), "has no column 'Strain' for condition_column; it has Time, replicate"),
        ("state", ("wild", "nobody"), "must name the condition 'nobody', found mutant, wild"),
        ("replicate", (), "must name 2 to 6 conditions, found 10: .*name some of them by cond"),
        ("state", ("wild",), "must name 2 to 6 conditions, found 1: wild; give the table of the"),
    ],
)
def test_a_column_that_does_not_name_two_conditions_is_refused(
    conditions, tmp_path, column, wanted, message
):
    path = table_of_both(conditions, tmp_path / "both.csv")
    with pytest.raises(ValueError, match=message):
        read_conditions(path, column, wanted)


def test_conditions_that_differ_in_case_alone_or_are_empty_have_a_remedy(tmp_path):
    path = tmp_path / "x.csv"
    rows = [
        f"{time},{name},{time + 1},{7 - time}" for name in ("wt", "WT", "ko") for time in (0, 1)
    ]
    path.write_text("\n".join(["Time,state,G1,G2", *rows, *rows]), encoding="utf-8")
    with pytest.raises(
        ValueError, match="not differ in case alone, found wt, WT: write them alike"
    ):
        read_conditions(path, "state")
    assert [*read_conditions(path, "state", ("WT", "ko"))] == ["WT", "ko"]
    path.write_text("\n".join(["Time,state,G1,G2", *rows, "0,,1,2"]), encoding="utf-8")
    with pytest.raises(ValueError, match="found an empty cell: fill it, or remove the sample"):
        read_conditions(path, "state")


def test_what_infer_takes_is_compared_without_an_expression(conditions, tmp_path):
    a, b = conditions
    want = compare(a, b, fdr=0.3, rng=0)
    frames = [
        pd.DataFrame(part.values, columns=part.genes).assign(moment=part.times, run=part.series)
        for part in conditions
    ]
    for name, frame in zip("ab", frames, strict=True):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    reading = {"time_column": "moment", "series_column": "run", "scale": "log"}
    for given in (frames, [tmp_path / "a.csv", str(tmp_path / "b.csv")], [a, frames[1]]):
        found = compare(*given, fdr=0.3, rng=0, **reading)
        assert found.table() == want.table()
    arrays = [part.values for part in conditions]
    words = {"gene_names": a.genes, "times": a.times, "series": a.series, "scale": "log"}
    assert compare(*arrays, fdr=0.3, rng=0, **words).table() == want.table()
    every = compare_all({"A": frames[0], "B": b}, fdr=0.3, rng=0, **reading)
    assert every.pairs[0].table() == want.table()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"seed": 1}, "compare does not take 'seed'; give rng, as rng=1"),
        ({"time_colum": "t"}, "compare does not take 'time_colum'; did you mean 'time_column'?"),
        ({"time_column": "t"}, "time_column is for data that are read here, but a is an Express"),
    ],
)
def test_arguments_that_compare_does_not_take_are_refused_with_the_right_one(
    conditions, words, message
):
    with pytest.raises(TypeError, match=f"^{re.escape(message)}"):
        compare(*conditions, **words)
    with pytest.raises(TypeError, match=r"^b must be an Expression, a DataFrame"):
        compare(conditions[0], 3)
    made = infer(conditions[0], "pcc")
    for pair, name in (((made, made), "a"), ((conditions[0], made), "b")):
        with pytest.raises(TypeError, match=rf"^{name} must be the data .* found a Network; score"):
            compare(*pair)


def test_a_comparison_prints_its_result(conditions):
    found = compare(*conditions, fdr=0.3, rng=0)
    assert str(found) == found.describe()
    assert str(compare_all(dict(zip("AB", conditions, strict=True)), fdr=0.3, rng=0)).startswith(
        "1 edge"
    )


def test_a_doubtful_scale_names_its_condition(conditions, tmp_path):
    tables = []
    for name, one in zip(("wt", "cold"), conditions, strict=True):
        doubtful = replace(one, values=one.values / np.ptp(one.values) + 3, scale=None)
        write_expression(doubtful, tmp_path / f"{name}.tsv")
        tables.append(tmp_path / f"{name}.tsv")
    with pytest.warns(UserWarning, match=" are taken as log") as caught:
        compare(*map(Expression.of, tables), names=("wt", "cold"), permutations=40)
    starts = [str(one.message).partition(" are taken")[0] for one in caught]
    assert starts == ["wt: values", "cold: values"]


@pytest.mark.filterwarnings("always")
def test_regulators_are_matched_and_unknown_ones_named(rng):
    made = simulate(6, 8, 8, series_only=True, rng=2).expression
    number = np.array([int(name) for name in made.series])
    a, b = made.part(number <= 4), made.part(number > 4)
    with pytest.warns(UserWarning, match="1 of 2 regulators are no genes: zz"):
        assert compare(a, b, regulators=["zz", "G1"], permutations=40, rng=0).regulators == ("G1",)
    with pytest.warns(UserWarning, match="g1 is G1"):
        assert compare(a, b, regulators=["g1"], permutations=40, rng=0).regulators == ("G1",)
