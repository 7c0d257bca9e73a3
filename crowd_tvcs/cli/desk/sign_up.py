"""Options of `crowd-tvcs serve` on people who sign up by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowd_tvcs.cli.answers import unit_money
from tvcs_core.arguments import Help
from tvcs_core.command.options import file_option, name_option

if TYPE_CHECKING:
    from crowd_tvcs.serve.recruit.sign_up import SignUp

OPEN, SIGNED = "open", "signed"


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
        int | None,
        typer.Option(metavar="N", min=1, help="Maximum number of people; required for open links."),
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
        float | None,
        typer.Option(parser=unit_money, metavar="X", help="Cost of a label by people who sign up."),
    ] = None


def sign_up_of(given: SignUpOptions) -> SignUp | None:
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
    from crowd_tvcs.campaign.desk.seats import SeatRules
    from crowd_tvcs.serve.recruit.sign_up import ID_PARAMETERS, SignUp

    return SignUp(
        SeatRules(given.sign_up == SIGNED, given.seats, given.label_cost),
        tuple(given.id_parameter or ID_PARAMETERS),
        "" if given.consent is None else text_of(given.consent),
        given.completion_code,
        given.completion_url,
    )
