"""`crowd-tvcs models` and `simulate --family models`: from files to plans of people."""

import json

import pytest

from tests.makers.commands import check_done, check_refused, crowd_tvcs, run_done, run_refused
from tests.makers.tables import rows_of


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """A simulated crowd of three models of one family and eight people."""
    folder = tmp_path_factory.mktemp("models") / "crowd"
    run_done(
        "simulate", "--family", "models", "--models", "3", "--workers", 8, "--tasks", 60,
        "--gold", 40, "--full-answers", "--seed", 2, "--out", folder,
    )  # fmt: skip
    return folder


def command(crowd, out, *more, answers="answers.csv", workers="workers.csv"):
    return crowd_tvcs(
        "models", crowd / answers, "--gold", crowd / "gold.csv", "--workers", crowd / workers,
        "--out", out, *more,
    )  # fmt: skip


def test_what_is_written_is_what_assign_verify_and_campaign_read(crowd, tmp_path):
    done = check_done(command(crowd, tmp_path / "m"))
    assert "after 3 models agree on" in done.stdout
    short = command(crowd, tmp_path / "short", "--target", 0.999, "--max-people", 1)
    assert "1 people do not raise it" not in short.stdout
    assert "confidence: stated by models with 300 answers" in done.stderr
    assert "columns task, worker, label, confidence, 620 answers" in done.stderr  # none is ignored
    summary = json.loads((tmp_path / "m" / "summary.json").read_text())
    share = summary["right_share"]
    assert share["gold"] == summary["gold"] <= share["worth"]
    assert share["low"] < share["share"] < share["high"]
    assert f"of {share['share']:.3f} of the other labels is right (95 % interval" in done.stderr
    assert (summary["models"], summary["families"], summary["tasks"]) == (3, 1, 60)
    assert summary["mean_confidence"] < summary["mean_confidence_if_independent"]
    tasks = rows_of(tmp_path / "m" / "tasks.csv")
    priors = rows_of(tmp_path / "m" / "priors.csv")
    assert list(priors[0]) == ["task", "prior"]
    for task, prior in zip(tasks, priors, strict=True):
        assert float(prior["prior"]) == float(task["probability of 1"])
        second = float(prior["prior"])
        assert float(task["confidence"]) == pytest.approx(max(second, 1 - second), abs=1e-12)
    assert len(rows_of(tmp_path / "m" / "people.csv")) == 8
    run_done(
        "assign", tmp_path / "m" / "quality.csv", "--tasks", tmp_path / "m" / "priors.csv",
        "--workers", tmp_path / "m" / "people.csv", "--budget", 30, "--out", tmp_path / "plan",
    )  # fmt: skip
    run_done("verify", tmp_path / "plan", tmp_path / "m" / "quality.csv")
    expected = json.loads((tmp_path / "plan" / "summary.json").read_text())["expected_accuracy"]
    before = sum(float(task["confidence"]) for task in tasks) / len(tasks)
    assert expected > before
    asked = {row["task"] for row in rows_of(tmp_path / "plan" / "assignment.csv")}
    sure = [float(task["confidence"]) for task in tasks if task["task"] not in asked]
    assert min(sure) > min(float(task["confidence"]) for task in tasks)
    store = tmp_path / "store.db"
    run_done(
        "campaign", "init", store, "--quality", tmp_path / "m" / "quality.csv", "--tasks",
        tmp_path / "m" / "priors.csv", "--workers", tmp_path / "m" / "people.csv", "--target", 0.95,
    )  # fmt: skip
    stop = run_done("campaign", "review", store, "--json")
    done = {one["task"] for one in json.loads(stop.stdout) if one["verdict"] == "confident"}
    assert done == {task["task"] for task in tasks if float(task["confidence"]) >= 0.95}


