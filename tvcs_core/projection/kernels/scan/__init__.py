"""The scan: eps-scaling on two complementary tables of whole numbers (docs/method.md).

When it runs, from which prices and how often, is decided in `exact/scan`.
"""
