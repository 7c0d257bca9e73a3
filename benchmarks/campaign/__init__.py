"""Campaigns as they run: answers replayed, workers who arrive online, and what plans promise.

Plans with known qualities belong to `crowd`, labels a second to `speed`.
"""
