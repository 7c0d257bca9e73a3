"""Expected accuracy of a vote: exact, bounded or sampled, and its gradient.

Workers are assigned elsewhere.
"""
