"""Parts of a worker's page: instructions, files, keys, texts, and page tokens.

Its URL and cookies belong to `worker`, the treatment of answers to `campaign.desk`.
"""
