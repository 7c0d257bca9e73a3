"""Problems drawn as the paper draws them: its figures, and its route to the projection.

Networks and crowds, real or simulated, do not belong here.
"""
