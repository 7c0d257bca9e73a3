"""The drawing of a network."""

import os
import subprocess
import sys


def test_a_network_in_parts_is_drawn_the_same_way_by_every_process():
    script = (
        "from grn_tvcs import Edge\n"
        "from grn_tvcs.report.layout import draw\n"
        "pairs = [('A', 'B'), ('B', 'C'), ('C', 'A'), ('D', 'E'), ('F', 'G'), ('G', 'H')]\n"
        "print(draw([Edge(r, t, 1.0, '+', 1, True) for r, t in pairs]))\n"
    )
    message = {
        subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in range(4)
    }
    assert len(message) == 1
