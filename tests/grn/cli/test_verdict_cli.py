"""`grn-tvcs infer` with a method that has a confidence: verdict, auto, calibration, files."""

import json

import numpy as np
import pytest

from grn_tvcs import METHODS, Expression, Network, Rules, infer
from grn_tvcs.methods.table import Method
from grn_tvcs.network.verdict import Verdict
from tests.makers.commands import check_done, check_refused, grn_tvcs
from tests.makers.tables import rows_of

WHY_NOT = "No probability is given: the simulator does not describe these data; ranks are added up."
CALIBRATED = []


def likely(expression, rules, rng, *, calibrate: int = 12):
    """Give every pair a chance that falls with its score; none without networks to learn from."""
    CALIBRATED.append(calibrate)
    n = len(expression.genes)
    scores = rng.uniform(0.1, 1.0, (n, n)) * rules.allowed(expression.genes)
    if not calibrate:
        return Network.of(expression.genes, scores, verdict=Verdict(why_not=WHY_NOT))
    return Network.of(
        expression.genes, scores, confidence=scores**2 * 0.9, verdict=Verdict(more=(2, 50))
    )


class Stub(Method):
    function = staticmethod(likely)


@pytest.fixture
def likely_method(monkeypatch):
    """A method `likely` in the table of methods."""
    monkeypatch.setitem(METHODS, "likely", Stub("likely", has_confidence=True))
    CALIBRATED.clear()


@pytest.fixture
def table(small):
    return small / "timeseries.tsv"


@pytest.mark.usefixtures("likely_method")
def test_the_verdict_is_printed_recorded_and_shown(table, tmp_path):
    out = tmp_path / "out"
    done = check_done(grn_tvcs("infer", table, "--out", out, "--method", "likely"))
    network = infer(Expression.of(table), "likely", rng=0)
    assert 0 < network.verdict.n_edges < 56
    *_, verdict, why, last = done.stderr.strip().splitlines()
    assert verdict == network.verdict.describe()
    assert "two more series would support about 50" in verdict
    n_edges = network.verdict.n_edges
    assert why == (
        f"The number of edges, {n_edges}, is the one that the verdict supports. --max-edges N "
        "selects N."
    )
    assert f"{n_edges} edges selected of 56 with a score" in last
    record = json.loads((out / "run.json").read_text())
    assert record["verdict"] == network.verdict.facts()
    assert record["verdict"]["n_edges"] == int((network.confidence >= 0.5).sum())
    assert "calibrate" not in record["parameters"]
    rows = rows_of(out / "edges.tsv")
    assert [float(row["confidence"]) for row in rows] == [e.confidence for e in network.edges()]
    assert max(float(row["false_discovery"]) for row in rows) == pytest.approx(
        1 - network.confidence[network.scores > 0].mean(), abs=1e-6
    )
    page = (out / "report.html").read_text()
    assert f"The number of edges, {n_edges}, is the one that the verdict supports." in page
    assert "edges in all" not in page
    message = page.index(network.verdict.describe())  # beside the drawing, before filters and list
    assert page.index("The network</h2>") < message < page.index('id="explorer"')
    assert "Expected true edges by number of edges" in page


@pytest.mark.usefixtures("likely_method")
def test_it_takes_the_number_of_the_verdict_under_the_caps(table, tmp_path):
    out = tmp_path / "out"
    words = ["--method", "likely", "--max-in-degree", 1]
    check_done(grn_tvcs("infer", table, "--out", out, *words))
    network = infer(Expression.of(table), "likely", rng=0)
    expected = network.select_under_caps(Rules(1, None, network.verdict.n_edges))
    assert [row["selected"] == "1" for row in rows_of(out / "edges.tsv")] == [
        e.selected for e in expected.edges()
    ]
    assert json.loads((out / "run.json").read_text())["max_edges_used"] == network.verdict.n_edges


