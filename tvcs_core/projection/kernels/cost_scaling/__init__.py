"""Cost scaling on two complementary integer tables (docs/method.md).

When it runs, and from which prices, is decided in `exact/cost_scaling`.
"""
