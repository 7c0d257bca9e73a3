"""Tasks with more than two classes, and workers with confusion matrices."""
