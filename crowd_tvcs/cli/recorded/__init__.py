"""Commands about recorded answers that need no plan: agreement of workers, and models.

Estimates of skills and votes are not here, nor options shared with other commands.
"""
