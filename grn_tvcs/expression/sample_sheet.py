"""Levels, and a separate sheet with the time and series of every sample."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from grn_tvcs.expression.clock import holds_times, read_times
from grn_tvcs.expression.expression import describe_repeated, repeated
from grn_tvcs.expression.formats.inferelator import with_times
from grn_tvcs.expression.genes_in_rows import check_kept, of_samples, without
from grn_tvcs.expression.judge.names import CLOCK, OF_CELLS, OF_IDS
from grn_tvcs.expression.judge.roles import (
    FACT,
    LABELS,
    Roles,
    kind_of_gene,
    kinds_of,
    series_places,
)
from grn_tvcs.expression.missing_values import MARKS
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.sheet import HEAD, Column, Sheet
from grn_tvcs.expression.user_warnings import warn_user
from tvcs_core import DataError
from tvcs_core.arguments import option_name, option_words
from tvcs_core.files.display import did_you_mean, joined, plural, quoted

# What aligners, Picard and sequencers write behind the name of a sample.
ENDING = re.compile(
    r"([._](sorted|dedup|aligned|out|markdup|sortedbycoord))*"
    r"\.(bam|sam|cram|cel(\.gz)?|txt|fastq(\.gz)?|fq(\.gz)?)$"
)


def join_sheet(levels: Sheet, samples: Sheet, options: Options, part: str | None = None) -> Roles:
    """Join levels and a sheet with the time and series of every sample.

    A sample without a time is in steady state, and one may stand in several series, each with a row
    of its own. If no column is called ``sample``, or ``time``, the only one that is called much
    the same counts (``SampleID``, ``Timepoint``, ``time_h``). Samples that are not in the sheet are
    left out, with a warning.

    Parameters
    ----------
    levels
        The first column names the samples, the others are genes; or the other way round.
    samples
        Columns as of a table of samples x genes, and others.
    options
        The options for the columns of both.
    part
        The column of the sheet whose values part the table.

    Raises
    ------
    DataError
        If a sample of the sheet has no levels, a gene is there twice or a sample is in its series,
        or a gene has the name of a column of the sheet.
    """
    levels.check_names()
    if not len(samples):
        raise samples.error("must have samples below the first row, found none", HEAD)
    levels = whole = without(levels, _of_levels(levels, samples, options.ignore))
    samples = with_times(samples)
    _refuse_other_way(levels, samples, genes_in_rows=options.genes_in_rows)
    if options.genes_in_rows:
        levels = of_samples(levels, options.keep, options.gene_column, has_sample_sheet=True)
        levels = levels.turned("sample")
    rows = rows_by_name(levels, "sample")
    kinds = _kinds(samples, whole, rows, options, part)
    samples = _name_samples_as_levels(samples, kinds.index("sample"), rows, levels.path)
    kept = {name.lower() for name in options.keep}
    genes = levels.heads[1:]
    if taken := [gene for gene in genes if gene.lower() in LABELS and gene.lower() not in kept]:
        raise levels.error(
            f"a gene must not be called {joined(taken)}: rename it, or leave it out by "
            f"{option_words({'ignore': taken[0]})}",
            HEAD,
        )
    labels = series_places(samples, kinds, options)
    _check_samples(samples, kinds, labels, rows, levels.path)
    names = samples.cells(kinds.index("sample"))
    if spare := [sample for sample in rows if sample not in set(names)]:
        warn_user(f"{levels.path}: left out {plural(len(spare), 'sample')}: {joined(spare)}")
    made = levels.pick(range(1, len(levels.columns))).take([rows[name] for name in names])
    made = made.behind(
        [Column(name, j, sample_sheet=samples) for j, name in enumerate(samples.heads)]
    )
    check_kept(options.keep, whole, made)
    options = replace(options, ignore=())
    of_genes = [kind_of_gene(g) if g.lower() in kept else g.lower() for g in genes]
    return Roles(made, [*kinds, *of_genes], labels, options)


def rows_by_name(sheet: Sheet, kind: str) -> dict[str, int]:
    """Return the row of each name of the first column."""
    names = sheet.cells(0)
    if "" in names:
        raise sheet.error(f"a {kind} must have a name, found an empty cell", names.index(""), 0)
    if twice := describe_repeated(f"{kind}s", names):
        raise DataError(twice, path=sheet.path)
    return {name: i for i, name in enumerate(names)}


def _bare(name: str) -> str:
    """A name of a sample without folder, ending, R's leading X, case and marks between words."""
    name = name.replace("\\", "/").rsplit("/", 1)[-1].lower()
    name = ENDING.sub("", name)
    return re.sub(r"[\W_]+", ".", re.sub(r"^x(?=[0-9])", "", name)).strip(".")


