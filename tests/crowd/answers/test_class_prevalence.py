"""Class shares of the gold: in every command that is given gold, said, recorded and overridden."""

import json
from pathlib import Path

import numpy as np
import pytest

from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.answers.class_prevalence import (
    STRENGTH,
    class_prevalence,
    format_prevalence,
    read_prior,
    warn_single_class,
    warn_unused_classes,
)
from crowd_tvcs.campaign import Campaign, Task, task_statuses
from crowd_tvcs.routing.outcomes import averages
from crowd_tvcs.routing.replay import replay
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.posterior import posterior
from crowd_tvcs.skills.voting.vote import vote
from tests.makers.commands import check_done, check_refused, crowd_tvcs, run_done, run_refused
from tests.makers.tables import rows_of

WORKERS = [f"w{i}" for i in range(6)]


def rare(seed=3, n_tasks=400, share=0.1, accuracy=0.75):
    """Answers of workers who are all the same, where class 1 is rare; and the labels."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n_tasks) < share).astype(int)
    right = rng.random((6, n_tasks)) < accuracy
    given = np.where(right, truth, 1 - truth)
    rows = [
        (f"t{j:03d}", w, str(given[i, j])) for i, w in enumerate(WORKERS) for j in range(n_tasks)
    ]
    return Answers.of(rows), Gold({f"t{j:03d}": str(truth[j]) for j in range(n_tasks)})


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """160 gold tasks, 62 in 100 of them yes before smoothing, and two more tasks."""
    monkeypatch.chdir(tmp_path)
    labels = {f"g{j:03d}": "yes" if j < 100 else "no" for j in range(160)}
    lines = ["task,worker,label"]
    for i, worker in enumerate(WORKERS):
        for j, (task, label) in enumerate(labels.items()):
            other = "no" if label == "yes" else "yes"
            lines.append(f"{task},{worker},{other if (j + i) % 5 == 0 else label}")
    Path("on_gold.csv").write_text("\n".join(lines) + "\n")
    # Of two equal workers one says yes and one says no.
    Path("answers.csv").write_text("\n".join([*lines, "t1,w0,yes", "t1,w5,no", "t2,w1,no", ""]))
    rows = [f"{task},{label}" for task, label in labels.items()]
    Path("gold.csv").write_text("\n".join(["task,label", *rows, ""]))
    Path("tasks.csv").write_text("task\nt1\nt2\n")


SAID = "class prevalence from gold: yes .62, no .38 (160 gold tasks)"
SHARES = {"no": 65 / 170, "yes": 105 / 170}


def test_shares_are_smoothed_counts():
    assert STRENGTH == 5
    assert class_prevalence([60, 100]) == pytest.approx(list(SHARES.values()))
    assert class_prevalence([0, 0, 0]).tolist() == [1 / 3] * 3
    assert class_prevalence([1, 0]).min() > 0.4  # one gold task says next to nothing
    assert format_prevalence(["a", "b", "c"], [0.2, 0.5, 0.3]) == "b .50, c .30, a .20"


def test_gold_counts_whether_it_was_answered_or_not():
    answers = Answers.of([("g1", "ann", "1"), ("g2", "ann", "0")])
    gold = Gold({"g1": "1", "g2": "0", "g3": "1", "g4": "1"})
    skill = estimate_quality(answers, gold)
    assert skill.class_prevalence == pytest.approx([6 / 14, 8 / 14])


def test_quality_says_writes_and_records_the_shares():
    done = run_done("quality", "answers.csv", "--gold", "gold.csv", "--out", "q")
    assert SAID in done.stderr
    rows = rows_of("q/classes.csv")
    assert [(row["label"], row["gold"]) for row in rows] == [("no", "60"), ("yes", "100")]
    assert [float(row["share"]) for row in rows] == pytest.approx(list(SHARES.values()))
    record = json.loads(Path("q/run.json").read_text())
    assert record["parameters"]["class_shares"] == pytest.approx(SHARES)


def test_vote_uses_the_shares_unless_a_prior_is_given():
    def labels(*words):
        done = run_done("vote", "answers.csv", "--out", "v", "--force", *words)
        record = json.loads(Path("v/run.json").read_text())["parameters"]
        rows = {
            row["task"]: (row["label"], float(row["confidence"])) for row in rows_of("v/labels.csv")
        }
        return rows["t1"], record["class_shares"], SAID in done.stderr

    gold = ("--gold", "gold.csv", "--error-model", "independent")
    (label, sure), recorded, is_said = labels(*gold)
    assert (label, recorded, is_said) == ("yes", pytest.approx(SHARES), True)
    assert sure == pytest.approx(
        SHARES["yes"], abs=0.01
    )  # the two answers speak against each other
    for prior in ("equal", "no=.5,yes=.5"):
        (label, sure), recorded, is_said = labels(*gold, "--prior", prior)
        assert (label, recorded, is_said) == ("no", None, False)  # of a tie the first class
        assert sure == pytest.approx(0.5)
    assert labels(*gold, "--prior", "no=.9,yes=.1")[0][0] == "no"
    crowd_tvcs("quality", "answers.csv", "--gold", "gold.csv", "--out", "q")
    quality = ("--quality", "q/quality.csv")
    Path("answers.csv").write_text("task,worker,label\nt1,w0,yes\nt1,w5,no\n")
    (label, sure), _, _ = labels(*quality, "--prior", "q/classes.csv")
    assert (label, sure) == ("yes", pytest.approx(SHARES["yes"]))


def test_where_classes_are_rare_the_shares_make_votes_right():
    """Three equal workers of .75, one task in ten of class 1: 2 votes to 1 for it are wrong."""
    answers, truth = rare()
    known = dict(list(truth.labels.items())[:80])
    gold = Gold(known, answers.classes)
    first = answers.select(answers.worker_of < 3)
    skill = estimate_quality(first, gold)
    at = [j for j, task in enumerate(first.tasks) if task not in known]
    codes = truth.codes(first.tasks, first.classes)[at]
    with_shares = posterior(first, skill)[at].argmax(axis=1)
    equal = posterior(first, skill, [0.5, 0.5])[at].argmax(axis=1)
    assert (with_shares == codes).mean() > (equal == codes).mean() + 0.04
    votes = vote(first, skill=skill)
    assert [votes.label_of[j] for j in at] == with_shares.tolist()


def test_replay_uses_the_shares_of_each_split_unless_a_prior_is_given():
    answers, truth = rare(n_tasks=200)
    known = {"labels": [1, 3], "splits": 2}
    found = {
        name: {
            (row["policy"], row["vote"], row["labels"]): row["accuracy"]
            for row in averages(replay(answers, truth, **known, prior=prior))
        }
        for name, prior in (("shares", None), ("equal", [0.5, 0.5]))
    }
    for policy in ("balanced", "adaptive"):
        key = (policy, "weighted", 3)
        assert found["shares"][key] > found["equal"][key] + 0.02
    key = ("random", "majority", 3)  # uses no prior
    assert found["shares"][key] == found["equal"][key]
    rows = [f"{t},{w},{k}" for t, w, k in answers.rows()]
    Path("recorded.csv").write_text("\n".join(["task,worker,label", *rows, ""]))
    rows = [f"{t},{k}" for t, k in truth.labels.items()]
    Path("truth.csv").write_text("\n".join(["task,label", *rows, ""]))
    words = ("replay", "recorded.csv", "truth.csv", "--labels", "1,3", "--splits", 2, "--force")
    for name, more in (("shares", ()), ("equal", ("--prior", "equal"))):
        done = run_done(*words, "--out", "r", *more)
        assert ("class prevalence from gold" in done.stderr) == (name == "shares")
        rows = {
            (r["policy"], r["vote"], r["labels"]): float(r["accuracy"])
            for r in rows_of("r/replay.csv")
        }
        assert rows["balanced", "weighted", "3"] == found[name]["balanced", "weighted", 3]


@pytest.fixture
def init():
    def _init(*words, store="c.db"):
        gold = ("--gold", "gold.csv", "--answers", "on_gold.csv", "--tasks", "tasks.csv")
        return crowd_tvcs("campaign", "init", store, *gold, *words)

    return _init


def test_a_campaign_believes_the_shares(init):
    done = check_done(init("--error-model", "independent"))
    assert SAID in done.stderr
    with Campaign("c.db") as campaign:
        state = campaign.state()
        assert state.prior == pytest.approx(np.array([list(SHARES.values())] * 2))
        assert state.expected_accuracy == pytest.approx(SHARES["yes"])
        assert [one.label for one in task_statuses(state)] == [None, None]  # nobody has answered
        # Routing and the receipt start from the shares too.
        chances = list(SHARES.values())
        offer = campaign.next("w0")
        assert offer.reason.startswith(f"uncertainty {np.sqrt(np.prod(chances)):.4f}, ")
        q = state.quality.values[0, 0]
        right = SHARES["no"] * q / (SHARES["no"] * q + SHARES["yes"] * (1 - q))
        assert campaign.submit("w0", offer.task, "no").confidence == pytest.approx(right)
    record = json.loads(crowd_tvcs("campaign", "status", "c.db", "--json").stdout)
    assert record["class_prior"] == pytest.approx(SHARES)
    assert "class prior         yes .62, no .38" in crowd_tvcs("campaign", "status", "c.db").stdout


@pytest.mark.parametrize("prior", ["0.5", "equal", "no=.5,yes=.5"])
def test_a_prior_that_is_given_goes_before_the_shares(init, prior):
    done = check_done(init("--prior", prior))
    assert "class shares" not in done.stderr
    with Campaign("c.db") as campaign:
        assert (campaign.state().prior == 0.5).all()


def test_shares_stay_as_they_were_when_gold_is_added_and_a_task_has_its_own(begin):
    campaign = begin(
        workers=["ann"],
        tasks=["t1", Task("t2", prior=0.9)],
        gold={"g1": "1", "g2": "1", "g3": "0"},
        gold_answers=[("g1", "ann", "1")],
        qualities=None,
    )
    before = campaign.state().prior.tolist()
    assert before == [pytest.approx([6 / 13, 7 / 13]), pytest.approx([0.1, 0.9])]
    campaign.add(gold={"t1": "0", "g4": "0"})
    assert campaign.state().prior.tolist() == before


def test_the_file_of_shares_is_a_prior_of_plans():
    """For two classes it is --prior; with confusion matrices its rows are found by their names."""
    crowd_tvcs("quality", "answers.csv", "--gold", "gold.csv", "--out", "q", "--per-class")
    words = ("--budget", 3, "--method", "greedy", "--force")
    run_done("assign", "q/quality.csv", "--out", "a", "--class-prior", "q/classes.csv", *words)
    run_done("assign", "q/quality.csv", "--out", "b", "--prior", SHARES["yes"], *words)
    assert Path("a/assignment.csv").read_text() == Path("b/assignment.csv").read_text()
    record = [json.loads(Path(f"{name}/summary.json").read_text()) for name in "ab"]
    assert record[0]["expected_accuracy"] == pytest.approx(
        record[1]["expected_accuracy"], abs=1e-12
    )
    run_done(
        "assign", "q/quality.csv", "--out", "n", "--budget", 0, "--class-prior", "q/classes.csv"
    )
    nothing = json.loads(Path("n/summary.json").read_text())
    assert nothing["expected_accuracy"] == pytest.approx(SHARES["yes"])
    err = run_refused(
        "assign", "q/quality.csv", "--out", "c", "--prior", 0.3, "--class-prior", ".5,.5"
    )
    assert "give --prior or --class-prior, not both" in err
    rows = Path("q/classes.csv").read_text().splitlines()
    Path("turned.csv").write_text("\n".join([rows[0], *rows[:0:-1], ""]))
    for name in ("q/classes.csv", "turned.csv"):
        run_done(
            "assign", "q/quality.csv", "--confusion", "q/confusion.csv", "--out", "d", "--force",
            "--class-prior", name, "--budget", 0,
        )  # fmt: skip
        nothing = json.loads(Path("d/summary.json").read_text())
        assert nothing["expected_accuracy"] == pytest.approx(SHARES["yes"])
        assert json.loads(Path("d/run.json").read_text())["parameters"]["class_prior"] == (
            pytest.approx(list(SHARES.values()))
        )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("label,gold\nno,1\nyes,2\n", "must have one column 'share'"),
        ("label,share\nno,.5\nno,.5\n", "'no' is there already, in line 2"),
        ("label,share\nno,-.5\nyes,1.5\n", "a share must be in [0, 1], found -.5"),
        ("label,share\nno,.5\nyes,.6\n", "must add up to 1, they add up to 1.1"),
        ("label,share\nno,.5\nmaybe,.5\n", "must name every class once: no, yes; found 's.csv'"),
    ],
)
def test_a_file_that_holds_no_shares_is_refused_in_one_line(init, text, message):
    Path("s.csv").write_text(text)
    with pytest.raises(ValueError, match=r"must|already"):
        read_prior("s.csv", ["no", "yes"])
    assert message in check_refused(init("--prior", "s.csv")).splitlines()[-1]
    assert not Path("c.db").exists()


def test_shares_may_be_in_per_cent():
    Path("s.csv").write_text("label,share\nno,25 %\nyes,75%\n")
    assert read_prior("s.csv", ["yes", "no"]) == [0.75, 0.25]


def test_a_class_that_only_gold_has_is_pointed_out(init):
    text = Path("gold.csv").read_text().replace("g007,yes", "g007,maybe")
    Path("gold.csv").write_text(text)
    warning = "warning: only gold task 'g007' has the label 'maybe', which no answer has"
    for done in (
        run_done("quality", "answers.csv", "--gold", "gold.csv", "--out", "q"),
        run_done("vote", "answers.csv", "--gold", "gold.csv", "--out", "v"),
        check_done(init()),
    ):
        assert sum(line.startswith(warning) for line in done.stderr.splitlines()) == 1
    words = ("--gold", "gold.csv", "--out", "w", "--classes", "no,yes")
    err = run_refused("quality", "answers.csv", *words)
    assert "gold.csv:9, column 'label': must be one of the classes 'no', 'yes'" in err
    assert warn_unused_classes(["yes", "no"], {"t": "yes", "u": "no"}) == []
    (line,) = warn_unused_classes(["yes", "no"], {"t": "Yes", "u": "Yes", "v": "no"})
    assert "2 gold tasks ('t', 'u') have the label 'Yes'" in line


def test_gold_of_one_class_alone_is_pointed_out(init):
    Path("one.csv").write_text(Path("gold.csv").read_text().replace(",no", ",yes"))
    for gold, times in (("one.csv", 1), ("gold.csv", 0)):
        words = ("answers.csv", "--gold", gold, "--force")
        for done in (
            run_done("quality", *words, "--out", "q"),
            run_done("vote", *words, "--out", "v", "--classes", "no,yes"),
            check_done(init("--gold", gold, store=f"{gold}.db")),
        ):
            lines = done.stderr.splitlines()
            assert sum(line.startswith("warning: all 160 gold") for line in lines) == times
    assert warn_single_class({"t": "yes"}, ["yes"]) == []
    (line,) = warn_single_class({"t": "yes", "u": "yes"}, ["no", "yes"])
    assert line.startswith("warning: all 2 gold tasks have the label 'yes', so errors on other")
