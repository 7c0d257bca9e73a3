"""The method of this project: lagged regression under caps, on many resamples of the series.

What other methods share with it is in `evidence`; what a command does with it, in `cli`.
"""
