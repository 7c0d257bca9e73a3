"""Times and durations of answers: read, kept beside their answers, refused if they cannot be."""

import math
import time
from datetime import datetime

import numpy as np
import pytest

from crowd_tvcs.answers.answers import Answers, Gold, read_answers, with_shared_classes
from crowd_tvcs.answers.times import (
    CLOCK_TOLERANCE,
    MIN_MILLISECONDS,
    YEAR_2000,
    parse_seconds,
    parse_time,
    to_iso,
)
from tvcs_core.files.errors import DataError


def write(folder, text):
    path = folder / "a.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "2012-12-18T02:24:25Z",
        "2012-12-18 02:24:25",
        "2012-12-17T18:24:25-08:00",
        "2012-12-18T02:24:25.000000+00:00",
        "1355797465",
        1355797465,
        1355797465.0,
    ],
)
def test_a_time_is_read_as_every_tool_writes_it(text):
    assert parse_time(text) == 1355797465.0
    assert to_iso(parse_time(text)) == "2012-12-18T02:24:25Z"


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("morning", "must be a time such as 2026-03-01T12:30:00Z"),
        ("31/12/2026 10:00", r"2026-03-01T12:30:00Z .year, month, day., or seconds"),
        ("17.12.2012 18:24", "must be a time such as"),
        ("Mon Dec 17 18:24:25 XYZ 2012", "must be a time such as"),
        ("nan", "must be a time such as"),
        (None, "must be a time such as"),
        (True, "must be a time such as"),
        (1355797465000, "looks like milliseconds"),
        ("12.5", "lies before the year 2000"),
        ("2999-01-01", "lies in the future"),
        pytest.param(time.time() + 3 * 86400, "lies in the future", id="in three days"),
    ],
)
def test_what_is_no_time_is_refused(value, what):
    with pytest.raises(ValueError, match=what):
        parse_time(value)


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (0, "above 0 seconds, found 0"),
        ("-3", "above 0 seconds, found '-3'"),
        ("1,500", r"found '1,500'; write 1500, or 1\.500 if that is a decimal comma"),
        ("fast", "must be a duration in seconds, found 'fast'"),
        ("inf", "must be a duration in seconds"),
    ],
)
def test_what_is_no_duration_is_refused(value, what):
    with pytest.raises(ValueError, match=what):
        parse_seconds(value)


TEXT = (
    "task,worker,label,Time,duration\n"
    "t2,bob,1,2026-03-01T12:00:05Z,2.5\nt1,bob,0,2026-03-01T12:00:00Z,\nt1,ann,1,,4\n"
)


def test_times_stay_beside_their_answers(tmp_path):
    answers = read_answers(write(tmp_path, TEXT), times=True)
    assert answers.rows() == [("t1", "ann", "1"), ("t1", "bob", "0"), ("t2", "bob", "1")]
    noon = parse_time("2026-03-01T12:00:00Z")
    assert answers.when.tolist()[1:] == [noon, noon + 5]
    assert math.isnan(answers.when[0])
    assert np.array_equal(answers.seconds, [4, math.nan, 2.5], equal_nan=True)
    some = answers.select(answers.worker_of == 1)
    assert some.when.tolist() == [noon, noon + 5]
    wider = with_shared_classes(answers, Gold({"t9": "2"}, ["0", "2"]))
    assert np.array_equal(wider.when, answers.when, equal_nan=True)
    assert np.array_equal(wider.seconds, answers.seconds, equal_nan=True)
    rows = [("b", "x", "1"), ("a", "x", "0")]
    assert Answers.of(rows, seconds=[2.0, 1.0]).seconds.tolist() == [1.0, 2.0]


def test_the_answer_that_is_kept_keeps_its_time(tmp_path):
    path = write(tmp_path, TEXT + "t1,bob,1,2026-03-01T12:00:09Z,9\n")
    answers = read_answers(path, times=True, duplicates="last")
    assert answers.rows()[1] == ("t1", "bob", "1")
    assert answers.seconds[1] == 9


def test_without_being_asked_times_are_ignored_whatever_they_hold(tmp_path):
    path = write(tmp_path, TEXT.replace("2.5", "soon"))
    answers = read_answers(path)
    assert answers.when is answers.seconds is None
    assert "ignored columns: Time, duration" in answers.layout


def test_the_start_gives_the_duration_where_no_column_has_it(tmp_path):
    path = write(
        tmp_path,
        "task,worker,label,started_at,answered_at\n"
        "t1,a,0,2026-03-01T12:00:00Z,2026-03-01T12:00:07Z\nt1,b,1,,2026-03-01T12:00:07Z\n",
    )
    answers = read_answers(path, times=True)
    assert np.array_equal(answers.seconds, [7, math.nan], equal_nan=True)


