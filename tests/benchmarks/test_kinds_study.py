"""The study of kinds: what is given to whom, what is measured, what its page says of it."""

import gzip
from argparse import Namespace
from dataclasses import replace
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from benchmarks.networks import kinds, kinds_data, kinds_page
from benchmarks.networks.kinds_data import BOTH, COLUMN, OUT, REST, SERIES, WITH_REST
from benchmarks.peers import forests
from benchmarks.study import DOCS, load
from grn_tvcs import METHODS, Expression, Network, infer, score, simulate
from grn_tvcs.methods.table import Method
from grn_tvcs.network.confidence import calibration_error
from grn_tvcs.simulation.kinds import NULLS
from grn_tvcs.simulation.simulation import write_simulation
from tests.makers.studies import run_study

FEW = ["combined", "tvcs", "clr"]
SIZE = (4, 2, 7)


class Told(Method):
    """Stands for a method with a confidence: that of a tanh of the correlation."""

    @property
    def function(self):
        def told(expression, rules, rng, *, steady=None):
            network = METHODS["pcc"](expression, rules, rng)
            return network.replace(confidence=np.tanh(3 * network.pairs.scores))

        return told


@pytest.fixture
def method_with_confidence(monkeypatch):
    told = Told("combined", perturbation="nothing", has_confidence=True)
    monkeypatch.setitem(METHODS, "combined", told)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "tiny5" / "tiny_1"
    path.mkdir(parents=True)
    write_simulation(simulate(n_genes=5, n_series=2, n_points=6, rng=3), path)
    return path.parent


@pytest.fixture
def arguments(tmp_path, folder, monkeypatch):
    monkeypatch.setattr(kinds_data, "SIZES", {4: (2, 6)})
    monkeypatch.setattr(kinds_data, "KINDS", ("star",))
    monkeypatch.setattr(kinds_data, "NULL_DESIGNS", (SIZE,))
    monkeypatch.setattr(kinds_data, "N_STEADY", 6)
    monkeypatch.setattr(kinds_data, "BINS", 6)
    out = tmp_path / "out"
    out.mkdir()
    return Namespace(
        out=out, seed=0, jobs=1, folders=[str(folder)], compendium="", parts=0, simulate=1,
        methods=FEW, again=[], carried=False, only="",
    )  # fmt: skip


def test_all_kinds_of_data_and_nulls_are_run_and_shown(arguments, method_with_confidence, tmp_path):
    kinds.compute(arguments)
    rows = load(arguments.out / kinds.NAME, kinds.Case)
    assert [row.kind for row in rows] == ["tiny5"] * 12 + ["star, 4 genes"] * 23
    assert {row.given for row in rows} == set(kinds_data.GIVEN) - {WITH_REST}
    steady_values = {row.method for row in rows if row.given == REST}
    assert steady_values == {"combined", "clr"}, "tvcs needs series"
    nulls = load(arguments.out / kinds.NULL_NAME, kinds.Null)
    assert [(row.kind, row.method) for row in nulls] == [(null, "combined") for null in NULLS]
    assert all(0 < row.largest <= 1 for row in nulls)
    (tmp_path / kinds.PAGE).parent.mkdir()
    (tmp_path / kinds.PAGE).write_bytes((DOCS / kinds.PAGE).read_bytes())
    kinds.write_page(arguments.out, tmp_path)
    page = (tmp_path / kinds.PAGE).read_text(encoding="utf-8")
    assert "`combined` is below" in page
    assert f"| noise | {kinds.shown(SIZE)} | combined | 1 of 1 |" in page


def test_a_run_goes_on_where_it_was_and_drops_tables_on_request(
    arguments, method_with_confidence, capsys
):
    def rows():
        found = load(arguments.out / kinds.NAME, kinds.Case)
        return [replace(row, seconds=0) for row in found]

    kinds.compute(arguments)
    assert "kinds: 0 cases known, 17 fits" in capsys.readouterr().out
    first = rows()
    arguments.simulate = 0
    kinds.compute(arguments)
    assert "kinds: 35 cases known, 0 fits" in capsys.readouterr().out
    arguments.again = ["clr", "combined"]
    kinds.compute(arguments)
    assert "kinds: 27 cases known, 2 fits" in capsys.readouterr().out
    assert rows() == first
    assert len(load(arguments.out / kinds.NULL_NAME, kinds.Null)) == len(NULLS)


