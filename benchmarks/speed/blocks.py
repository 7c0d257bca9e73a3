"""Time, memory and bytes of the projection of a V that lies in blocks of rows.

    python -m benchmarks.speed.blocks --quick               1e6 entries, in a temporary folder
    python -m benchmarks.speed.blocks --folder DIR          1e7 entries in 4 blocks
    python -m benchmarks.speed.blocks --folder DIR --side 31623 --blocks 16     1e9 entries, 8 GB

The blocks are made in the folder one after the other from the seed and stay there; those that a
run finds are used again if they have the right shape and type.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from tvcs_core import TVCS, project_blocks


def make(folder, side, blocks, dtype, seed):
    """Normal values in `blocks` files of rows; no more than some rows are in memory at a time."""
    edges = np.linspace(0, side, blocks + 1).astype(int)
    for b in range(blocks):
        path, shape = folder / f"rows-{b}.npy", (int(edges[b + 1] - edges[b]), side)
        if path.exists():
            there = np.load(path, mmap_mode="r")
            if there.shape == shape and there.dtype == dtype:
                continue
        rng = np.random.default_rng([seed, b])
        with path.open("wb") as file:
            header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
            for first in range(0, shape[0], 256):
                rows = min(256, shape[0] - first)
                rng.standard_normal((rows, side), dtype=dtype).tofile(file)
    return [folder / f"rows-{b}.npy" for b in range(blocks)]


def peak_memory():
    """Bytes that this process has held at most."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(paths, side, cap, share):
    """Project, and say what it took."""
    constraint = TVCS.matrix(
        (side, side), row_caps=cap, col_caps=cap, total=int(share * cap * side)
    )
    clock, processor = time.perf_counter(), time.process_time()
    found = project_blocks(paths, constraint)
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    facts = found.facts
    print(
        f"{side} x {side}, {found.facts['blocks']} blocks, caps {cap}, total {constraint.total}\n"
        f"  {clock:.1f} s, {processor:.1f} s of processor; {peak_memory() / 2**30:.2f} GiB\n"
        f"  kept {found.objective!r} in {found.rows.size} entries, gap {found.gap:.3g}, "
        f"{found.relative_gap:.2g} of it\n"
        f"  sent {facts['sent'] / facts['size']:.4f} of V's bytes; "
        f"core {facts['core'] / side**2:.5f} of V; {facts['questions']} questions, "
        f"{facts.get('rounds', 0)} proof passes",
        flush=True,
    )


def main():
    """Make the blocks and project them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--folder", type=Path, help="where the blocks are made; else a temporary one"
    )
    parser.add_argument("--side", type=int, default=3162, help="rows and columns")
    parser.add_argument("--blocks", type=int, default=4)
    parser.add_argument("--dtype", choices=["float64", "float32"], default="float64")
    parser.add_argument("--cap", type=int, default=10, help="of every row and every column")
    parser.add_argument("--share", type=float, default=0.8, help="the total, of the rows' caps")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="1e6 entries")
    given = parser.parse_args()
    side = 1000 if given.quick else given.side
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        paths = make(folder, side, given.blocks, np.dtype(given.dtype), given.seed)
        measure(paths, side, given.cap, given.share)


if __name__ == "__main__":
    main()
