"""Agreement: how far workers say the same, over all tasks, on each, and in each pair of workers.

Who is right does not belong here, nor what a vote makes of the answers: no gold is looked at.
"""
