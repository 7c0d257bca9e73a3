"""Choice of the pairs of a round before it is issued: by kinds of tasks, and shared steps.

Rounds of a table of workers x tasks, and the storage of rounds, are in the folder above.
"""
