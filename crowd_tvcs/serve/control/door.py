"""Let nobody but the operator in, and lead them back with a message."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from fastapi import Form, Request
from fastapi.responses import RedirectResponse, Response

from crowd_tvcs.campaign import RejectedError
from crowd_tvcs.campaign.desk.actions import acting
from crowd_tvcs.serve.control.accounts import RIGHTS, Account
from crowd_tvcs.serve.desk import Served
from crowd_tvcs.serve.turn.texts import carried
from tvcs_core.files.spreadsheet import csv_text

Token = Annotated[str, Form()]
"""The token of a form, see `Door.form`."""
Short = Annotated[str, Form(max_length=20)]
"""A number or nothing, as text."""
Name = Annotated[str, Form(max_length=2000)]
"""The name of a worker or a task, or a label."""


class NotLoggedInError(Exception):
    """No session of the operator."""


class Door:
    """Checks of every page of the operator, and answers that they share."""

    def __init__(self, served: Served) -> None:
        self.served = served

    def session(self, request: Request, *rights: str) -> str:
        """Return the session of a request, whose operator acts from now on.

        Raises
        ------
        NotLoggedInError
            If there is none, or it is over.
        RejectedError
            If the operator lacks one of the rights.
        """
        session = request.cookies.get(self.served.cookies.operator)
        account = self.served.auth.operator_of(session)
        if account is None:
            raise NotLoggedInError
        require_rights(account, rights)
        acting.set(account.actor)
        return session or ""

    def form(self, request: Request, form: str, *rights: str) -> None:
        """Refuse a form that a page of this session did not make; rights as for `session`."""
        if not self.served.is_form_of(self.session(request, *rights), form):
            raise RejectedError("this page has expired; reload it")

    def rights(self, request: Request) -> frozenset[str]:
        """Return the rights of the operator."""
        account = self.served.auth.operator_of(request.cookies.get(self.served.cookies.operator))
        return frozenset() if account is None else account.rights

    def token(self, request: Request) -> str:
        """Return the token of the forms of a page."""
        return self.served.form_token(self.session(request))

    def done(self, message: str = "", path: str = "/operator") -> Response:
        """Lead to a page of the operator that shows a message."""
        answer = RedirectResponse(f"{self.served.root}{path}", status_code=303)
        if message:
            text = message.encode("ascii", "replace").decode()
            served = self.served
            answer.set_cookie(served.cookies.done, text, path=served.root or "/", max_age=30)
        return answer

    def page(self, request: Request, template: str, **values: Any) -> Response:
        """Fill a template of the operator, with the message of the last action."""
        served = self.served
        message = request.cookies.get(served.cookies.done, "")
        shared: dict[str, Any] = {
            "form": self.token(request),
            "message": message,
            "may": self.rights(request),
            "t": carried(),
        }
        answer = served.page(template, **values, **shared)
        if message:
            answer.delete_cookie(served.cookies.done, path=served.root or "/")
        return answer


def require_rights(account: Account, rights: Iterable[str]) -> None:
    """Refuse an operator who lacks a right."""
    for right in rights:
        if right not in account.rights:
            raise RejectedError(
                f"operator {account.name!r} may not {RIGHTS[right]}; ask one who has the right "
                f"{right}"
            )


def csv_answer(name: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> Response:
    """Return a table as a file to save."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return Response(csv_text(header, rows), media_type="text/csv; charset=utf-8", headers=headers)
