"""`--error-model` of `crowd-tvcs quality`, `vote` and `replay`: written files and messages."""

import json

import numpy as np
import pytest
from pytest import approx

from crowd_tvcs.answers.answers import read_answers, read_gold
from crowd_tvcs.routing.replay import draw_split, replay
from crowd_tvcs.skills.dependence import Dependence
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.voting.little_gold import vote_with_gold
from crowd_tvcs.skills.voting.vote import vote
from tests.makers.commands import run_done, run_refused
from tests.makers.tables import rows_of
from tvcs_core.streams import stream


def record_of(folder):
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """Ten workers who all see another label on a quarter of 80 tasks; 40 tasks are gold."""
    folder = tmp_path_factory.mktemp("crowd")
    rng = np.random.default_rng(14)
    truth = rng.integers(0, 2, 80)
    seen = np.where(rng.random(80) < 0.25, 1 - truth, truth)
    accuracy = rng.uniform(0.65, 0.95, 10)
    lines = [
        f"t{j:02d},w{i},{seen[j] if rng.random() < q else 1 - seen[j]}"
        for j in range(80)
        for i, q in enumerate(accuracy)
    ]
    (folder / "answers.csv").write_text("\n".join(["task,worker,label", *lines]))
    known = [f"t{j:02d},{truth[j]}" for j in range(80)]
    (folder / "truth.csv").write_text("\n".join(["task,label", *known]))
    (folder / "gold.csv").write_text("\n".join(["task,label", *known[:40]]))
    (folder / "thin.csv").write_text("\n".join(["task,label", *known[:4]]))
    return folder


def test_quality_and_vote_write_the_numbers_of_the_model(crowd, tmp_path):
    answers, gold = read_answers(crowd / "answers.csv"), read_gold(crowd / "gold.csv")
    expected = estimate_quality(answers, gold).dependence
    words = [crowd / "answers.csv", "--gold", crowd / "gold.csv", "--out"]
    done = run_done("quality", *words, tmp_path / "skills")
    assert "on 40 held-out gold tasks mean confidence is " in done.stderr
    given = json.loads((tmp_path / "skills" / "dependence.json").read_text(encoding="utf-8"))
    assert Dependence.from_json(given) == expected
    assert record_of(tmp_path / "skills")["parameters"]["dependence"] == given
    assert (given["source"], given["order"], given["gold"]) == ("gold", "best first", 40)
    done = run_done("vote", *words, tmp_path / "labels")
    as_given = estimate_quality(answers, gold, like=answers)
    assert as_given.dependence.order == "as given"
    voted = record_of(tmp_path / "labels")["parameters"]
    assert Dependence.from_json(voted["dependence"]) == as_given.dependence
    rows = rows_of(tmp_path / "labels" / "labels.csv")
    confidence = [float(row["confidence"]) for row in rows if row["task"] >= "t40"]
    votes, blend, share = vote_with_gold(answers, gold, as_given)
    assert confidence == approx(votes.confidence[40:].tolist())
    assert voted["agreement"] == approx({"weight": blend.weight, "temper": blend.temper})
    assert voted["right_share"] == approx(share._asdict())
    assert vote(answers, gold=gold).right_share == share
    assert (
        share.low < (votes.label_of == np.array(truth_of(crowd, answers)))[40:].mean() < share.high
    )
    assert "gives gold a weight of 0.38 and the agreement of the workers 0.62" in done.stderr
    assert "a share of 0." in done.stderr
    assert "of the other labels is right (95 % interval" in done.stderr


def test_gold_contradicts_confidences_of_independent_workers(tmp_path):
    """Five workers who always agree, and are right on three tasks in five."""
    answers = [f"t{j},w{i},{int(j % 5 < 3)}" for j in range(100) for i in range(5)]
    (tmp_path / "a.csv").write_text("\n".join(["task,worker,label", *answers]))
    gold = [f"t{j},1" for j in range(30)] + [f"t{j},0" for j in (93, 94, 98, 99)]
    (tmp_path / "g.csv").write_text("\n".join(["task,label", *gold]))
    words = ["vote", tmp_path / "a.csv", "--gold", tmp_path / "g.csv"]
    done = run_done(*words, "--error-model", "independent", "--out", tmp_path / "out")
    assert "warning: with all labels per task, mean confidence on gold is " in done.stderr


def truth_of(crowd, answers):
    return read_gold(crowd / "truth.csv").codes(answers.tasks, answers.classes)


def test_independent_workers_are_voted_on_by_bayes_rule_and_claim_more(crowd, tmp_path):
    words = ["vote", crowd / "answers.csv", "--gold", crowd / "gold.csv"]
    for model in ("independent", "dependent"):
        done = run_done(*words, "--error-model", model, "--out", tmp_path / model)
        parameters = record_of(tmp_path / model)["parameters"]
        assert parameters["error_model"] == model
        assert (parameters["dependence"] is None) == (model == "independent")
        assert ("ten answers carry the information of" in done.stderr) == (model == "dependent")
    answers, gold = read_answers(crowd / "answers.csv"), read_gold(crowd / "gold.csv")
    bayes = vote(answers, skill=estimate_quality(answers, gold, model="independent"))
    rows, honest = (rows_of(tmp_path / m / "labels.csv")[40:] for m in ("independent", "dependent"))
    claimed = [float(row["confidence"]) for row in rows]
    assert claimed == approx(bayes.confidence[40:].tolist())
    assert np.mean(claimed) > np.mean([float(row["confidence"]) for row in honest]) + 0.1
    run_done("quality", *words[1:], "--error-model", "independent", "--out", tmp_path / "skills")
    assert not (tmp_path / "skills" / "dependence.json").exists()
    assert record_of(tmp_path / "skills")["parameters"]["dependence"] is None


