"""Levels, and beside them a sheet that tells time and series of every sample."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from grn_tvcs.expression.clock import times_in
from grn_tvcs.expression.columns import (
    IGNORED,
    LABELS,
    find_place,
    kinds_of,
    may_read,
    more_series,
    series_places,
)
from grn_tvcs.expression.expression import Expression, repeated
from grn_tvcs.expression.judge.names import CLOCK, INDEX, SAMPLE
from grn_tvcs.expression.judge.series import TELL, Apart
from grn_tvcs.expression.layouts.inferelator import with_times
from grn_tvcs.expression.layouts.named import of_genes_alone, rows_by_name, without
from grn_tvcs.expression.layouts.turned import turned
from grn_tvcs.expression.missing_values import MARKS
from grn_tvcs.expression.options import Options, option_words
from grn_tvcs.expression.reading import expression_in
from grn_tvcs.expression.warned import warn_user
from tvcs_core.files.rows import Rows
from tvcs_core.files.shown import did_you_mean, listed
from tvcs_core.files.tables import Table

# What aligners, Picard and sequencers write behind the name of a sample.
ENDING = re.compile(
    r"([._](sorted|dedup|aligned|out|markdup|sortedbycoord))*"
    r"\.(bam|sam|cram|cel(\.gz)?|txt|fastq(\.gz)?|fq(\.gz)?)$"
)
PLAIN = Options()


def beside_sheet(
    levels: Table,
    table: Table,
    options: Options = PLAIN,
    *,
    genes_in_rows: bool = False,
    remedy: str = TELL,
) -> Expression:
    """Read levels, and beside them a sheet that tells time and series of every sample.

    A sample without a time is at rest, and one may stand in several series, each with a row of its
    own. Where no column is called ``sample``, or ``time``, the only one that is called much the
    same counts (``SampleID``, ``Timepoint``, ``time_h``). Samples that are not in the sheet are
    left out, with a warning.

    Parameters
    ----------
    levels
        The first column names the samples, the others are genes; or the other way round.
    table
        Columns as of a table of samples x genes; others are not used.
    options
        What the user says of the columns of both.
    genes_in_rows
        Whether genes stand in rows.
    remedy
        What to do where no column of the sheet tells series apart that are not told.

    Raises
    ------
    DataError
        If a sample of the sheet has no levels, a gene is there twice or a sample is in its series,
        a gene has the name of a column of the sheet; or as for `expression_in`.
    """
    levels = whole_levels = without(levels, _of_levels(levels, table, options.ignore))
    table = with_times(table)
    _refuse_other_way(levels, table, genes_in_rows=genes_in_rows)
    if genes_in_rows:
        levels = turned(levels, Options(keep=options.keep, missing=options.missing))
    rows = rows_by_name(levels, "sample")
    table = _as_levels_say(table, rows, levels.path, options)
    genes = levels.rows[0][1:]
    kept = {name.lower() for name in options.keep}
    if taken := [gene for gene in genes if gene.lower() in LABELS and gene.lower() not in kept]:
        raise levels.error(
            f"a gene must not be called {listed(taken)}: rename it, or leave it out by "
            f"{option_words({'ignore': taken[0]})}",
            row=0,
        )
    header, facts = _facts(table, rows, levels.path, options)
    named = {sample for sample, _ in facts}
    if spare := [sample for sample in rows if sample not in named]:
        warn_user(f"{levels.path}: left out {len(spare)} samples: {listed(spare)}")
    same = [rows[sample] for sample, _ in facts]
    body = ([*fact, *levels.rows[rows[sample]][1:]] for sample, fact in facts)
    merged = Rows.of(chain([[*header, *genes]], body))
    lines = [levels.lines[0], *(levels.lines[rows[sample]] for sample, _ in facts)]
    joined = Table(levels.path, levels.delimiter, merged, lines, bytes(len(merged)))
    apart = Apart(_may_tell_series(table, rows, options), remedy)
    told = Options(keep=options.keep, replicates=options.replicates, missing=options.missing)
    told = of_genes_alone(told, whole_levels, joined)
    return expression_in(joined, told, apart=apart, same=same)


def _bare(name: str) -> str:
    """A name of a sample without folder, ending, R's leading X, case and marks between words."""
    name = name.replace("\\", "/").rsplit("/", 1)[-1].lower()
    name = ENDING.sub("", name)
    return re.sub(r"[\W_]+", ".", re.sub(r"^x(?=[0-9])", "", name)).strip(".")


