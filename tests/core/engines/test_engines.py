"""Laws of all engines, and of all pools that a caller may hold."""

import threading

import pytest

from tests.core.engines import toys
from tvcs_core.engines import Serial, results
from tvcs_core.files.errors import RunError


def test_units_give_the_same_bytes_and_their_journal_is_taken_up(pool, tmp_path):
    want = toys.total(toys.job(), Serial())
    assert toys.total(toys.job(), pool) == want
    assert toys.total(toys.job(), pool, checkpoint_dir=tmp_path) == want
    assert toys.total(toys.job(seed=4), pool) != want
    several = [toys.job(name="a"), toys.job(seed=4, name="b", size=3)]
    assert toys.total(several, pool) == toys.total(several, Serial())
    assert list(results([toys.job(size=0)], pool)) == []
    result = []
    found = toys.total(
        toys.job(), Serial(), checkpoint_dir=tmp_path, progress=lambda *n: result.append(n)
    )
    assert (found, result) == (want, [(8, 8)])


def test_an_error_of_a_unit_ends_the_run_and_leaves_the_pool_usable(pool, request):
    before = set(threading.enumerate())
    with pytest.raises(ValueError, match=r"^cannot do 3") as error:
        toys.total(toys.job(toys.fails, size=50, bad=[3]), pool)
    assert str(error.value) == "cannot do 3"
    if "thread" in request.node.name and "executor" not in request.node.name:
        assert set(threading.enumerate()) <= before
    try:
        assert toys.total(toys.job(), pool) == toys.total(toys.job(), Serial())
    except RunError:  # joblib hands late results of a failed call to the next one
        assert "joblib" in request.node.name
