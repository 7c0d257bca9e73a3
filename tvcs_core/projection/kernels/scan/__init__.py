"""The scan: eps-scaling on two complementary tables of whole numbers (docs/method.md)."""
