"""Cost scaling (eps-scaling) on two complementary dense tables, without a core (docs/method.md).

`phases` lays out the tables, refines the flow and finds exact prices. `search` runs the phases,
proves their result, and hands over to the simplex if another support is as good.
"""

from tvcs_core.projection.exact.cost_scaling.search import SearchResult, solve_by_cost_scaling

__all__ = ["SearchResult", "solve_by_cost_scaling"]
