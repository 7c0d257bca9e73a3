"""Several operators of a campaign: their names, their passwords and their rights."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from crowd_tvcs.answers.columns import Column, find, open_table
from crowd_tvcs.campaign.desk.actions import OPERATOR
from crowd_tvcs.campaign.desk.person_ids import check_id

ACT, ANSWERS, PAY = "act", "answers", "pay"
RIGHTS = {
    ACT: "change the campaign",
    ANSWERS: "see answers and labels",
    PAY: "see and record what people are paid",
}
"""Rights of an operator beyond the figures, in words."""
MIN_PASSWORD = 8
"""Least characters of a password."""


@dataclass(frozen=True)
class Account:
    """An operator.

    Attributes
    ----------
    name
        As in the audit; that of the only operator is `OPERATOR`.
    password
        In clear, until `OperatorAuth` has its hash.
    rights
        Of `RIGHTS`.
    """

    name: str = OPERATOR
    password: str = field(default="", repr=False)
    rights: frozenset[str] = frozenset(RIGHTS)

    @property
    def actor(self) -> str:
        """Name in the audit, where workers have names too."""
        return OPERATOR if self.name == OPERATOR else f"{OPERATOR} {self.name}"


def read_accounts(path: Path) -> list[Account]:
    """Read a table of operators: `operator, password, may`, with rights between spaces.

    Raises
    ------
    DataError
        With file, line and column, without a password.
    """
    table = open_table(path)
    name, password, may = find(table, [Column("operator"), Column("password"), Column("may")])
    out: list[Account] = []
    for row in range(1, len(table.rows)):
        cells = table.rows[row]
        try:
            check_id(cells[name])
        except ValueError as error:
            raise table.error(str(error).replace("an id", "a name"), row, name) from None
        if any(one.name == cells[name] for one in out):
            raise table.error("the operator is there twice; give each one row", row, name)
        if len(cells[password]) < MIN_PASSWORD:
            raise table.error(f"must have {MIN_PASSWORD} characters or more", row, password)
        rights = cells[may].split()
        for right in rights:
            if right not in RIGHTS:
                raise table.error(
                    f"must be any of {' '.join(RIGHTS)}, between spaces, found {right!r}", row, may
                )
        out.append(Account(cells[name], cells[password], frozenset(rights)))
    if not any(ACT in one.rights for one in out):
        raise table.error(f"nobody may {RIGHTS[ACT]}: give somebody the right {ACT}", 0, may)
    return out
