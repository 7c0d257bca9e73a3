"""The table of the workers' accounts in a tool."""

from __future__ import annotations

from pathlib import Path

from crowd_tvcs.answers.columns import (
    Column,
    find,
    names_in,
    open_table,
    refuse_others,
    rows_by_name,
)

COLUMNS = (Column("account"), Column("worker"))


def read_accounts(path: str | Path) -> dict[str, str]:
    """Read the accounts of the workers: a table with the columns `account` and `worker`.

    Several accounts may be one worker.

    Raises
    ------
    DataError
        If a column or a cell is missing, or an account is repeated.
    """
    table = open_table(path)
    refuse_others(table, COLUMNS)
    account, worker = find(table, COLUMNS)
    workers = dict(names_in(table, worker, "worker"))
    return {name: workers[row] for name, row in rows_by_name(table, account, "account").items()}
