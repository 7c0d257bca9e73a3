"""The command `crowd-tvcs serve`: what it refuses, links, and a server that comes and goes."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from functools import partial
from http.cookiejar import CookieJar

import pytest

from tests.makers.processes import run_python

pytest.importorskip("fastapi")
from crowd_tvcs.campaign import Campaign
from crowd_tvcs.campaign.desk.figures import figures
from crowd_tvcs.campaign.store.server_lock import hold_server_lock
from crowd_tvcs.serve import start
from tests.makers.commands import check_failed, check_refused, crowd_tvcs
from tests.makers.ports import free_port

run = partial(crowd_tvcs, "serve")


NAMED, PROXY = ["--user-header", "X-Forwarded-User"], ["--proxy-address", "10.0.0.7"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give a STORE, or --demo"),
        (["c.db", "--demo"], "give a STORE, or --demo"),
        (["c.db", "--host", "0.0.0.0"], "--host 0.0.0.0 can be reached by others"),
        (["c.db", "--host", "::"], "let a proxy speak https and give --behind-proxy"),
        (["c.db", "--host", "0.0.0.0", "--trust-network"], "give --public-url, such as http://"),
        (["c.db", "--behind-proxy"], "--behind-proxy needs --public-url"),
        (
            ["c.db", "--behind-proxy", "--public-url", "http://label.example.org"],
            "must be such as https://label.example.org, since a proxy speaks https",
        ),
        (["c.db", "--public-url", "label.example.org"], "--public-url must be such as https://"),
        (["c.db", "--behind-proxy", "--trust-network"], "exclude each other"),
        (["c.db", "--media", "none"], "--media must be a folder, found none"),
        (["none.db"], "there is no such store"),
        (
            ["c.db", "--gold-share", "0.9"],
            "--gold-share must be above 0 and at most 0.5, found 0.9",
        ),
        (["c.db", "--gold-share", "0"], "--gold-share must be above 0"),
        (
            ["c.db", "--gold-share", "0.1"],
            "mixed with the others, but the campaign has none: give --gold",
        ),
        (["c.db", "--gold", "none.csv"], "none.csv"),
        (["c.db", "--gold-feedback"], "--gold-feedback needs --gold-first N"),
        (["c.db", "--operators", "o.csv", "--operator-password-file", "p"],
         "give --operators or --operator-password-file, not both"),
        (["c.db", "--port", "65536"], "--port must be from 0 to 65535, found 65536"),
        (["c.db", "--root-path", "/w"], "--root-path must not begin with /w"),
        (["c.db", "--seats", "5"], "--seats needs --sign-up open or signed"),
        (["c.db", "--sign-up", "all"], "--sign-up must be open or signed, found 'all'"),
        (["c.db", "--sign-up", "open"], "--sign-up open needs --seats N, as whoever has the link"),
        (["c.db", "--sign-up", "signed", "--consent", "none.md"], "none.md"),
        (["c.db", *NAMED], "--user-header needs --proxy-address, as anybody could write"),
        (["c.db", "--proxy-address", "10.0.0.7"], "--proxy-address needs --user-header"),
        (["c.db", *NAMED, "--proxy-address", "proxy"], "such as 10.0.0.7 or 172.18"),
        (["c.db", *NAMED, "--proxy-address", "0.0.0.0/0"], "names every address"),
        (["c.db", "--user-header", "Cookie", *PROXY], "must be a header such as X-Forw"),
        (["c.db", "--user-header", "a b", *PROXY], "found 'a b'"),
        (["c.db", *NAMED, *PROXY, "--sign-up", "signed"], "--user-header or --sign-up, not both"),
        (["revoke", "c.db"], "--worker must name the workers whose links"),
        (["links", "c.db", "--worker", "eve"], "there is no worker 'eve'"),
        (["links", "c.db", "--public-url", "x"], "--public-url must be such as https://"),
        (["invite", "c.db", "--ids", "i.csv", "--id-parameter", ""], "--id-parameter must be a na"),
    ],
)  # fmt: skip
def test_what_is_refused(campaign, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    err = check_refused(run(*(words or ["start"])))
    assert message in err
    assert len(err.splitlines()) == 1


def test_a_short_password_and_content_of_other_tasks_are_refused(campaign, tmp_path):
    store = campaign.store.place
    (tmp_path / "word").write_text("short\n")
    words = (store, "--operator-password-file", tmp_path / "word")
    assert "8 characters or more" in check_refused(run(*words))
    (tmp_path / "word").write_bytes(b"caf\xe9 caf\xe9 caf\xe9\n")
    assert check_refused(run(*words)).endswith("word: must be UTF-8\n")
    (tmp_path / "tasks.csv").write_text("task,text\nt9,hello\n")
    err = check_refused(run(store, "--content", tmp_path / "tasks.csv"))
    assert "task 't9' is not in the campaign" in err


def test_links_are_made_and_revoked(campaign, tmp_path):
    store = campaign.store.place
    done = run(
        "links", store, "--out", tmp_path / "links.csv", "--public-url", "https://label.example/"
    )
    assert done.exit_code == 0
    lines = (tmp_path / "links.csv").read_text().splitlines()
    assert lines[0] == "worker,link"
    assert re.fullmatch(r"ann,https://label\.example/w/[\w-]{24}\.[\w-]{43}", lines[1])
    assert "this computer" not in done.stderr
    here = run("links", store, "--out", tmp_path / "here.csv")
    assert "they open on this computer, at port 8000: give --public-url" in here.stderr
    assert "2 links revoked" in run("revoke", store, "--worker", "ann").stderr


def test_an_address_in_use_is_failed_work(campaign):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        err = check_failed(run(campaign.store.place, "--port", other.getsockname()[1]))
    assert "is not available; is it in use?" in err


def test_a_file_that_is_served_already_is_failed_work(campaign):
    with hold_server_lock(campaign.store, b"", ""):
        err = check_failed(run(campaign.store.place))
    assert "is served by another process already; several need PostgreSQL" in err
    assert len(err.splitlines()) == 1


def test_gold_is_put_among_the_tasks_with_its_content(campaign, tmp_path):
    (tmp_path / "gold.csv").write_text("task,label\ng1,good\ng2,bad\nt1,good\n")
    (tmp_path / "tasks.csv").write_text("task,text\nt1,a\nt2,b\nt3,c\ng1,d\n")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port, gold = other.getsockname()[1], tmp_path / "gold.csv"
        words = ("--port", port, "--gold", gold, "--content", tmp_path / "tasks.csv")
        result = run(campaign.store.place, *words).stderr.splitlines()
    assert result[0] == "1 gold task is mixed in; workers cannot recognise them"
    assert result[1] == "1 gold task without content skipped; workers could recognise them"
    assert "is not available; is it in use?" in result[-1]
    state = campaign.state()
    assert [t.name for t in state.tasks] == ["t1", "t2", "t3"]
    assert state.gold == {"g1": 1, "g2": 0, "t1": 1}


def test_a_share_of_nothing_is_none(campaign, tmp_path, monkeypatch):
    shares = []
    monkeypatch.setattr(start, "_run", lambda served, *_: shares.append(served.campaign.gold_share))
    (tmp_path / "gold.csv").write_text("task,label\ng1,good\n")
    for share in (0.0, None, 0.3):
        place = campaign.store.place
        start.serve(place, start.ListenAddress(), gold=tmp_path / "gold.csv", gold_share=share)
    assert shares == [0.0, start.GOLD_SHARE, 0.3]


@pytest.mark.parametrize(
    ("gold", "content", "message"),
    [
        ("g1,good\n", "g1,a\nt9,b\n", "bad.csv: task 't9' is not in the campaign"),
        ("g1,good\n", "t1,hello\n", "none of the 1 has content: give it in --content"),
        ("t1,good\nt2,bad\n", "t1,hello\n", "all 2 are tasks that need labels"),
    ],
)
def test_gold_that_is_refused_leaves_nothing_written(campaign, tmp_path, gold, content, message):
    (tmp_path / "gold.csv").write_text("task,label\n" + gold)
    (tmp_path / "bad.csv").write_text("task,text\n" + content)
    files = ("--gold", tmp_path / "gold.csv", "--content", tmp_path / "bad.csv")
    err = check_refused(run(campaign.store.place, *files))
    assert message in err
    assert len(err.splitlines()) == 1
    assert campaign.state().gold == {}
    assert figures(campaign.store).gold_tasks == 0


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_the_demo_serves_and_ends_on_ctrl_c(tmp_path):
    port = free_port()
    command = [sys.executable, "-m", "crowd_tvcs", "serve", "--demo", "--port", str(port)]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}
    ) as server:
        result = [server.stderr.readline() for _ in range(6)]
        assert result[0] == f"operator: http://127.0.0.1:{port}/operator\n"
        links = [line.split(": ")[1].strip() for line in result[2:5]]
        assert result[5] == "ready; stop with Ctrl-C\n"
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        with browser.open(links[0]) as page:
            assert b"Your task" in page.read()
        (store,) = tmp_path.glob("tvcs-desk-*/demo.db")
        with Campaign(store) as campaign:
            assert campaign.state().settings.slots == 1
        server.send_signal(signal.SIGINT)
        rest = server.stderr.read()
    assert server.returncode == 130
    assert rest.strip() == "interrupted"
    assert list(tmp_path.iterdir()) == []


def test_the_demo_waits_for_no_package_that_it_does_not_use():
    """SciPy alone is a fifth of the time until it listens."""
    script = (
        "import sys\n"
        "from crowd_tvcs.serve import start\n"
        "with start._campaign(None) as campaign:\n"
        "    start.Served(campaign, 'a password')\n"
        "heavy = {'scipy', 'numba', 'pandas', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) or 0)"
    )
    done = run_python(script, check=False)
    assert (done.returncode, done.stderr) == (0, "")
