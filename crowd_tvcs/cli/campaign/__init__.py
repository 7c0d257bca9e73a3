"""The commands `crowd-tvcs campaign` of rounds, tables and results.

Commands on single tasks and the server are in `cli.desk`.
"""
