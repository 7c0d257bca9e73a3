"""The pages for operators: one HTML file each that opens without a connection.

They compute nothing new about a plan or a campaign.
"""
