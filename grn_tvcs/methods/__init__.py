"""Methods of network inference, a file each, under one contract; `grn_tvcs.inference` runs them.

A method is a function ``(expression, rules, rng, *, options) -> Network``. It gets genes sorted by
name and gives every ordered pair a score >= 0; higher scores are more confident. It may ignore the
rules, which `infer` applies to all methods alike. Its options are its keyword-only arguments.
"""
