"""A network kept in ``uns`` and ``varp`` of an AnnData, in parts that its files can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.user_warnings import warn_user
from grn_tvcs.network.edge import CHANCES, SIGN_OF
from grn_tvcs.network.evidence import CODES
from grn_tvcs.network.pairs import Pairs
from tvcs_core.arguments import describe_value
from tvcs_core.files.display import joined

if TYPE_CHECKING:
    import pandas as pd

EDGES, GENES = "edges", "genes"
VARP = ("scores", "signs", "confidence")  # what matrices may hold


def keep(
    data: Any,
    key: str,
    frame: pd.DataFrame,
    genes: Sequence[str],
    notes: Sequence[str],
    facts: Mapping[str, Any],
    gene_column: str | None = None,
) -> Any:
    """Put a network into ``data.uns[key]`` and ``data.varp``, and return `data`.

    `frame` has the selected edges; of the `facts` those that are not None are kept. Matrices of
    edges stand in ``varp`` where ``var`` names every gene, by its index or by `gene_column`.
    """
    refuse_other_than_anndata(data)
    if "evidence" in frame:
        frame["evidence"] = frame["evidence"].astype(str)
    matrices = _matrices(data, frame, genes, gene_column)
    for name in VARP:  # of an earlier network
        data.varp.pop(f"{key}_{name}", None)
    for name, matrix in matrices.items():
        data.varp[f"{key}_{name}"] = matrix
    data.uns[key] = {
        EDGES: frame,
        GENES: np.array(genes, dtype=object),
        "notes": np.array(notes, dtype=object),
        **{f"{name}_key": f"{key}_{name}" for name in matrices},
        **{name: value for name, value in facts.items() if value is not None},
    }
    return data


def _matrices(
    data: Any, frame: pd.DataFrame, genes: Sequence[str], gene_column: str | None
) -> dict[str, Any]:
    """Return the facts of edges as sparse matrices over ``var``, [regulator, target]."""
    from scipy import sparse

    if gene_column is not None and gene_column not in data.var:
        raise ValueError(
            f"var has no column {gene_column!r}; it has {joined(map(str, data.var)) or 'none'}"
        )
    names = data.var_names if gene_column is None else data.var[gene_column]
    place = {str(name): j for j, name in enumerate(names)}
    if missing := [gene for gene in genes if gene not in place]:
        warn_user(
            f"uns alone holds the network, for {len(missing)} of its {len(genes)} genes are not "
            f"in {'var_names' if gene_column is None else f'var[{gene_column!r}]'}: "
            f"{joined(missing)}; where a column of var names them, give gene_column"
        )
        return {}
    at = tuple([place[str(name)] for name in frame[end]] for end in ("regulator", "target"))
    facts = {"scores": frame["score"].to_numpy(np.float64), "signs": _signs(frame)}
    if "confidence" in frame:
        facts["confidence"] = frame["confidence"].to_numpy(np.float64)
    shape = (len(names), len(names))
    return {name: sparse.csr_matrix((values, at), shape=shape) for name, values in facts.items()}


def _signs(frame: pd.DataFrame) -> NDArray[np.int8]:
    return np.array([SIGN_OF[str(sign)] for sign in frame["sign"]], dtype=np.int8)


def kept(data: Any, key: str) -> tuple[tuple[str, ...], Pairs, tuple[str, ...]]:
    """Read the genes, the edges and the notes that `keep` kept."""
    refuse_other_than_anndata(data)
    parts = data.uns.get(key)
    if not isinstance(parts, Mapping) or EDGES not in parts or GENES not in parts:
        raise ValueError(f"uns has no network under {key!r}; it has {joined(map(str, data.uns))}")
    try:
        return _parts(parts)
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"uns[{key!r}] must hold what to_anndata kept, found it changed ({error})"
        ) from None


def refuse_other_than_anndata(data: Any) -> None:
    """Raise TypeError for data that cannot hold a network."""
    if not hasattr(data, "uns"):
        raise TypeError(f"data must be an AnnData, found {describe_value(data)}")


def _parts(parts: Mapping[str, Any]) -> tuple[tuple[str, ...], Pairs, tuple[str, ...]]:
    genes = tuple(str(gene) for gene in parts[GENES])
    frame = parts[EDGES]
    place = {gene: i for i, gene in enumerate(genes)}
    regulators, targets = (
        [place[str(name)] for name in frame[end]] for end in ("regulator", "target")
    )
    known: dict[str, Any] = {"scores": frame["score"], "signs": _signs(frame)}
    known |= {name: frame[name] for name in (*CHANCES, "stability", "undirected") if name in frame}
    if "evidence" in frame:
        known["evidence"] = [CODES.get(str(word), 0) for word in frame["evidence"]]
    notes = tuple(str(note) for note in parts.get("notes", ()))
    return genes, Pairs.listed((regulators, targets), known), notes
