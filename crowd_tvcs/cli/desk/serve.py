"""The command `crowd-tvcs serve`: web pages on which workers label tasks."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from crowd_tvcs.cli.answers import money_option, share_option
from crowd_tvcs.cli.campaign.options import StoreName, open_campaign, stored
from crowd_tvcs.serve.address import ListenAddress, check_url
from tvcs_core.arguments import Help
from tvcs_core.command.help import Program
from tvcs_core.command.options import file_option, name_option, number_option, with_options
from tvcs_core.command.results import write_rows
from tvcs_core.command.shell import FAILED, exit_with_error, print_message
from tvcs_core.files.display import plural
from tvcs_core.files.extras import to_install

if TYPE_CHECKING:
    from crowd_tvcs.serve.recruit.sign_up import SignUp

OPEN, SIGNED = "open", "signed"
MOST_GOLD = 0.5
"""Largest share of gold: at most as many gold tasks as tasks to label are handed out."""
NEEDED = ("fastapi", "uvicorn", "multipart", "itsdangerous", "argon2", "markdown_it", "httptools")


class _OrStart(TyperGroup):
    """A group whose first word may be left out: ``serve animals.db`` is ``serve start ...``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, "--help"):
            args = ["start", *args]
        return super().parse_args(ctx, args)


app = Program(
    cls=_OrStart,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Serve a campaign to workers in a browser. Give a STORE, or a command below.",
)

BaseUrl = Annotated[
    str, typer.Option("--public-url", metavar="URL", help="URL of the server for workers.")
]
HERE = "http://127.0.0.1:8000"
Names = Annotated[
    list[str] | None,
    typer.Option("--worker", metavar="NAME", help="Only this worker; may be repeated."),
]


@dataclass(frozen=True, kw_only=True)
class SignUpOptions:
    """Rules for people who sign up, and the message when they are done."""

    sign_up: Annotated[
        str | None,
        Help(
            "Let people take a seat by an id in the address, such as /join?PROLIFIC_PID=ID: "
            "whoever has the address, or only by links of serve invite. Default: nobody.",
            f"{OPEN}|{SIGNED}",
        ),
    ] = None
    seats: Annotated[
        int | None, number_option("Maximum number of people; required for open links.", least=1)
    ] = None
    id_parameter: Annotated[
        list[str] | None,
        name_option(
            "Parameter that holds the id; may be repeated. Default: PROLIFIC_PID, workerId "
            "and worker."
        ),
    ] = None
    consent: Annotated[
        Path | None, file_option("Markdown that people agree to before they begin.")
    ] = None
    completion_code: Annotated[
        str | None,
        Help("Code for everybody who has finished. Default: a code for each person.", "CODE"),
    ] = None
    completion_url: Annotated[
        str | None,
        Help("Address that leads people back; {code} and {id} in it are filled in.", "URL"),
    ] = None
    label_cost: Annotated[
        float | None, money_option("Cost of a label by people who sign up.", is_plain=True)
    ] = None


