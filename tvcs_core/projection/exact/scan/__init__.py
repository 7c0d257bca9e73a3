"""The scan: eps-scaling over two complementary dense tables, without a core (docs/method.md).

`phases` lays the tables out, refines and finds exact prices; `search` takes these in turn, proves
what they end with, and hands over to the simplex where another support is as good.
"""

from tvcs_core.projection.exact.scan.search import Found, scan

__all__ = ["Found", "scan"]