def test_a_run_of_some_words_takes_the_tables_that_hold_them(arguments, method_with_confidence):
    def found():
        kinds.compute(arguments)
        rows = load(arguments.out / kinds.NAME, kinds.Case)
        nulls = load(arguments.out / kinds.NULL_NAME, kinds.Null)
        return {(row.kind, row.given) for row in rows}, {row.kind for row in nulls}

    arguments.only = f"star, 4 genes, {REST}"
    assert found() == ({("star, 4 genes", REST)}, set())
    arguments.only = f"walk, {kinds.shown(SIZE)}"
    assert found() == ({("star, 4 genes", REST)}, {"walk"})


def place_of(folder):
    [place] = kinds_data.places([str(folder)], "", 0, 0)
    return place


def test_rows_are_what_infer_and_score_say(folder):
    place = place_of(folder)
    rows = {row.given: row for row in kinds.solve(kinds.Task(place, "tvcs", 0))}
    expression, reference = kinds_data.read(folder / place.network)
    steady = kinds_data.read_steady(folder / place.network)
    until = float(expression.times.max()) / 2
    expected = {
        SERIES: infer(expression, "tvcs", rng=0),
        COLUMN: infer(expression.with_perturbation_until(until), "tvcs", rng=0),
        OUT: infer(expression, "tvcs", steady=steady, rng=0),
    }
    for given, network in expected.items():
        found = score(network, reference)
        assert rows[given].aupr == found.aupr
        assert rows[given].auroc == found.auroc
        assert rows[given].chance == found.aupr_by_chance
        assert rows[given].top == pytest.approx(found.early_precision), "all pairs have a score"


def test_a_method_gets_what_it_can_use(folder):
    table = kinds_data.table_of(place_of(folder), 0)

    def given_to(method, given):
        _, expression, steady = kinds.used(table, METHODS[method], given)
        return expression.perturbed is not None, expression.n_steady, steady is not None

    assert given_to("tvcs", BOTH) == (True, 0, True)
    assert given_to("tvcs", COLUMN) == (True, 0, False)
    assert given_to("genie3", BOTH) == (False, 11, False)
    assert given_to("genie3", COLUMN) == given_to("genie3", SERIES) == (False, 0, False)
    rest = replace(table, expression=replace(table.expression, steady_values=table.steady.levels))
    _, alone, _ = kinds.used(rest, METHODS["tvcs"], WITH_REST)
    _, both, _ = kinds.used(rest, METHODS["clr"], WITH_REST)
    assert (alone.n_steady, both.n_steady) == (0, 11)


@pytest.mark.parametrize("method", forests.FORESTS)
def test_other_trees_stand_for_forests_in_large_networks_alone(method, monkeypatch):
    module = import_module(f"grn_tvcs.methods.{method}")
    forest = module.importances
    made = simulate(n_genes=4, n_series=2, n_points=5, rng=0)
    monkeypatch.setattr(forests, "TREES", 3)
    trees = []

    def counted(inputs, response, rng, n):
        trees.append(n)
        return np.ones(inputs.shape[1])

    monkeypatch.setattr(forests.extra_trees, "importances", counted)
    kinds.answer(made.expression, method, 0)
    assert (trees, forests.describe_forests(method, 4)) == ([], "3 trees")
    monkeypatch.setattr(forests, "FORESTS_UP_TO", 3)
    kinds.answer(made.expression, method, 0)
    assert trees == [100] * 4
    assert forests.describe_forests(method, 4) == "100 extremely randomised trees"
    assert module.importances is forest


def test_a_tie_among_the_surest_counts_in_part():
    truth = np.array([True, False, True, False])
    assert forests.precision_of_top(truth, np.array([3.0, 2, 1, 0]), 2) == 0.5
    assert forests.precision_of_top(truth, np.array([3.0, 1, 1, 1]), 2) == pytest.approx(2 / 3)
    assert forests.precision_of_top(truth, np.zeros(4), 3) == 0.5


