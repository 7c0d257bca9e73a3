"""What several methods use: forests, mutual information, streams by gene, hubs, knock-outs.

A method itself is one file of the folder above.
"""
