"""The commands of `crowd-tvcs campaign` for one worker's turns, and older stores."""

from pathlib import Path

from tests.crowd.cli.test_campaign import folder, read, run, store
from tests.makers.commands import check_done, check_refused

__all__ = ["folder", "store"]


def test_turns_of_one_worker(store):
    """Skip, submit, undo, pause; the times of answers go to `crowd-tvcs workers` by the export."""
    first = run("next", store, "--worker", "ann").stdout.strip()
    skipped = run("skip", store, "--worker", "ann", "--task", first, "--reason", "dark")
    assert skipped.exit_code == 0
    assert skipped.stderr == f"worker 'ann' is not offered task {first!r} again\n"
    second = run("next", store, "--worker", "ann").stdout.strip()
    assert second != first
    run("submit", store, "--worker", "ann", "--task", second, "--label", "yes")
    taken_back = run("undo", store, "--worker", "ann")
    assert (taken_back.stdout.strip(), taken_back.exit_code) == (second, 0)
    nothing = run("undo", store, "--worker", "bob")
    assert (nothing.stdout, nothing.exit_code) == ("", 2)
    assert "worker 'bob' has no answer to take back" in nothing.stderr
    assert run("pause", store).stderr == "nobody gets a task until resume\n"
    assert run("next", store, "--worker", "bob").stderr == "the campaign is paused\n"
    assert "paused                      True\n" in run("status", store).stdout
    assert run("resume", store).stderr == "tasks are handed out again\n"
    assert "worker 'bob' gets no more tasks" in run("pause", store, "--worker", "bob").stderr
    result = run("status", store).stdout
    assert ("paused" in result, "workers blocked                1\n" in result) == (False, True)
    assert "gives this worker no more" in run("next", store, "--worker", "bob").stderr
    run("submit", store, "--worker", "ann", "--task", second, "--label", "yes")
    run("export-answers", store, "--out", "answers.csv")
    header, row = read("answers.csv")
    assert header == ["task", "worker", "label", "answered_at", "seconds"]
    assert row[:3] == [second, "ann", "yes"]
    assert row[3].endswith("Z")
    assert float(row[4]) > 0


def test_times_of_a_table_are_kept(store):
    pairs = [row.split(",") for row in run("plan", store, "--labels", 2).stdout.splitlines()[1:]]
    header = "task,worker,label,started_at,answered_at\n"
    lines = [f"{t},{w},yes,2026-03-01T12:00:00Z,2026-03-01T12:00:0{k + 1}Z\n"
             for k, (w, t) in enumerate(pairs)]  # fmt: skip
    Path("answers.csv").write_text(header + "".join(lines))
    assert run("import", store, "answers.csv").exit_code == 0
    rows = [row.split(",")[3:] for row in run("export-answers", store).stdout.splitlines()]
    stamps = ["2026-03-01T12:00:01Z", "2026-03-01T12:00:02Z"]
    assert rows == [["answered_at", "seconds"], [stamps[0], "1.0"], [stamps[1], "2.0"]]
    Path("late.csv").write_text(header + f"{pairs[0][1]},{pairs[0][0]},yes,2026-03-02,2026-03-01\n")
    err = check_refused(run("import", store, "late.csv"))
    assert "late.csv:2" in err
    assert "times run backwards" in err


def test_a_store_is_copied_and_the_copy_is_a_store(store):
    done = check_done(run("copy", store, "backup.db"))
    assert done.stderr == "copied with 0 answers; links of workers work on the copy too\n"
    assert run("status", "backup.db").stdout == run("status", store).stdout
    err = check_refused(run("copy", store, "backup.db"))
    assert "backup.db: holds tables already; name a new file or an empty database" in err
