"""Expression over time and in steady state: its files, scales, gaps and steady states.

It infers no edges. The names below are those that users import.
"""

from typing import TYPE_CHECKING

from tvcs_core.lazy import lazy_exports

if TYPE_CHECKING:
    from grn_tvcs.expression.bins import average_in_bins
    from grn_tvcs.expression.expression import Expression, spacing, write_expression
    from grn_tvcs.expression.subset import most_variable, subset_genes

__all__ = [
    "Expression",
    "average_in_bins",
    "most_variable",
    "spacing",
    "subset_genes",
    "write_expression",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "bins": "average_in_bins",
        "expression": "Expression spacing write_expression",
        "subset": "most_variable subset_genes",
    },
)