def _name_samples_as_levels(samples: Sheet, place: int, rows: dict[str, int], path: str) -> Sheet:
    """Name samples as the levels call them, where they differ in how they are written.

    So featureCounts names samples by the paths of their alignments, and R by names of its own.
    """
    names = samples.cells(place)
    unknown = {name for name in names if name not in rows}
    if not unknown:
        return samples
    by_bare: dict[str, list[str]] = {}
    for name in rows:
        by_bare.setdefault(_bare(name), []).append(name)
    found = {name: by_bare.get(_bare(name), []) for name in unknown}
    if any(len(same) != 1 for same in found.values()):
        return samples
    renamed = {name: same[0] for name, same in found.items()}
    texts = [renamed.get(name, name) for name in names]
    if len(set(texts)) < len(set(names)):
        return samples
    one = min(renamed)
    warn_user(
        f"{path}: {plural(len(renamed), 'sample was', 'samples were')} found by name without "
        f"folder, ending, case and marks: {one} is {renamed[one]}"
    )
    columns = list(samples.columns)
    columns[place] = replace(columns[place], texts=texts, sample_sheet=None)
    return replace(samples, columns=columns)


def _refuse_other_way(levels: Sheet, samples: Sheet, *, genes_in_rows: bool) -> None:
    """Refuse levels whose samples stand in columns without the option, or in rows with it."""
    # By rows: a column of a text costs a pass over all of it, and swapped files have thousands.
    named = {_bare(cell) for i in range(len(samples)) for cell in samples.row(i)}
    across = len(named.intersection(map(_bare, levels.heads[1:])))
    if across == len(samples) if genes_in_rows else across < 2:
        return
    down = len(named.intersection(map(_bare, levels.cells(0))))
    turn = {"genes_in_rows": True}
    if not genes_in_rows and across > down:
        raise levels.error(
            f"samples of {samples.path} stand in the first row: give {option_words(turn)}",
            HEAD,
            remedies=[turn],
        )
    if genes_in_rows and down > max(1, across):
        raise _swapped(levels, samples) or levels.error(
            f"samples of {samples.path} stand in the first column: leave {option_words(turn)} out",
            HEAD,
        )


def _swapped(levels: Sheet, samples: Sheet) -> DataError | None:
    """Return the error of a table and its sheet that are given for each other, if they are."""
    has_time = [any(map(CLOCK.fullmatch, sheet.heads)) for sheet in (levels, samples)]
    if has_time != [True, False]:
        return None
    return levels.error(
        f"has a column of times, and {samples.path}, its sheet of samples, has none, so they seem "
        f"to be swapped: give the levels first, and by {option_name('samples')} the sheet",
        HEAD,
    )


def _of_levels(levels: Sheet, samples: Sheet, ignore: Sequence[str]) -> tuple[str, ...]:
    """Return the ignored names of the levels, without those that only the sheet has."""
    if not ignore:
        return ()
    here = {name.lower() for name in samples.heads}
    there = {*map(str.lower, levels.heads), *map(str.lower, levels.cells(0))}
    return tuple(name for name in ignore if name.lower() in there or name.lower() not in here)


def _check_samples(
    samples: Sheet, kinds: list[str], labels: list[int], rows: dict[str, int], path: str
) -> None:
    """Refuse a sample twice in a series, or in steady state and elsewhere, or without levels.

    A sample at several times is warned of: one series may go on from another, but cells that were
    copied look the same.
    """
    names, times, *series = (
        samples.cells(j) for j in (kinds.index("sample"), kinds.index("time"), *labels)
    )
    at_rest = {name for name, cell in zip(names, times, strict=True) if cell.lower() in MARKS}
    in_series = repeated(list(zip(names, *series, strict=True)))
    at_rest.update(name for name, *_ in in_series)
    if twice := [name for name in repeated(names) if name in at_rest]:
        raise samples.error(
            f"samples must be different, found twice: {joined(twice)}; leave one row of each"
        )
    if unknown := [name for name in names if name not in rows]:
        near = "" if rows.keys() & set(names) else did_you_mean(unknown[0], rows)
        raise samples.error(
            f"every sample must have levels in {path}, but "
            f"{plural(len(unknown), 'sample has', 'samples have')} none: {joined(unknown)}; there "
            f"stands {joined(list(rows))}{near}; correct their names, or remove these rows"
        )
    found = read_times(times)  # 1 and 1.0 are one time
    at = times if found is None else found.values
    if moved := repeated([name for name, _ in dict.fromkeys(zip(names, at, strict=True))]):
        warn_user(
            f"{samples.path}: used at several times: {joined(list(moved))}; if a sample was taken "
            "once, correct these rows"
        )


