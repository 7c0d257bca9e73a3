"""Names of genes in other files, found among the genes of a table however they are written.

A name is first sought as it is written, then among the identifiers that the table itself has beside
its genes, then in another case of letters, without the version of a stable identifier, without a
prefix of a species, and without all three. A name that would be several genes is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tvcs_core.files.display import joined

# Versions of Ensembl and GENCODE (ENSG00000141510.18), RefSeq (NM_000546.6) and TAIR (AT1G01010.1);
# names of C. elegans such as Y74C9A.3 have none.
_VERSION = re.compile(
    r"^((?:ENS[A-Z]*[0-9]{6,}|[ANXY][CGMPRTW]_[0-9]{6,}|AT[1-5CM]G[0-9]{5}))\.[0-9]+", re.IGNORECASE
)
# Genomes as 10x writes them (GRCh38_FOS, mm10___Fos), taxa of STRING (9606.ENSP00000269305) and
# organisms of KEGG (eco:b0002).
_SPECIES = re.compile(
    r"^(?:(?:grch|grcm|grcz|hg|mm|rn|dm|ce|danrer|saccer|bdgp|wbcel)[0-9]+_+|[0-9]{3,7}\.(?=[a-z])"
    r"|[a-z]{3,4}:(?=[a-z0-9]))",
    re.IGNORECASE,
)
SHOWN = 3  # pairs of names in a message


def without_version(name: str) -> str:
    """Return a stable identifier without its version, and any other name as it is.

    Examples
    --------
    >>> without_version("ENSG00000141510.18"), without_version("Y74C9A.3")
    ('ENSG00000141510', 'Y74C9A.3')
    """
    return _VERSION.sub(r"\1", name)


def without_species(name: str) -> str:
    """Return a name without the prefix of a genome, a taxon or an organism.

    Examples
    --------
    >>> without_species("GRCh38_FOS"), without_species("9606.ENSP00000269305")
    ('FOS', 'ENSP00000269305')
    """
    return _SPECIES.sub("", name) or name


WAYS: tuple[tuple[Callable[[str], str], str], ...] = (
    (str.lower, "in another case of letters"),
    (without_version, "without their version"),
    (without_species, "without the prefix of a species"),
    (
        lambda name: without_version(without_species(name)).lower(),
        "without version, prefix and case of letters",
    ),
)


class Identifiers(NamedTuple):
    """Other names of the genes of a table, which stand in the table itself.

    Attributes
    ----------
    columns
        Names of the columns of the identifiers.
    pairs
        Identifier and gene. One identifier may be that of several genes.
    """

    columns: tuple[str, ...] = ()
    pairs: frozenset[tuple[str, str]] = frozenset()

    def joined(self, other: Identifiers) -> Identifiers:
        """Return the identifiers of both."""
        columns = tuple(dict.fromkeys((*self.columns, *other.columns)))
        return Identifiers(columns, self.pairs | other.pairs)


NO_IDENTIFIERS = Identifiers()


@dataclass(frozen=True)
class SameNames:
    """Names that were sought among genes.

    Attributes
    ----------
    n_names
        Different names that were sought.
    as_written
        Names that are genes as they stand.
    found
        For each way in words that found any, the gene of each name.
    unclear
        For each name that would be several genes, these.
    """

    n_names: int
    as_written: frozenset[str]
    found: dict[str, dict[str, str]] = field(default_factory=dict)
    unclear: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def gene_of(self) -> dict[str, str]:
        """The gene of every name that is not written as it is."""
        return {name: gene for found in self.found.values() for name, gene in found.items()}

    @property
    def n_found(self) -> int:
        """Names that are genes."""
        return len(self.as_written) + sum(map(len, self.found.values()))

    def describe(self) -> str:
        """Return a clause with the number of names found in each way; empty if all stand so."""
        if not (self.found or self.unclear):
            return ""
        parts = [f"{len(self.as_written)} as written"] if self.as_written else []
        for way, found in self.found.items():
            shown = [f"{name} is {gene}" for name, gene in list(found.items())[:SHOWN]]
            more = ", ..." if len(found) > SHOWN else ""
            parts.append(f"{len(found)} {way} ({joined(shown)}{more})")
        text = f"{self.n_found} of {self.n_names} names are genes"
        if parts:
            text += f": {', '.join(parts)}"
        if self.unclear:
            some = list(self.unclear.items())[:SHOWN]
            shown = [f"{name} ({joined(genes)})" for name, genes in some]
            more = ", ..." if len(self.unclear) > SHOWN else ""
            each = ("", "is") if len(self.unclear) == 1 else (" each", "are")
            are = f"would be several genes{each[0]} and {each[1]}"
            text += f"; {len(self.unclear)} {are} none: {', '.join(shown)}{more}"
        return text


def same_names(
    names: Iterable[str], genes: Sequence[str], identifiers: Identifiers = NO_IDENTIFIERS
) -> SameNames:
    """Find names among genes and their identifiers, however either are written.

    Examples
    --------
    >>> found = same_names(["fos", "Jun", "ENSG00000141510"], ["Fos", "Jun", "ENSG00000141510.18"])
    >>> found.gene_of
    {'fos': 'Fos', 'ENSG00000141510': 'ENSG00000141510.18'}
    """
    known = set(genes)
    sought = list(dict.fromkeys(names))
    left = [name for name in sought if name not in known]
    as_written = known.intersection(sought)
    found: dict[str, dict[str, str]] = {}
    unclear: dict[str, tuple[str, ...]] = {}
    own = [(gene, gene) for gene in known]
    others = [(one, gene) for one, gene in identifiers.pairs if gene in known]
    by_others = f"by {' or '.join(identifiers.columns)}"
    ways = [(key, by_others, others) for key in (str, WAYS[-1][0])]
    ways += [(key, way, own) for key, way in WAYS]
    for key, way, pairs in ways:
        if not left:
            break
        by_key: dict[str, set[str]] = {}
        for one, gene in pairs:
            by_key.setdefault(key(one), set()).add(gene)
        here = {name: by_key[key(name)] for name in left if key(name) in by_key}
        single = {name: next(iter(same)) for name, same in here.items() if len(same) == 1}
        if single:
            found[way] = found.get(way, {}) | single
        unclear |= {name: tuple(sorted(same)) for name, same in here.items() if len(same) > 1}
        left = [name for name in left if name not in here]
    return SameNames(len(sought), frozenset(as_written), found, unclear)
