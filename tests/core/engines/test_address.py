import json

import pytest

from tvcs_core.engines.address import PEM, is_this_host, read_address
from tvcs_core.files.errors import DataError


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("tcp://127.0.0.1:8786", "tcp://127.0.0.1:8786"),
        ("localhost:8786", "tcp://localhost:8786"),
        ("tcp://[::1]:8786", "tcp://[::1]:8786"),
    ],
)
def test_this_host_may_be_reached_by_plain_tcp(given, url):
    if "::1" in given and not is_this_host("::1"):
        pytest.skip("this machine has no IPv6")
    assert read_address(given).url == url


@pytest.mark.parametrize("given", ["tcp://192.0.2.77:8786", "tcp://no-such-host.invalid:8786"])
def test_plain_tcp_to_another_host_is_refused(given):
    with pytest.raises(ValueError, match=r"is another host, .* give --trust-network"):
        read_address(given)
    assert read_address(given, trust_network=True).url == given


@pytest.mark.parametrize(
    "given",
    [
        "http://a:1",
        "tcp://a",
        "tcp://:1",
        "tcp://a:b",
        "tcp://a:99999999",
        "",
        "a b",
        "tls:",
        "inproc://192.0.2.7/8/1",
    ],
)
def test_what_is_no_address_is_refused(given):
    with pytest.raises(ValueError, match=r"^--cluster must be tcp://HOST:PORT, tls"):
        read_address(given)


def test_tls_needs_three_files(tmp_path):
    with pytest.raises(ValueError, match=r"needs --tls DIR, a folder of ca.pem, cert.pem, key.pem"):
        read_address("tls://a:1")
    with pytest.raises(ValueError, match=r"^--tls needs an address tls://"):
        read_address("tcp://localhost:1", tls=tmp_path)
    for name in PEM:
        with pytest.raises(DataError, match=f"{name}: must be there"):
            read_address("tls://a:1", tls=tmp_path)
        (tmp_path / name).touch()
    assert read_address("tls://a:1", tls=tmp_path).tls == tmp_path


def test_a_scheduler_file_names_the_address(tmp_path):
    path = tmp_path / "scheduler.json"
    path.write_text(json.dumps({"id": "Scheduler-1", "address": "tcp://127.0.0.1:8786"}))
    found = read_address(str(path))
    assert (found.url, found.identity, found.file) == ("tcp://127.0.0.1:8786", "Scheduler-1", path)
    path.write_text(json.dumps({"address": "tcp://192.0.2.77:8786"}))
    with pytest.raises(ValueError, match="is another host"):
        read_address(str(path))


@pytest.mark.parametrize("text", ["", "[]", "{}", "7", '"a"', "\x00", "[" * 5000])
def test_a_scheduler_file_that_is_none_is_refused(text, tmp_path):
    path = tmp_path / "scheduler.json"
    path.write_text(text)
    with pytest.raises(DataError, match=r"must be the file that `dask scheduler"):
        read_address(str(path))


def test_a_scheduler_file_that_is_missing_is_refused(tmp_path):
    with pytest.raises(DataError, match="No such file"):
        read_address(str(tmp_path / "scheduler.json"))
