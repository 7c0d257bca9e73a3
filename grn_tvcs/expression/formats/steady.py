"""Tables of steady states: the wild type, knock-outs, knock-downs and over-expression."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from grn_tvcs.expression.expression import describe_repeated
from grn_tvcs.expression.formats.gene_names import renamed
from grn_tvcs.expression.formats.text import open_sheet
from grn_tvcs.expression.judge.genes import genes_by_name, refuse_results
from grn_tvcs.expression.judge.names import INDEX, Names
from grn_tvcs.expression.judge.roles import counts_rows
from grn_tvcs.expression.judge.same_names import NO_IDENTIFIERS, Identifiers, same_names
from grn_tvcs.expression.sheet import HEAD, Sheet
from grn_tvcs.expression.steady_states import DOWN, OUT, UP, WILD_TYPE, SteadyStates
from grn_tvcs.expression.user_warnings import warn_user, without_warnings
from tvcs_core.arguments import option_name
from tvcs_core.files.display import did_you_mean, joined, plural, quoted
from tvcs_core.files.tables import is_number

# How strains are called after the gene that was changed: ΔlexA, lexA_KO_rep1, lexA::kan, WT 2.
# Of a screen with guides, the control is a guide that cuts nothing or a safe place.
_WILD = re.compile(
    r"(wt|wild[\W_]?type|parent|parental|(neg(ative)?[\W_]?)?(control|ctrl|ctl)"
    r"|(sg|sh|si|g)?[\W_]?(ntc|nt|non[\W_]?target(ing)?|scr(ambled?)?|safe[\W_]?(harbou?r|target(ing)?)"
    r"|aavs1|rosa26|luc(iferase)?|lacz|gfp|egfp|mock|empty([\W_]?vector)?|vehicle|untreated)"
    r"([\W_]?(control|ctrl|guide|grna|sgrna|sirna|shrna))?)",
    re.IGNORECASE,
)
_REPEAT = r"(?P<gene>.+?)(?:[\W_]+(?:biol?|tech)?[\W_]?(?:r|rep|repl|replicate)?[\W_]?[0-9]+)"
_LOST = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        _REPEAT,
        r"(?:[Δ∆δ]|delta|del|d|ko|kd|sh|si|sg|knock[\W_]?(?:out|down))[\W_]*(?P<gene>.+)",
        r"(?P<gene>.+?)[\W_]*(?:ko|kd|-/-|[Δ∆δ]|delta|del|deletion|null|mut|mutant"
        r"|knock[\W_]?(?:out|down)|::\w+)",
    )
)
# lexA_OE, OE-lexA, lexA overexpression, pBAD-lexA
_GAINED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        _REPEAT,
        r"(?:oe|ox|over[\W_]?expr\w*|p(?:bad|et|tet|lac)\d*)[\W_]+(?P<gene>.+)",
        r"(?P<gene>.+?)[\W_]+(?:oe|ox|over[\W_]?expr\w*|\+\+)",
    )
)


def read_steady_states(
    *,
    knockouts: str | Path | None = None,
    knockdowns: str | Path | None = None,
    overexpressions: str | Path | None = None,
    wildtype: str | Path | None = None,
    gene_names: str | Path | Mapping[str, str] | None = None,
    identifiers: Identifiers = NO_IDENTIFIERS,
) -> SteadyStates:
    """Read tables of steady states, one column per gene, one row per experiment.

    A table of changed genes (knock-outs, knock-downs, over-expression) either has as many rows as
    genes, the k-th row being that of the k-th gene (DREAM), or a first column that names the
    changed gene of each row: alone, or as strains are called (``ΔlexA``, ``dlexA``,
    ``lexA_KO_rep1``, ``lexA::kan``; over-expressed ``lexA_OE``, ``pBAD-lexA``), with a warning that
    lists how they were read. Rows called ``WT``, ``control`` and the like are the wild type. Genes
    are called by `gene_names`, a file or a mapping of identifiers to names, where it has any of
    them; changed genes may be called either way then, and by `identifiers`, those of an
    `Expression` (``expression.identifiers``).

    Raises
    ------
    DataError
        Naming line and column of what cannot be read.
    ValueError
        If the tables have different genes, or none is given.
    """
    given = {OUT: knockouts, DOWN: knockdowns, UP: overexpressions, "": wildtype}
    made = [
        _read(path, changes, gene_names, identifiers)
        for changes, path in given.items()
        if path is not None
    ]
    if not made:
        raise ValueError(
            "give a table of knock-outs, of knock-downs, of over-expression or of the wild type"
        )
    made = [states.of(made[0].genes) for states in made]
    return SteadyStates(
        np.concatenate([states.levels for states in made]),
        tuple(gene for states in made for gene in states.changed),
        np.concatenate([states.is_knockout for states in made]),
        made[0].genes,
        np.concatenate([states._is_up for states in made]),
    )


def _read(
    path: str | Path,
    changes: str,
    gene_names: str | Path | Mapping[str, str] | None,
    identifiers: Identifiers,
) -> SteadyStates:
    sheet = _without_index(open_sheet(path), changes)
    if not len(sheet):
        raise sheet.error("must have experiments below the first row, found none", HEAD)
    has_names = bool(changes) and not is_number(sheet.cells(0)[0])
    start = 1 if has_names else 0
    columns = Names(sheet.path, sheet.heads[start:])
    refuse_results(columns)
    is_gene = genes_by_name(columns)
    places = [j for j, is_one in enumerate(is_gene, start=start) if is_one]
    genes = [sheet.heads[j] for j in places]
    if twice := describe_repeated("gene names", genes):
        raise sheet.error(twice, HEAD)
    levels = sheet.numbers(places, marks=())
    n = len(sheet)
    called = _called(genes, gene_names)
    name_of = dict(zip(genes, called, strict=True))
    genes = called
    changed = [WILD_TYPE] * n
    if changes:
        changed = _changed(sheet, genes, has_names, changes, name_of, identifiers)
    is_changed = np.array([gene != WILD_TYPE for gene in changed])
    return SteadyStates(
        levels, tuple(changed), is_changed & (changes == OUT), tuple(genes),
        is_changed & (changes == UP),
    )  # fmt: skip


def _called(genes: list[str], gene_names: str | Path | Mapping[str, str] | None) -> list[str]:
    """Return genes by their names in a file; as they are if it has none of them."""
    if gene_names is None:
        return genes
    with without_warnings(), suppress(ValueError):  # it is said of the table of expression
        return list(renamed(genes, gene_names))
    return genes


def _without_index(sheet: Sheet, changes: str) -> Sheet:
    """Leave out a first column that counts the rows, or names those of the wild type."""
    if sheet.heads[0].lower() not in INDEX:
        return sheet
    cells = sheet.cells(0)
    is_named = not changes and not any(map(is_number, cells))
    return sheet.without({0}) if counts_rows(sheet, 0) or is_named else sheet


def _changed(
    sheet: Sheet,
    genes: list[str],
    has_names: bool,
    changes: str,
    name_of: dict[str, str],
    identifiers: Identifiers,
) -> list[str]:
    if not has_names:
        if len(sheet) != len(genes):
            raise sheet.error(
                f"must have one row for each of the {len(genes)} genes, in their order, or a "
                f"first column that names the changed gene, found {len(sheet)} rows"
            )
        return genes
    names = sheet.cells(0)
    marks, others = (_GAINED, _LOST) if changes == UP else (_LOST, _GAINED)
    changed = _genes_of(names, marks, name_of, identifiers)
    for i, (name, found) in enumerate(zip(names, changed, strict=True)):
        if found is None:
            forms = "A_OE, pBAD-A, A_OE_rep1" if changes == UP else "ΔA, dA, A_KO, A_KO_rep1"
            is_other = _genes_of([name], others, name_of, identifiers) != [None]
            up, out = map(option_name, ("overexpressions", "knockouts"))
            other = f" (a {OUT} is in {out})" if changes == UP else f" (see {up})"
            raise sheet.error(
                f"must be one of the genes, found {quoted(name)}{other if is_other else ''}"
                f"{did_you_mean(name, genes)}; the name of the changed gene stands alone or as in "
                f"{forms}, and the wild type as WT or in a table of its own, "
                f"{option_name('wildtype')}",
                i,
                0,
            )
    _warn_of_strains(sheet.path, names, changed)
    return [gene or WILD_TYPE for gene in changed]


def _warn_of_strains(path: str, names: Sequence[str], changed: list[str | None]) -> None:
    pairs = list(zip(names, changed, strict=True))
    if read := [f"{name} as {gene}" for name, gene in pairs if gene and name != gene]:
        warn_user(
            f"{path}: of {len(names)} names {plural(len(read), 'was', 'were')} read as the gene "
            f"that was changed: {joined(read)}"
        )
    if wild := [name for name, gene in pairs if gene == WILD_TYPE]:
        rows = plural(len(wild), "row is", "rows are")
        warn_user(f"{path}: {rows} taken for the wild type: {joined(wild)}")


def _genes_of(
    names: Sequence[str],
    marks: Sequence[re.Pattern[str]],
    name_of: dict[str, str],
    identifiers: Identifiers,
) -> list[str | None]:
    """Return the gene in the name of each strain; `WILD_TYPE` for that, None if it is unclear.

    Genes may be called by their names, by the heads of their columns and by `identifiers`.
    """
    stages = [list(_undecorated(name, marks)) for name in names]
    forms = sorted({form for own in stages for some in own for form in some})
    turned = ((gene, one) for one, gene in identifiers.pairs)  # columns may be identifiers
    either = identifiers._replace(pairs=identifiers.pairs.union(turned))
    heads = same_names(forms, list(name_of))
    gene_of = {one: name_of[head] for one, head in heads.gene_of.items()}
    gene_of |= {head: name_of[head] for head in heads.as_written}
    genes = same_names(forms, list(name_of.values()), either)
    gene_of |= genes.gene_of | {gene: gene for gene in genes.as_written}
    return [_gene_of(own, gene_of) for own in stages]


def _gene_of(stages: Sequence[set[str]], gene_of: Mapping[str, str]) -> str | None:
    for names in stages:
        found = {gene_of[name] for name in names if name in gene_of}
        if found:
            return found.pop() if len(found) == 1 else None
        if any(map(_WILD.fullmatch, names)):
            return WILD_TYPE
    return None


def _undecorated(name: str, marks: Sequence[re.Pattern[str]]) -> Iterator[set[str]]:
    """A name, then the names that are left when one, two and three decorations are gone."""
    names = {name}
    for _ in range(len(marks) + 1):
        yield names
        matches = (pattern.fullmatch(n) for n in names for pattern in marks)
        names = {found["gene"] for found in matches if found is not None}
