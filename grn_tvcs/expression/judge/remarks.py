"""Remarks on names, genes and samples that are used all the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.clock import FEWEST_SAMPLES, hold_times, may_hold_times
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.judge.genes import MOST_LOOKED_AT
from grn_tvcs.expression.judge.names import DATE
from grn_tvcs.expression.user_warnings import warn_user
from tvcs_core.arguments import option_words
from tvcs_core.files.display import joined, plural

_COPY = re.compile(
    r"(.+?)[\W_]+((?:biol?|tech)?[\W_]*(?:r|rep|repl|replicate|s|series|exp|run|donor)?[\W_]?[0-9]|[A-D])",
    re.IGNORECASE,
)  # a gene in one of some replicates
THOUSAND = 1000.0
FEWEST_COPIED = 3  # genes, of which none but replicates are numbered alike
FEWEST_SUMMED = 4  # samples
# A sample lies as near to the mean of the others, in standard deviations, in 2 of 100 genes.
ROUNDED, IN_MOST = 0.02, 0.95
FEWEST_DIFFERENT = 10  # genes, below which samples are the same, or 0, by chance

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]


def warn_of_names(path: str, genes: Sequence[str]) -> None:
    """Warn of names that a spreadsheet made dates of, and of two that differ in case alone."""
    if dates := [gene for gene in genes if DATE.fullmatch(gene)]:
        warn_user(
            f"{path}: {len(dates)} gene names look like dates that a spreadsheet made of them: "
            f"{joined(dates)}"
        )
    n_of = Counter(gene.lower() for gene in genes)
    again = (re.fullmatch(r"(.+)\.[1-9]", gene) for gene in genes)
    if copies := [one[0] for one in again if one is not None and one[1].lower() in n_of]:
        warn_user(
            f"{path}: {plural(len(copies), 'gene name looks', 'gene names look')} like a repeat "
            f"that R or pandas numbered ({joined(copies)}), and each counts as a gene of its own"
        )
    _warn_of_copies(path, genes)
    if twice := [gene for gene in genes if n_of[gene.lower()] > 1]:
        warn_user(
            f"{path}: {len(twice)} gene names differ from another in case alone, and count as "
            f"different genes: {joined(twice)}"
        )


def _warn_of_copies(path: str, genes: Sequence[str]) -> None:
    """Warn where all names are those of a few genes, each with the same ends, as of replicates."""
    parts = [_COPY.fullmatch(gene) for gene in genes]
    pairs = [(one[1], one[2]) for one in parts if one is not None]
    stems, ends = ({pair[k] for pair in pairs} for k in (0, 1))
    is_crossed = len(pairs) == len(genes) == len(stems) * len(ends)
    if is_crossed and len(stems) >= FEWEST_COPIED and len(ends) > 1:
        warn_user(
            f"{path}: all names of genes are those of {len(stems)} genes with "
            f"{joined(sorted(ends))} behind, as of replicates side by side, and count as different "
            "genes: if they are replicates, put these below each other, with a column replicate"
        )


def warn_of_thousands(path: str, values: Values) -> None:
    """Warn of whole numbers below 1000 beside others with three decimals, as 523 and 1.204 are.

    A spreadsheet in German writes thousands so. Rounded levels have whole numbers by chance alone.
    """
    values = np.nan_to_num(values[:MOST_LOOKED_AT])
    is_whole = values == np.rint(values)
    parts, below = values[~is_whole], values[is_whole].max(initial=0)
    thousandths = np.rint(1000 * parts)
    if not np.allclose(thousandths, 1000 * parts, rtol=0, atol=1e-6):
        return
    are_thousands = (thousandths % 10 != 0).sum() > parts.size / 2 and parts.min(initial=1) >= 1
    are_beside = (is_whole.any(axis=0) & ~is_whole.all(axis=0)).any()  # in one column
    if are_thousands and are_beside and parts.max(initial=0) < below < THOUSAND:
        warn_user(
            f"{path}: whole numbers up to {below:g} stand beside numbers with "
            f"three decimals, such as {parts[0]:g}: if the point separates thousands, "
            "write them without it"
        )


def warn_of_same_genes(path: str, genes: Sequence[str], values: Values) -> None:
    """Warn of genes that have the numbers of another, of which half or more differ."""
    if len(values) < FEWEST_SAMPLES:
        return
    first: dict[bytes, int] = {}
    pairs = [
        (genes[j], genes[i])
        for j, start in enumerate(np.ascontiguousarray(values[:MOST_LOOKED_AT].T) + 0.0)
        if (i := first.setdefault(sha256(start.tobytes()).digest(), j)) != j
        and 2 * np.unique(start).size >= start.size
        and np.array_equal(values[:, i], values[:, j], equal_nan=True)
    ]
    if pairs:
        shown = joined((f"{one} is {other}" for one, other in pairs), str)
        gone = option_words({"ignore": pairs[0][0]})
        warn_user(
            f"{path}: the same numbers stand there under two names ({shown}), and an edge between "
            f"the two says nothing: {gone} leaves one out"
        )


def warn_of_times(path: str, names: Sequence[str], *, of_obs: bool) -> None:
    """Warn where all samples are in steady state, and their names hold times."""
    if hold_times(names) or may_hold_times(names):
        remedy = "a column Time and a column replicate, or "
        remedy += f"{option_words({'samples': 'SHEET'})} with columns sample, time and replicate"
        if of_obs:  # of an AnnData, which has no sheet beside it
            remedy = "columns time and replicate of obs"
        warn_user(
            f"{path}: names of samples seem to hold times ({joined(names[:3])}), but all "
            "samples are taken as in steady state; to have series, give times and replicates: "
            f"{remedy}"
        )


def _summaries(values: Values) -> dict[int, str]:
    """Return the samples that are the sum or the mean of all others, as rounded numbers are."""
    found: dict[int, str] = {}
    n = len(values)
    if n < FEWEST_SUMMED:
        return found
    total, spread = values.sum(axis=0), values.std(axis=0)
    varies = spread > 0
    for i, row in enumerate(values) if varies.any() else ():
        others = total - row
        for what, expected in (("sum", others), ("mean", others / (n - 1))):
            is_near = np.abs(row - expected) <= ROUNDED * spread
            if is_near[varies].mean() >= IN_MOST:
                found[i] = what
    return found


def warn_of_copies(expression: Expression) -> None:
    """Warn of series whose values are all those of an earlier one."""
    pieces = expression.pieces.items()
    copies = copied_series((name, expression.values[rows]) for name, rows in pieces)
    if copies:
        named = joined([f"{name} (as {original})" for name, original in copies.items()])
        warn_user(
            f"series with the same values as another count once more: {named}; remove them if "
            "they are copies"
        )


def copied_series(pieces: Iterable[tuple[str, Values]]) -> dict[str, str]:
    """Return the series whose values are all those of an earlier one, with its name."""
    first: dict[bytes, str] = {}
    found = {
        name: first.setdefault(sha256((values + 0.0).tobytes()).digest(), name)
        for name, values in pieces
    }
    return {name: original for name, original in found.items() if name != original}


def warn_of_samples(path: str, values: Values, copied: Flags) -> None:
    """Warn of samples that are 0 in every gene, sums or means of all others, or there twice.

    Samples of a copied series are not counted as there twice: `warn_of_copies` names the series.
    """
    if not len(values) or values.shape[1] < FEWEST_DIFFERENT:
        return
    is_zero = ~values.any(axis=1) & bool((values >= 0).all())  # a ratio to the start is 0 there
    if is_zero.any() and not is_zero.all():
        places = [str(i + 1) for i in np.flatnonzero(is_zero)]
        warn_user(
            f"{path}: {len(places)} of {len(values)} samples are 0 in every gene, as failed ones "
            f"are, and are used all the same (sample {joined(places)}): remove those that failed"
        )
    for i, what in _summaries(values).items():
        warn_user(
            f"{path}: sample {i + 1} is the {what} of all others, and is used all the same: if it "
            "summarises them, remove it"
        )
    # A digest of each sample: to sort the samples would take three copies of the table.
    digests = [sha256((row + 0.0).tobytes()).digest() for row in values[~copied] if row.any()]
    n_same = len(digests) - len(set(digests))
    if n_same:
        were = "sample is" if n_same == 1 else "samples are"
        warn_user(
            f"{path}: {n_same} {were} the same as another in every gene: one measurement is there "
            "twice, and counts twice"
        )
