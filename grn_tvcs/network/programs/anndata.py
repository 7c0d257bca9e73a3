"""A network kept in ``uns`` of an AnnData, in parts that its files can hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from grn_tvcs.network.evidence import CODES
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.ranking import CHANCES, SIGNS
from tvcs_core.arguments import found
from tvcs_core.files.shown import listed

EDGES, GENES = "edges", "genes"


def keep(network: Network, data: Any, key: str) -> Any:
    """Put the network into ``data.uns[key]`` and return `data`."""
    _refuse_other_than_anndata(data)
    frame = network.to_frame(selected_only=True)
    if "evidence" in frame:
        frame["evidence"] = frame["evidence"].astype(str)
    parts: dict[str, Any] = {
        EDGES: frame,
        GENES: np.array(network.genes, dtype=object),
        "notes": np.array(network.notes, dtype=object),
    }
    if network.verdict is not None:
        parts["verdict"] = network.verdict.said()
    origin = network.origin
    if origin is not None:
        parts["method"] = origin.method
        if origin.seed is not None:
            parts["seed"] = origin.seed
    data.uns[key] = parts
    return data


def kept(data: Any, key: str) -> Network:
    """Read what `keep` kept."""
    _refuse_other_than_anndata(data)
    parts = data.uns.get(key)
    if not isinstance(parts, Mapping) or EDGES not in parts or GENES not in parts:
        raise ValueError(f"uns has no network under {key!r}; it has {listed(map(str, data.uns))}")
    try:
        return _network(parts)
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"uns[{key!r}] must hold what to_anndata kept, found it changed ({error})"
        ) from None


def _refuse_other_than_anndata(data: Any) -> None:
    if not hasattr(data, "uns"):
        raise TypeError(f"data must be an AnnData, found {found(data)}")


def _network(parts: Mapping[str, Any]) -> Network:
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
    known |= {name: frame[name] for name in (*CHANCES, "stability") if name in frame}
    if "evidence" in frame:
        known["evidence"] = [CODES.get(str(word), 0) for word in frame["evidence"]]
    notes = tuple(str(note) for note in parts.get("notes", ()))
    return Network(genes, Pairs.listed((regulators, targets), known), notes=notes)
