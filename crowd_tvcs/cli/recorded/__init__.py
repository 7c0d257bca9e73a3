"""Commands about recorded answers that need no plan: how far workers agree, models among them.

What estimates skills or votes is not here, nor options that other commands share.
"""
