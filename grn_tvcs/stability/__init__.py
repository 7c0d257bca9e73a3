"""The method of this project: lagged regression under caps, on many resamples of the series.

`evidence` holds code that other methods share.
"""
