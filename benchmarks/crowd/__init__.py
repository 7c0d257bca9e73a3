"""Known or recorded crowds: how right plans and votes are, and what is proved of it.

Campaigns that run over time and measurements of speed do not belong here.
"""
