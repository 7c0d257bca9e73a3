"""A network kept in ``uns`` of an AnnData, in parts that its files can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from grn_tvcs.network.edge import CHANCES, SIGNS
from grn_tvcs.network.evidence import CODES
from grn_tvcs.network.pairs import Pairs
from tvcs_core.arguments import describe_value
from tvcs_core.files.display import joined

if TYPE_CHECKING:
    import pandas as pd

EDGES, GENES = "edges", "genes"


def keep(
    data: Any,
    key: str,
    frame: pd.DataFrame,
    genes: Sequence[str],
    notes: Sequence[str],
    facts: Mapping[str, Any],
) -> Any:
    """Put a network into ``data.uns[key]`` and return `data`.

    `frame` has the selected edges; of the `facts` those that are not None are kept.
    """
    _refuse_other_than_anndata(data)
    if "evidence" in frame:
        frame["evidence"] = frame["evidence"].astype(str)
    data.uns[key] = {
        EDGES: frame,
        GENES: np.array(genes, dtype=object),
        "notes": np.array(notes, dtype=object),
        **{name: value for name, value in facts.items() if value is not None},
    }
    return data


def kept(data: Any, key: str) -> tuple[tuple[str, ...], Pairs, tuple[str, ...]]:
    """Read the genes, the edges and the notes that `keep` kept."""
    _refuse_other_than_anndata(data)
    parts = data.uns.get(key)
    if not isinstance(parts, Mapping) or EDGES not in parts or GENES not in parts:
        raise ValueError(f"uns has no network under {key!r}; it has {joined(map(str, data.uns))}")
    try:
        return _parts(parts)
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"uns[{key!r}] must hold what to_anndata kept, found it changed ({error})"
        ) from None


def _refuse_other_than_anndata(data: Any) -> None:
    if not hasattr(data, "uns"):
        raise TypeError(f"data must be an AnnData, found {describe_value(data)}")


def _parts(parts: Mapping[str, Any]) -> tuple[tuple[str, ...], Pairs, tuple[str, ...]]:
    genes = tuple(str(gene) for gene in parts[GENES])
    frame = parts[EDGES]
    place = {gene: i for i, gene in enumerate(genes)}
    regulators, targets = (
        [place[str(name)] for name in frame[end]] for end in ("regulator", "target")
    )
    sign_of = {text: sign for sign, text in SIGNS.items()}
    known: dict[str, Any] = {
        "scores": frame["score"],
        "signs": [sign_of[str(sign)] for sign in frame["sign"]],
    }
    known |= {name: frame[name] for name in (*CHANCES, "stability", "undirected") if name in frame}
    if "evidence" in frame:
        known["evidence"] = [CODES.get(str(word), 0) for word in frame["evidence"]]
    notes = tuple(str(note) for note in parts.get("notes", ()))
    return genes, Pairs.listed((regulators, targets), known), notes
