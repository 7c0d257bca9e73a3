"""The report of a network: one HTML file that opens without a connection.

It computes nothing new about the network: what it shows, others found.
"""
