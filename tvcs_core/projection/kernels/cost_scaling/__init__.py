"""Cost scaling on two complementary integer tables (docs/method.md).

When it runs is decided in `exact/dispatch.py`, and from which prices in `small.py`.
"""
