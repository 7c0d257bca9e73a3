"""Qualities by kind of task: single pairs that are excluded, beside sets of them."""

import numpy as np
import pytest

from crowd_tvcs import Quality
from crowd_tvcs.answers.factors import Factors

N, M = 4, 6
TABLE = Quality(np.linspace(0.55, 0.9, 8).reshape(N, 2), list("abcd"), ["easy", "hard"])


def crowd(excluded=None, kind=(0, 1, 0, 1, 1, 0)):
    return Factors(TABLE, [f"t{j}" for j in range(M)], kind, excluded)


@pytest.mark.parametrize("n", [0, 1, 5, N * M])
def test_what_is_excluded_is_what_a_set_of_pairs_holds(rng, n):
    chosen = rng.permutation(N * M)[:n]
    out = set(zip((chosen // N).tolist(), (chosen % N).tolist(), strict=True))
    factors = crowd((chosen // N, chosen % N))
    task, worker = np.divmod(np.arange(N * M), N)
    expected = [pair in out for pair in zip(task.tolist(), worker.tolist(), strict=True)]
    assert factors.excludes(task, worker).tolist() == expected
    assert (factors.allows(worker, task) == ~np.array(expected)).all()


def test_pairs_stay_with_their_names_in_another_order(rng):
    rows, columns = rng.permutation(N), rng.permutation(M)
    before = crowd(([0, 2, 5], [1, 3, 0]))
    after = before.reorder(rows, columns)
    task, worker = np.divmod(np.arange(N * M), N)
    were = before.excludes(columns[task], rows[worker])
    assert after.excludes(task, worker).tolist() == were.tolist()
    assert were.sum() == 3
    assert (after.quality().values == before.quality().values[np.ix_(rows, columns)]).all()


@pytest.mark.parametrize(
    ("excluded", "message"),
    [
        (([0],), "must be two arrays, tasks and workers, found 1"),
        (([0.0], [0]), "tasks of excluded must be integers, one per pair, found float64 of shape"),
        (([0], [[0]]), "workers of excluded must be integers, one per pair, found int64 of shape"),
        (([0, 1], [0]), "workers of excluded must be integers, one per pair"),
        (([0, M], [0, 0]), f"tasks of excluded must be from 0 to {M - 1}, found {M}"),
        (([-1], [0]), f"tasks of excluded must be from 0 to {M - 1}, found -1"),
        (([0], [N]), f"workers of excluded must be from 0 to {N - 1}, found {N}"),
        (([0], [-1]), f"workers of excluded must be from 0 to {N - 1}, found -1"),
    ],
)
def test_pairs_that_cannot_be_are_refused(excluded, message):
    crowd(([0, M - 1], [0, N - 1]))  # the first and the last can
    with pytest.raises(ValueError, match=message):
        crowd(excluded)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ([0] * 5, "kind must be 6 integers, one per task, found int64 of shape"),
        ([0.0] * 6, "kind must be 6 integers, one per task, found float64"),
        ([0, 1, 2, 0, 0, 9], "kind must be from 0 to 1, but that of task 't2' is 2"),
        ([0, -1, 2, 0, 0, 0], "kind must be from 0 to 1, but that of task 't1' is -1"),
    ],
)
def test_kinds_that_cannot_be_are_refused_and_the_first_is_named(kind, message):
    with pytest.raises(ValueError, match=message):
        crowd(kind=kind)
