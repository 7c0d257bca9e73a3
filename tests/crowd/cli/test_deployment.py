"""Files that run a desk on a server: as far as there are the programs that read them."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import typer

from crowd_tvcs.cli.main import app

HERE = Path(__file__).parents[3] / "packaging" / "desk"
UNITS = ["crowd-tvcs-desk.service", "crowd-tvcs-backup.service", "crowd-tvcs-backup.timer"]


def accepted(words):
    """Parse the words of a command without running it; a usage error fails the test."""
    assert Path(words[0]).name == "crowd-tvcs"
    command, left, context = typer.main.get_command(app), [*words[1:]], None
    while hasattr(command, "commands"):
        if left[0] not in command.commands and "start" in command.commands:
            left.insert(0, "start")  # as `serve STORE` does
        context = command.context_class(command, parent=context)
        command = command.commands[left.pop(0)]
    return command.make_context(None, left, parent=context).params


@pytest.fixture(scope="module")
def services():
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((HERE / "compose.yaml").read_text("utf-8"))["services"]


def test_the_desk_of_compose_is_a_command_that_crowd_tvcs_takes(services):
    host = "${HOST:?write it into .env}"
    taken = accepted([word.replace(host, "a.b") for word in services["desk"]["entrypoint"]])
    assert taken["behind_proxy"]
    assert taken["public_url"] == "https://a.b"


def test_only_the_proxy_is_reached_from_outside(services):
    assert [name for name, one in services.items() if one.get("ports")] == ["proxy"]
    outside = [name for name, one in services.items() if "outside" in one["networks"]]
    assert outside == ["proxy"]


def test_commands_in_the_head_of_compose_are_taken():
    head = (HERE / "compose.yaml").read_text("utf-8").split("\nname:")[0]
    commands = re.findall(r"# +docker compose run .*? tools (.*)", head)
    assert len(commands) == 3
    for line in commands:
        accepted(["crowd-tvcs", *shlex.split(line.replace("$STORE", "postgresql://a@b/c"))])


@pytest.mark.parametrize("name", UNITS[:2])
def test_a_unit_starts_a_command_that_crowd_tvcs_takes(name):
    (line,) = re.findall(r"^ExecStart=(.*)$", (HERE / name).read_text("utf-8"), re.MULTILINE)
    words = shlex.split(line)
    if words[:2] == ["/bin/sh", "-c"]:
        words = shlex.split(words[2].removeprefix("exec "))
    accepted(words)


def test_systemd_reads_the_units(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("no systemd-analyze")
    for name in UNITS:  # programs of a server are not on this machine
        text = (HERE / name).read_text("utf-8").replace("/opt/tvcs/bin/crowd-tvcs", "/bin/true")
        (tmp_path / name).write_text(text, "utf-8")
    paths = [tmp_path / name for name in UNITS]
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *paths], capture_output=True, text=True
    )
    ours = [line for line in done.stderr.splitlines() if "crowd-tvcs" in line]
    assert ours == []


def test_caddy_reads_its_file():
    if not shutil.which("caddy"):
        pytest.skip("no caddy")
    command = ["caddy", "adapt", "--config", HERE / "Caddyfile", "--adapter", "caddyfile"]
    variables = {"HOST": "a.b", "HOME": "/tmp"}
    done = subprocess.run(command, capture_output=True, text=True, env=variables)
    assert done.returncode == 0, done.stderr
    assert '"dial":"desk:8000"' in done.stdout
