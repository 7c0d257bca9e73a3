"""Rules: constraints on a network, independent of the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.judge.same_names import NO_IDENTIFIERS, Identifiers, same_names
from grn_tvcs.expression.user_warnings import warn_user
from tvcs_core import TVCS
from tvcs_core.arguments import by_label, describe_value, items_of
from tvcs_core.files.display import joined

FEW_PER_GENE = 0.1  # edges selected where nothing says how many are true (decision 294)

if TYPE_CHECKING:
    from grn_tvcs.network.verdict import Verdict

BY_VERDICT, FEW, NULL = "verdict", "few", "null"

Flags = NDArray[np.bool_]
Places = NDArray[np.int64]


class Candidates(NamedTuple):
    """Pairs that may be edges, over regulators x targets.

    Attributes
    ----------
    regulators, targets
        Places of the genes that may regulate, and of those whose regulators are sought.
    allowed
        Which pairs may be edges; [regulator, target].
    """

    regulators: Places
    targets: Places
    allowed: Flags


def gene_set(name: str, names: Iterable[object] | None) -> frozenset[str] | None:
    """Genes that an argument called `name` names; None for all."""
    if names is None:
        return None
    given = items_of(name, names)
    if given and all(isinstance(one, bool | np.bool_) for one in given):
        raise TypeError(
            f"{name} must be a list of names, found {len(given)} times True or False; give the "
            "names that they mark: [gene for gene, is_in in zip(genes, mask) if is_in]"
        )
    found = frozenset(map(str, given))
    if not found:
        raise ValueError(f"{name} must name a gene or be None for all, found an empty list")
    return found


@dataclass(frozen=True)
class Rules:
    """Caps on a network, who may regulate and be regulated; None means no cap, or every gene.

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
    targets
        Names of the genes whose regulators are sought.
    chosen_by
        Source of `max_edges` if it was not given: `BY_VERDICT`, `FEW` or `NULL`;
        empty if it was given or there is none. It changes nothing that is selected.

    Raises
    ------
    ValueError, TypeError
        If a cap is negative or is no integer.
    """

    max_in_degree: int | None = None
    max_out_degree: int | Mapping[str, int] | None = None
    max_edges: int | None = None
    regulators: frozenset[str] | None = None
    targets: frozenset[str] | None = None
    chosen_by: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for name in ("max_in_degree", "max_edges"):
            object.__setattr__(self, name, _cap(name, getattr(self, name)))
        out = self.max_out_degree
        caps = by_label("max_out_degree", out)
        if caps is not None:
            named = {str(g): _cap(f"max_out_degree[{g!r}]", cap) for g, cap in caps.items()}
            given = {gene: cap for gene, cap in named.items() if cap is not None}
            object.__setattr__(self, "max_out_degree", given)
        else:
            object.__setattr__(self, "max_out_degree", _cap("max_out_degree", out))
        for name in ("regulators", "targets"):
            names = getattr(self, name)
            object.__setattr__(self, name, gene_set(name, names))

    @property
    def has_caps(self) -> bool:
        """Whether any of the three caps is there."""
        caps = (self.max_in_degree, self.max_out_degree, self.max_edges)
        return any(cap is not None for cap in caps)

    def with_number(self, n_targets: int, verdict: Verdict | None = None) -> Rules:
        """Return the rules with a number of edges in all, if none is given.

        The number is that of the verdict: 0 also if the table looks like one without any edge.
        Without a verdict or probabilities it is `FEW_PER_GENE` of the genes whose regulators are
        sought, at least 1: candidates to test, of which nothing supports any.
        """
        if self.max_edges is not None:
            return self
        if verdict is not None and verdict.is_known:
            return replace(self, max_edges=verdict.n_edges, chosen_by=BY_VERDICT)
        if verdict is not None and verdict.is_null:
            return replace(self, max_edges=0, chosen_by=NULL)
        few = max(1, round(FEW_PER_GENE * n_targets))
        return replace(self, max_edges=few, chosen_by=FEW)

    def why_so_many(self, n_selected: int) -> str:
        """Describe the choice of the number of edges; empty if a user made it.

        The caps, or too few scores, may leave fewer: `n_selected`.
        """
        n = self.max_edges
        has_degrees = self.max_in_degree is not None or self.max_out_degree is not None
        left = f"the caps leave {n_selected}" if has_degrees else f"{n_selected} have a score"
        but = "" if n_selected == n else f", but {left}"
        selected = f"The number {'sought' if but else 'selected'}, {n},"
        return {
            BY_VERDICT: f"The number of edges, {n}, is the one that the verdict supports{but}.",
            FEW: (
                f"The number of true edges is unknown. {selected} is one for every "
                f"{round(1 / FEW_PER_GENE)} genes whose regulators are sought{but}: candidates to "
                "test, not findings."
            ),
            NULL: "No edge is selected, for the table looks like one without any edge.",
        }.get(self.chosen_by, "")

    def roles(self, genes: Sequence[str]) -> tuple[Flags, Flags]:
        """Which genes may regulate, and the regulators of which are sought; (genes,) each.

        Raises
        ------
        ValueError
            If no gene is among the regulators, or among the targets.
        """
        found = []
        for kind, names in (("regulators", self.regulators), ("targets", self.targets)):
            is_in = np.array([names is None or gene in names for gene in genes], dtype=bool)
            if names is not None and not is_in.any():
                raise ValueError(
                    f"none of the {kind} is among the genes: the {kind} are "
                    f"{joined(sorted(names))}; the genes are {joined(list(genes))}"
                )
            found.append(is_in)
        return found[0], found[1]

    def called_as(self, genes: Sequence[str], identifiers: Identifiers = NO_IDENTIFIERS) -> Rules:
        """Return the rules with names written as the genes are; warn of others."""
        caps = self.max_out_degree
        capped = frozenset(caps) if isinstance(caps, Mapping) else None
        roles = {"regulators": self.regulators, "targets": self.targets}
        roles |= {"regulators with a cap": capped}
        for kind, names in roles.items():
            if names is None:
                continue
            same = same_names(sorted(names), genes, identifiers)
            if sentence := same.describe():
                warn_user(f"{kind}: {sentence}")
            roles[kind] = found = frozenset(same.gene_of.get(name, name) for name in names)
            missing = sorted(found - set(genes))
            if 0 < len(missing) < len(found):  # if none is a gene, an error follows
                warn_user(f"{len(missing)} of {len(found)} {kind} are no genes: {joined(missing)}")
            if isinstance(caps, Mapping) and names is capped:
                own = {name: cap for name, cap in caps.items() if name in genes}
                caps = {same.gene_of.get(name, name): cap for name, cap in caps.items()} | own
        return replace(
            self,
            regulators=roles["regulators"],
            targets=roles["targets"],
            max_out_degree=caps,
        )

    def candidates(self, genes: Sequence[str], no_targets: Sequence[str] = ()) -> Candidates:
        """Pairs that may be edges: of regulators x targets, never a gene on itself.

        Parameters
        ----------
        no_targets
            Names of genes that get no regulators.
        """
        regulators, targets = (np.flatnonzero(is_in) for is_in in self.roles(genes))
        allowed = regulators[:, None] != targets
        allowed[:, np.isin(np.array(genes, dtype=object)[targets], list(no_targets))] = False
        return Candidates(regulators, targets, allowed)

    def inputs(self, genes: Sequence[str], no_targets: Sequence[str] = ()) -> Candidates:
        """The genes that may regulate some other, beside all genes as targets.

        `no_targets` and errors are those of `candidates`. Pairs whose target is not sought are no
        edges.
        """
        found = self.candidates(genes, no_targets)
        has_target = found.allowed.any(axis=1)
        pairs = np.zeros((int(has_target.sum()), len(genes)), dtype=bool)
        pairs[:, found.targets] = found.allowed[has_target]
        return Candidates(found.regulators[has_target], np.arange(len(genes)), pairs)

    def allowed(self, genes: Sequence[str]) -> NDArray[np.bool_]:
        """Which pairs (regulator, target) may be edges; (genes, genes), never a gene on itself."""
        found = self.candidates(genes)
        pairs = np.zeros((len(genes), len(genes)), dtype=bool)
        pairs[np.ix_(found.regulators, found.targets)] = found.allowed
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
                f"{joined(sorted(caps))}; the genes are {joined(list(genes))}"
            )
        return np.array([caps.get(gene, len(genes)) for gene in genes], dtype=np.int64)

    def constraint(self, genes: Sequence[str]) -> TVCS:
        """Return the caps on ``W[regulator, target]``: rows have out-, columns in-degrees.

        The sparse matrix that is projected holds the pairs that may be edges. Bounds that bound
        nothing let the projection measure gains by values alone.
        """
        return TVCS.matrix(
            (len(genes), len(genes)),
            row_caps=self.out_caps(genes),
            col_caps=self.max_in_degree,
            total=self.max_edges,
            bounds=(-np.inf, np.inf),
        )


def _cap(name: str, cap: object) -> int | None:
    if cap is None:
        return None
    if isinstance(cap, bool) or not isinstance(cap, int | np.integer):
        raise TypeError(f"{name} must be an integer >= 0 or None, found {describe_value(cap)}")
    if cap < 0:
        raise ValueError(f"{name} must be >= 0, found {cap}")
    return int(cap)
