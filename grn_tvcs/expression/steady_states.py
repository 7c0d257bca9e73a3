"""Steady states beside the series: wild type, changed genes, and the effects of these."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression, describe_repeated
from grn_tvcs.expression.formats.gene_names import renamed
from grn_tvcs.expression.formats.text import open_sheet
from grn_tvcs.expression.judge.genes import genes_by_name, refuse_results
from grn_tvcs.expression.judge.names import INDEX, Names
from grn_tvcs.expression.judge.roles import counts_rows
from grn_tvcs.expression.judge.same_names import same_names
from grn_tvcs.expression.scales import log_levels, scale_of
from grn_tvcs.expression.sheet import HEAD, Sheet
from grn_tvcs.expression.user_warnings import warn_user, without_warnings
from tvcs_core.arguments import array_of, names_of
from tvcs_core.files.display import did_you_mean, joined, quoted, summary
from tvcs_core.files.tables import is_number

# Part of the deviations from rest that tells the standard deviation, and how many of these it is
# for normal noise. The median would be 0 for a gene that is not measurable in steady state.
QUANTILE, DEVIATIONS = 0.8, 1.2816
LOG_OFFSET = 0.1  # part of a gene's largest level that is added before the logarithm
WILD_TYPE = ""
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
OUT, DOWN, UP = "knock-out", "knock-down", "over-expression"  # kinds of experiments
OPTIONS = {OUT: "--knockouts", DOWN: "--knockdowns", UP: "--overexpressions"}


@dataclass(frozen=True)
class SteadyStates:
    """Levels in steady state, of the wild type or after one gene was changed.

    Parameters
    ----------
    levels
        One row per experiment, one column per gene; finite, in the unit of the series.
    changed
        Name of the gene that was changed in each experiment; empty for the wild type.
    is_knockout
        Whether the gene was knocked out, and not only down; nothing for the wild type.
    genes
        Names of the columns, all different.
    is_overexpressed
        Whether the gene was made to have more, in place of less; None for never.

    Raises
    ------
    ValueError
        If shapes disagree, a level is not finite, names repeat, a changed gene is no column, or a
        gene is both knocked out and over-expressed.
    """

    levels: NDArray[np.float64]
    changed: tuple[str, ...]
    is_knockout: NDArray[np.bool_]
    genes: tuple[str, ...]
    is_overexpressed: NDArray[np.bool_] | None = None

    __repr__ = summary

    def __post_init__(self) -> None:
        levels = array_of("levels", self.levels, np.float64)
        is_knockout = array_of("is_knockout", self.is_knockout, np.bool_)
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "is_knockout", is_knockout)
        is_up = (
            np.zeros(is_knockout.shape, bool)
            if self.is_overexpressed is None
            else array_of("is_overexpressed", self.is_overexpressed, np.bool_)
        )
        object.__setattr__(self, "is_overexpressed", is_up)
        object.__setattr__(self, "changed", names_of("changed", self.changed))
        object.__setattr__(self, "genes", names_of("genes", self.genes))
        shape = (len(self.changed), len(self.genes))
        if levels.shape != shape or is_knockout.shape != shape[:1]:
            raise ValueError(
                f"levels must have the shape experiments x genes = {shape} and one flag per "
                f"experiment, found {levels.shape} and {is_knockout.shape}"
            )
        if is_up.shape != shape[:1] or (is_up & is_knockout).any():
            raise ValueError(
                "is_overexpressed must have one flag per experiment, none of a knock-out, found "
                f"{is_up.astype(int).tolist()}"
            )
        if not np.isfinite(levels).all():
            raise ValueError("levels must be finite")
        if twice := describe_repeated("gene names", self.genes):
            raise ValueError(twice)
        if unknown := sorted(set(self.changed) - set(self.genes) - {WILD_TYPE}):
            raise ValueError(f"changed genes must be columns, but these are not: {joined(unknown)}")

    @property
    def n_knockdowns(self) -> int:
        """Number of experiments with a gene that was knocked down."""
        n_changed = sum(gene != WILD_TYPE for gene in self.changed)
        return n_changed - int(self.is_knockout.sum()) - self.n_overexpressions

    @property
    def n_overexpressions(self) -> int:
        """Number of experiments with a gene that was over-expressed."""
        return int(self._is_up.sum())

    @property
    def _is_up(self) -> NDArray[np.bool_]:
        assert self.is_overexpressed is not None  # the constructor fills it
        return self.is_overexpressed

    def renamed(self, genes: Sequence[str]) -> SteadyStates:
        """The same experiments, the genes called so, in the order of the columns."""
        name_of = dict(zip(self.genes, genes, strict=True)) | {WILD_TYPE: WILD_TYPE}
        changed = tuple(name_of[gene] for gene in self.changed)
        return replace(self, genes=tuple(genes), changed=changed)

    def called_as(self, genes: Sequence[str]) -> SteadyStates:
        """The same experiments, the genes called as those of a table, with a warning."""
        same = same_names(self.genes, genes)
        made = [same.gene_of.get(gene, gene) for gene in self.genes]
        if made == list(self.genes) or len(set(made)) < len(made):
            return self
        warn_user(f"of the genes of steady states, {same.describe()}")
        return self.renamed(made)

    def of(self, genes: Sequence[str]) -> SteadyStates:
        """The same experiments with the columns in the order of `genes`.

        Raises
        ------
        ValueError
            If the genes differ.
        """
        if set(genes) != set(self.genes):
            self = self.called_as(genes)
        if missing := sorted(set(genes) ^ set(self.genes)):
            raise ValueError(
                "steady states and series must have the same genes, but these are in one of "
                f"them only: {joined(missing)}"
            )
        place = {gene: j for j, gene in enumerate(self.genes)}
        order = sorted(range(len(self.changed)), key=lambda k: self._key(k))
        levels = self.levels[np.ix_(order, [place[gene] for gene in genes])]
        changed = tuple(self.changed[k] for k in order)
        is_up = self._is_up[order]
        return SteadyStates(levels, changed, self.is_knockout[order], tuple(genes), is_up)

    def restrict_to(self, genes: Collection[str]) -> SteadyStates:
        """The levels of some genes, without the experiments in which another gene was changed."""
        kept = [j for j, gene in enumerate(self.genes) if gene in genes]
        rows = [k for k, gene in enumerate(self.changed) if gene == WILD_TYPE or gene in genes]
        return SteadyStates(
            self.levels[np.ix_(rows, kept)],
            tuple(self.changed[k] for k in rows),
            self.is_knockout[rows],
            tuple(self.genes[j] for j in kept),
            self._is_up[rows],
        )

    def _key(self, k: int) -> tuple[str, bool, bool, list[float]]:
        flags = bool(self.is_knockout[k]), bool(self._is_up[k])
        return (self.changed[k], *flags, sorted(self.levels[k].tolist()))

    def only_overexpressed(self) -> NDArray[np.bool_]:
        """Which genes were over-expressed and never knocked down; (genes,)."""
        pairs = list(zip(self.changed, self._is_up, self.is_knockout, strict=True))
        up = {gene for gene, is_up, _ in pairs if is_up}
        down = {gene for gene, is_up, is_out in pairs if not is_up and not is_out}
        return np.array([gene in up - down for gene in self.genes])

    def is_changed(self, *, is_out: bool) -> NDArray[np.bool_]:
        """Which genes were knocked out, or else changed: down or up; (genes,)."""
        names = {g for g, out in zip(self.changed, self.is_knockout, strict=True) if out == is_out}
        return np.array([gene in names for gene in self.genes])

    def shifts(
        self, expression: Expression, *, is_out: bool, rows: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """How far each gene moved when another was knocked out, or else changed, in SDs.

        ``[regulator, target]``, above 0 where the target fell, or rose when the regulator was
        over-expressed: the regulator activates it. Levels
        are compared as ``log(x / max + 0.1)`` with the gene's own maximum, because their noise
        grows with them; values that are logarithms already as they are. The rest level of a gene
        is the median of all its steady states and of the first samples of the series; its
        standard deviation is that of normal noise with the same 80 % quantile of deviations from
        rest, but at least that of the median gene. Of a gene that was changed several times the
        mean counts. `rows` are the genes that are wanted as regulators, all by default.
        """
        n = len(self.levels)
        both = np.concatenate([self.levels, expression.values])
        logs = log_levels(both, LOG_OFFSET, scale_of(expression))
        first = [n + rows.start for rows in expression.pieces().values()]
        known = np.concatenate([logs[:n], logs[first]])
        rest = np.median(known, axis=0)
        spread = np.quantile(np.abs(known - rest), QUANTILE, axis=0, method="lower") / DEVIATIONS
        spread = np.maximum(spread, np.median(spread))
        z = np.where(spread > 0, (rest - logs[:n]) / np.where(spread > 0, spread, 1.0), 0.0)
        rows = np.arange(len(self.genes)) if rows is None else rows
        row_of = {self.genes[j]: row for row, j in enumerate(rows.tolist())}
        shifts = np.zeros((len(rows), len(self.genes)))
        times = np.zeros(len(rows))
        for k in np.flatnonzero(self.is_knockout == is_out):
            if self.changed[k] in row_of:
                shifts[row_of[self.changed[k]]] += -z[k] if self._is_up[k] else z[k]
                times[row_of[self.changed[k]]] += 1
        shifts[np.arange(len(rows)), rows] = 0.0
        return shifts / np.maximum(times, 1)[:, None]


def read_steady_states(
    *,
    knockouts: str | Path | None = None,
    knockdowns: str | Path | None = None,
    overexpressions: str | Path | None = None,
    wildtype: str | Path | None = None,
    gene_names: str | Path | Mapping[str, str] | None = None,
) -> SteadyStates:
    """Read tables of steady states, one column per gene, one row per experiment.

    A table of changed genes (knock-outs, knock-downs, over-expression) either has as many rows as
    genes, the k-th row being that of the k-th gene (DREAM), or a first column that names the
    changed gene of each row: alone, or as strains are called (``ΔlexA``, ``dlexA``,
    ``lexA_KO_rep1``, ``lexA::kan``; over-expressed ``lexA_OE``, ``pBAD-lexA``), with a warning that
    lists how they were read. Rows called ``WT``, ``control`` and the like are the wild type. Genes
    are called by `gene_names`, a file or a mapping of identifiers to names, where it has any of
    them; changed genes may be called either way then.

    Raises
    ------
    DataError
        Naming line and column of what cannot be read.
    ValueError
        If the tables have different genes, or none is given.
    """
    given = {OUT: knockouts, DOWN: knockdowns, UP: overexpressions, "": wildtype}
    made = [_read(path, changes, gene_names) for changes, path in given.items() if path is not None]
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
    path: str | Path, changes: str, gene_names: str | Path | Mapping[str, str] | None
) -> SteadyStates:
    sheet = _without_index(open_sheet(path), changes)
    sheet.grid.check_rectangle()
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
        changed = _changed(sheet, genes, has_names, changes, name_of)
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
    sheet: Sheet, genes: list[str], has_names: bool, changes: str, name_of: dict[str, str]
) -> list[str]:
    if not has_names:
        if len(sheet) != len(genes):
            raise sheet.error(
                f"must have one row for each of the {len(genes)} genes, in their order, or a "
                f"first column that names the changed gene, found {len(sheet)} rows"
            )
        return genes
    by_case: dict[str, list[str]] = {}
    for gene in genes:
        by_case.setdefault(gene.lower(), []).append(gene)
    known = dict.fromkeys(genes)
    names = sheet.cells(0)
    marks, others = (_GAINED, _LOST) if changes == UP else (_LOST, _GAINED)
    gene_of = same_names(names, genes).gene_of
    ids = same_names(names, list(name_of))
    by_id = ids.gene_of | {one: one for one in ids.as_written}
    gene_of = {name: name_of[one] for name, one in by_id.items()} | gene_of
    changed = [
        name if name in known else gene_of.get(name) or _gene_of(name, known, by_case, marks)
        for name in names
    ]
    for i, (name, found) in enumerate(zip(names, changed, strict=True)):
        if found is None:
            forms = "A_OE, pBAD-A, A_OE_rep1" if changes == UP else "ΔA, dA, A_KO, A_KO_rep1"
            is_other = _gene_of(name, known, by_case, others) is not None
            other = f" (a {OUT} is in {OPTIONS[OUT]})" if changes == UP else f" (see {OPTIONS[UP]})"
            raise sheet.error(
                f"must be one of the genes, found {quoted(name)}{other if is_other else ''}"
                f"{did_you_mean(name, genes)}; the name of the changed gene stands alone or as in "
                f"{forms}, and the wild type as WT or in a table of its own, --wildtype",
                i,
                0,
            )
    _warn_of_strains(sheet.path, names, changed)
    return [gene or WILD_TYPE for gene in changed]


def _warn_of_strains(path: str, names: Sequence[str], changed: list[str | None]) -> None:
    pairs = list(zip(names, changed, strict=True))
    if read := [f"{name} as {gene}" for name, gene in pairs if gene and name != gene]:
        were = "was" if len(read) == 1 else "were"
        warn_user(
            f"{path}: of {len(names)} names {len(read)} {were} read as the gene that was changed: "
            f"{joined(read)}"
        )
    if wild := [name for name, gene in pairs if gene == WILD_TYPE]:
        rows = "1 row is" if len(wild) == 1 else f"{len(wild)} rows are"
        warn_user(f"{path}: {rows} taken for the wild type: {joined(wild)}")


def _gene_of(
    name: str,
    genes: Collection[str],
    by_case: dict[str, list[str]],
    marks: Sequence[re.Pattern[str]],
) -> str | None:
    """Return the gene in the name of a strain; `WILD_TYPE` for that, None if it is unclear."""
    for names in _undecorated(name, marks):
        found = {n for n in names if n in genes}
        found = found or {g for n in names for g in by_case.get(n.lower(), ())}
        if found:
            return found.pop() if len(found) == 1 else None
        if any(_WILD.fullmatch(n) for n in names):
            return WILD_TYPE
    return None


def _undecorated(name: str, marks: Sequence[re.Pattern[str]]) -> Iterator[set[str]]:
    """A name, then the names that are left when one, two and three decorations are gone."""
    names = {name}
    for _ in range(len(marks) + 1):
        yield names
        matches = (pattern.fullmatch(n) for n in names for pattern in marks)
        names = {found["gene"] for found in matches if found is not None}
