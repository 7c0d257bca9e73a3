"""What answers say: skills of workers, votes, and how sure a plan is.

Which label to buy next is in `routing`.
"""
