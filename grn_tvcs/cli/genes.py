"""Which genes of a table `grn-tvcs` uses, and messages about the others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import combinations, zip_longest
from pathlib import Path

import numpy as np

from grn_tvcs.cli.options import InferOptions
from grn_tvcs.comparison.conditions import refuse_few_common
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.judge.same_names import NO_IDENTIFIERS, Identifiers, same_names
from grn_tvcs.expression.scales import on_scale
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.expression.subset import FEWEST, most_variable, subset_genes
from grn_tvcs.inference.inputs import steady_like
from grn_tvcs.network.programs.edge_list import REGULATOR, TARGET
from grn_tvcs.network.rules import Rules
from tvcs_core import DataError
from tvcs_core.command.shell import print_message
from tvcs_core.files.display import joined
from tvcs_core.files.tables import read_names, read_table
from tvcs_core.files.workbook import is_workbook


def read_gene_names(
    path: Path, data: Expression, least: int = 1, heads: Collection[str] = ()
) -> frozenset[str]:
    """Read names of which at least `least` are genes; print repeated names.

    `heads` are names of the column of a table, as in `names_in`.
    """
    given = names_in(path, data.genes, heads, data.identifiers)
    names = frozenset(given)
    strangers = sorted(names - set(data.genes))
    n_known = len(names) - len(strangers)
    if n_known < least:
        found = joined(strangers) if strangers else joined(given) or "an empty list"
        what = f"at least {least} genes" if least > 1 else "genes"
        n_found = "none" if not n_known else str(n_known)
        raise DataError(
            f"must name {what} of the expression file, found {n_found}: here stands {found}; "
            f"there {joined(data.genes)}",
            path=path,
        )
    if twice := [name for name, n in Counter(given).items() if n > 1]:
        print_message(f"warning: {path}: named more than once, counted once: {joined(twice)}")
    return names


def names_in(
    path: Path,
    genes: Sequence[str],
    heads: Collection[str] = (),
    identifiers: Identifiers = NO_IDENTIFIERS,
) -> list[str]:
    """Read a list of names, or the column of a table that names most genes.

    A column that one of `heads` names is the only one. Genes that are written otherwise are found
    as `same_names` does it.
    """
    readings = _readings(path, heads)
    found = [same_names(names, genes, identifiers) for _, names in readings]
    k = max(range(len(found)), key=lambda j: found[j].n_found, default=None)
    if k is None:
        return []
    (place, names), same = readings[k], found[k]
    sentence = same.describe()
    known = {name: name for name in same.as_written} | same.gene_of
    if place and known:  # of a list, callers report the names that are no genes
        others = [name for name in names if name not in known]
        n_names = len(names)
        names = [name for name in names if name in known]
        if not sentence:
            sentence = f"{len(names)} of {n_names} names are genes: {joined(names)}"
        sentence = sentence.replace(" names are genes", f" names are genes, {place}", 1)
        if others:
            sentence += f"; left out: {joined(others)}"
    if sentence:
        print_message(f"warning: {path}: {sentence}")
    return [known.get(name, name) for name in names]


def _readings(path: Path, heads: Collection[str]) -> list[tuple[str, list[str]]]:
    """Return the names in a file as a list, and those of each column if it is a table.

    Each has its place in words, empty for the list, which comes first: it counts where columns
    name no more genes.
    """
    lines = [] if is_workbook(path) else read_names(path, remarks=True)
    if len(lines) == 1:
        parts = (re.split(mark, lines[0]) for mark in (r"[,;\t]", r"[,;\t ]"))
        columns = [[bare for name in part if (bare := name.strip(" \"'"))] for part in parts]
        places = ["in one line"] * 2
    else:
        columns = _columns_of(path)
        places = [f"in column {j}" for j in range(1, len(columns) + 1)]
    tables = list(zip(places, columns, strict=True))
    if named := [(place, c[1:]) for place, c in tables if c and c[0].lower() in heads]:
        return named
    return [("", lines), *tables] if lines else tables


def _columns_of(path: Path) -> list[list[str]]:
    """Return the columns of a table; none if the file is no table."""
    try:
        rows = [row for row in read_table(path, spaces=True).rows if not row[0].startswith("#")]
    except DataError:
        return []
    return [list(filter(None, column)) for column in zip_longest(*rows, fillvalue="")]


def genes_used(
    given: InferOptions, data: Expression, steady: SteadyStates | None, rules: Rules
) -> tuple[Expression, SteadyStates | None, Rules]:
    """Leave out genes by ``--genes`` and ``--top-variable``, and print their number.

    ``--top-variable`` keeps those that ``--regulators`` and ``--targets`` name; the rules get
    these. Steady states are brought to the scale of all genes first.

    Raises
    ------
    ValueError, DataError
        If a list names no gene, or the options leave fewer than two genes.
    """
    regulators, targets = (
        None if path is None else read_gene_names(path, data, heads=heads)
        for path, heads in ((given.regulators, REGULATOR), (given.targets, TARGET))
    )
    rules = replace(rules, regulators=regulators, targets=targets)
    named = (regulators or frozenset()) | (targets or frozenset())
    kept, why = _kept(given.genes, given.top_variable, data, named)
    gone = sorted(set(data.genes) - kept)
    if not gone:
        return data, steady, rules
    sentence = f"{len(kept)} of {len(data.genes)} genes are used: {why}"
    is_changed = any((given.knockouts, given.knockdowns, given.overexpressions))
    also = ", with the experiments that changed them" if is_changed else ""
    print_message(f"{sentence}; left out: {joined(gone)}{also}")
    if steady is not None:
        steady = steady_like(data, steady).restrict_to(kept)
    data = subset_genes(data, kept)
    data = replace(data, notes=(*data.notes, f"{sentence[0].upper()}{sentence[1:]}."))
    return data, steady, rules


def genes_compared(
    genes: Path | None,
    top_variable: int | None,
    regulators: Path | None,
    parts: dict[str, Expression],
) -> tuple[dict[str, Expression], frozenset[str] | None]:
    """Leave out genes of all conditions as `genes_used` does; return these and the regulators.

    The most variable genes are those of all samples.
    """
    named = None
    if regulators is not None:
        named = read_gene_names(regulators, next(iter(parts.values())), heads=REGULATOR)
    if genes is None and top_variable is None:
        return parts, named
    for pair in combinations(parts, 2):
        refuse_few_common(pair, [parts[name] for name in pair])
    scaled = {name: on_scale(part) for name, part in parts.items()}
    first, *others = scaled.values()
    common = set(first.genes).intersection(*(part.genes for part in others))
    shared = [subset_genes(part, common).in_name_order() for part in scaled.values()]
    pooled = _without_time(shared)
    kept, why = _kept(genes, top_variable, pooled, named or frozenset())
    sentence = f"{len(kept)} of {len(pooled.genes)} genes are used: {why}"
    if gone := sorted(set(pooled.genes) - kept):
        print_message(f"{sentence}; left out: {joined(gone)}")
    note = f"{sentence[0].upper()}{sentence[1:]}."
    found = {name: subset_genes(part, kept) for name, part in scaled.items()}
    return {name: replace(one, notes=(*one.notes, note)) for name, one in found.items()}, named


def _without_time(parts: list[Expression]) -> Expression:
    """Return all samples of tables with the same genes as steady-state samples."""
    levels, first = np.concatenate([part.levels for part in parts]), parts[0]
    nothing = first.values[:0]
    return replace(
        first, values=nothing, times=np.empty(0), series=(), perturbed=None, steady_values=levels,
        cells=None, unbinned=None,
    )  # fmt: skip


def _kept(
    genes: Path | None, top_variable: int | None, data: Expression, named: frozenset[str]
) -> tuple[set[str], str]:
    """Return the genes that ``--genes`` and ``--top-variable`` leave, and describe the choice.

    `named` are genes that the second keeps.
    """
    kept, why = set(data.genes), []
    if genes is not None:
        listed_there = read_gene_names(genes, data, FEWEST)
        kept &= listed_there
        if strangers := sorted(listed_there - kept):
            print_message(
                f"warning: {genes}: {len(strangers)} of {len(listed_there)} names are no "
                f"genes of the expression file: {joined(strangers)}"
            )
        why.append(f"{len(kept)} that {genes.name} names")
    if top_variable is not None:
        if top_variable > len(kept):
            print_message(
                f"--top-variable {top_variable}: there are {len(kept)} genes, and all are kept"
            )
        top = set(most_variable(subset_genes(data, kept), top_variable))
        more = (named & kept) - top
        kept = top | more
        and_named = f" and {len(more)} regulators or targets that are named" if more else ""
        of_these = "of these " if why else ""
        why.append(f"{of_these}the {len(top)} most variable{and_named}")
    return kept, ", ".join(why)
