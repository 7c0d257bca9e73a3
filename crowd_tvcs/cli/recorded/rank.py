"""The command `crowd-tvcs rank`: items in order, from comparisons of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowd_tvcs.cli.answers import LeaveOut
from tvcs_core.arguments import Help, check_number
from tvcs_core.command.options import (
    Force,
    OutFolder,
    Seed,
    Sets,
    file_option,
    number_option,
    with_options,
)
from tvcs_core.command.results import print_table, results
from tvcs_core.command.shell import guarded, print_message
from tvcs_core.files.display import plural

if TYPE_CHECKING:
    from crowd_tvcs.answer_kinds.next_pairs import NextPairs
    from crowd_tvcs.answer_kinds.ranking import Ranking

NEXT_COLUMNS = ("left", "right", "information")
SHOWN = 20  # items that are printed


@dataclass(frozen=True, kw_only=True)
class RankOptions:
    """The options of ``crowd-tvcs rank``."""

    pairs: Annotated[
        Path,
        typer.Argument(
            metavar="PAIRS",
            help="CSV, TSV or .xlsx: columns worker, left, right, answer (left, right, tie, or the "
            "name of the preferred item).",
        ),
    ]
    out: OutFolder
    gold: Annotated[
        Path | None,
        file_option(
            "Pairs of known order, in the same columns without worker; they measure the "
            "confidence in the order of a pair, and fit nothing."
        ),
    ] = None
    one_worker: Annotated[
        bool, Help("Treat all workers as equal, if most gave fewer than ten answers.")
    ] = False
    next_pairs: Annotated[
        int | None,
        typer.Option("--next", metavar="N", help="Write next.csv: N pairs to compare next."),
        Sets("n"),
    ] = None
    max_per_side: Annotated[
        int,
        number_option(
            "Maximum number of the next pairs with an item on the left, and on the right."
        ),
    ] = 2
    max_per_pair: Annotated[int, number_option("Maximum number of answers to a pair.")] = 5
    leave_out_missing: LeaveOut = False
    seed: Seed = 0
    force: Force = False


@guarded
@with_options
def rank(given: RankOptions) -> None:
    """Rank items by comparisons of pairs; write items.csv, pairs.csv, workers.csv, summary.json.

    Davidson's model with ties: every item has a score, and every worker a weight (below 0 for one
    who answers the other way round), a side and a tie rate. Scores and ranks have 90 % intervals;
    ranks and orders are to be relied on, not the size of scores.

    With --next it also writes next.csv: the pairs of largest expected information, chosen exactly
    within the caps of every item on the left and on the right.
    """
    from crowd_tvcs.answer_kinds.comparisons import (
        describe_parts,
        read_comparisons,
        read_known_orders,
    )
    from crowd_tvcs.answer_kinds.next_pairs import next_pairs
    from crowd_tvcs.answer_kinds.ranking import rank_items
    from crowd_tvcs.answers.label_typos import warn_similar_names

    for name in ("max_per_side", "max_per_pair"):  # before the fit, and also without --next
        check_number(name, getattr(given, name), least=1)
    if given.next_pairs is not None:
        check_number("n", given.next_pairs, least=1)
    data = read_comparisons(given.pairs, leave_out_missing=given.leave_out_missing)
    print_message(f"{given.pairs}: {data.layout}")
    for kind, names, counts in (
        ("item", data.items, data.per_item),
        ("worker", data.workers, data.per_worker),
    ):
        print_message(*warn_similar_names(kind, dict(zip(names, counts.tolist(), strict=True))))
    known = None if given.gold is None else read_known_orders(given.gold)
    found = rank_items(data, known=known, one_worker=given.one_worker, rng=given.seed)
    sentences = found.sentences()
    if warning := describe_parts(data.parts()):
        sentences.insert(0, warning)
    chosen = None
    if given.next_pairs is not None:
        chosen = next_pairs(
            found, given.next_pairs, max_per_side=given.max_per_side,
            max_per_pair=given.max_per_pair, rng=given.seed,
        )  # fmt: skip
        sentences.append(_describe_next(given, chosen))
    _write(given, found, chosen, sentences)
    print_message(*sentences)
    columns = {"item": "<24", "score": ">8.3f", "low": ">8.3f", "high": ">8.3f"}
    columns |= {"rank": ">6", "from": ">6", "to": ">6"}
    print_table(columns, [row[:7] for row, _ in zip(found.item_rows(), range(SHOWN), strict=False)])
    print_message(f"{plural(len(data.items), 'item')} ranked; written to {given.out}")


def _describe_next(given: RankOptions, chosen: NextPairs) -> str:
    information = sum(pair[2] for pair in chosen.pairs)
    short = "" if chosen.gap == 0 else f"at most {chosen.gap:.2g} below "
    line = (
        f"{plural(len(chosen.pairs), 'pair')} to compare next, {information:.3f} nats expected, "
        f"{short}the most that the caps allow"
    )
    if len(chosen.pairs) == given.next_pairs:
        return line
    return (
        f"{line}; --next {given.next_pairs} needs a larger --max-per-side than "
        f"{given.max_per_side}, or a larger --max-per-pair than {given.max_per_pair}"
    )


def _write(
    given: RankOptions, found: Ranking, chosen: NextPairs | None, sentences: list[str]
) -> None:
    from crowd_tvcs.answer_kinds.ranking import ITEM_COLUMNS, PAIR_COLUMNS, WORKER_COLUMNS

    with results("crowd-tvcs rank", given, seed=given.seed, layout=found.data.layout) as out:
        out.table("items.csv", ITEM_COLUMNS, found.item_rows())
        out.table("pairs.csv", PAIR_COLUMNS, found.pair_rows())
        out.table("workers.csv", WORKER_COLUMNS, found.worker_rows())
        if chosen is not None:
            out.table("next.csv", NEXT_COLUMNS, chosen.pairs)
        out.json("summary.json", _summary(found, chosen, sentences))


def _summary(found: Ranking, chosen: NextPairs | None, sentences: list[str]) -> dict[str, Any]:
    data, fit = found.data, found.fit
    return {
        "items": len(data.items),
        "workers": len(data.workers),
        "answers": data.size,
        "parts": [list(part) for part in data.parts()],
        "common_side": fit.common_side,
        "common_tie": fit.common_tie if fit.common_tie > -float("inf") else None,
        "excess_agreement": found.excess,
        "known_orders": None if found.known is None else found.known._asdict(),
        "is_measured": found.is_measured,
        "next": None if chosen is None else {"pairs": len(chosen.pairs), "gap": chosen.gap},
        "sentences": sentences,
    }