@pytest.fixture
def compendium(tmp_path):
    """Two courses of three and two samples, one in steady state; four genes, a and b regulate."""
    levels = "\tc1\tc2\tc3\tr1\td1\td2\r" + "\r".join(
        f"{gene}\t" + "\t".join(str(10 * k + j) for j in range(6)) for k, gene in enumerate("dbca")
    )
    gold = '"a"\t"b"\t"z"\r\n"b"\t1\t0\t0\r\n"c"\t0\t-1\t0\r\n"q"\t1\t0\t0\r\n"d"\t0\t0\t0\r\n'
    head = "isTs\tis1stLast\tprevCol\tdel.t\tcondName\n"
    rows = [
        "TRUE\tf\tNA\tNA\tc1", "TRUE\tm\tc1\t5\tc2", "TRUE\tl\tc2\t10\tc3",
        "FALSE\te\tNA\tNA\tr1", "TRUE\tf\tNA\tNA\td1", "TRUE\tl\td1\t2\td2",
    ]  # fmt: skip
    for name, text in (("expression", levels), ("gold_standard", gold)):
        with gzip.open(tmp_path / f"{name}.tsv.gz", "wt", encoding="utf-8", newline="") as file:
            file.write(text)
    (tmp_path / "meta_data.tsv").write_text(head + "\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path


def test_a_compendium_has_series_steady_samples_and_the_pairs_that_are_known(compendium):
    table = kinds_data.compendium(str(compendium))
    expression = table.expression
    assert expression.genes == ("a", "b", "c")
    assert table.regulators == {"a", "b"}, "z is not measured"
    courses = {n: expression.times[rows].tolist() for n, rows in expression.pieces.items()}
    assert courses == {"c3": [0, 5, 15], "d2": [0, 2]}
    assert expression.values[expression.pieces["c3"]].tolist() == [
        [30, 10, 20],
        [31, 11, 21],
        [32, 12, 22],
    ]
    assert expression.steady_values.tolist() == [[33, 13, 23]]
    assert np.argwhere(table.is_edge).tolist() == [[0, 1], [1, 2]]
    assert np.argwhere(table.judged).tolist() == [[0, 1], [0, 2], [1, 2]]


@pytest.mark.filterwarnings("ignore:.*3 samples are the same as another")  # they are
def test_the_part_that_comes_along_is_in_the_run_when_asked_for(arguments):
    arguments.folders, arguments.simulate, arguments.methods = [], 0, ["pcc", "tvcs"]
    arguments.carried = True
    [place] = kinds_data.places([], "", 0, 0, carried=True)
    table = kinds_data.table_of(place, 0)
    expression = table.expression
    assert expression.genes == tuple(sorted(expression.genes))
    known = pd.read_csv(kinds_data.CARRIED / "known_edges.tsv", sep="\t")
    edges = {(expression.genes[i], expression.genes[j]) for i, j in np.argwhere(table.is_edge)}
    assert edges == set(known.itertuples(index=False, name=None))
    assert table.judged.sum() == len(table.regulators) * known.target.nunique() - len(
        table.regulators & set(known.target)
    )
    kinds.compute(arguments)
    rows = load(arguments.out / kinds.NAME, kinds.Case)
    assert [(row.given, row.method) for row in rows] == [
        (given, method) for given in (SERIES, WITH_REST) for method in ("tvcs", "pcc")
    ]
    assert all(row.aupr > 2 * row.chance for row in rows)


def test_a_part_of_a_compendium_keeps_the_regulators_of_its_targets(monkeypatch):
    monkeypatch.setattr(kinds_data, "PART_GENES", 20)
    monkeypatch.setattr(kinds_data, "PART_SERIES", 3)
    rng = np.random.default_rng(0)
    n, names = 60, tuple(f"g{k:02d}" for k in range(60))
    is_edge = np.zeros((n, n), dtype=bool)
    is_edge[:15] = rng.random((15, n)) < 0.1
    series = tuple(f"s{k // 2}" for k in range(12))
    table = kinds_data._of_candidates(
        Expression(
            rng.random((12, n)), [0, 1] * 6, series, names, steady_values=rng.random((4, n))
        ),
        set(names[:15]),
        is_edge,
    )
    part = kinds_data.part_of(table, np.random.default_rng(1))
    genes = part.expression.genes
    assert 15 < len(genes) <= 20
    assert (len(part.expression.pieces), part.expression.n_steady) == (3, 4)
    kept = [names.index(gene) for gene in genes]
    assert (part.is_edge == table.is_edge[np.ix_(kept, kept)]).all()
    targets = part.is_edge.any(axis=0)
    assert (table.is_edge[:, kept].sum(axis=0)[targets] == part.is_edge.sum(axis=0)[targets]).all()
    column = names.index(genes[4])
    assert set(part.expression.values[:, 4]) <= set(table.expression.values[:, column])


def row(kind, network, method, aupr, **more):
    facts = {
        "how": "", "genes": 9, "concentration": 2.0, "edges": 9, "pairs": 72, "chance": 0.1,
        "top": 0.5, "n_top": 9,
        "auroc": 0.5, "seconds": 1.0, "confidence": "", "error": None, "supported": 0,
        "expected": 0.0, "found": 0, "bins": "", "given": SERIES,
    } | more  # fmt: skip
    return kinds.Case(kind=kind, network=network, method=method, aupr=aupr, **facts)


def test_where_we_lose_comes_worst_first_and_asks_for_the_same_networks():
    found = kinds_page.by_kind(
        [
            row("a1", "1", "combined", 0.5), row("a1", "1", "tvcs", 0.53),
            row("b1", "1", "combined", 0.5), row("b1", "1", "clr", 0.7),
            row("b1", "1", "tvcs", 0.4),
            row("c1", "1", "combined", 0.5), row("c1", "1", "clr", 0.51),
            row("d1", "1", "combined", 0.5), row("d1", "2", "combined", 0.3),
            row("d1", "1", "clr", 0.9), row("d1", "2", "pcc", 0.9),
            row("e1", "1", "combined", 0.5, given=REST), row("e1", "1", "genie3", 0.6, given=REST),
            row("f1", "1", "genie3", 0.6),
        ]
    )  # fmt: skip
    lost = kinds_page.lose_table(found, "combined").splitlines()
    assert "0.02 on 3 of 4 kinds of data (0 beyond chance, 3 on one network alone)" in lost[0]
    assert lost[0].endswith("; it has no answer on 1 more.")
    assert [line.split(" | ")[0] for line in lost[4:]] == ["| b1", "| e1", "| a1"]
    assert lost[4] == ("| b1 | series | clr | 1 | .500 | .700 | -0.200 |  | not known | 0 of 1 |")
    before = kinds_page.before_table(found, "combined").splitlines()
    assert "before on 2 of 3 kinds of data (0 beyond chance, 2 on one network alone)." in before[0]
    assert "3 of the 3 kinds rest on one network" in before[0]
    assert [line.split(" | ")[0] for line in before[4:]] == ["| e1", "| a1"]


def test_a_difference_is_beyond_chance_where_its_interval_is_below_nothing():
    differences = np.array([-0.1, -0.2, -0.15, -0.05])
    assert ttest_1samp(differences, 0.0).pvalue < 0.05
    assert kinds_page.is_surely_less(differences)
    assert not kinds_page.is_surely_less(-differences)
    wider = differences + np.array([0.15, 0, 0, 0])
    assert wider.mean() < 0
    assert ttest_1samp(wider, 0.0).pvalue > 0.05
    assert not kinds_page.is_surely_less(wider)
    assert not kinds_page.is_surely_less(np.array([-0.5])), "one network"
    ours = {"1": 0.5, "2": 0.4, "3": 0.6}
    rows = [row("a1", k, "combined", aupr) for k, aupr in ours.items()]
    rows += [row("a1", k, "tvcs", aupr + 0.03 + 0.001 * int(k)) for k, aupr in ours.items()]
    found = kinds_page.by_kind(rows)
    for table in (kinds_page.lose_table, kinds_page.before_table):
        lines = table(found, "combined").splitlines()
        assert "(1 beyond chance, 0 on one network alone)" in lines[0]
        assert lines[4] == (
            "| a1 | series | tvcs | 3 | .500 | .532 | -0.032 | 0.001 | yes | 0 of 3 |"
        )


def test_the_default_is_beside_the_best_of_the_methods_with_most_networks():
    rows = [row("a1", k, "combined", 0.4) for k in "12"] + [row("a1", "2", "clr", 0.9)]
    rows += [row("a1", k, "pcc", aupr) for k, aupr in (("1", 0.1), ("2", 0.3))]
    rows += [row("a1", k, "tvcs", 0.3) for k in "12"] + [row("a1", "1", "tvcs", 0.2, given=OUT)]
    lines = kinds_page.kinds_table(kinds_page.by_kind(rows), "combined").splitlines()
    assert lines[0] == f"| data | networks | concentration | {SERIES} | {OUT} |"
    assert lines[2:] == ["| a1 | 2 | 2.0 | **.400** / .300 |  |"]


def test_more_evidence_that_lowers_a_mean_is_named():
    found = kinds_page.by_kind(
        [
            row("a1", "1", "combined", 0.5), row("a1", "1", "combined", 0.4, given=COLUMN),
            row("a1", "1", "combined", 0.8, given=OUT), row("a1", "1", "combined", 0.6, given=BOTH),
        ]
    )  # fmt: skip
    lines = kinds_page.more_table(found, "combined").splitlines()
    message = (
        "`combined` finds less with more evidence in 2 of 4 cases, in 0 of them beyond chance."
    )
    assert lines[0] == message
    assert [line.split(" | ")[6] for line in lines[4:]] == ["-0.200", "-0.100"]
    assert "0 of 0 cases" in kinds_page.more_table(found, "tvcs")


def test_networks_are_grouped_by_what_was_chosen_on_them():
    rows = [
        row("ecoli10", "ecoli10_1", "tvcs", 0.2), row("ecoli10", "ecoli10_3", "tvcs", 0.4),
        row("ecoli10", "ecoli10_2", "tvcs", 0.5), row("yeast10", "yeast10_1", "tvcs", 0.7),
        row("flat, 10 genes", "network1", "tvcs", 0.1, concentration=3.5, given=OUT),
        row("B. subtilis", "whole", "tvcs", 0.6), row("B. subtilis", "whole", "pcc", 0.5),
        row("B. subtilis, 100 genes", "part 1", "tvcs", 0.6),
    ]  # fmt: skip
    lines = kinds_page.groups_table(kinds_page.by_kind(rows)).splitlines()
    assert lines[2:] == [
        "| B. subtilis | 1 | .600 | .500 |",
        "| folders, even networks | 1 | .500 |  |",
        "| folders, odd networks | 2 | .500 |  |",
        "| our simulator, concentration from 3, with knock-outs | 1 | .100 |  |",
        "| parts of B. subtilis | 1 | .600 |  |",
    ]


def test_confidences_of_many_networks_are_judged_as_one(method_with_confidence):
    rng = np.random.default_rng(0)
    rows, message, true = [], [], []
    for network in "123":
        chances = np.round(rng.random((8, 8)) ** 2, 6)
        judged = rng.random((8, 8)) < 0.7
        np.fill_diagonal(judged, False)
        np.fill_diagonal(chances, 0.0)
        is_edge = (rng.random((8, 8)) < chances) & judged
        table = kinds_data.Table(None, None, None, judged, is_edge)
        genes = tuple("abcdefgh")
        answer = Network.of(genes, chances, confidence=chances)
        found = kinds.confidence_of("combined", answer, table)
        assert found.error == calibration_error(chances[judged], is_edge[judged]).error
        rows.append(row("k", network, "combined", 0.5, confidence="yes", bins=found.bins))
        message.append(chances[judged])
        true.append(is_edge[judged])
        sure = chances[judged] >= 0.5
        assert (found.supported, found.found) == (sure.sum(), is_edge[judged][sure].sum())
        assert found.expected == pytest.approx(chances[judged][sure].sum())
    whole = calibration_error(np.concatenate(message), np.concatenate(true))
    pooled = kinds_page.pooled(rows)
    assert [n for n, _, _ in pooled.values()] == whole.n.tolist()
    assert kinds_page.error_of(pooled) == pytest.approx(whole.error, abs=1e-5)
    assert f"{whole.error:.3f} on the mean" in kinds_page.calibration_table(rows)


def test_no_confidence_is_not_taken_for_an_honest_one(method_with_confidence):
    answer = Network.of(("a", "b"), np.array([[0, 1.0], [0, 0]]))
    table = kinds_data.Table(None, None, None, ~np.eye(2, dtype=bool), np.eye(2, dtype=bool)[::-1])
    assert kinds.confidence_of("combined", answer, table) == ("no", None, 0, 0.0, 0, "")
    assert kinds.confidence_of("clr", answer, table).confidence == ""
    rows = [row("k", "1", "combined", 0.5, confidence="no")]
    assert kinds_page.calibration_table(rows) == "Calibration error: not known."
    assert kinds_page.reliability_table(rows) == "No confidence was given."
    null = kinds.Null("noise", "x", 1, "combined", "no", None, 0, 1.0)
    sure = kinds.Null("walk", "x", 1, "combined", "yes", 0.4, 2, 1.0)
    table = kinds_page.nulls_table([null, sure]).splitlines()
    assert table[2] == "| walk | x | combined | 1 of 1 | .400 | 1 of 1 | 2 |"
    assert table[3] == "| noise | x | combined | 0 of 1 |  | 0 of 1 | 0 |"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--methods", "tvcs,spearman"], "found 'spearman'"),
        (["--simulate", "-1"], "must be >= 0"),
        (["tests"], "found none"),
        (["data", "data/"], "found twice: data"),
        (["--compendium", "data"], "must hold meta_data.tsv"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(words, message, tmp_path):
    ran = run_study(kinds.main, "--out", tmp_path / "out", *words)
    assert ran.returncode == 2
    assert message in ran.stderr.splitlines()[-1]
    assert not (tmp_path / "out").exists()
