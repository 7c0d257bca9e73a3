"""Inputs of a campaign: its tables, and writing them into its store.

How a task is offered, answered and settled does not belong here (`leases`, `tasks`).
"""