def test_the_same_again_is_the_same_bytes(crowd, tmp_path):
    for out in ("one", "two"):
        assert command(crowd, tmp_path / out).exit_code == 0
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def test_three_classes_give_assign_a_column_for_each(tmp_path, rng):
    folder = tmp_path / "crowd"
    folder.mkdir()
    names, truth = ["cat", "Dog", "fox"], rng.integers(0, 3, 60)
    lines = ["task,worker,label"]
    for j, y in enumerate(truth):
        for w, q in (("m1", 0.8), ("m2", 0.7), ("ann", 0.8), ("bob", 0.9)):
            if w[0] == "m" or j < 30:
                message = y if rng.random() < q else (y + rng.integers(1, 3)) % 3
                lines.append(f"t{j:02d},{w},{names[message]}")
    (folder / "answers.csv").write_text("\n".join(lines))
    gold = [f"t{j:02d},{names[y]}" for j, y in enumerate(truth[:30])]
    (folder / "gold.csv").write_text("\n".join(["task,label", *gold]))
    (folder / "workers.csv").write_text("worker,kind,family\nm1,model,f\nm2,Model,g\nann,person,\n")
    done = check_done(command(folder, tmp_path / "m"))
    assert "1 worker with answers, not in" in done.stderr
    priors = rows_of(tmp_path / "m" / "priors.csv")
    assert list(priors[0]) == ["task", "prior=Dog", "prior=cat", "prior=fox"]
    words = ["assign", tmp_path / "m" / "quality.csv", "--tasks", tmp_path / "m" / "priors.csv",
             "--classes", 3, "--budget", 12, "--method", "best", "--out"]  # fmt: skip
    run_done(*words, tmp_path / "plan")
    run_done("verify", tmp_path / "plan", tmp_path / "m" / "quality.csv")
    summary = json.loads((tmp_path / "plan" / "summary.json").read_text())
    best = {row["task"]: max(float(v) for v in list(row.values())[1:]) for row in priors}
    asked = {row["task"] for row in rows_of(tmp_path / "plan" / "assignment.csv")}
    for task, accuracy in summary["task_accuracy"].items():
        assert (
            accuracy == pytest.approx(best[task]) if task not in asked else accuracy >= best[task]
        )
    assert "found 'prior=Dog'" in run_refused(
        *words[:4], "--out", tmp_path / "no"
    )  # of two classes a task has one chance
    words[words.index(3)] = 4
    err = run_refused(*words, tmp_path / "no")
    assert "must have a column prior=CLASS for each of 4 classes, found 3" in err
    text = (tmp_path / "m" / "priors.csv").read_text().splitlines()
    text[1] = "t30,0.5,0.5,0.5"
    (tmp_path / "m" / "priors.csv").write_text("\n".join(text))
    words[words.index(4)] = 3
    wrong = crowd_tvcs(*words, tmp_path / "no")
    assert "priors.csv:2: the chances of the classes must be 3 that add up to 1" in wrong.stderr


@pytest.mark.parametrize(
    ("workers", "message"),
    [
        ("worker,kind,family\nm1,model,\n", "every model must have a family"),
        ("worker,kind,family\nm1,model,f\np1,person,f\n", "a family is for models, but 'p1' is"),
        ("worker,kind,family\nm1,person,\n", "must have a worker whose kind is model, found none"),
        ("worker,kind,family\nm1,robot,f\n", ":2, column 'kind': must be model or person"),
        ("worker,kind,family,price\nm1,model,f,1\n", "found 'price'"),
        ("worker,kind,family,cost\nm1,model,f,1\nm2,model,f,\n", "every worker must have a cost"),
        ("worker,kind,family\nx,model,f\n", "no model has an answer"),
    ],
)
def test_a_table_of_workers_that_cannot_be_is_refused(crowd, tmp_path, workers, message):
    (tmp_path / "w.csv").write_text(workers)
    err = check_refused(command(crowd, tmp_path / "out", workers=tmp_path / "w.csv"))
    assert message in err
    assert err.strip().splitlines()[-1].startswith("error: ")
    assert not (tmp_path / "out").exists()


