"""Networks in the words of other programs: decoupler, CellOracle, Cytoscape, AnnData.

Rankings and graphs that many programs read are in `grn_tvcs.network.export`.
"""
