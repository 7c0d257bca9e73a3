"""Whether genes and times stand in columns, as they must by default."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from grn_tvcs.expression.clock import hold_times, read_times, rise_like_times, times_in_header
from grn_tvcs.expression.expression import repeated
from grn_tvcs.expression.judge.names import (
    CLOCK,
    NAMED,
    OF_CELLS,
    OF_GENES,
    OF_IDS,
    REGULATOR,
    SERIES,
    TARGET,
)
from grn_tvcs.expression.judge.roles import LABELS, Roles
from grn_tvcs.expression.missing_values import MARKS
from grn_tvcs.expression.sheet import HEAD, Sheet
from tvcs_core import DataError
from tvcs_core.arguments import option_name, option_words
from tvcs_core.files.display import joined
from tvcs_core.files.tables import is_number

MOST_LOOKED_AT = 20  # columns, where none is called a time
FEWEST_NUMBERS = 4  # in the first column, to be names of genes and no levels
LEAST_NUMBER = 100  # that the largest number of Entrez among some genes is above
# Ensembl, Affymetrix, RefSeq, TAIR, SGD, the b-numbers of E. coli and those of B. subtilis.
IDENTIFIER = re.compile(
    r"ENS[A-Z]*[GTP][0-9]+(\.[0-9]+)?|[0-9]+(_[asx])?_at|[NX][MR]_[0-9]+(\.[0-9]+)?"
    r"|AT[1-5MC]G[0-9]{5}|Y[A-P][LR][0-9]{3}[CW](-[A-Z])?|b[0-9]{4}|BSU_?[0-9]{5}|FBgn[0-9]+"
    r"|WBGene[0-9]+|ENTREZ[:_]?[0-9]+|HGNC:[0-9]+|MGI:[0-9]+"
)
_COUNTER = re.compile(r"([\W_]?[0-9]+)+$")
# Accessions of GEO, SRA, ENA, BioSample and TCGA; genes that are numbered; barcodes of cells.
_ACCESSION = re.compile(r"(GSM|[SED]R[RSX]|SAM[NED]A?)[0-9]+\b.*|TCGA-.*", re.IGNORECASE)
_NUMBERED_GENE = re.compile(r"g(enes?)?[\W_]?[0-9]+", re.IGNORECASE)
BARCODE = re.compile(r"(.*[\W_])?[ACGT]{8,}([\W_].*)?")
# Members of a family of genes, such as HOXA1 and CXCL10; samples may be called so too.
_FAMILY_MEMBER = re.compile(
    r"(?!(?:CTRL|CTL|CON|MOCK|DRUG|TREAT|REP|SAMPLE|DAY)\d)[A-Z]{3,}\d+[A-Z]?"
)
_SYMBOL = re.compile(r".*\d|[a-z]{3}[A-Z]")  # as many genes have: TP53, lexA
MANY_ROWS, TIMES_COLUMNS = 100, 5  # of a table whose rows are genes, if neither side says more


def refuse_wrong_shape(roles: Roles) -> None:
    """Refuse a table without names, with genes in rows, or with series but no column of times."""
    sheet, kinds = roles.sheet, roles.kinds
    if "time" not in kinds:
        _refuse_without_time(roles)
    one = {*NAMED} - ({"series"} if roles.options.series_column else set())
    if twice := [name for name in repeated(kinds) if name in one]:
        place = len(kinds) - kinds[::-1].index(twice[0])
        ignore = option_words({"ignore": str(place)})
        raise sheet.error(
            f"must have one column of each kind, found twice: {joined(twice)}; give {ignore} "
            f"for column {place}, or the number of the one that is not meant",
            HEAD,
        )
    genes, first = [kind for kind in kinds if kind not in LABELS], sheet.cells(0)
    are_named_times = kinds[0] == "time" and _are_names(first) and read_times(first) is None
    if are_named_times and genes and all(map(is_number, genes)):
        if sheet.is_turned:
            raise sheet.error(
                f"names of genes are numbers, and of samples names such as {joined(first[:3])}: "
                f"leave {option_words({'genes_in_rows': True})} out if these are genes",
                row=HEAD,
            )
        raise sheet.error(_turn(first), row=HEAD, remedies=[{"genes_in_rows": True}])
    if not len(sheet):
        raise sheet.error("must have samples below the first row, found none", row=HEAD)


def _refuse_without_time(roles: Roles) -> None:
    """Refuse a table without a time that has names or numbers of genes, or series, in columns."""
    sheet, kinds, head, first = roles.sheet, roles.kinds, roles.sheet.heads[0], roles.sheet.cells(0)
    if all(map(is_number, kinds)):
        raise sheet.error("the first row must name the columns, found only numbers", row=HEAD)
    has_role = kinds[0] in LABELS
    is_clock = CLOCK.fullmatch(head) and read_times(first) is not None
    if _are_names(first) and not has_role and not is_clock:
        refuse_edges(sheet)
        if not any(is_number(cell) for i in range(len(sheet)) for cell in sheet.row(i)):
            raise sheet.error(
                "must hold levels, but no cell is a number: give the table of expression; a list "
                f"of genes is for {option_name('regulators')} or {option_name('genes')} beside it",
                HEAD,
            )
        raise _of_names(sheet, kinds)
    clocks = [
        j
        for j, (name, kind) in enumerate(zip(sheet.heads, kinds, strict=True))
        if kind not in LABELS and CLOCK.fullmatch(name) and kind == name.lower()
    ]
    if clocks or "series" in kinds:
        raise _without_time(sheet, clocks or _rising(sheet, kinds))
    is_kept = head.lower() in {name.lower() for name in roles.options.keep}
    if not (has_role or is_kept) and (why := are_genes(head, first, sheet.heads[1:])):
        raise _of_numbers(sheet, why)


def _are_names(cells: Sequence[str]) -> bool:
    return bool(cells) and not any(map(is_number, cells))


def are_genes(head: str, cells: Sequence[str], others: Sequence[str]) -> str | None:
    """Return the evidence that `cells`, below `head`, name genes and the `others` samples.

    Parameters
    ----------
    head, cells
        The first column, or an index; numbers, as those of Entrez, or names.
    others
        The headings of the other columns.

    Examples
    --------
    >>> are_genes("entrez", ["14281", "16476"], ["a", "b"])
    "it is called 'entrez'"
    >>> are_genes("G1", ["5", "7", "6", "9"], ["G2", "G3", "G4"]) is None
    True
    """
    if len(set(cells)) < len(cells) or len(cells) < 2:
        return None
    if any(is_number(cell) and not float(cell).is_integer() for cell in cells):
        return None
    if OF_GENES.fullmatch(head):
        return f"it is called {head!r}"
    if is_number(head):
        return None  # one number of many that name genes
    others = [name for name in others if not OF_GENES.fullmatch(name)]
    if len(others) > 1 and (times_in_header(others) or hold_times(others)):
        return f"the other columns are called by times ({joined(others[:3])})"
    if sum(IDENTIFIER.fullmatch(cell) is not None for cell in cells) > len(cells) / 2:
        return f"it holds identifiers of genes ({joined(cells[:3])})"
    if len(cells) < FEWEST_NUMBERS or not all(map(is_number, cells)):
        return None
    if max(map(float, cells)) < LEAST_NUMBER:
        return None
    if OF_IDS.fullmatch(head):
        return f"it is called {head!r} and its whole numbers are all different"
    stems = {_COUNTER.sub("", name) for name in others}
    if len(stems) <= len(others) / 2 and _COUNTER.sub("", head) not in stems:
        return "its whole numbers are all different, and the other columns are numbered as samples"
    return None


def are_samples(names: Sequence[str], index: Sequence[str], *, of_obs: bool = False) -> str | None:
    """Return the evidence that headings name samples, beside an index of texts without a name.

    With `of_obs`, the index is that of an AnnData, which names samples unless names are clear: a
    panel has few genes and many cells, and its genes may be called CD3, CD4 and CD8.

    Examples
    --------
    >>> are_samples(["GSM1", "GSM2"], ["TP53", "MYC", "RB1"])
    'the columns are accessions of samples (GSM1, GSM2)'
    >>> are_samples(["wt_1", "wt_2", "ko_1", "ko_2"], ["TP53", "MYC", "RB1"])
    'the columns are numbered as samples (wt_1, wt_2, ko_1)'
    >>> are_samples(["TP53", "MYC", "RB1"], ["wt_1", "wt_2", "ko_1", "ko_2"]) is None
    True
    >>> are_samples(["HOXA1", "HOXA2", "HOXA3", "HOXA4"], ["liver", "heart", "brain"]) is None
    True
    >>> are_samples(["CD3", "CD4", "CD8"], ["alive", "dead"], of_obs=True) is None
    True
    """
    if len(names) < 2 or any(map(is_number, index)):
        return None
    if all(map(is_number, names)) and not of_obs:
        return f"the columns are called by numbers ({joined(names[:3])})"
    if all(map(_ACCESSION.fullmatch, names)):
        return f"the columns are accessions of samples ({joined(names[:3])})"
    if all(map(BARCODE.fullmatch, names)):
        return f"the columns are barcodes of cells ({joined(names[:3])})"
    if all(map(_NUMBERED_GENE.fullmatch, index)) and not any(map(_NUMBERED_GENE.fullmatch, names)):
        return f"it is numbered as genes ({joined(index[:3])})"
    stems, of_index = ({_COUNTER.sub("", name) for name in some} for some in (names, index))
    if len(of_index) <= len(index) / 2 or all(map(BARCODE.fullmatch, index)):
        return None  # the rows are numbered, as samples are
    if of_obs and not all(map(OF_CELLS.fullmatch, stems)):
        return None
    may_be_genes = not any(_SYMBOL.fullmatch(name) for name in index)
    are_named = all(
        IDENTIFIER.fullmatch(name)
        or _NUMBERED_GENE.fullmatch(name)
        or (may_be_genes and _FAMILY_MEMBER.fullmatch(name))
        for name in names
    )
    if len(stems) <= len(names) / 2 and not are_named:
        return f"the columns are numbered as samples ({joined(names[:3])})"
    if len(index) >= max(MANY_ROWS, TIMES_COLUMNS * len(names)):
        return f"it has {len(index)} names beside {len(names)} columns ({joined(names[:3])})"
    return None


def _turn(first: Sequence[str]) -> str:
    return (
        "genes seem to stand in rows: the first column holds names such as "
        f"{joined(first[:3])}; give {option_words({'genes_in_rows': True})}, or one row per sample "
        "and one column per gene, with a column Time"
    )


def _of_numbers(sheet: Sheet, why: str) -> DataError:
    """The error of a first column of numbers that seem to name genes."""
    head = sheet.heads[0]
    remedies: list[dict[str, Any]] = [{"genes_in_rows": True}, {"sample_column": head or "1"}]
    if head:
        remedies.append({"keep": (head,)})
    turn, sample, *keep = map(option_words, remedies)
    gene = f"; if they are levels of a gene, {keep[0]}" if keep else ""
    return sheet.error(
        f"the first column seems to name genes, for {why}: give {turn} if genes stand in "
        f"rows; if it numbers the samples, {sample}{gene}",
        row=HEAD,
        remedies=remedies,
    )


def _of_names(sheet: Sheet, kinds: list[str]) -> DataError:
    """The error of a first column of names: genes, or samples."""
    first = sheet.cells(0)
    head, *others = sheet.heads
    in_rows: dict[str, Any] = {"genes_in_rows": True}
    of_samples = {"sample_column": head or "1"}
    names_samples = OF_CELLS.fullmatch(head) and not are_samples(others, first)
    remedies = [in_rows, of_samples]  # the likeliest first
    if times_in_header(others) or (OF_GENES.fullmatch(head) and repeated(first)):
        remedies = [in_rows]  # names of genes, of which some have several probes, or above times
    elif repeated(first):
        remedies = [of_samples]
    elif names_samples:
        remedies = [of_samples, in_rows]
    if clocks := [name for name in others if CLOCK.fullmatch(name)]:
        remedies = [of_samples | {"time_column": clocks[0]}, *remedies]
    elif set(SERIES) & set(kinds):
        remedies = remedies[::-1]
    seems = (
        f"{head} seems to name samples: give {option_words(of_samples)}; or if genes stand in "
        f"rows, {option_words(in_rows)}"
        if names_samples
        else f"{_turn(first)}; or if it names samples, call it sample or give "
        f"{option_words(of_samples)}"
    )
    return sheet.error(
        "must have a column named Time, or none but numbers where all samples are in steady "
        f"state; {seems}",
        row=HEAD,
        remedies=remedies,
    )


def refuse_edges(sheet: Sheet) -> None:
    """Refuse two columns of names that have two of three signs of edges.

    They are called as ends of edges, share a name, and have at most one column beside them. Marks
    of missing values are no names.
    """
    heads = sheet.heads
    if len(heads) < 2 or OF_GENES.fullmatch(heads[1]) or any(map(is_number, sheet.cells(1))):
        return
    is_called_so = heads[0].lower() in REGULATOR and heads[1].lower() in TARGET
    regulators, targets = ({heads[j], *sheet.cells(j)} for j in range(2))
    is_shared = any(name.lower() not in MARKS for name in regulators & targets)
    if is_called_so + is_shared + (len(heads) <= 3) >= 2:
        raise sheet.error(
            f"must hold levels, but {heads[0]} and {heads[1]} are the ends of edges, as in a "
            "network: give the table of expression",
            HEAD,
        )


def _without_time(sheet: Sheet, places: list[int]) -> DataError:
    clocks = [sheet.heads[j] or str(j + 1) for j in places]
    remedies = tuple({"time_column": name} for name in clocks)
    shown = joined(sheet.heads[j] or f"column {j + 1}" for j in places)
    why = f"{shown} seems to be it" if clocks else "for there are series"
    column = option_words(remedies[0] if remedies else {"time_column": "NAME"})
    give = f": give {column}" if remedies else f" (or give {column})"
    return sheet.error(
        f"must have a column named Time, {why}{give}; only steady-state samples have none",
        row=HEAD,
        remedies=remedies,
    )


def _rising(sheet: Sheet, kinds: list[str]) -> list[int]:
    """Return the first columns whose numbers rise as times do."""
    places = [j for j, kind in enumerate(kinds[:MOST_LOOKED_AT]) if kind not in LABELS]
    found = []
    for j in places:
        cells = sheet.cells(j)
        times = None if any(cell.lower() in MARKS for cell in cells) else read_times(cells)
        if times is not None and rise_like_times(times.values):
            found.append(j)
    return found