def test_a_confidence_that_is_no_chance_is_named_with_its_line(crowd, tmp_path):
    lines = (crowd / "answers.csv").read_text().splitlines()
    lines[1] = lines[1].rpartition(",")[0] + ",97"
    (tmp_path / "a.csv").write_text("\n".join(lines))
    err = check_refused(command(crowd, tmp_path / "out", answers=tmp_path / "a.csv"))
    assert ":2, column 'confidence': must be a probability in [0, 1], found '97'" in err
    assert "; of percent write hundredths" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "1"], "--target must be above 0 and below 1"),
        (["--right-share", "1.5"], "--right-share must be above 0 and below 1, found 1.5"),
        (["--right-share", ".9", "--max-people", "0"], "needs people, but --max-people is 0"),
        (["--max-people", "-1"], "--max-people must be from 0 to 20"),
        (["--person-accuracy", "1.2"], "--person-accuracy must be above 0 and below 1"),
        (["--prior", "0=.5"], "--prior must name every class once"),
    ],
)
def test_options_out_of_range_are_named(crowd, tmp_path, options, message):
    assert message in check_refused(command(crowd, tmp_path / "out", *options))


def test_gold_alone_leaves_nothing_to_hand_on(crowd, tmp_path):
    lines = (crowd / "answers.csv").read_text().splitlines()
    (tmp_path / "a.csv").write_text("\n".join(x for x in lines if x[:4] in ("task", "gold")))
    done = check_done(command(crowd, tmp_path / "out", answers=tmp_path / "a.csv"))
    assert "every task with answers is gold: no task is left for people" in done.stderr
    assert rows_of(tmp_path / "out" / "tasks.csv") == []
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["gold"] == 40


def test_a_model_that_was_asked_twice_counts_once_with_its_confidence(crowd, tmp_path):
    """What the second answers say, and how sure, is what the file without the first ones does."""
    head, *lines = (crowd / "answers.csv").read_text().splitlines()
    of_model = [line for line in lines if ",m1," in line]
    others = [line for line in lines if ",m1," not in line]
    first = [f"{line.split(',')[0]},m1,0,0.5" for line in of_model]
    (tmp_path / "a.csv").write_text("\n".join([head, *others, *first, *of_model]))

    def told(answers, *words):
        out = tmp_path / "out"
        common = ("--gold", crowd / "gold.csv", "--workers", crowd / "workers.csv", "--out", out)
        done = crowd_tvcs("models", answers, *common, "--force", *words)
        return done, (out / "models.csv").read_text() if done.exit_code == 0 else ""

    refused, _ = told(tmp_path / "a.csv")
    assert refused.exit_code == 2
    assert "--duplicates first, last or majority" in refused.stderr
    done, rows = told(tmp_path / "a.csv", "--duplicates", "last")
    assert done.exit_code == 0, done.stderr
    assert rows == told(crowd / "answers.csv")[1]
    assert rows != told(tmp_path / "a.csv", "--duplicates", "first")[1]


def test_the_cheapest_plan_that_gold_confirms_is_named(crowd, tmp_path):
    sure = check_done(command(crowd, tmp_path / "sure", "--right-share", 0.6, "--random-gold"))
    assert "a share of 0.6 right labels is confirmed by 40 gold tasks: " in sure.stdout
    rows = rows_of(tmp_path / "sure" / "plans.csv")
    last = [row for row in rows if row["confirmed"] == "yes"][-1]
    assert f"({last['people']} labels for" in sure.stdout or last["people"] == "0"
    assert float(last["low"]) >= 0.6
    assert json.loads((tmp_path / "sure" / "run.json").read_text())["parameters"]["random_gold"]
    message = command(crowd, tmp_path / "chosen", "--right-share", 0.6)
    assert "is not proved, as it takes the gold for a random sample" in message.stdout
    assert {row["confirmed"] for row in rows_of(tmp_path / "chosen" / "plans.csv")} == {"no"}
    plain = command(crowd, tmp_path / "plain")
    assert "right labels" not in plain.stdout
    assert {row["confirmed"] for row in rows_of(tmp_path / "plain" / "plans.csv")} == {""}


