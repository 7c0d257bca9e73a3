"""Tools for an AnnData, as scanpy's users expect them: in place, or in a copy.

>>> from grn_tvcs import tl
>>> tl.infer(adata, time_column="day", series_column="donor")  # doctest: +SKIP
>>> adata.uns["tvcs"]["edges"]  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grn_tvcs.methods.table import DEFAULT

NUMBERS = ("p", "false_discovery", "probability")  # of genes


def infer(
    adata: Any,
    method: str = DEFAULT,
    *,
    key_added: str = "tvcs",
    copy: bool = False,
    **options: Any,
) -> Any:
    """Infer a network of an AnnData, and keep it there.

    Parameters
    ----------
    adata
        Levels, with times in ``obs`` if there are any; see `Expression.of`.
    method
        One of `METHODS`.
    key_added
        Where the network is kept: ``uns[key_added]``, and sparse matrices [regulator, target] in
        ``varp[key_added + "_scores"]`` and the like; see `Network.to_anndata`.
    copy
        Whether to write into a copy and return it; else `adata` is changed and None returned.
    **options
        As for `grn_tvcs.infer`, options of reading such as ``time_column`` too.

    Returns
    -------
    AnnData or None
        The copy, if one was asked for. `Network.from_anndata` reads the network of either.

    Raises
    ------
    TypeError, ValueError
        As for `grn_tvcs.infer`.
    """
    from grn_tvcs.inference.infer import infer as infer_network
    from grn_tvcs.network.programs.anndata import refuse_other_than_anndata

    refuse_other_than_anndata(adata)
    network = infer_network(adata, method, **options)
    data = adata.copy() if copy else adata
    network.to_anndata(data, key_added, options.get("gene_column"))
    return data if copy else None


def compare(
    adata: Any,
    condition_column: str,
    conditions: Sequence[str] = (),
    *,
    key_added: str = "tvcs_compare",
    copy: bool = False,
    **options: Any,
) -> Any:
    """Compare the networks of the conditions in an AnnData, and keep the differences there.

    Parameters
    ----------
    adata
        Levels, with times in ``obs``.
    condition_column
        Column of ``obs`` that names the condition of each sample.
    conditions
        Those that are compared, in this order; by default all, in the order of the samples.
    key_added
        Where they are kept: ``uns[key_added]`` has the tables ``differences`` and ``genes``, and
        ``summary``, a sentence for each pair of conditions.
    copy
        Whether to write into a copy and return it; else `adata` is changed and None returned.
    **options
        As for `grn_tvcs.compare`, and options of reading such as ``series_column``.

    Returns
    -------
    AnnData or None
        The copy, if one was asked for.

    Raises
    ------
    TypeError, ValueError
        As for `grn_tvcs.compare` and `grn_tvcs.read_conditions`.
    """
    import pandas as pd

    from grn_tvcs.comparison.conditions import read_conditions
    from grn_tvcs.comparison.several import compare_all
    from grn_tvcs.expression.read import OF_ALL
    from grn_tvcs.network.programs.anndata import refuse_other_than_anndata

    refuse_other_than_anndata(adata)
    words = {name: options.pop(name) for name in OF_ALL if name in options}
    parts = read_conditions(adata, condition_column, conditions, **words)
    found = compare_all(parts, **options)
    data = adata.copy() if copy else adata
    header, rows = found.gene_table()
    data.uns[key_added] = {
        "differences": found.to_frame(),
        "genes": pd.DataFrame(rows, columns=header).astype(dict.fromkeys(NUMBERS, float)),
        "summary": [one.describe() for one in found.pairs],
    }
    return data if copy else None
