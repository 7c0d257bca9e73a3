"""Crowds in factors: a table of workers x kinds, and the kind of every task.

Plans of so many tasks that workers x tasks is never built: prices, bound and assignment by kinds.
Where workers x tasks fits, the plan is `crowd_tvcs.plan.plan.Plan` and its methods are those of
`crowd_tvcs.methods`.
"""
