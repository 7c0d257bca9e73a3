"""The path under which notebooks know `grn_tvcs.expression.scales`."""

from grn_tvcs.expression.scales import on_scale, said

__all__ = ["on_scale", "said"]
