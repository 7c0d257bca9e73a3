"""Commands about recorded answers that need no plan: agreement, models, scales, pairs, labels.

Estimates of skills and votes are not here, nor options shared with other commands.
"""
