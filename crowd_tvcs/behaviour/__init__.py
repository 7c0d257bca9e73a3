"""How workers behave: drift, fatigue, haste, spam, copying, pay; each flag with its evidence.

How accurate they are is estimated in `skills`, and who gets which task is decided in `methods`.
"""
