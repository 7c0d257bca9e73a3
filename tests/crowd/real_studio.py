"""The real Label Studio, for tests: it is started once, and people sign up as they do.

Run with ``TVCS_LABEL_STUDIO=/path/to/label-studio pytest -m label_studio``; the program is that of
the package label-studio, which needs an environment of its own.
"""

import http.cookiejar
import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager

import pytest

PROGRAM = os.environ.get("TVCS_LABEL_STUDIO")
MARKS = [
    pytest.mark.label_studio,
    pytest.mark.skipif(PROGRAM is None, reason="TVCS_LABEL_STUDIO names no label-studio program"),
]
TOKEN = "0123456789abcdef0123456789abcdef01234567"
PASSWORD = "a-long-password"


class Server:
    """A running Label Studio, spoken to over HTTP."""

    def __init__(self, address):
        self.address = address

    def call(self, method, path, token, body=None):
        """The answer as JSON; None where there is nothing (404)."""
        request = urllib.request.Request(
            self.address + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Token {token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.loads(response.read())
        except urllib.error.HTTPError as error:
            with error:
                if error.code == 404:
                    return None
                raise AssertionError(f"{method} {path}: {error.read()!r}") from None

    def sign_up(self, email):
        """Make an account as a person does; its token."""
        jar = http.cookiejar.CookieJar()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        page = f"{self.address}/user/signup/"
        opener.open(page, timeout=60).close()
        fields = {
            "csrfmiddlewaretoken": next(c.value for c in jar if c.name == "csrftoken"),
            "email": email,
            "password": PASSWORD,
            "allow_newsletters": "false",
            "how_find_us": "x",
        }
        data = urllib.parse.urlencode(fields).encode()
        opener.open(urllib.request.Request(page, data, {"Referer": page}), timeout=60).close()
        with opener.open(f"{self.address}/api/current-user/token", timeout=60) as response:
            return json.loads(response.read())["token"]


@contextmanager
def running(folder):
    """Start the program, with its data in a folder, and stop it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [
        *(PROGRAM, "start", "--no-browser", "--internal-host", "127.0.0.1", "--port", str(port)),
        *("--data-dir", str(folder), "--username", "boss@example.com", "--password", PASSWORD),
        *("--user-token", TOKEN, "--enable-legacy-api-token"),
    ]
    quiet = {"COLLECT_ANALYTICS": "0", "LATEST_VERSION_CHECK": "0", "PYTHONWARNINGS": "ignore"}
    quiet["SSRF_PROTECTION_ENABLED"] = "false"  # webhooks may call this machine
    quiet["LABEL_STUDIO_BASE_DATA_DIR"] = str(folder)
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            words, cwd=folder, env={**os.environ, **quiet}, stdout=log, stderr=log
        )
        try:
            out = Server(f"http://127.0.0.1:{port}")
            wait_for(lambda: out.call("GET", "/api/version", TOKEN), process, folder / "log")
            yield out
        finally:
            process.terminate()
            process.wait(timeout=30)


def wait_for(ask, process, log):
    """Ask a server until it answers: a fresh data base takes its time."""
    until = time.monotonic() + 900
    while time.monotonic() < until and process.poll() is None:
        try:
            ask()
        except OSError:
            time.sleep(1)
        else:
            return
    pytest.fail(f"the server did not start: {log.read_text()[-2000:]}")
