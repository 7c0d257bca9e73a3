"""Plans: what each method reaches and proves, with money and without, and what its parts are worth.

Plans as forecasts of what is reached belong to the room above.
"""
