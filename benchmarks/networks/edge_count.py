"""Does `choose_edges` find the number of edges? Networks of folders or simulated ones -> a table.

    python -m benchmarks.networks.edge_count [FOLDER...] [--simulate N] [--seed N] [--jobs N]

Each FOLDER holds one folder per network with timeseries.tsv and goldstandard_signed.tsv; names end
in a number. Odd and even numbers are reported apart: the rule was chosen on odd ones only. With
--simulate there are N networks of our simulator with 30 genes, 12 regulators at least and 10 %
normal noise. The factor is how far the chosen number is from the true one, either way, as a
geometric mean; 2 per gene is what `infer` selects where no cap is given.
"""

import argparse
import warnings
from multiprocessing import Pool
from pathlib import Path

import numpy as np

from benchmarks.networks.cases import NOISE, SIZES, number, read
from benchmarks.pages import table
from grn_tvcs import choose_edges, infer, score, simulate

COLUMNS = (
    "networks", "chosen / true", "factor", "true in range", "precision", "F1",
    "2 per gene: precision", "F1", "one standard error: factor", "precision", "F1",
)  # fmt: skip


def measure(task):
    """Chosen, lowest, highest and true number, and precision and F1 at three numbers."""
    name, folder, seed = task
    warnings.simplefilter("ignore")
    if folder is None:
        rng = np.random.default_rng([seed, int(name)])
        made = simulate(**SIZES, noise="normal", noise_level=NOISE, rng=rng)
        expression, reference = made.expression, made.network
    else:
        expression, reference = read(folder)
    count = choose_edges(expression, rng=seed)
    ranking = infer(expression, "tvcs", rng=seed)
    row = [count.n_edges, count.low, count.high, int(reference.out_degrees.sum())]
    for size in (count.n_edges, 2 * len(ranking.genes), count.low):
        found = score(ranking.select_top(size), reference)
        row += [found.n_found / max(size, 1), 2 * found.n_found / (size + found.n_edges)]
    return row


def line(name, rows):
    """Means of some networks as a row of the table."""
    found = np.array(rows, dtype=float)
    chosen, low, high, true = found[:, :4].T
    factor = [2 ** np.abs(np.log2(np.maximum(k, 1) / true)).mean() for k in (chosen, low)]
    means = [f"{value:.2f}" for value in found[:, 4:].mean(axis=0)]
    return [
        name,
        str(len(found)),
        f"{np.median(chosen / true):.2f}",
        f"{factor[0]:.1f}",
        f"{int(((low <= true) & (true <= high)).sum())}",
        *means[:4],
        f"{factor[1]:.1f}",
        *means[4:],
    ]


def main():
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--simulate", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    groups = {}
    for folder in given.folders:
        for path in sorted(folder.glob("*/timeseries.tsv"), key=lambda p: number(p.parent.name)):
            half = "odd" if number(path.parent.name) % 2 else "even"
            task = (path.parent.name, path.parent, given.seed)
            groups.setdefault(f"{folder.name}, {half}", []).append(task)
    if given.simulate:
        groups["our simulator"] = [(str(k), None, given.seed) for k in range(given.simulate)]
    lines = []
    with Pool(given.jobs) as pool:
        for name, tasks in groups.items():
            lines.append(line(name, pool.map(measure, tasks)))
            print("  ".join(lines[-1]), flush=True)
    print(table(("networks of", *COLUMNS), lines))


if __name__ == "__main__":
    main()
