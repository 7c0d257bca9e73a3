"""Reports for operators: one HTML file each, readable offline.

They present a plan or a campaign, and compute nothing new.
"""
