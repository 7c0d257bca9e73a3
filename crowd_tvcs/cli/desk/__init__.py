"""Commands on single tasks, and the server for many workers.

The commands of rounds and tables are in `cli.campaign`.
"""