def _kinds(
    samples: Sheet, levels: Sheet, rows: dict[str, int], options: Options, part: str | None
) -> list[str]:
    """Return the role of each column of a sheet; similar names are known."""
    here = tuple(n for n in options.ignore if samples.find(n) is not None)
    kinds = kinds_of(samples, replace(options, ignore=here, keep=()), part, has_index=False)
    cells = [samples.cells(j) for j in range(len(kinds))]
    times = _of_times(cells, kinds)
    if options.time_column is None and times:
        aside = [j for j in _called(kinds, "time") if _tell_no_times(cells[j])]
        kinds = [FACT if j in aside else kind for j, kind in enumerate(kinds)]
        if aside and len(times) == 1 and "time" not in kinds:
            warn_user(
                f"{samples.path}: no times that differ stand in "
                f"{joined(samples.heads[j] for j in aside)}, so {samples.heads[times[0]]} is "
                "taken as the time; to keep the other, give "
                f"{option_words({'time_column': samples.heads[aside[0]]})}"
            )
    for label, found in (
        ("sample", _of_samples(cells, kinds, rows)),
        ("time", times or _called(kinds)),
    ):
        if label not in kinds and len(found) == 1:
            kinds[found[0]] = label
        if kinds.count(label) != 1:
            names = [samples.heads[j] for j in found]
            remedies = [{f"{label}_column": name} for name in names]
            give = " or ".join(map(option_words, remedies or [{f"{label}_column": "NAME"}]))
            likely = f"; {joined(names)} may each be it" if len(found) > 1 else ""
            if not found and label == "sample":
                give += "; where none holds names of samples, put them in a first column"
            elif not found:
                give += _other_times(samples.heads, cells, kinds, next(iter(rows)), options)
            raise _swapped(levels, samples) or samples.error(
                f"must have one column {label}, found {joined(samples.heads)}{likely}; give {give}",
                HEAD,
                remedies=remedies,
            )
    return [kind if kind in LABELS else FACT for kind in kinds]


def _free(kinds: Sequence[str], *more: str) -> list[int]:
    """Return the columns without a role, and those of the roles `more`."""
    return [j for j, kind in enumerate(kinds) if kind in more or kind not in LABELS]


def _called(kinds: Sequence[str], *more: str) -> list[int]:
    """Return such columns that are called like a time."""
    return [j for j in _free(kinds, *more) if CLOCK.fullmatch(kinds[j])]


def _of_samples(
    cells: Sequence[Sequence[str]], kinds: Sequence[str], rows: dict[str, int]
) -> list[int]:
    """Return columns that may name the samples: by all cells, or by the heading."""
    free = _free(kinds)
    found = [j for j in free if rows.keys() >= {*cells[j]}]
    if not found:
        bare = set(map(_bare, rows))
        found = [j for j in free if all(_bare(cell) in bare for cell in cells[j])]
    return found or [j for j in free if OF_CELLS.fullmatch(kinds[j]) or OF_IDS.fullmatch(kinds[j])]


def _of_times(cells: Sequence[Sequence[str]], kinds: Sequence[str]) -> list[int]:
    """Return columns that hold the times: those that are called so, or have units in their cells.

    Of several that are called so, those count whose cells are all times.
    """
    clocks = [j for j in _called(kinds) if not _tell_no_times(cells[j])]
    if len(clocks) > 1:
        clocks = [j for j in clocks if read_times(cells[j]) is not None] or clocks
    return clocks or [j for j in _free(kinds) if holds_times(cells[j])]


def _tell_no_times(cells: Sequence[str]) -> bool:
    """Whether cells are one time throughout, or words; where all are empty, samples are at rest."""
    different = {cell.lower() for cell in cells}
    known = different - MARKS
    is_word = all(read_times([cell]) is None for cell in known)
    return bool(known) and (len(different) == 1 or is_word)


def _other_times(
    heads: Sequence[str],
    cells: Sequence[Sequence[str]],
    kinds: Sequence[str],
    sample: str,
    options: Options,
) -> str:
    """Return what else helps where no column is likely to be the time."""
    way = ", or add a column time, empty in steady state"
    if options.samples is None:
        way = (
            f", or {option_words({'samples': 'SHEET'})} with columns sample (such as {sample}) and "
            "time, empty in steady state"
        )
    for j in _free(kinds):
        words = [cell for cell in cells[j] if read_times([cell]) is None]
        if words and holds_times([cell for cell in cells[j] if cell not in words]):
            way += f"; {heads[j]} holds times, but also {quoted(words[0])}, which is none"
    return way
