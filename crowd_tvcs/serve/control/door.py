"""Let nobody but the operator in, and lead them back with a message."""

import csv
import io
from collections.abc import Sequence
from typing import Any

from fastapi import Request
from fastapi.responses import RedirectResponse, Response

from crowd_tvcs.campaign import RejectedError
from crowd_tvcs.serve.desk import Served
from tvcs_core.files.spreadsheet import shield


class NotLoggedInError(Exception):
    """No session of the operator."""


class Door:
    """Checks of every page of the operator, and answers that they share."""

    def __init__(self, served: Served) -> None:
        self.served = served

    def session(self, request: Request) -> str:
        """Return the session of a request.

        Raises
        ------
        NotLoggedInError
            If there is none, or it is over.
        """
        session = request.cookies.get(self.served.cookies.operator)
        if not self.served.auth.is_session(session):
            raise NotLoggedInError
        return session or ""

    def form(self, request: Request, form: str) -> None:
        """Refuse a form that a page of this session did not make."""
        if not self.served.is_form_of(self.session(request), form):
            raise RejectedError("this page has expired; reload it")

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
        """Fill a template of the operator, with the message of what was just done."""
        served = self.served
        message = request.cookies.get(served.cookies.done, "")
        answer = served.page(template, **values, form=self.token(request), message=message)
        if message:
            answer.delete_cookie(served.cookies.done, path=served.root or "/")
        return answer


def csv_answer(name: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> Response:
    """Return a table as a file to save."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([[shield(x) if isinstance(x, str) else x for x in row] for row in rows])
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return Response(text.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)
