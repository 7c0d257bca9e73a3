"""What the command lines share: exit codes, one-line errors, options that all of them have.

What a command does is not here, nor how a file is read.
"""
