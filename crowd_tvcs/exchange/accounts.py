"""The table of the workers' accounts in a tool."""

from __future__ import annotations

from pathlib import Path

from crowd_tvcs.answers.values import describe_fault, find_name_fault
from tvcs_core.files.display import joined, quoted
from tvcs_core.files.spreadsheet import unshield
from tvcs_core.files.tables import read_table


def read_accounts(path: str | Path) -> dict[str, str]:
    """Read the accounts of the workers: a table with the columns `account` and `worker`.

    Several accounts may be one worker.

    Raises
    ------
    DataError
        If a column or a cell is missing, or an account is repeated.
    """
    table = read_table(path)
    table.check_rectangle()
    if sorted(table.rows[0]) != ["account", "worker"]:
        raise table.error(
            f"must have the columns account, worker; found {joined(table.rows[0])}", 0
        )
    at = [table.rows[0].index(name) for name in ("account", "worker")]
    out: dict[str, str] = {}
    for r, row in enumerate(table.rows[1:], start=1):
        account, worker = (unshield(row[j]) for j in at)
        for kind, name, j in (("account", account, at[0]), ("worker", worker, at[1])):
            if fault := find_name_fault(name):
                raise table.error(describe_fault(fault, name, kind, of_answers=False), r, j)
        if account in out:
            raise table.error(f"account {quoted(account)} is there already; keep one row", r, at[0])
        out[account] = worker
    return out
