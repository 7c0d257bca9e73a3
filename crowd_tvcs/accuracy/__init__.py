"""Expected accuracy of a vote: exact, bounded or sampled, and its gradient.

Which workers vote is not decided here.
"""
