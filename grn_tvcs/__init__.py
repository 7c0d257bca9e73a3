"""Gene regulatory networks from expression over time."""

from typing import TYPE_CHECKING

from tvcs_core.lazy import lazy_exports

if TYPE_CHECKING:
    from grn_tvcs.comparison.compare import compare
    from grn_tvcs.comparison.comparison import Comparison
    from grn_tvcs.comparison.conditions import read_conditions
    from grn_tvcs.comparison.edges import Difference
    from grn_tvcs.comparison.several import Comparisons, compare_all
    from grn_tvcs.expression.bins import average_in_bins
    from grn_tvcs.expression.expression import Expression, write_expression
    from grn_tvcs.expression.formats.steady import read_steady_states
    from grn_tvcs.expression.steady_states import SteadyStates
    from grn_tvcs.expression.subset import most_variable, subset_genes
    from grn_tvcs.inference.infer import infer
    from grn_tvcs.methods.table import METHODS
    from grn_tvcs.network.edge import Edge
    from grn_tvcs.network.edge_files import read_genes, read_network, read_reference
    from grn_tvcs.network.edge_table import write_edges, write_reference
    from grn_tvcs.network.export import FORMATS, write_graphml, write_network, write_sif
    from grn_tvcs.network.network import Network
    from grn_tvcs.network.prior import Prior, read_prior
    from grn_tvcs.network.rules import Rules
    from grn_tvcs.network.scores import Scores, score
    from grn_tvcs.simulation.simulation import Simulation, simulate

__all__ = [
    "FORMATS",
    "METHODS",
    "Comparison",
    "Comparisons",
    "Difference",
    "Edge",
    "Expression",
    "Network",
    "Prior",
    "Rules",
    "Scores",
    "Simulation",
    "SteadyStates",
    "average_in_bins",
    "compare",
    "compare_all",
    "infer",
    "most_variable",
    "read_conditions",
    "read_genes",
    "read_network",
    "read_prior",
    "read_reference",
    "read_steady_states",
    "score",
    "simulate",
    "subset_genes",
    "write_edges",
    "write_expression",
    "write_graphml",
    "write_network",
    "write_reference",
    "write_sif",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "comparison.compare": "compare",
        "comparison.comparison": "Comparison",
        "comparison.conditions": "read_conditions",
        "comparison.edges": "Difference",
        "comparison.several": "Comparisons compare_all",
        "expression.bins": "average_in_bins",
        "expression.expression": "Expression write_expression",
        "expression.formats.steady": "read_steady_states",
        "expression.steady_states": "SteadyStates",
        "expression.subset": "most_variable subset_genes",
        "inference.infer": "infer",
        "methods.table": "METHODS",
        "network.edge_files": "read_genes read_network read_reference",
        "network.edge_table": "write_edges write_reference",
        "network.export": "FORMATS write_graphml write_network write_sif",
        "network.edge": "Edge",
        "network.network": "Network",
        "network.prior": "Prior read_prior",
        "network.rules": "Rules",
        "network.scores": "Scores score",
        "simulation.simulation": "Simulation simulate",
    },
    modules=["datasets"],
)
