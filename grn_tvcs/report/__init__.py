"""Report of a network, as one self-contained HTML file.

It only shows results that other packages computed.
"""
