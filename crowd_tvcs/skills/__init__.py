"""Worker skills, votes, and the confidence in labels and plans.

Which label to buy next is decided in `routing`.
"""
