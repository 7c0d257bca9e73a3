"""Are sure edges true? Designs x sizes x kinds of network of our simulator -> a table.

    python -m benchmarks.networks.stability [--networks N] [--seed N]

Each row is a design, series x points, and a number of genes. Half of its networks are grown with
few regulators, as by default, the others with at least 80 % of the genes regulating; 10 % normal
noise. Cells are the true edges of all that have a stability in that range. Of 100 genes there is a
third of the networks. The row with the smallest part of true edges among the sure ones comes first.
"""

import argparse
import warnings

import numpy as np

from benchmarks.pages import table
from grn_tvcs import infer, simulate
from grn_tvcs.stability.stability import STABLE, why_no_stability

DESIGNS = ((1, 12), (2, 12), (1, 40), (4, 12), (10, 6), (10, 21))
GENES = (10, 30, 100)
RANGES = ((0.1, 0.3), (0.3, STABLE), (STABLE, 1.01))
COLUMNS = ("series x points", "genes", "networks", ".1 to .3", ".3 to .5", "sure: .5 and more")


def measure(n_genes, design, regulators, seed):
    """Stability of every pair and whether it is an edge; None where there is no stability."""
    kind = {} if regulators is None else {"min_regulators": regulators}
    rng = np.random.default_rng(seed)
    made = simulate(n_genes, *design, noise="normal", noise_level=0.1, rng=rng, **kind)
    if why_no_stability(made.expression) is not None:
        return None
    network = infer(made.expression, "tvcs", scale="levels", rng=0)
    order = [made.network.genes.index(gene) for gene in network.genes]
    return network.stability.ravel(), made.network.selected[np.ix_(order, order)].ravel()


def line(design, n_genes, n_networks, seed):
    """A row of the table, and the part of sure edges that are true."""
    name = f"{design[0]} x {design[1]}"
    found = [
        measure(n_genes, design, regulators, [seed, k, n_genes, *design, regulators or 0])
        for k in range(n_networks)
        for regulators in (None, round(0.8 * n_genes))
    ]
    if any(one is None for one in found):
        return 2.0, [name, str(n_genes), str(len(found)), *["none"] * len(RANGES)]
    stability, is_true = (np.concatenate(part) for part in zip(*found, strict=True))
    cells, share = [], 1.5
    for low, high in RANGES:
        is_in = (stability >= low) & (stability < high)
        n_true, n = int((is_in & is_true).sum()), int(is_in.sum())
        cells.append(f"{n_true} of {n}")
        share = n_true / n if n else 1.5
    return share, [name, str(n_genes), str(len(found)), *cells]


def main():
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", type=int, default=6, help="of each kind")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for n_genes in GENES:
        n_networks = max(1, given.networks // 3) if n_genes >= 100 else given.networks
        for design in DESIGNS:
            rows.append(line(design, n_genes, n_networks, given.seed))
            print(*rows[-1][1], sep="  ", flush=True)
    rows.sort(key=lambda row: row[0])
    print(table(COLUMNS, [cells for _, cells in rows]))


if __name__ == "__main__":
    main()
