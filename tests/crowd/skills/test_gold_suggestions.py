"""Which tasks to make gold: against a loop, and that it learns more than random gold."""

import numpy as np
import pytest

from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.gold_suggestions import suggest_gold_tasks


def crowd(rng, n_workers=12, n_tasks=60, share=0.4):
    """Answers of workers who are not equally busy, and the truth."""
    accuracy = rng.uniform(0.55, 0.95, n_workers)
    busy = rng.uniform(0.1, 2.0 * share, n_workers)
    truth = rng.integers(0, 2, n_tasks)
    rows = [
        (f"t{j:02}", f"w{i:02}", str(truth[j] if rng.random() < accuracy[i] else 1 - truth[j]))
        for j in range(n_tasks)
        for i in range(n_workers)
        if rng.random() < busy[i]
    ]
    labels = {f"t{j:02}": str(truth[j]) for j in range(n_tasks)}
    return Answers.of(rows, classes=["0", "1"]), labels


def by_loops(answers, gold, skill, count):
    """The same without a heap: every task anew in every round."""
    worth = dict(zip(skill.workers, sum(skill.beta), strict=True))
    variance = dict(zip(skill.workers, skill.deviation**2, strict=True))
    rows = [row for row in answers.rows() if row[0] not in gold.labels]
    workers_of = {task: [w for t, w, _ in rows if t == task] for task in answers.tasks}
    often = {w: sum(worker == w for _, worker, _ in rows) / len(rows) for w in worth}
    chosen = []
    for _ in range(count):
        tells = {
            task: sum(often[w] * variance[w] / (worth[w] + 1.0) for w in workers)
            for task, workers in workers_of.items()
            if workers and task not in chosen
        }
        if not tells:
            break
        best = max(tells.values())
        chosen.append(next(task for task in answers.tasks if tells.get(task, -1) >= best - 1e-15))
        for w in workers_of[chosen[-1]]:
            variance[w] *= worth[w] / (worth[w] + 1.0)
            worth[w] += 1.0
    return chosen


@pytest.mark.parametrize("seed", range(5))
def test_the_chosen_are_those_of_a_loop(seed):
    rng = np.random.default_rng(seed)
    answers, labels = crowd(rng)
    gold = Gold({task: labels[task] for task in list(labels)[:8]}, ["0", "1"])
    skill = estimate_quality(answers, gold, model="independent")
    found = suggest_gold_tasks(answers, gold, skill, 10)
    assert [task for task, _, _ in found] == by_loops(answers, gold, skill, 10)
    tells = [value for _, _, value in found]
    assert tells == sorted(tells, reverse=True)
    assert not {task for task, _, _ in found} & set(gold.labels)


def test_what_was_answered_does_not_matter(rng):
    answers, labels = crowd(rng)
    gold = Gold({task: labels[task] for task in list(labels)[:8]}, ["0", "1"])
    skill = estimate_quality(answers, gold, model="independent")
    rows = [(t, w, k if t in gold.labels else str(1 - int(k))) for t, w, k in answers.rows()]
    turned = Answers.of(rows, classes=["0", "1"])
    assert suggest_gold_tasks(turned, gold, skill, 20) == suggest_gold_tasks(
        answers, gold, skill, 20
    )


def test_gold_that_was_asked_for_tells_more_than_random_gold():
    off = np.zeros(2)
    for seed in range(8):
        rng = np.random.default_rng([7, seed])
        answers, labels = crowd(rng, n_workers=20, n_tasks=150, share=0.2)
        names = [task for task in labels if task in set(answers.tasks)]
        first = Gold({task: labels[task] for task in names[:5]}, ["0", "1"])
        skill = estimate_quality(answers, first, model="independent")
        asked = [task for task, _, _ in suggest_gold_tasks(answers, first, skill, 15)]
        drawn = rng.permutation(names[5:])[:15].tolist()
        for place, more in enumerate((asked, drawn)):
            gold = Gold({task: labels[task] for task in names[:5] + more}, ["0", "1"])
            found = estimate_quality(answers, gold, model="independent")
            open_answers = answers.per_worker / answers.size
            off[place] += open_answers @ found.deviation**2
    assert off[0] < 0.9 * off[1]


def test_no_more_than_there_are(rng):
    answers, labels = crowd(rng, n_tasks=10)
    gold = Gold({"t00": labels["t00"]}, ["0", "1"])
    skill = estimate_quality(answers, gold, model="independent")
    assert len(suggest_gold_tasks(answers, gold, skill, 99)) == len(set(answers.tasks) - {"t00"})
    with pytest.raises(ValueError, match="count must be >= 1, found 0"):
        suggest_gold_tasks(answers, gold, skill, 0)