def _as_levels_say(table: Table, rows: dict[str, int], path: str, options: Options) -> Table:
    """The sheet with samples as the levels call them, where they differ in how they are written.

    So featureCounts names samples by the paths of their alignments, and R by names of its own.
    """
    place = _kinds(table, rows, options).index("sample")
    names = [row[place] for row in table.rows[1:]]
    unknown = {name for name in names if name not in rows}
    if not unknown:
        return table
    by_bare: dict[str, list[str]] = {}
    for name in rows:
        by_bare.setdefault(_bare(name), []).append(name)
    found = {name: by_bare.get(_bare(name), []) for name in unknown}
    if any(len(same) != 1 for same in found.values()):
        return table
    renamed = {name: same[0] for name, same in found.items()}
    if len({renamed.get(name, name) for name in names}) < len(set(names)):
        return table
    one = min(renamed)
    warn_user(
        f"{path}: {len(renamed)} samples were found by their names without folder, ending, case "
        f"and marks: {one} is {renamed[one]}"
    )
    made = (
        row if not i else [*row[:place], renamed.get(row[place], row[place]), *row[place + 1 :]]
        for i, row in enumerate(table.rows)
    )
    return replace(table, rows=Rows.of(made))


def _refuse_other_way(levels: Table, table: Table, *, genes_in_rows: bool) -> None:
    """Refuse levels whose samples stand in columns without the option, or in rows with it."""
    named = {_bare(cell) for row in table.rows[1:] for cell in row}
    across = len(named.intersection(map(_bare, levels.rows[0][1:])))
    if across == len(table.rows) - 1 if genes_in_rows else across < 2:
        return
    down = len(named.intersection(_bare(row[0]) for row in levels.rows[1:]))
    if not genes_in_rows and across > down:
        raise may_read(
            levels.error(
                f"samples of {table.path} stand in the first row: give --genes-in-rows", row=0
            ),
            {"genes_in_rows": True},
        )
    if genes_in_rows and down > max(1, across):
        raise levels.error(
            f"samples of {table.path} stand in the first column: leave --genes-in-rows out", row=0
        )


def _of_levels(levels: Table, table: Table, ignore: Sequence[str]) -> tuple[str, ...]:
    """What is to be ignored of the levels: not what the sheet alone has, whose columns may be."""
    here = {cell.lower() for cell in table.rows[0]}
    there = {*map(str.lower, levels.rows[0]), *(row[0].lower() for row in levels.rows[1:])}
    return tuple(name for name in ignore if name.lower() in there or name.lower() not in here)


