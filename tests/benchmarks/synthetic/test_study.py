"""The synthetic study draws what the paper says, and goes on where it was stopped."""

import numpy as np
import pytest

from benchmarks.study import RESULTS, complete, load
from benchmarks.synthetic import cases
from benchmarks.synthetic import study as synthetic_study
from benchmarks.synthetic.methods import order_of
from tests.makers.studies import run_study

METHODS = ["tvcs htp", "rows iht", "columns gradmp", "ridge"]


def study(out, *words):
    """Run four methods on one small n of Figure 2; what it said."""
    few = ["--figures", "2", "--sizes", "100", "--repeats", "1", "--jobs", "1"]
    return run_study(synthetic_study.main, "--out", out, *few, "--methods", *METHODS, *words)


def rows(out):
    """The rows without their last column, the seconds."""
    lines = (out / "figure2.csv").read_text(encoding="utf-8").splitlines()
    return [line.rpartition(",")[0] for line in lines]


def test_a_study_that_was_stopped_in_the_middle_of_a_row_goes_on_and_ends_the_same(tmp_path):
    first = study(tmp_path)
    assert first.returncode == 0, first.stderr
    whole = rows(tmp_path)
    assert len(whole) == 1 + 5  # ridge has two choices of its strength
    path = tmp_path / "figure2.csv"
    kept = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(kept[:3]) + kept[3][:9], encoding="utf-8")
    second = study(tmp_path)
    assert "2 cases known, 2 fits to do" in second.stdout
    assert rows(tmp_path) == whole


@pytest.mark.parametrize("figure", [2, 3])
def test_the_rows_that_are_kept_stand_in_the_order_of_the_study(figure):
    """Also where abess, whose rows are among them, is not installed."""
    known = load(RESULTS / "synthetic" / f"figure{figure}.csv", cases.Case)
    assert sorted(known, key=order_of(figure)) == known


def test_cases_of_another_seed_do_not_join_a_study(tmp_path):
    (tmp_path / "seed.txt").write_text("1\n", encoding="utf-8")
    refused = study(tmp_path, "--seed", "2")
    assert refused.returncode != 0
    assert "another seed" in refused.stderr


@pytest.mark.parametrize("figure", [2, 3])
def test_the_truth_keeps_the_caps_and_a_larger_n_only_adds_samples(figure):
    small, large = (cases.draw(figure, n, 4, 0) for n in (50, 80))
    assert small.constraint.is_feasible(small.support)
    assert small.constraint.total == int(
        0.8 * min(small.constraint.row_caps.sum(), small.constraint.col_caps.sum())
    )
    assert (small.truth == large.truth).all()
    assert (large.X[:50] == small.X).all()
    assert large.y[:50] == pytest.approx(small.y)


def test_the_error_on_fresh_samples_is_the_angle_to_the_truth(rng):
    instance = cases.draw(3, 10, 0, 0)
    W = instance.truth + 0.5 * rng.standard_normal(instance.truth.shape)
    cosine = np.vdot(W, instance.truth) / np.linalg.norm(W) / np.linalg.norm(instance.truth)
    assert instance.error(W) == pytest.approx(np.arccos(cosine) / np.pi, abs=0.02)
    assert instance.error(instance.truth) == 0


def test_a_case_is_read_back_as_it_was_written(tmp_path):
    instance = cases.draw(2, 60, 1, 0)
    [case] = cases.cases(instance, iter([("x", instance.truth, None, 0.25)]))
    assert case.is_recovered
    assert case.recall == case.projected_recall == 1
    path = tmp_path / "cases.csv"
    tasks = {"x": {case.key}}
    for _ in range(2):
        complete(path, cases.Case, tasks, lambda task: [case], jobs=1, order=lambda case: case.key)
    assert load(path, cases.Case) == [case]
