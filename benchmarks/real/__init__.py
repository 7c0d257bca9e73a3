"""Real expression sets with known edges: all methods, the weights of the blend, and each part.

Simulated tables here only resemble real ones; other simulated networks belong to `networks`.
"""
