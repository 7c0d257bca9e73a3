"""Real expression sets with known edges: all methods on them, and the weights of the blend.

Simulated tables here only resemble real ones; other simulated networks belong to `networks`.
"""