def test_thin_gold_and_no_gold_take_the_usual_numbers_and_say_so(crowd, tmp_path):
    thin = run_done(
        "vote", crowd / "answers.csv", "--gold", crowd / "thin.csv", "--out", tmp_path / "thin"
    )
    assert "as in most crowds (little gold, so no confidence is validated)" in thin.stderr
    assert record_of(tmp_path / "thin")["parameters"]["dependence"]["source"] == "little gold"
    (tmp_path / "a.csv").write_text("task,worker,label\nt,a,1\nt,b,1\nu,a,0\n")
    (tmp_path / "q.csv").write_text("worker,t,u\na,0.8,0.8\nb,0.8,0.8\n")
    words = ["vote", tmp_path / "a.csv", "--quality", tmp_path / "q.csv"]
    none = run_done(*words, "--out", tmp_path / "none")
    assert "as in most crowds (no gold, so no confidence is validated)" in none.stderr
    run_done(*words, "--error-model", "independent", "--out", tmp_path / "bayes")
    sure, surer = (
        [float(row["confidence"]) for row in rows_of(tmp_path / name / "labels.csv")]
        for name in ("none", "bayes")
    )
    assert surer == approx([0.64 / 0.68, 0.8])
    assert 0.8 < sure[0] < surer[0]


@pytest.mark.parametrize("command", ["quality", "vote", "replay"])
def test_an_unknown_model_is_refused(crowd, tmp_path, command):
    given = [crowd / "truth.csv"] if command == "replay" else ["--gold", crowd / "gold.csv"]
    err = run_refused(
        command, crowd / "answers.csv", *given, "--error-model", "bayes", "--out", tmp_path / "out"
    )
    assert "model must be one of dependent, independent, found 'bayes'" in err
    assert not (tmp_path / "out").exists()


def test_replay_writes_what_is_claimed(crowd, tmp_path):
    claimed = {}
    for model in ("dependent", "independent"):
        done = run_done(
            "replay", crowd / "answers.csv", crowd / "truth.csv", "--labels", "1,3", "--splits", 3,
            "--error-model", model, "--gold-share", 0.5, "--out", tmp_path / model,
        )  # fmt: skip
        assert record_of(tmp_path / model)["parameters"]["error_model"] == model
        rows, splits = (rows_of(tmp_path / model / f"{n}.csv") for n in ("replay", "splits"))
        assert {"mean_confidence", "confident_share", "confident_accuracy"} <= set(rows[0]) & set(
            splits[0]
        )
        assert "confidence" in done.stdout.splitlines()[0]
        for row in rows:
            same = [s for s in splits if (s["policy"], s["vote"]) == (row["policy"], row["vote"])]
            same = [s for s in same if s["labels"] == row["labels"].replace("no limit", "0")]
            assert len(same) == 3
            claims = [one["mean_confidence"] for one in same]
            alone = row["vote"] == "unsupervised" and row["labels"] == "1"  # nothing to agree with
            if row["vote"] == "majority" or alone:  # a share of votes is no confidence
                assert (row["mean_confidence"], claims) == ("", ["", "", ""])
            else:
                assert float(row["mean_confidence"]) == approx(np.mean([float(c) for c in claims]))
        assert {row["vote"] for row in rows} > {"majority", "unsupervised"}
        claimed[model] = {(r["policy"], r["vote"], r["labels"]): r for r in rows}
    key = ("all", "weighted", "no limit")
    ours, bayes = (
        float(claimed[m][key]["mean_confidence"]) - float(claimed[m][key]["accuracy"])
        for m in claimed
    )
    assert bayes > 0.15
    assert abs(ours) < 0.1  # 40 gold tasks know their share of right labels to .07


def test_what_a_replay_claims_is_the_mean_confidence_of_the_labels_it_scores(crowd):
    answers, truth = read_answers(crowd / "answers.csv"), read_gold(crowd / "truth.csv")
    for model in ("dependent", "independent"):
        found = {
            (o.policy, o.vote, o.labels): o
            for o in replay(answers, truth, labels=(2,), splits=1, seed=3, model=model)
        }
        rng = stream(3, "replay", "0")
        split = draw_split(answers, truth, 0.2, per_class=False, rng=rng, model=model)
        skill = split.skill_like(split.recorded)
        if model == "dependent":  # fitted to gold answers of workers chosen as those voted on
            assert skill.dependence.labels == split.recorded.size > split.skill.dependence.labels
        votes = vote(split.recorded, skill=skill)
        outcome = found["all", "weighted", 0]
        assert outcome.mean_confidence == approx(votes.confidence.mean())
        sure = votes.confidence >= 0.95
        assert outcome.confident_share == approx(sure.mean())
        if sure.any():
            right = votes.label_of[sure] == split.truth[sure]
            assert outcome.confident_accuracy == approx(right.mean())


def test_every_task_gets_its_first_label_before_any_its_second(crowd):
    """With a budget of one label per task: the best worker's, as balanced buys them."""
    answers, truth = read_answers(crowd / "answers.csv"), read_gold(crowd / "truth.csv")
    found = {
        (o.policy, o.vote): o for o in replay(answers, truth, labels=(1,), splits=1, gold_share=0.5)
    }
    adaptive, balanced = found["adaptive", "weighted"], found["balanced", "weighted"]
    assert adaptive.bought == balanced.bought == 1.0
    assert adaptive.accuracy == balanced.accuracy
