"""Tables of an operator as a campaign reads them."""

import pytest

from crowd_tvcs.answers.quality import Quality, read_qualities
from crowd_tvcs.campaign import Task, Worker
from crowd_tvcs.campaign.ingest.tables import read_lines, read_tasks, read_workers
from tvcs_core import DataError


@pytest.fixture
def table(tmp_path):
    def _table(text):
        (tmp_path / "a.csv").write_text(text)
        return tmp_path / "a.csv"

    return _table


def test_workers_and_tasks_with_some_columns_or_all(table):
    found = read_workers(table("worker,max_tasks,cost,group\nann,3,0.5,x\nbob,,0,\n"))
    assert found == [Worker("ann", 3, 0.5, "x"), Worker("bob", None, 0.0)]
    assert read_workers(table("worker\nann\n")) == [Worker("ann")]
    found = read_tasks(table("task,prior,min_workers,max_workers\nt1,0.25,1,2\nt2,,,\n"))
    assert found == [Task("t1", 0.25, 1, 2), Task("t2")]
    assert read_tasks(table("task\nt1\n"), {"t1"}) == [Task("t1")]
    with pytest.raises(DataError):
        read_tasks(table("task\nt2\n"), {"t1"})


@pytest.mark.parametrize(
    ("read", "header"),
    [(read_workers, "worker\n"), (read_tasks, "task\n"), (read_qualities, "worker,quality\n")],
)
def test_a_header_alone_is_no_table(read, header, table):
    with pytest.raises(DataError, match="must have a row below the header, found none"):
        read(table(header))


def test_qualities_of_workers_or_of_pairs(table):
    assert read_qualities(table("worker,quality\nann,0.9\nbob,1\n")) == {"ann": 0.9, "bob": 1.0}
    of_pairs = read_qualities(table("worker,task,quality\nann,t1,0.9\nann,t2,0.5\n"))
    assert isinstance(of_pairs, Quality)
    assert of_pairs.values.tolist() == [[0.9, 0.5]]
    matrix = read_qualities(table("worker,t1,t2\nann,0.9,0.5\n"))
    assert isinstance(matrix, Quality)
    with pytest.raises(DataError, match=r"a\.csv:3: the quality of worker 'bob' is missing"):
        read_qualities(table("worker,quality\nann,0.9\nbob,\n"))


def test_answers_with_their_lines_and_times(table, capsys):
    path = table("task,worker,label,seconds\nt1,ann,yes,2.5\nt1,bob,no,\nt2,ann,no,4\n")
    one, two, three = read_lines(path)
    assert (one.task, one.worker, one.label, one.row, one.when) == ("t1", "ann", "yes", 1, None)
    assert [line.seconds for line in (one, two, three)] == [2.5, None, 4.0]
    assert str(three.error("no")).endswith("a.csv:4: no")
    assert capsys.readouterr().err == ""
    twice = table("task,worker,label\nt1,ann,yes\nt1,ann,no\n")
    assert [line.label for line in read_lines(twice, "last")] == ["no"]
    assert str(twice) in capsys.readouterr().err
    with pytest.raises(DataError, match="every pair must be answered once"):
        read_lines(twice)
