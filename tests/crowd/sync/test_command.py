"""`crowd-tvcs sync`: what it says of what cannot be, and with which exit code."""

import ssl
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.crowd.sync import studio as fake
from tests.crowd.sync.conftest import ANN, TASKS, answers
from tests.every_command import call

CERTIFICATE = Path(__file__).with_name("this_machine.pem")  # signs itself; of 127.0.0.1 alone
OTHER_CONFIG = fake.CONFIG.replace("<Choices ", '<Choices choice="multiple" ')


@pytest.fixture
def run(campaign, studio, address, monkeypatch, capsys):
    """Run the command once; exit code and what it says."""
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", fake.TOKEN)
    monkeypatch.delenv("ARGILLA_API_KEY", raising=False)

    def _run(*more, url=address, project=fake.PROJECT, store=campaign.store.place, once="--once"):
        words = ["crowd-tvcs", "sync", "label-studio", store, url, "--project", str(project)]
        words += [once, "--patience", "0", *map(str, more)]
        code, out, err = call([word for word in words if word], capsys)
        assert out == ""
        return code, err

    return _run


def test_it_brings_both_in_step_and_says_what_it_did(campaign, studio, run):
    begun = f"project {fake.PROJECT}: "
    assert run("--predictions") == (
        0,
        f"{begun}maximum_annotations set to 3\n{begun}show_collab_predictions set to False\n"
        "5 tasks added\n",
    )
    studio.annotate(ANN, studio.tab(ANN)[0], "yes")
    assert run() == (0, "1 accepted\n")
    assert run() == (0, "nothing new\n")
    assert len(answers(campaign)) == 1


def test_tasks_show_what_the_table_or_the_store_says(campaign, studio, run, tmp_path):
    table = tmp_path / "shown.csv"
    table.write_text("task,text,hint\n" + "".join(f"{t},words of {t},h\n" for t in TASKS))
    assert run("--tasks", table)[0] == 0
    assert studio.called("t1")["data"]["text"] == "words of t1"
    assert studio.called("t1")["data"]["hint"] == "h"
    studio.tasks.clear()
    from crowd_tvcs.campaign.desk.content import Content, set_content

    bodies = {t: Content(f"kept of {t}", image="a.png", fields={"by": "x"}) for t in TASKS}
    set_content(campaign.store, bodies, table)
    assert run()[0] == 0
    data = studio.called("t2")["data"]
    assert data == {"task": "t2", "text": "kept of t2", "by": "x", "assigned": data["assigned"]}


def test_the_token_comes_from_a_file_too_and_is_never_printed(run, tmp_path, monkeypatch):
    monkeypatch.delenv("LABEL_STUDIO_API_KEY")
    token = tmp_path / "token"
    token.write_text(f"{fake.TOKEN}\n")
    assert run("--token-file", token)[0] == 0
    token.write_text("0123456789wrong\n")
    code, message = run("--token-file", token)
    assert code == 2
    assert "the token is not valid" in message
    assert "0123456789wrong" not in message
    token.write_text("two words\n")
    code, message = run("--token-file", token)
    assert (code, message) == (2, f"error: {token}: must hold a token, found something else\n")
    assert run()[1].startswith("error: the token must be in LABEL_STUDIO_API_KEY, or in a file")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda s: setattr(s, "release", "1.7.3"), "is Label Studio 1.7.3; versions from 1.20"),
        (lambda s: setattr(s, "release", "2.0.0"), "is Label Studio 2.0.0; versions from 1.20"),
        (lambda s: s.tokens.clear(), "the token is not valid: "),
        (lambda s: s.project.update(parsed_label_config={}), "must have one tag Choices, found no"),
        (lambda s: s.project.update(label_config=OTHER_CONFIG), "must take one choice, not s"),
        (lambda s: s.project["parsed_label_config"]["label"].update(labels=["cat", "dog"]),
         "must be the classes of the campaign, yes, no; found cat, dog"),
        (lambda s: s.project["parsed_label_config"]["label"]["inputs"][0].update(value="sound"),
         "shows $sound, but task 't0' has only text; --tasks names a table with that column"),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_in_step_is_one_line_and_code_2(change, what, studio, run):
    change(studio)
    code, message = run()
    last = message.splitlines()[-1]
    assert (code, last[:7]) == (2, "error: ")
    assert what in last
    assert studio.tasks == {}


