"""Rules: what a network may look like, whatever the data say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tvcs_core import TVCS
from tvcs_core.files.shown import listed

EDGES_PER_GENE = 2


@dataclass(frozen=True)
class Rules:
    """Caps on a network and who may regulate; None means no cap, or every gene.

    Parameters
    ----------
    max_in_degree
        Most regulators of one gene.
    max_out_degree
        Most targets of one regulator; or a mapping from names of regulators to their own cap,
        where a gene that is not named has none.
    max_edges
        Most edges in all.
    regulators
        Names of the genes that may regulate.

    Raises
    ------
    ValueError, TypeError
        If a cap is negative or is no integer, or the list of regulators is empty.
    """

    max_in_degree: int | None = None
    max_out_degree: int | Mapping[str, int] | None = None
    max_edges: int | None = None
    regulators: frozenset[str] | None = None

    def __post_init__(self) -> None:
        for name in ("max_in_degree", "max_edges"):
            object.__setattr__(self, name, _cap(name, getattr(self, name)))
        out = self.max_out_degree
        if isinstance(out, Mapping):
            named = {str(g): _cap(f"max_out_degree[{g!r}]", cap) for g, cap in out.items()}
            given = {gene: cap for gene, cap in named.items() if cap is not None}
            object.__setattr__(self, "max_out_degree", given)
        else:
            object.__setattr__(self, "max_out_degree", _cap("max_out_degree", out))
        if self.regulators is not None:
            object.__setattr__(self, "regulators", frozenset(self.regulators))

    @property
    def has_caps(self) -> bool:
        """Whether any of the three caps is given."""
        caps = (self.max_in_degree, self.max_out_degree, self.max_edges)
        return any(cap is not None for cap in caps)

    def with_defaults(self, n_genes: int) -> Rules:
        """Cap the edges at 2 per gene where no cap is given; known networks have 1 to 3."""
        if self.has_caps:
            return self
        return Rules(max_edges=EDGES_PER_GENE * n_genes, regulators=self.regulators)

    def allowed(self, genes: Sequence[str], no_targets: Sequence[str] = ()) -> NDArray[np.bool_]:
        """Which pairs (regulator, target) may be edges; (genes, genes), never a gene on itself.

        Raises
        ------
        ValueError
            If no gene is among the regulators.
        """
        pairs = ~np.eye(len(genes), dtype=bool)
        if self.regulators is not None:
            may_regulate = np.array([gene in self.regulators for gene in genes])
            if not may_regulate.any():
                raise ValueError(
                    "none of the regulators is among the genes: the regulators are "
                    f"{listed(sorted(self.regulators))}; the genes are {listed(list(genes))}"
                )
            pairs &= may_regulate[:, None]
        pairs[:, np.isin(np.array(genes, dtype=object), np.array(no_targets, dtype=object))] = False
        return pairs

    def out_caps(self, genes: Sequence[str]) -> int | NDArray[np.int64] | None:
        """Cap on the targets of each gene, as `TVCS.matrix` takes it.

        Raises
        ------
        ValueError
            If caps are given by name and none of the names is a gene.
        """
        caps = self.max_out_degree
        if not isinstance(caps, Mapping):
            return caps
        if caps and not set(caps) & set(genes):
            raise ValueError(
                "none of the genes with an out-degree cap is among the genes: the caps are for "
                f"{listed(sorted(caps))}; the genes are {listed(list(genes))}"
            )
        return np.array([caps.get(gene, len(genes)) for gene in genes], dtype=np.int64)

    def constraint(self, genes: Sequence[str]) -> TVCS:
        """Make the constraint on ``W[regulator, target]``: rows are out-, columns in-degrees."""
        return TVCS.matrix(
            (len(genes), len(genes)),
            row_caps=self.out_caps(genes),
            col_caps=self.max_in_degree,
            total=self.max_edges,
            allowed=self.allowed(genes),
        )


def _cap(name: str, cap: object) -> int | None:
    if cap is None:
        return None
    if isinstance(cap, bool) or not isinstance(cap, int | np.integer):
        raise TypeError(f"{name} must be an integer >= 0 or None, found {cap!r}")
    if cap < 0:
        raise ValueError(f"{name} must be >= 0, found {cap}")
    return int(cap)