@pytest.mark.usefixtures("likely_method")
def test_without_a_probability_few_are_selected_and_it_says_so(table, tmp_path):
    out = tmp_path / "out"
    words = ["--method", "likely", "--calibrate", "off"]
    done = check_done(grn_tvcs("infer", table, "--out", out, *words))
    why = (
        "The number of true edges is unknown. The number selected, 1, is one for every 10 genes "
        "whose regulators are sought: candidates to test, not findings."
    )
    assert f"{WHY_NOT}\n{why} --max-edges N selects N.\n" in done.stderr
    assert "\n1 candidate edge selected of " in done.stderr
    assert CALIBRATED == [0]
    record = json.loads((out / "run.json").read_text())
    assert record["verdict"] == {"why_not": WHY_NOT}
    assert record["parameters"]["calibrate"] == "off"
    assert (record["max_edges_used"], record["selected"]) == (1, 1)
    assert record["max_edges_chosen_by"] == "few"
    rows = rows_of(out / "edges.tsv")
    assert not {"confidence", "false_discovery"} & set(rows[0])
    page = (out / "report.html").read_text()
    assert page.count(WHY_NOT) == 2  # at the top, and in the methods to paste
    assert page.count(why) == 2
    assert "edges in all" not in page
    assert "--calibrate off" in page
    assert "Expected true edges" not in page


@pytest.mark.usefixtures("likely_method")
def test_calibrate_reaches_the_method_as_a_number(table, tmp_path):
    done = grn_tvcs("infer", table, "--out", tmp_path / "a", "--method", "likely", "--calibrate", 3)
    assert done.exit_code == 0, done.stderr
    assert CALIBRATED == [3]
    assert json.loads((tmp_path / "a" / "run.json").read_text())["parameters"]["calibrate"] == "3"


BAD = {
    "a word": (["--calibrate", "few"], "--calibrate must be an integer >= 0 or off, found 'few'"),
    "negative": (["--calibrate", "-1"], "--calibrate must be an integer >= 0 or off, found '-1'"),
    "a part": (["--calibrate", "1.5"], "--calibrate must be an integer >= 0 or off, found '1.5'"),
    "twice": (
        ["--calibrate", "1", "--method", "likely", "--option", "calibrate=2"],
        "give --calibrate or --option calibrate, not both",
    ),
    "another method": (
        ["--calibrate", "off", "--method", "pcc"],
        "pcc does not take --calibrate; methods that do: combined, likely",
    ),
}


@pytest.mark.usefixtures("likely_method")
@pytest.mark.parametrize(("words", "message"), BAD.values(), ids=BAD)
def test_a_bad_calibration_is_one_line_and_writes_nothing(table, tmp_path, words, message):
    err = check_refused(grn_tvcs("infer", table, "--out", tmp_path / "out", *words))
    assert [line for line in err.splitlines() if message in line] == [f"error: {message}"]
    assert not (tmp_path / "out").exists()


def test_methods_of_today_take_no_calibration_and_give_no_verdict(table, tmp_path):
    check_done(grn_tvcs("infer", table, "--out", tmp_path / "out", "--method", "pcc"))
    assert "verdict" not in json.loads((tmp_path / "out" / "run.json").read_text())
    assert not METHODS["pcc"].has_confidence
    network = infer(Expression.of(table), "pcc")
    assert network.verdict is None
    assert network.confidence is None


@pytest.mark.usefixtures("likely_method")
def test_a_finished_run_is_known_by_its_calibration(table, tmp_path):
    words = ["infer", table, "--out", tmp_path / "out", "--method", "likely", "--resume"]
    assert grn_tvcs(*words, "--calibrate", 3).exit_code == 0
    assert "nothing is left to do" in grn_tvcs(*words, "--calibrate", 3).stderr
    assert "give --force" in grn_tvcs(*words, "--calibrate", 4).stderr
    assert np.array_equal(CALIBRATED, [3])