@pytest.mark.parametrize(
    ("words", "given", "what"),
    [
        ([], {"project": 999}, "--project: there is no project 999 on"),
        ([], {"url": "ftp://x"}, "URL must be such as https://label.example.org, found 'ftp://x"),
        ([], {"url": "http://ann:secret@x"}, "URL must be such as https://label.example.org"),
        ([], {"store": "no.db"}, "no.db: there is no such store"),
        *(
            ([], {"url": url}, f"{url} uses http, so others on the network could read the token: "
             "give an https:// address, or --trust-network if the network is private")
            for url in ("http://label.example.org", "http://192.0.2.1:8080", "http://0.0.0.0:1")
        ),
        (["--listen", "127.0.0.1:0"], {}, "--once looks once, so nobody would hear --listen"),
        (["--listen", "8000"], {"once": ""}, "--listen must be HOST:PORT, found '8000'"),
        (["--webhook-url", "http://x"], {}, "--webhook-url is the address of --listen, which is"),
    ],
)  # fmt: skip
def test_wrong_words_are_refused(words, given, what, run):
    code, message = run(*words, **given)
    assert code == 2
    assert message.startswith(f"error: {what}")


def test_a_question_that_is_not_there_is_refused(run):
    code, message = run("--question", "other")
    assert code == 2
    assert "must have one tag Choices called 'other', found label" in message


def test_nobody_there_is_failed_work(run):
    code, message = run(url="http://127.0.0.1:9")
    assert code == 1
    assert message == ("error: http://127.0.0.1:9 cannot be reached: Connection refused; given up "
                    "after 0 s\n")  # fmt: skip


def test_names_that_a_tab_cannot_tell_apart_are_refused(tmp_path, run):
    from crowd_tvcs.campaign import Campaign

    for names, what in ((["ann", "Ann"], "must differ in more than capitals"), (["a|b"], "no '|'")):
        place = tmp_path / f"{len(names)}.db"
        qualities = dict.fromkeys(names, 0.8)
        Campaign.create(
            place, workers=names, tasks=["t"], qualities=qualities, classes=["yes", "no"]
        ).close()
        code, message = run(store=str(place))
        assert code == 2
        assert what in message


class _Elsewhere(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(302)
        self.send_header("Location", "http://elsewhere.example/")
        self.end_headers()

    def log_message(self, *_):
        """Write no log."""


class _Page(_Elsewhere):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>hello")


@pytest.mark.parametrize(
    ("handler", "what"),
    [
        (_Elsewhere, "redirects to http://elsewhere.example/: give that address"),
        (_Page, "is no Label Studio: "),
    ],
)
def test_another_server_is_not_taken_for_it(handler, what, studio, run):
    with fake.listening(studio, handler) as there:
        code, message = run(url=f"http://{there}")
    assert code == 2
    assert what in message


def test_a_certificate_must_be_trusted(studio, run, tmp_path):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)

    def wrap(socket):
        return context.wrap_socket(socket, server_side=True)

    with fake.listening(studio, wrap=wrap) as there:
        code, message = run(url=f"https://{there}")
        assert code == 2
        assert "the certificate of 127.0.0.1 is not trusted (self" in message
        assert message.count("\n") == 1
        assert run("--tls-ca", CERTIFICATE, url=f"https://{there}")[0] == 0
    other = tmp_path / "x.pem"
    other.write_text("no certificate")
    code, message = run("--tls-ca", other, url="https://127.0.0.1:9")
    assert (code, message) == (2, f"error: {other}: must hold a certificate in PEM\n")


def test_a_token_may_go_unencrypted_to_a_network_that_is_trusted(run):
    assert run("--trust-network", url="http://127.0.0.1:9")[0] == 1  # and nobody is there


def test_the_key_of_argilla_does_not_go_unencrypted_either(campaign, monkeypatch, capsys):
    monkeypatch.setenv("ARGILLA_API_KEY", "k")
    words = ["crowd-tvcs", "sync", "argilla", campaign.store.place, "http://label.example.org"]
    code, _, message = call([*words, "--dataset", "d", "--once"], capsys)
    assert (code, "--trust-network if the network is private" in message) == (2, True)