HEADER = "task,worker,label,started_at,answered_at,seconds\nt1,a,0,,,\nt1,b,1,"


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("2026-03-01T12:00:07Z,2026-03-01T12:00:00Z,",
         r"a.csv:3, column 'answered_at': must be after the start, 2026-03-01T12:00:07.*backwards"),
        (",2999-01-01,", r"a.csv:3, column 'answered_at': .* lies in the future"),
        (",,0", r"a.csv:3, column 'seconds': a duration must be above 0 seconds, found '0'"),
        (",,-1", r"a.csv:3, column 'seconds': a duration must be above 0"),
        ("soon,,", r"a.csv:3, column 'started_at': must be a time such as"),
    ],
)  # fmt: skip
def test_times_that_cannot_be_are_refused_with_their_place(tmp_path, row, what):
    with pytest.raises(DataError, match=what):
        read_answers(write(tmp_path, HEADER + row + "\n"), times=True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2026-03-01T12:00:00Z", "2026-03-01 12:00:00"),
        ("2026-03-01T12:00:00.5+0100", "2026-03-01"),
        ("Mon Dec 17 18:24:25 PST 2012", "2012-12-17T18:24"),
    ],
)
def test_times_without_a_zone_beside_times_with_one_are_refused(tmp_path, one, other):
    """They count as UTC, so one of the two was hours off without a word."""
    rows = f"t,w,0,{one}\nu,v,1,1772368200\nu,w,1,{other}\n"
    path = write(tmp_path, "task,worker,label,answered_at\n" + rows)
    with pytest.raises(DataError, match="has no time zone, which counts as UTC") as caught:
        read_answers(path, times=True)
    assert "a.csv:4, column 'answered_at'" in str(caught.value)
    path = write(tmp_path, path.read_text().replace(one, "1772368200"))
    assert read_answers(path, times=True).when is not None


def test_times_of_answers_made_in_python_are_checked():
    rows = [("t", "a", "0"), ("t", "b", "1")]
    with pytest.raises(ValueError, match=r"seconds must have shape \(2,\), found \(1,\)"):
        Answers.of(rows).__class__(
            ["t"], ["a", "b"], ["0", "1"], [0, 0], [0, 1], [0, 1], seconds=[1]
        )
    with pytest.raises(ValueError, match="seconds must be above 0 or NaN, found 0"):
        Answers.of(rows, seconds=[1, 0])


@pytest.mark.filterwarnings("ignore::UserWarning")  # of such names
def test_answers_in_a_workbook_keep_their_names_and_times(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["task", "worker", "label", "answered_at", "seconds"])
    book.active.append([1, "007", 0, datetime(2012, 12, 18, 2, 24, 25), 3.5])
    book.active.append([1, 7, 1, datetime(2012, 12, 18, 2, 24, 25), 4])
    book.save(path := tmp_path / "a.xlsx")
    answers = read_answers(path, times=True)
    assert (answers.tasks, answers.workers) == (("1",), ("007", "7"))
    assert answers.when.tolist() == [1355797465.0] * 2
    assert answers.seconds.tolist() == [3.5, 4.0]
    book.create_sheet("notes").append(["x"])
    book.save(path)
    with pytest.raises(DataError, match=r"has the sheets Sheet, notes; keep only the one"):
        read_answers(path)


@pytest.mark.parametrize(
    "zones", ["UTC GMT", "EST", "EDT", "CST", "CDT", "MST", "MDT", "PST", "PDT"]
)
def test_every_zone_of_america_is_as_far_from_utc_as_its_name_says(zones):
    zone = zones.split()[-1]
    behind = {"E": 5, "C": 6, "M": 7, "P": 8, "G": 0}[zone[0]] - (zone[1] == "D")
    for name in zones.split():
        found = parse_time(f"Mon Dec 17 18:24:25 {name} 2012")
        assert found == parse_time(f"2012-12-17T18:24:25-{behind:02d}:00")


def test_the_first_and_the_last_time_that_are_read():
    now = 1.7e9
    for least, most, outside in [
        (YEAR_2000, now + CLOCK_TOLERANCE, 1.0),
        (946_684_800, now + 86_400, 0.5),
    ]:
        assert [parse_time(at, now) for at in (least, most)] == [least, most]
        with pytest.raises(ValueError, match="before the year 2000"):
            parse_time(least - outside, now)
        with pytest.raises(ValueError, match="in the future"):
            parse_time(most + outside, now)
    with pytest.raises(ValueError, match="in the future"):
        parse_time(MIN_MILLISECONDS - 1, now)
    with pytest.raises(ValueError, match="milliseconds"):
        parse_time(MIN_MILLISECONDS, now)
