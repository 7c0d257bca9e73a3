"""The files for nginx and Caddy that docs/serve.md gives, with a certificate of this machine."""

import http.client
import re
import shutil
import socket
import ssl
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

pytest.importorskip("fastapi")
from crowd_tvcs.serve.address import ListenAddress
from crowd_tvcs.serve.desk import Served
from tests.crowd.serve.conftest import PASSWORD, hidden, listening
from tests.makers.ports import free_port

DOCS = Path(__file__).parents[3] / "docs" / "serve.md"
CERTIFICATE = Path(__file__).parents[1] / "sync" / "this_machine.pem"
HOST = "label.example.org"


def given(language):
    """The file that the documentation gives."""
    (text,) = re.findall(rf"```{language}\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    return text


def changed(text, changes):
    """Put what this machine has in the place of what a server has; each must be there."""
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return text


@contextmanager
def running(command, port, folder):
    """A proxy that has begun to listen."""
    with (
        (folder / "said").open("w") as message,
        subprocess.Popen(command, cwd=folder, stdout=message, stderr=message) as proxy,
    ):
        try:
            until = time.monotonic() + 60.0
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
                    break
                except OSError:
                    assert proxy.poll() is None, (folder / "said").read_text()
                    assert time.monotonic() < until
                    time.sleep(0.1)
            yield
        finally:
            proxy.terminate()


def nginx(desk, port, folder):
    text = changed(
        given("nginx"),
        {
            "listen 80;": f"listen 127.0.0.1:{free_port()};",
            "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
            "127.0.0.1:8000": f"127.0.0.1:{desk}",
            f"/etc/letsencrypt/live/{HOST}/fullchain.pem": str(CERTIFICATE),
            f"/etc/letsencrypt/live/{HOST}/privkey.pem": str(CERTIFICATE),
        },
    )
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    whole = f"daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log stderr;\n"
    whole += f"events {{}}\nhttp {{\naccess_log off;\n{places}{text}}}\n"
    (folder / "nginx.conf").write_text(whole)
    return ["nginx", "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf")]


def caddy(desk, port, folder):
    text = changed(
        given("caddy"),
        {
            "{\n    servers {": "{\n    admin off\n    auto_https disable_redirects\n    servers {",
            f"\n{HOST} {{": f"\nhttps://{HOST}:{port} {{\n    tls {CERTIFICATE} {CERTIFICATE}\n"
            "    bind 127.0.0.1",
            "127.0.0.1:8000": f"127.0.0.1:{desk}",
        },
    )
    (folder / "Caddyfile").write_text(text)
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


PROXIES = {"nginx": nginx, "caddy": caddy}


class Https:
    """A browser that finds a host on this machine, and keeps one cookie."""

    def __init__(self, port):
        self.port, self.cookie = port, ""

    def ask(self, method, path, body=None, host=HOST, **head):
        raw = socket.create_connection(("127.0.0.1", self.port), timeout=60.0)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # it is of 127.0.0.1
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.sock = context.wrap_socket(raw, server_hostname=HOST)
        head = {"Host": host, "Cookie": self.cookie, **head}
        if method == "POST":
            head["Content-Type"] = "application/x-www-form-urlencoded"
        with suppress(ConnectionError):  # a proxy may refuse a large request before its end
            connection.request(method, path, body, head)
        answer = connection.getresponse()
        answer.text = answer.read().decode()
        connection.close()
        if given := answer.headers["Set-Cookie"]:
            self.cookie = given.partition(";")[0]
        return answer


@pytest.fixture(params=PROXIES)
def proxied(request, campaign, tmp_path):
    """A desk behind a proxy: its browser."""
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    url = f"https://{HOST}"
    served = Served(campaign, PASSWORD, is_secure=True, public_url=url)
    place, port = ListenAddress(port=0, behind_proxy=True, public_url=url), free_port()
    with listening(served, place) as address:
        folder = tmp_path / "proxy"
        folder.mkdir()
        command = PROXIES[request.param](int(address.rpartition(":")[2]), port, folder)
        with running(command, port, folder):
            yield Https(port), served, request.param


def test_a_worker_and_the_operator_come_through_a_proxy(proxied, campaign):
    browser, _, _ = proxied
    answer = browser.ask("POST", "/operator/login", f"password={PASSWORD.replace(' ', '+')}")
    assert (answer.status, answer.headers["Location"]) == (303, "/operator")
    assert "secure" in answer.headers["Set-Cookie"].lower()
    page = browser.ask("GET", "/operator")
    assert page.headers["Strict-Transport-Security"] == "max-age=31536000"
    form = hidden(page)["form"]
    page = browser.ask("POST", "/operator/link", f"name=ann&form={form}")
    (link,) = re.findall(rf"https://{HOST}(/w/[\w.-]+)", page.text)
    assert browser.ask("GET", link).status == 303
    assert hidden(browser.ask("GET", "/"))["task"]


def test_another_host_and_another_address_are_not_believed(proxied, campaign):
    browser, _, _ = proxied
    answer = browser.ask("GET", "/operator/login", host="evil.example")
    assert (answer.status, "password" in answer.text) in ((421, False), (200, False))  # Caddy: 200
    assert "evil" not in answer.text + str(answer.headers)
    forged = {"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Host": "evil.example"}
    for _ in range(5):
        assert browser.ask("POST", "/operator/login", "password=x", **forged).status == 401
    forged["X-Forwarded-For"] = "192.0.2.2"  # else five more could be tried
    assert browser.ask("POST", "/operator/login", "password=x", **forged).status == 429


def test_a_proxy_limits_what_is_sent(proxied):
    browser, _, kind = proxied
    assert browser.ask("POST", "/answer", "x" * 70_000).status == 413
    large = browser.ask("GET", "/static/desk.css", **{"X-Large": "x" * 40_000}).status
    assert large in (400, 431)
    assert browser.ask("GET", "/static/desk.css").status == 200
    if kind == "nginx":
        tries = (browser.ask("POST", "/operator/login", "password=x") for _ in range(40))
        by_nginx = [one.status for one in tries if "nginx" in one.text]
        assert set(by_nginx) == {429}
        assert len(by_nginx) >= 2  # ten at once, and one each six seconds


def test_idle_connections_to_a_proxy_stop_nobody(proxied):
    browser, _, _ = proxied
    there = [socket.create_connection(("127.0.0.1", browser.port)) for _ in range(300)]
    try:
        assert [browser.ask("GET", "/operator/login").status for _ in range(5)] == [200] * 5
    finally:
        for one in there:
            one.close()
