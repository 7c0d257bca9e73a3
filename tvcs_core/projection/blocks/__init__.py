"""The projection of a V that lies in blocks of rows: questions to blocks, the answer put together.

How a core is settled is not here: that is `tvcs_core.projection.exact`, which this room drives.
"""
