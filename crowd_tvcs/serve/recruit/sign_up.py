"""The sign-up of people at a desk, and the message when they are done."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from crowd_tvcs.campaign.desk.person_ids import check_id, completion_code, sign_id
from crowd_tvcs.campaign.desk.seats import SeatRules
from crowd_tvcs.serve.turn.instructions import pictures
from tvcs_core.files.display import quoted

ID_PARAMETERS = ("PROLIFIC_PID", "workerId", "worker")
"""Parameters of an address that hold an id: of Prolific, of Mechanical Turk, of others."""
KEY = "key"
"""Parameter that holds the signature of an id."""
CODE_PLACE, ID_PLACE = "{code}", "{id}"
"""Places in the address of the way back."""
FINISH_SECONDS = 30.0
"""Seconds without a task after which a person may go: skills are estimated within ten."""
_PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,40}")


class Finish(NamedTuple):
    """The proof that a person takes along: a code, and an address or ``""``."""

    code: str
    back: str


@dataclass(frozen=True)
class SignUp(SeatRules):
    """How people sign up; see `SeatRules` too.

    Attributes
    ----------
    parameters
        Names of the parameters that may hold an id.
    consent
        Markdown that they agree to, or ``""``.
    code
        Completion code of everybody; None for one of each person.
    back
        Address that leads them back, in which `CODE_PLACE` and `ID_PLACE` are filled in; None.

    Raises
    ------
    ValueError
        If an attribute is none that pages can have.
    """

    parameters: Sequence[str] = ID_PARAMETERS
    consent: str = ""
    code: str | None = None
    back: str | None = None

    def __post_init__(self) -> None:
        for name in self.parameters:
            check_parameter(name)
        if pictures(self.consent):
            raise ValueError("--consent shows a picture, which strangers cannot load; use text")
        if self.code is not None and not 1 <= len(self.code.strip()) <= 100:
            raise ValueError("--completion-code must have 1 to 100 characters")
        if self.back is not None:
            _check_back(self.back)

    def id_of(self, given: Mapping[str, list[str]]) -> str:
        """Return the id in an address."""
        found = {value for name in self.parameters for value in given.get(name, [])}
        if len(found) != 1:
            raise ValueError(
                f"this address must hold your id once, as {self.parameters[0]}=...; open the link "
                "that you received (accept the task first, if you only preview it)"
            )
        return check_id(found.pop())

    def finish(self, secret: str, name: str) -> Finish:
        """Return the code and the way back of a person."""
        code = completion_code(secret, name) if self.code is None else self.code
        back = self.back or ""
        for place, value in ((CODE_PLACE, code), (ID_PLACE, name)):
            back = back.replace(place, quote(value, safe=""))
        return Finish(code, back)


def invitation(url: str, secret: str, name: str, parameter: str = ID_PARAMETERS[0]) -> str:
    """Return the signed address by which a person may sign up."""
    query = urlencode({parameter: check_id(name), KEY: sign_id(secret, name)})
    return f"{url.rstrip('/')}/join?{query}"


def check_parameter(name: str) -> None:
    """Refuse what cannot be the parameter of an address that holds an id."""
    if not _PARAMETER.fullmatch(name) or name in (KEY, "form", "id"):
        raise ValueError(
            f"--id-parameter must be a name such as PROLIFIC_PID, found {quoted(name)}"
        )


def _check_back(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname or parts.username:
        raise ValueError(
            "--completion-url must be such as https://app.prolific.com/submissions/complete?cc="
            f"{CODE_PLACE}, found {quoted(url)}"
        )
    if CODE_PLACE in parts.netloc or ID_PLACE in parts.netloc:
        raise ValueError(
            f"--completion-url may have {CODE_PLACE} and {ID_PLACE} behind the host only"
        )
