"""What the page of a worker is made of: instructions, files, keys, and what it has shown.

Its address and its cookies do not belong here (`worker`), nor does what the campaign makes of an
answer (`campaign.desk`).
"""
