"""A file of identifiers and names of genes, by which the genes of a table are called."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.judge.same_names import Identifiers, same_names
from grn_tvcs.expression.missing_values import MARKS
from grn_tvcs.expression.user_warnings import warn_user
from tvcs_core.arguments import describe_value
from tvcs_core.files.display import joined
from tvcs_core.files.tables import Table, read_table

OF_NAMES = re.compile(r"(?!.*\bids?\b).*(name|symbol).*", re.IGNORECASE)  # headings of a column


def named(expression: Expression, gene_names: str | Path | Mapping[str, str]) -> Expression:
    """Return the expression with its genes called by the names of a file; see `names_by_gene`."""
    genes, called = expression.genes, renamed(expression.genes, gene_names)
    name_of = dict(zip(genes, called, strict=True))
    own = Identifiers(("identifiers of the table",), frozenset(name_of.items()))
    others = expression.identifiers
    others = others._replace(pairs=frozenset((one, name_of[gene]) for one, gene in others.pairs))
    return replace(expression, genes=called, identifiers=own.joined(others))


def renamed(genes: Sequence[str], gene_names: str | Path | Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of genes by a file, or by a mapping, of identifiers and names.

    Identifiers match without version, prefix of a species and case where they match no other way. A
    gene keeps its identifier if there is no name for it, or where the name would be that of
    several genes; a warning counts these.
    """
    pairs, path = _pairs(gene_names, genes)
    same = same_names((one for one, _ in pairs), genes)
    known, gene_of = set(genes), same.gene_of
    name_of: dict[str, str] = {}
    differing = set()
    for one, name in pairs:
        gene = one if one in known else gene_of.get(one)
        if gene is None or not name or name.lower() in MARKS:
            continue
        if name_of.setdefault(gene, name) != name:
            differing.add(gene)
    if not name_of:
        raise ValueError(
            f"{path}: must name genes of the table by their identifiers, found none: here stands "
            f"{joined(one for one, _ in pairs)}; there {joined(list(genes))}"
        )
    made = [gene if gene in differing else name_of.get(gene, gene) for gene in genes]
    twice = {name for name, n in Counter(made).items() if n > 1}
    made = [gene if name in twice else name for gene, name in zip(genes, made, strict=True)]
    parts = {
        "no name there": [gene for gene in genes if gene not in name_of],
        "a name that other genes have too": [g for g in genes if name_of.get(g) in twice],
        "several names there": sorted(differing),
    }
    kept = [f"{len(few)} have {why} ({joined(few)})" for why, few in parts.items() if few]
    n_named = sum(gene in name_of for gene in genes) - len(differing)
    n_named -= len(parts["a name that other genes have too"])
    keep = f"; {', '.join(kept)}: these keep their own" if kept else ""
    how = same.describe()
    warn_user(
        f"{path}: {n_named} of {len(genes)} genes are called by its names{keep}"
        f"{f' (of the identifiers there, {how})' if how else ''}"
    )
    return tuple(made)


def _pairs(
    gene_names: str | Path | Mapping[str, str], genes: Sequence[str]
) -> tuple[list[tuple[str, str]], str]:
    """Return identifiers with their names, and the name of the source."""
    if isinstance(gene_names, Mapping):
        return [(str(one), str(name)) for one, name in gene_names.items()], "gene_names"
    if not isinstance(gene_names, str | Path):
        raise TypeError(
            f"gene_names must be a file or a mapping of identifiers to names, found "
            f"{describe_value(gene_names)}"
        )
    table = read_table(gene_names)
    table.check_rectangle()
    at, name_at = _columns(table, genes)
    return [(row[at], row[name_at]) for row in table.rows], str(gene_names)


def _columns(table: Table, genes: Sequence[str]) -> tuple[int, int]:
    """Return the places of the identifiers and of the names."""
    head = table.rows[0]
    if len(head) < 2:
        raise table.error("must have two columns, identifiers and names of genes, found 1", row=0)
    counts = [same_names((row[j] for row in table.rows), genes).n_found for j in range(len(head))]
    at = max(range(len(head)), key=lambda j: counts[j])
    others = [j for j in range(len(head)) if j != at]
    if len(others) > 1:
        others = [j for j in others if OF_NAMES.fullmatch(head[j])]
    if len(others) != 1:
        raise table.error(
            "must have two columns, identifiers and names of genes, or one column called name or "
            f"symbol beside the identifiers; found {joined(head)}",
            row=0,
        )
    return at, others[0]