def test_a_share_that_nothing_can_show_is_refused(crowd, tmp_path):
    lines = (crowd / "answers.csv").read_text().splitlines()
    (tmp_path / "a.csv").write_text("\n".join(x for x in lines if ",p" not in x))
    share = ("--right-share", 0.6, "--random-gold")
    err = check_refused(command(crowd, tmp_path / "out", *share, answers=tmp_path / "a.csv"))
    assert "needs the accuracy of people, found none: give answers of people to" in err
    given = command(
        crowd, tmp_path / "out", *share, "--person-accuracy", 0.9, answers=tmp_path / "a.csv"
    )
    assert "is not proved, as it takes people to err independently" in given.stdout
    gold = (crowd / "gold.csv").read_text().splitlines()
    (tmp_path / "g.csv").write_text("\n".join(gold[:7]))
    err = run_refused(
        "models", crowd / "answers.csv", "--gold", tmp_path / "g.csv", "--workers",
        crowd / "workers.csv", "--out", tmp_path / "few", *share,
    )  # fmt: skip
    assert "--right-share needs 10 gold tasks with answers of models, found 6" in err
    (tmp_path / "only.csv").write_text("\n".join(x for x in lines if x[:4] in ("task", "gold")))
    err = check_refused(command(crowd, tmp_path / "only", *share, answers=tmp_path / "only.csv"))
    assert "needs tasks without gold that models answered, found none" in err
    assert not (tmp_path / "only").exists()


def test_thin_gold_and_no_people_are_reported(crowd, tmp_path):
    gold = (crowd / "gold.csv").read_text().splitlines()
    label = gold[1].split(",")[1]
    some = [gold[0], *[line for line in gold[1:] if line.endswith(f",{label}")][:6]]
    (tmp_path / "g.csv").write_text("\n".join(some))
    lines = (crowd / "answers.csv").read_text().splitlines()
    (tmp_path / "a.csv").write_text("\n".join(x for x in lines if ",p" not in x))
    done = run_done(
        "models", tmp_path / "a.csv", "--gold", tmp_path / "g.csv", "--workers",
        crowd / "workers.csv", "--out", tmp_path / "out",
    )  # fmt: skip
    assert (
        "models have answers to 6 gold tasks only, too few to estimate shared errors" in done.stderr
    )
    assert "all gold tasks answered by models have the same class" in done.stderr
    assert (
        "the confidence of 'm1' is not used: it is stated with 6 gold answers, but 10 are needed"
        in done.stderr
    )
    assert "people needed are not estimated" in done.stderr
    assert {row["people"] for row in rows_of(tmp_path / "out" / "tasks.csv")} == {""}
    assert not (tmp_path / "out" / "quality.csv").exists()
    told = command(crowd, tmp_path / "two", "--person-accuracy", 0.8)
    assert "people have accuracy 0.800; on 40 gold tasks their answers deliver" in told.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--family", "models", "--low", ".6"], "--low and --high are for iid and worker"),
        (["--family", "models", "--models", "a"], "--models must be integers with commas"),
        (["--family", "models", "--models", "2,0"], "--models must be >= 1, found 0"),
        (["--family", "x"], "--family must be one of iid, worker, skilldiff, topic, models, found"),
        (
            ["--family", "topic", "--shared-within", ".6"],
            "--shared-within is for --family models, not for topic",
        ),
    ],
)
def test_simulate_refuses(tmp_path, options, message):
    assert message in run_refused("simulate", "--out", tmp_path / "out", *options)


@pytest.mark.parametrize(("kept", "doubt"), [
    (lambda rows: [row for row in rows if row.endswith(",1")], "all gold has one class"),
    (lambda rows: rows[:6], "only 6 gold tasks validate it"),
])  # fmt: skip
def test_gold_that_measures_nothing_lets_nobody_go_without_people(crowd, tmp_path, kept, doubt):
    """With 39 gold tasks of one class tasks were "sure and need nobody" by its share alone."""
    head, *rows = (crowd / "gold.csv").read_text().splitlines()
    (tmp_path / "g.csv").write_text("\n".join([head, *kept(rows)]))
    done = run_done(
        "models", crowd / "answers.csv", "--gold", tmp_path / "g.csv", "--workers",
        crowd / "workers.csv", "--out", tmp_path / "out", "--target", ".7",
    )  # fmt: skip
    assert "needs no people" not in done.stdout
    sentences = [line for line in done.stdout.splitlines() if "a task is" in line]
    assert sentences
    assert all(f", but {doubt}" in line for line in done.stdout.splitlines())
    assert all(doubt in row["doubt"] for row in rows_of(tmp_path / "out" / "tasks.csv"))
    assert doubt in json.loads((tmp_path / "out" / "summary.json").read_text())["doubt"]
