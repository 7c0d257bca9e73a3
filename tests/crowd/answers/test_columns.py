"""One reader of columns: whatever table it is, a column has the same names, a fault one text."""

import re
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

from crowd_tvcs import Quality, read_answers, read_gold, read_quality
from crowd_tvcs.answers.answers import with_shared_classes
from crowd_tvcs.answers.class_prevalence import read_prevalence
from crowd_tvcs.answers.columns import (
    ANSWER,
    QUALITY,
    TASK,
    TRUTH,
    WORKER,
    Column,
    names_in,
    open_exactly,
    open_table,
)
from crowd_tvcs.answers.confusion import read_confusion
from crowd_tvcs.answers.gold import Gold
from crowd_tvcs.answers.quality import read_qualities
from crowd_tvcs.answers.recorded import Answers
from crowd_tvcs.answers.rows import (
    check_costs,
    read_cost,
    read_count,
    read_name,
    read_probability,
    read_worker_rows,
    rows_of,
)
from crowd_tvcs.exchange.work import read_assignment
from crowd_tvcs.exchange.work import read_tasks as read_shown
from crowd_tvcs.plan.tables import read_plan
from tvcs_core.files import input_size, tables
from tvcs_core.files.errors import DataError
from tvcs_core.files.tables import read_table

CROWD = Quality([[0.9, 0.8], [0.7, 0.6]], ["ann", "bob"], ["t1", "t2"])
CONFUSION = "worker,label,answer,probability\n" + "".join(
    f"{w},{y},{k},0.5\n" for w in ("ann", "bob") for y in "ab" for k in "ab"
)


def campaign(name):
    """A reader of campaigns, which need SQLAlchemy."""
    pytest.importorskip("sqlalchemy")
    from crowd_tvcs.campaign.ingest import tables

    return getattr(tables, name)


# Of every reader: a table that it takes, and the columns whose names it knows.
READERS = {
    "quality": (read_quality, "worker,task,quality\nann,t1,.9\nbob,t2,.8\n",
                [WORKER, TASK, QUALITY]),
    "answers": (read_answers, "worker,task,label\nann,t1,0\nbob,t1,1\n", [WORKER, TASK, ANSWER]),
    "gold": (read_gold, "task,label\nt1,0\nt2,1\n", [TASK, TRUTH]),
    "workers": (lambda path: read_plan(CROWD, workers=path),
                "worker,max_tasks,cost\nann,1,2\nbob,2,2\n", [WORKER]),
    "tasks": (lambda path: read_plan(CROWD, tasks=path), "task,prior\nt1,.3\nt2,.4\n", [TASK]),
    "forced": (lambda path: read_plan(CROWD, forced=path), "worker,task\nann,t1\n", [WORKER, TASK]),
    "confusion": (lambda path: read_confusion(path, ["ann", "bob"]), CONFUSION,
                  [WORKER, Column("label"), Column("answer")]),
    "shares": (read_prevalence, "label,share\na,.5\nb,.5\n", [Column("label"), Column("share")]),
    "assignment": (read_assignment, "worker,task\nann,t1\n", [WORKER, TASK]),
    "shown": (read_shown, "task,text\nt1,one\n", [Column("task")]),
    "campaign workers": (lambda path: campaign("read_workers")(path), "worker,cost\nann,1\n",
                         [WORKER]),
    "campaign tasks": (lambda path: campaign("read_tasks")(path), "task,prior\nt1,.3\n", [TASK]),
    "qualities": (read_qualities, "worker,quality,note\nann,.5,x\n", [WORKER, QUALITY]),
    "campaign answers": (lambda path: campaign("read_lines")(path), "worker,task,label\nann,t1,0\n",
                         [WORKER, TASK, ANSWER]),
}  # fmt: skip
CASES = [(name, column) for name, (*_, columns) in READERS.items() for column in columns]
every_column = pytest.mark.parametrize(
    ("name", "column"), CASES, ids=[f"{name}: {column.name}" for name, column in CASES]
)


@pytest.fixture
def table(tmp_path, name):
    path = tmp_path / "table.csv"
    path.write_text(READERS[name][1])
    return path


