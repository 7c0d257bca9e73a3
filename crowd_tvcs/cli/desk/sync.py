"""The command `crowd-tvcs sync`: keep a campaign and a labelling tool in step."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowd_tvcs.cli.campaign.options import StoreName, open_campaign, stored
from tvcs_core.arguments import Help
from tvcs_core.command.help import Program
from tvcs_core.command.options import file_option, name_option, number_option, with_options
from tvcs_core.command.shell import print_message

if TYPE_CHECKING:
    from crowd_tvcs.sync.labelling_tool import LabellingTool

STUDIO_TOKEN, ARGILLA_TOKEN = "LABEL_STUDIO_API_KEY", "ARGILLA_API_KEY"
"""Where the tools' own clients look for a token too."""

app = Program(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Keep a campaign and a labelling tool in step.",
)

Url = Annotated[str, typer.Argument(metavar="URL", help="Address of the server.")]


@dataclass(frozen=True, kw_only=True)
class HowOptions:
    """Options that all tools share."""

    token_file: Annotated[
        Path | None,
        file_option("File whose first line is the token. Default: an environment variable."),
    ] = None
    tasks: Annotated[
        Path | None,
        file_option(
            "Content of tasks that the tool does not have yet: a column task, and columns "
            "such as text. Default: the content in the store, else the names of the tasks."
        ),
    ] = None
    accounts: Annotated[
        Path | None,
        file_option(
            "Accounts of the workers in the tool: columns account, worker. Default: the "
            "names of the workers."
        ),
    ] = None
    question: Annotated[
        str | None, name_option("The question whose answer is the label, if there are several.")
    ] = None
    batch: Annotated[
        int,
        number_option("Number of tasks that a worker has at the same time.", least=1, most=100),
    ] = 3
    predictions: Annotated[bool, Help("Also send the current label of each task to the tool.")] = (
        False
    )
    every: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, help="Time between two checks of the tool.")
    ] = 5.0
    once: Annotated[bool, Help("Synchronise once and exit, as for cron.")] = False
    patience: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=0.0, help="Time to keep trying while the tool cannot be reached."
        ),
    ] = 60.0
    listen: Annotated[
        str | None,
        Help("Address for the tool's webhook, which reports new answers at once.", "HOST:PORT"),
    ] = None
    webhook_url: Annotated[
        str | None, Help("URL of --listen as the tool reaches it, if it differs.", "URL")
    ] = None
    tls_ca: Annotated[
        Path | None, file_option("PEM file of the authority that signed the tool's certificate.")
    ] = None
    trust_network: Annotated[bool, Help("Allow the token to go unencrypted to an http URL.")] = (
        False
    )


@dataclass(frozen=True, kw_only=True)
class StudioOptions:
    """The options of ``crowd-tvcs sync label-studio``."""

    store: StoreName
    url: Url
    project: Annotated[int, number_option("Number of the project, as in its address.", least=1)]
    how: HowOptions


@dataclass(frozen=True, kw_only=True)
class ArgillaOptions:
    """The options of ``crowd-tvcs sync argilla``."""

    store: StoreName
    url: Url
    dataset: Annotated[str, name_option("The dataset, which is published.")]
    workspace: Annotated[str | None, name_option("Its workspace, if several have the name.")] = None
    how: HowOptions


@app.command("label-studio")
@stored
@with_options
def label_studio(given: StudioOptions) -> None:
    """Keep a campaign and a project of Label Studio in step.

    Every user whose e-mail address is the name of a worker gets a tab with their tasks. The token
    is that of an administrator, in LABEL_STUDIO_API_KEY or in --token-file.
    """
    from crowd_tvcs.sync.label_studio import LabelStudio

    _run(
        given.store, given.how, STUDIO_TOKEN, partial(LabelStudio, given.url, project=given.project)
    )


@app.command()
@stored
@with_options
def argilla(given: ArgillaOptions) -> None:
    """Keep a campaign and a dataset of Argilla in step.

    Every user of the workspace whose user name is that of a worker gets tasks. They filter by the
    metadata `assigned`, which has their name. The API key is that of an owner or of an
    administrator of the workspace, in ARGILLA_API_KEY or in --token-file.
    """
    from crowd_tvcs.sync.argilla import Argilla

    made = partial(Argilla, given.url, dataset=given.dataset, workspace=given.workspace)
    _run(given.store, given.how, ARGILLA_TOKEN, made)


def _run(store: str, how: HowOptions, variable: str, connect: Callable[..., LabellingTool]) -> None:
    """Keep a campaign and the tool in step to which `connect` connects with a token."""
    from crowd_tvcs.exchange import read_accounts, read_tasks
    from crowd_tvcs.sync.connection import Trust
    from crowd_tvcs.sync.leasing import contents
    from crowd_tvcs.sync.loop import Settings, Sync, run

    tool = connect(
        token=_token(how.token_file, variable),
        question=how.question,
        predictions=how.predictions,
        trust=Trust(how.tls_ca, how.trust_network),
    )
    if how.webhook_url is not None and how.listen is None:
        raise ValueError("--webhook-url is the address of --listen, which is not given")
    if how.once and how.listen is not None:
        raise ValueError("--once looks once, so nobody would hear --listen")
    accounts = None if how.accounts is None else read_accounts(how.accounts)
    with open_campaign(store) as campaign, _webhook(how) as (call, wait):
        payloads = contents(campaign.store) if how.tasks is None else read_tasks(how.tasks).payload
        settings = Settings(how.batch, accounts, payloads, how.predictions)
        sync = Sync(campaign, tool, settings, print_message, call)
        run(sync, every=how.every, once=how.once, patience=how.patience, wait=wait)


@contextmanager
def _webhook(how: HowOptions) -> Iterator[tuple[str | None, Callable[[float], object]]]:
    """Yield the URL of the webhook, if one is wanted, and a function that waits for its events."""
    if how.listen is None:
        yield None, time.sleep
        return
    from crowd_tvcs.sync.webhook import WebhookListener, listen

    host, _, port = how.listen.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"--listen must be HOST:PORT, found {how.listen!r}")
    listener = WebhookListener()
    with listen(listener, host.strip("[]"), int(port)) as url:
        if how.webhook_url is not None:
            url = how.webhook_url.rstrip("/") + listener.path
        yield url, listener.wait


def _token(file: Path | None, variable: str) -> str:
    """Read the token. It is never an option, because others on the machine see command lines."""
    if file is None:
        token = os.environ.get(variable, "").strip()
        if not token:
            raise ValueError(f"the token must be in {variable}, or in a file: --token-file")
        source = variable
    else:
        from crowd_tvcs.campaign.desk.content import text_of

        lines = text_of(file).splitlines()
        token, source = (lines[0].strip() if lines else ""), str(file)
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise ValueError(f"{source}: must hold a token, found something else")
    return token