@dataclass(frozen=True, kw_only=True)
class DeskOptions:
    """Content of the pages, gold among the tasks, and operators, as `serve` takes them."""

    content: Annotated[
        Path | None,
        file_option(
            "Content of the tasks, a table or JSON lines: task and any of text, image, "
            "audio, video, and other fields. Kept in the store."
        ),
    ] = None
    media: Annotated[Path | None, Help("Folder of images, sounds and videos.", "DIR")] = None
    instructions: Annotated[Path | None, file_option("Markdown instructions for every worker.")] = (
        None
    )
    language: Annotated[
        str,
        Help("Language of the workers' pages: en, de, or a JSON file of their texts.", "LANGUAGE"),
    ] = "en"
    gold: Annotated[
        Path | None,
        file_option(
            "Tasks with known labels (task, label) to mix with the others; workers cannot "
            "tell them apart. Kept in the store; their content is in --content."
        ),
    ] = None
    gold_share: Annotated[
        float | None,
        share_option(
            "Probability that a task handed out is gold. Default: .1 with --gold, else none."
        ),
    ] = None
    gold_first: Annotated[
        int,
        number_option(
            "Number of gold tasks that a worker gets before anything else, so that people who are "
            "unknown show how good they are.",
            least=0,
        ),
    ] = 0
    gold_feedback: Annotated[
        bool, Help("Show the right label after each answer to the tasks of --gold-first.")
    ] = False
    operator_password_file: Annotated[
        Path | None,
        file_option("File whose first line is the password. Default: a new one is printed."),
    ] = None
    operators: Annotated[
        Path | None,
        file_option(
            "Several operators: columns operator, password, and may with any of act, answers "
            "and pay. In place of --operator-password-file."
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.media is not None and not self.media.is_dir():
            raise ValueError(f"--media must be a folder, found {self.media}")
        if self.gold_share is not None and not 0.0 < self.gold_share <= MOST_GOLD:
            raise ValueError(
                f"--gold-share must be above 0 and at most {MOST_GOLD}, found {self.gold_share}"
            )
        if self.gold_feedback and not self.gold_first:
            raise ValueError(
                "--gold-feedback needs --gold-first N, the tasks that it is shown after"
            )
        if self.operators is not None and self.operator_password_file is not None:
            raise ValueError("give --operators or --operator-password-file, not both")


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """The options of ``crowd-tvcs serve``."""

    sign_up: SignUpOptions

    store: Annotated[
        str | None,
        typer.Argument(metavar="STORE", help="SQLite file, or postgresql://USER@HOST/DATABASE."),
    ] = None
    desk: DeskOptions
    address: ListenAddress
    user_header: Annotated[
        str | None,
        name_option(
            "Header in which a proxy names the worker who signed in, such as X-Forwarded-User."
        ),
    ] = None
    proxy_address: Annotated[
        list[str] | None,
        Help(
            "Address or network of that proxy, from which alone the header is believed; may "
            "be repeated.",
            "ADDRESS",
        ),
    ] = None
    demo: Annotated[bool, Help("Create a small campaign and print three links to try.")] = False


@app.command()
@stored
@with_options
def start(given: ServeOptions) -> None:
    """Serve a campaign until Ctrl-C."""
    _check_extra()
    from crowd_tvcs.serve.sign_in import UserHeader
    from crowd_tvcs.serve.start import serve

    if given.demo == (given.store is not None):
        raise ValueError("give a STORE, or --demo, which makes one")
    sign_up = _sign_up(given.sign_up)
    user_header = None
    if given.user_header is not None:
        user_header = UserHeader(given.user_header, tuple(given.proxy_address or ()))
        if sign_up is not None:
            raise ValueError("give --user-header or --sign-up, not both: people come in one way")
    elif given.proxy_address:
        raise ValueError("--proxy-address needs --user-header, the header that the proxy writes")
    serve(given.store, given.address, **vars(given.desk), sign_up=sign_up, user_header=user_header)


def _sign_up(given: SignUpOptions) -> SignUp | None:
    """Check the options together; None without --sign-up."""
    if given.sign_up is None:
        for name, value in vars(given).items():
            if value is not None:
                option = f"--{name.replace('_', '-')}"
                raise ValueError(f"{option} needs --sign-up {OPEN} or {SIGNED}")
        return None
    if given.sign_up not in (OPEN, SIGNED):
        raise ValueError(f"--sign-up must be {OPEN} or {SIGNED}, found {given.sign_up!r}")
    if given.label_cost is not None and not given.label_cost >= 0.0:
        raise ValueError(f"--label-cost must be a number >= 0, found {given.label_cost}")
    if given.sign_up == OPEN and given.seats is None:
        raise ValueError(f"--sign-up {OPEN} needs --seats N, as whoever has the link may sign up")
    from crowd_tvcs.campaign.desk.content import text_of
    from crowd_tvcs.serve.recruit.sign_up import ID_PARAMETERS, SignUp

    return SignUp(
        given.sign_up == SIGNED,
        given.seats,
        given.label_cost,
        tuple(given.id_parameter or ID_PARAMETERS),
        "" if given.consent is None else text_of(given.consent),
        given.completion_code,
        given.completion_url,
    )


@app.command()
@stored
def links(
    store: StoreName,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Default: standard output.")
    ] = None,
    workers: Names = None,
    url: BaseUrl = HERE,
) -> None:
    """Create a new link for every worker, or for some; print them as worker, link.

    Earlier links stay valid. The store keeps only hashes, so a link cannot be shown again.
    """
    _check_extra()
    from crowd_tvcs.campaign.desk.access import Links

    check_url(url)
    with open_campaign(store, out) as campaign:
        tokens = Links(campaign.store).make(workers, now=time.time())
    rows: list[list[Any]] = [[name, f"{url.rstrip('/')}/w/{t}"] for name, t in tokens.items()]
    write_rows(out, ["worker", "link"], rows, is_secret=True)
    print_message(
        f"{plural(len(rows), 'link')} created; whoever has one answers in the worker's name"
        f"{_where(url)}"
    )


@app.command()
@stored
def revoke(store: StoreName, workers: Names = None) -> None:
    """Revoke all links of some workers."""
    _check_extra()
    from crowd_tvcs.campaign.desk.access import Links

    if not workers:
        raise ValueError("--worker must name the workers whose links to revoke")
    with open_campaign(store) as campaign:
        print_message(
            f"{plural(Links(campaign.store).revoke(workers, now=time.time()), 'link')} revoked"
        )


@app.command()
@stored
def invite(
    store: StoreName,
    ids: Annotated[
        Path, typer.Option("--ids", metavar="FILE", help="Ids of people: a column worker.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Default: standard output.")
    ] = None,
    url: BaseUrl = HERE,
    id_parameter: Annotated[
        str, name_option("Parameter of the address that holds the id.")
    ] = "worker",
) -> None:
    """Sign a link for every person who may sign up; print worker and link.

    For serve --sign-up signed: each link leads to the page of consent, and is the same every time.
    """
    _check_extra()
    from crowd_tvcs.answers.columns import WORKER, find, open_table, rows_by_name
    from crowd_tvcs.campaign.desk.access import secret_of
    from crowd_tvcs.serve.recruit.sign_up import check_parameter, invitation

    check_url(url)
    check_parameter(id_parameter)
    table = open_table(ids)
    (at,) = find(table, [WORKER])
    rows: list[list[Any]] = []
    with open_campaign(store, out) as campaign:
        secret = secret_of(campaign.store)
    for name, row in rows_by_name(table, at).items():
        try:
            rows.append([name, invitation(url, secret, name, id_parameter)])
        except ValueError as error:
            raise table.error(str(error), row, at) from None
    write_rows(out, ["worker", "link"], rows, is_secret=True)
    print_message(
        f"{plural(len(rows), 'link')} signed; whoever has one may take this person's seat"
        f"{_where(url)}"
    )


def _where(url: str) -> str:
    """Return that the links of the usual address open here alone; empty for another address."""
    if url != HERE:
        return ""
    return "; they open on this computer, at port 8000: give --public-url for another address"


def _check_extra() -> None:
    if any(find_spec(name) is None for name in NEEDED):
        exit_with_error(f"error: the desk needs FastAPI and others: {to_install('serve')}", FAILED)