def content(found):
    """Everything that was read, but for how the columns were called."""
    if is_dataclass(found):
        kept = (one.name for one in fields(found) if one.name not in ("layout", "table"))
        return {each: content(getattr(found, each)) for each in kept}
    if isinstance(found, dict):
        return {key: content(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return [content(value) for value in found]
    return found.tolist() if isinstance(found, np.ndarray) else found


@every_column
def test_a_column_may_have_any_of_its_names_in_any_case(table, name, column):
    expected = content(READERS[name][0](table))
    header, _, rest = READERS[name][1].partition("\n")
    of_ids = [f"{column.name}_id", f"{column.name.title()} ID"] if column.of_names else []
    for other in (column.name.upper(), *column.also, *of_ids):
        cells = [other if cell == column.name else cell for cell in header.split(",")]
        table.write_text(f"{','.join(cells)}\n{rest}")
        assert content(READERS[name][0](table)) == expected


def test_a_column_of_names_is_that_of_identifiers_only_where_there_is_no_other(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("task_id,task,worker id,label\n7,t1,ann,a\n8,t2,bob,b\n")
    answers = read_answers(path)
    assert answers.tasks == ("t1", "t2")
    assert answers.workers == ("ann", "bob")
    path.write_text("task,worker,answer_id\nt1,ann,3\n")  # it names the answer, not its label
    with pytest.raises(DataError, match=r"must have one column 'label' .*, found task, worker,"):
        read_answers(path)
    path.write_text("task_id,item_id,worker,label\nt1,7,ann,a\n")
    with pytest.raises(DataError, match="found task_id, item_id; keep one of them"):
        read_answers(path)


@every_column
def test_a_missing_column_is_reported_in_the_same_words(table, name, column):
    if (name, column) in (("qualities", QUALITY), ("quality", TASK)):
        return  # such a table is a wide one, or has a message of its own
    lines = [line.split(",") for line in READERS[name][1].splitlines()]
    at = lines[0].index(column.name)
    table.write_text("".join(",".join(c[:at] + c[at + 1 :]) + "\n" for c in lines))
    others = ", ".join(header for header in lines[0] if header != column.name)
    expected = f"table.csv:1: must have one column {column}, found {others}"
    with pytest.raises(DataError, match=re.escape(expected)):
        READERS[name][0](table)


@every_column
def test_a_doubled_column_is_reported_in_the_same_words(table, name, column):
    lines = READERS[name][1].splitlines()
    table.write_text("".join(f"{line},{column.name if not k else 'x'}\n"
                             for k, line in enumerate(lines)))  # fmt: skip
    expected = f"table.csv:1: must have one column {column}, found {column.name}, {column.name}"
    with pytest.raises(DataError, match=re.escape(expected)):
        READERS[name][0](table)


@every_column
def test_an_empty_name_is_reported_in_the_same_words(table, name, column):
    if column not in (WORKER, TASK, ANSWER, TRUTH, Column("label"), Column("answer")):
        return
    if (name, column.name) == ("gold", "label"):
        return  # a task without a label, as `vote` writes it: no gold
    header, first, *rest = READERS[name][1].splitlines()
    at = header.split(",").index(column.name)
    cells = first.split(",")
    cells[at] = ""
    table.write_text("\n".join([header, ",".join(cells), *rest]) + "\n")
    expected = f"table.csv:2, column '{column.name}': must be a name, found an empty cell"
    with pytest.raises(DataError, match=re.escape(expected)):
        READERS[name][0](table)


@pytest.mark.parametrize("name", ["workers", "tasks", "shares", "shown", "campaign workers"])
def test_a_name_that_is_there_twice_is_reported_in_the_same_words(table, name):
    lines = table.read_text().splitlines()
    table.write_text("\n".join([*lines, lines[1]]) + "\n")
    expected = f"'{lines[1].split(',')[0]}' is there already, in line 2"
    with pytest.raises(DataError, match=expected):
        READERS[name][0](table)


@pytest.mark.parametrize("name", sorted(READERS.keys() - {"confusion", "shares"}))
@pytest.mark.parametrize("names_only", [False, True])
def test_files_that_are_joined_with_their_headers_are_refused(table, name, names_only):
    header, *rows = READERS[name][1].splitlines()
    if names_only and header.startswith(("worker,max", "worker,cost", "task,prior")):
        header, *rows = (line.split(",")[0] for line in (header, *rows))
    table.write_text("\n".join([header, *rows, header, *rows]) + "\n")
    expected = f"table.csv:{len(rows) + 2}: the header is there again; leave it out where files are"
    with pytest.raises(DataError, match=expected):
        READERS[name][0](table)


@pytest.mark.parametrize("name", ["answers", "gold", "campaign answers"])
def test_what_is_called_like_its_column_is_taken(table, name):
    header, *rows = READERS[name][1].splitlines()
    for k, heading in enumerate(header.split(",")[:-1]):
        cells = rows[0].split(",")
        cells[k] = heading
        table.write_text("\n".join([header, *rows, ",".join(cells)]) + "\n")
        assert repr(heading) in repr(content(READERS[name][0](table)))


def test_a_price_out_of_range_and_a_stranger_are_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("worker,price\nann,0\nbob,0.0000001\ncid,1000000\ndan,0.5\n")
    table = read_table(path)
    assert (read_cost(table, 1, 1), read_cost(table, 4, 1)) == (0.0, 0.5)
    assert read_name(table, 1, 0) == "ann"
    for row, cell in ((2, "0.0000001"), (3, "1000000")):
        what = f"must be 0, or from 0.000001 to below 1000000, found '{cell}'"
        with pytest.raises(DataError, match=what):
            read_cost(table, row, 1)
    assert [name for _, name in names_in(table, 0)] == ["ann", "bob", "cid", "dan"]
    with pytest.raises(DataError, match=r"must be a worker of the quality table, found '?bob"):
        list(names_in(table, 0, "worker", {"ann"}))


def test_numbers_below_0_are_refused_and_so_are_other_columns(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("worker,price\nann,-0.5\nbob,1\n")
    table = open_exactly(path, "worker", "price")
    assert (read_cost(table, 2, 1), read_probability(table, 2, 1)) == (1.0, 1.0)
    with pytest.raises(DataError, match=r"csv:2, column 'price': must be a finite number >= 0, fo"):
        read_cost(table, 1, 1)
    with pytest.raises(
        DataError, match=r"csv:2, column 'price': must be a probability in \[0, 1\]"
    ):
        read_probability(table, 1, 1)
    with pytest.raises(DataError, match=r"t\.csv:1: must have the columns price, worker"):
        open_exactly(path, "price", "worker")


def test_rows_hold_what_their_columns_say_and_nothing_of_empty_cells(tmp_path):
    (tmp_path / "w.csv").write_text("worker,max_tasks,p\nann,2.0,0.5\nbob,,1\n")
    found = rows_of(
        open_table(tmp_path / "w.csv"), WORKER, {"max_tasks": read_count, "p": read_probability}
    )
    assert found == {"ann": {"max_tasks": 2, "p": 0.5}, "bob": {"p": 1.0}}


def test_nobody_works_for_nothing_where_another_has_a_cost(tmp_path):
    rows = {"ann": {"cost": 1.0}, "bob": {}}
    check_costs(tmp_path, rows, ["ann"])
    check_costs(tmp_path, {"ann": {"max_tasks": 2}}, ["ann"])
    with pytest.raises(DataError, match="every worker must have a cost, found none for 'bob'"):
        check_costs(tmp_path, rows, ["ann", "bob"])


def test_answers_take_the_classes_that_gold_alone_has():
    answers = Answers.of([("t1", "ann", "0"), ("t2", "ann", "1")])
    gold = Gold({"t1": "0", "t2": "1", "t3": "2"})
    assert with_shared_classes(answers, gold).classes == ("0", "1", "2")
    assert with_shared_classes(answers, Gold({"t1": "0", "t2": "1"})) is answers


def test_minutes_are_what_a_worker_costs_where_they_are_given(tmp_path):
    path = tmp_path / "w.csv"
    path.write_text("worker,minutes,max_tasks\nann,3,2\nbob,,1\n")
    rows = read_worker_rows(path, None)
    assert rows == {"ann": {"cost": 3.0, "max_tasks": 2}, "bob": {"max_tasks": 1}}


def test_a_cap_has_nine_digits_at_most(tmp_path):
    path = tmp_path / "w.csv"
    path.write_text("worker,max_tasks\nann,0999999999\n")
    assert read_worker_rows(path, None)["ann"]["max_tasks"] == 999_999_999
    path.write_text("worker,max_tasks\nann,1000000000\n")
    with pytest.raises(ValueError, match="must be at most 999999999, found '1000000000'"):
        read_worker_rows(path, None)


@pytest.mark.parametrize(
    ("cells", "costs"),
    [
        (["$0.05", "$ 1"], [0.05, 1.0]),
        (["0.05 €", "0.1€"], [0.05, 0.1]),
        (["£2", "3"], [2.0, 3.0]),
        (["EUR 0.05", "0.1 EUR"], [0.05, 0.1]),
        (['"0,05 €"', '"1,5"'], [0.05, 1.5]),
    ],
)
def test_costs_may_have_a_currency(tmp_path, cells, costs):
    path = tmp_path / "w.csv"
    path.write_text(f"worker,cost\nann,{cells[0]}\nbob,{cells[1]}\n", encoding="utf-8")
    assert [row["cost"] for row in read_worker_rows(path, None).values()] == costs


@pytest.mark.parametrize(
    ("column", "first", "second", "message"),
    [
        ("cost", "$1", "2 €", ":3, column 'cost': must have the currency of '$1', found '2 €'"),
        ("cost", "EUR 1", "2 USD", "must have the currency of 'EUR 1', found '2 USD'"),
        ("cost", "1", "NAN", "must be a finite number >= 0, found 'NAN'"),
        ("max_tasks", "1", "10.5", "found '10.5'; write a whole number, or leave the cell empty"),
        ("max_tasks", "1", '"1,000"', "must be an integer >= 0, found '1,000'; write 1000, or"),
        ("cost", "1", "$", "must be a finite number >= 0, found '$'"),
        ("cost", "1", "$$2", "must be a finite number >= 0, found '$$2'"),
        ("minutes", "1", '"1,500"', "must be a finite number >= 0, found '1,500'; write 1500, or"),
        ("cost", "1", "5 MIN", "must be a finite number >= 0, found '5 MIN'"),
        ("minutes", "1", "5 DAY", "must be a finite number >= 0, found '5 DAY'"),
        ("cost", "1", '"1,500 €"', "found '1,500 €'; write 1500, or 1.500 if that is a decimal"),
    ],
)
def test_a_currency_is_one_and_of_money(tmp_path, column, first, second, message):
    path = tmp_path / "w.csv"
    path.write_text(f"worker,{column}\nann,{first}\nbob,{second}\n", encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(message)):
        read_worker_rows(path, None)


@pytest.mark.parametrize(
    ("cell", "value"),
    [("50 %", 0.5), ("12.5%", 0.125), ("100%", 1.0), ('"0,25"', 0.25), ('"12,5 %"', 0.125)],
)
def test_a_probability_may_be_in_per_cent_or_have_a_decimal_comma(tmp_path, cell, value):
    path = tmp_path / "t.csv"
    path.write_text(f"task,prior\nt1,{cell}\n")
    assert rows_of(open_table(path), TASK, {"prior": read_probability}) == {"t1": {"prior": value}}


def test_a_wide_table_of_a_german_spreadsheet_is_read(tmp_path):
    path = tmp_path / "quality.csv"
    path.write_text("worker;t1;t2\nann;0,85;1,000\nbob;0,7;60 %\n")
    assert read_quality(path).quality.values.tolist() == [[0.85, 1.0], [0.7, 0.6]]


@pytest.mark.parametrize("cell", ["101 %", "%", "-1%", "5%%", "1.5"])
def test_what_is_no_share_of_a_hundred_is_refused(tmp_path, cell):
    path = tmp_path / "t.csv"
    path.write_text(f"task,prior\nt1,{cell}\n")
    with pytest.raises(DataError, match=r"must be a probability in \[0, 1\], found"):
        rows_of(open_table(path), TASK, {"prior": read_probability})


def test_a_table_is_refused_by_its_shape_before_its_cells_are_read(tmp_path, monkeypatch):
    rows = "task,worker,label{}\nt1,ann,0{}\nt2,bob,1{}\n"
    path = tmp_path / "answers.csv"
    path.write_text(rows.format(*[",x" * 7] * 3))
    size = 3 * 3 * input_size.BYTES_PER_CELL  # of three rows, the columns that are kept
    monkeypatch.setattr(tables, "MAX_COLUMNS", 10)
    monkeypatch.setattr(input_size, "available_memory", lambda: size)
    assert read_answers(path).tasks == ("t1", "t2")
    monkeypatch.setattr(input_size, "available_memory", lambda: size - 1)
    with pytest.raises(DataError, match="must fit into the memory that is free, 899 bytes; its 3"):
        read_answers(path)
    monkeypatch.setattr(tables, "MAX_COLUMNS", 9)
    with pytest.raises(
        DataError, match=r":1: must have at most 9 columns, found 10; see that each"
    ):
        read_answers(path)


@pytest.mark.parametrize("name", ["Mean", "average", "Overall"])
def test_a_line_of_a_wide_table_that_is_the_mean_of_the_others_is_no_worker_and_no_task(
    tmp_path, name
):
    path = tmp_path / "quality.csv"
    path.write_text(f"worker,t1,t2,{name}\nann,.6,.9,.75\nben,.7,.8,.75\n")
    with pytest.raises(DataError, match=f"'{name}' is the mean of all others and no task: delete"):
        read_quality(path)
    path.write_text(f"worker,t1,t2\nann,.6,.9\nben,.7,.8\n{name},.65,.85\n")
    with pytest.raises(DataError, match=f"'{name}' is the mean of all others and no worker: del"):
        read_quality(path)
    path.write_text(f"worker,t1,t2,{name}\nann,.6,.9,.9\nben,.7,.8,.75\n")
    assert read_quality(path).quality.tasks == ("t1", "t2", name)  # called so by chance


@pytest.mark.parametrize(
    "text",
    [
        "worker,quality\nann,.9\n",
        "worker,Accuracy\nann,.9\n",
        "worker,gold,right,quality,low\nann,3,2,.7,.5\n",
    ],
)
def test_a_quality_per_worker_is_no_quality_table(tmp_path, text):
    path = tmp_path / "q.csv"
    path.write_text(text)
    message = "q.csv:1: has a quality per worker, must have one per worker and task: .* quality.csv"
    with pytest.raises(DataError, match=message):
        read_quality(path)
