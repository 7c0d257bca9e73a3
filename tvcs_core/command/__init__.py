"""Parts of every command line: exit codes, one-line errors, common options.

Neither the work of a command is here, nor the reading of files.
"""
