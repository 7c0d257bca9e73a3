"""The command `crowd-tvcs verify`: an independent check of a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crowd_tvcs.methods import METHODS
from tvcs_core.command.shell import FAILED, guarded, print_message


@guarded
def verify(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder that crowd-tvcs assign wrote.")
    ],
    quality: Annotated[
        Path | None,
        typer.Argument(
            metavar="QUALITY",
            help="The quality table. Default: the one named in DIR/run.json, at its old path, here "
            "or beside DIR.",
        ),
    ] = None,
) -> None:
    """Check independently that a plan keeps its caps and that no plan exceeds its bound.

    Recomputes the accuracy and the caps from assignment.csv, and the bound from prices.csv with
    separate code (some minutes for 1,000 tasks). Exit code 0 if all is proved, 1 if not, 2 if an
    input is missing or differs from the one in run.json.
    """
    from crowd_tvcs.verification.verify import verify as verify_plan

    found = verify_plan(folder, quality, methods=METHODS, log=print_message)
    for violation in found.violations[:10]:
        print_message(f"{folder}: {violation}")
    if len(found.violations) > 10:
        print_message(f"{folder}: and {len(found.violations) - 10} violations more")
    typer.echo(f"expected accuracy  {found.accuracy!r}")
    typer.echo(f"bound              {found.bound!r}")
    typer.echo(f"gap                {found.gap!r}")
    typer.echo(f"proved             {'yes' if found.proved else 'no'}")
    for words in found.unchecked:
        typer.echo(f"not checked        {words}")
    if not found.proved:
        raise SystemExit(FAILED)
