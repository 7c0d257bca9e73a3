"""The store of a campaign: its schema, and the statements that keep two from breaking a cap.

Decisions of a campaign are in the folder above.
"""
