"""The commands that hand out single tasks: the turns of one worker, and the desk in front of many.

The commands of rounds and tables do not belong here (`cli.campaign`).
"""
