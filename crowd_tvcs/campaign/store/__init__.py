"""The store of a campaign: its schema, and the statements that keep two from breaking a cap.

What a campaign decides is in the folder above.
"""