def _facts(
    table: Table, rows: dict[str, int], path: str, options: Options
) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Labels that a sheet has, and what it says of samples; one series if it names none."""
    kinds = _kinds(table, rows, options)
    sample, time = kinds.index("sample"), kinds.index("time")
    times_in(table, time)  # refuse what is none while its line is known
    names = [row[sample] for row in table.rows[1:]]
    of_series = series_places(table, kinds, options)
    if twice := _twice_in_a_series(table, names, of_series, time):
        raise table.error(f"samples must be different, found twice: {listed(twice)}")
    if unknown := [name for name in names if name not in rows]:
        near = "" if rows.keys() & set(names) else did_you_mean(unknown[0], rows)
        raise table.error(
            f"every sample must have levels in {path}, but {len(unknown)} have none: "
            f"{listed(unknown)}; there stands {listed(list(rows))}{near}"
        )
    used = [j for j, kind in enumerate(kinds) if kind in LABELS and kind != IGNORED]
    if options.series_column:
        used = [j for j in used if kinds[j] != "series"]
        first = _joined(table, of_series, time)
    else:
        first = [[] if of_series else ["1"] for _ in names]
    head = [] if of_series and not options.series_column else ["series"]
    facts = [
        (name, [*one, *(row[j] for j in used)])
        for name, one, row in zip(names, first, table.rows[1:], strict=True)
    ]
    return head + [kinds[j] for j in used], facts


def _may_tell_series(table: Table, rows: dict[str, int], options: Options) -> list[dict[str, Any]]:
    """Options that name series by a column more of the sheet, those that part all times in front.

    No column of a sheet is a gene, so any may whose cells are neither all the same nor all others.
    """
    kinds = _kinds(table, rows, options)
    time, known = kinds.index("time"), series_places(table, kinds, options)
    body = list(table.rows[1:])

    def meet(j: int) -> bool:
        return bool(repeated(["\t".join(row[i] for i in (*known, j, time)) for row in body]))

    free = [
        j
        for j, kind in enumerate(kinds)
        if kind not in LABELS and 1 < len({row[j] for row in body}) < len(body)
    ]
    return [more_series(table, kinds, j, options) for j in sorted(free, key=meet)]


def _joined(table: Table, of_series: Sequence[int], time: int) -> list[list[str]]:
    """The name of each sample's series, of several columns with a slash; none needed at rest."""
    for i, row in enumerate(table.rows[1:], start=1):
        for j in of_series:
            if not row[j] and row[time].lower() not in MARKS:
                raise table.error("every sample needs the name of a series, found nothing", i, j)
    return [["/".join(row[j] for j in of_series)] for row in table.rows[1:]]


def _kinds(table: Table, rows: dict[str, int], options: Options) -> list[str]:
    """What each column of a sheet is; names that say much the same are known."""
    here = tuple(n for n in options.ignore if find_place(table.rows[0], n) is not None)
    kinds = kinds_of(table, replace(options, ignore=here, keep=()), has_index=False)
    for label, found in (
        ("sample", _of_samples(table, kinds, rows)),
        ("time", [j for j, kind in enumerate(kinds) if CLOCK.fullmatch(kind)]),
    ):
        if label not in kinds and len(found) == 1:
            kinds[found[0]] = label
        if kinds.count(label) != 1:
            option = f"{label}_column"
            likely = [table.rows[0][j] for j in found]
            raise may_read(
                table.error(
                    f"must have one column {label}, found {listed(table.rows[0])}; give "
                    f"{option_words({option: likely[0] if likely else 'NAME'})}",
                    row=0,
                ),
                *({option: name} for name in likely),
            )
    return kinds


def _of_samples(table: Table, kinds: Sequence[str], rows: dict[str, int]) -> list[int]:
    """Columns that may name the samples: all cells do, or else their heading says so."""
    free = [j for j, kind in enumerate(kinds) if kind not in LABELS]
    found = [j for j in free if all(row[j] in rows for row in table.rows[1:])]
    if not found:
        bare = set(map(_bare, rows))
        found = [j for j in free if all(_bare(row[j]) in bare for row in table.rows[1:])]
    return found or [j for j in free if kinds[j] in INDEX or SAMPLE.fullmatch(kinds[j])]


def _twice_in_a_series(table: Table, names: list[str], kinds: list[int], time: int) -> list[str]:
    """Samples that a sheet names twice in one series, or at rest and elsewhere."""
    body = list(table.rows[1:])
    at_rest = {name for name, row in zip(names, body, strict=True) if row[time].lower() in MARKS}
    place = [(name, *(row[j] for j in kinds)) for name, row in zip(names, body, strict=True)]
    twice = {name for (name, *_), count in Counter(place).items() if count > 1}
    return [name for name in repeated(names) if name in twice or name in at_rest]
