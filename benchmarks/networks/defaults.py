"""What the parts of `infer(..., "tvcs")` are worth: variants x networks of a folder -> a table.

    python -m benchmarks.networks.defaults FOLDER... [--variants A,B | --stability] [--seed N]
        [--json FILE]

Each FOLDER holds one folder per network with timeseries.tsv, goldstandard_signed.tsv and, for
the variants that use them, knockouts.tsv, knockdowns.tsv and wildtype.tsv; names end in a
number. Odd and even numbers are reported apart: the defaults were chosen on odd ones only. With
--stability the table is another one: how many of the edges of each stability are true.
Perturbations end at time 500, half of every series. Cells are the means of AUROC / AUPR /
AUROC over linked pairs.
"""

import argparse
import json
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np

from benchmarks.networks.cases import number, read, read_steady, read_truth
from benchmarks.pages import in_one_cell, table
from grn_tvcs import Expression, infer, score

PERTURBED_UNTIL = 500.0
VARIANTS = {
    "default": {},
    "GradMP under caps alone": {"parts": "tvcs"},
    "OMP alone": {"parts": "omp"},
    "no hub prior": {"hub_power": 0.0},
    "what would be added not counted": {"added_share": 0.0},
    "neither of the two": {"hub_power": 0.0, "added_share": 0.0},
    "memory .5 alone": {"memory": (0.5, 0.5)},
    "no memory": {"memory": (0.0, 0.0)},
    "columns of equal weight": {"column_weights": (1.0, 1.0)},
    "in-degrees 2 to 5": {"in_degrees": (2, 5)},
    "log offset .1": {"log_offset": 0.1},
    "200 halves": {"resamples": 200},
    "GradMP with hardly any caps": {
        "parts": "tvcs", "in_degrees": (10, 10), "edges_per_gene": (10.0, 10.0)
    },
    "user's cap: out-degree 5": {"max_out_degree": 5},
    "user's cap: true in-degrees at most": {"true_cap": "in"},
    "user's caps: true out-degrees": {"true_cap": "out"},
    "true list of regulators": {"true_cap": "regulators"},
    "perturbation known": {"perturbed": True},
    "knock-outs and -downs": {"steady": True},
    "both": {"perturbed": True, "steady": True},
    "dynGENIE3": {"method": "dyngenie3"},
    "GENIE3": {"method": "genie3"},
}  # fmt: skip
HALVES = ("odd", "even", "all")


def measure(folder, variant, seed):
    """AUROC, AUPR and AUROC over linked pairs of one variant on one network."""
    options = dict(variant)
    expression, reference = read(folder)
    if options.pop("perturbed", False):
        expression = expression.with_perturbation_until(PERTURBED_UNTIL)
    if options.pop("steady", False):
        options["steady"] = read_steady(folder)
    out = dict(zip(reference.genes, map(int, reference.out_degrees), strict=True))
    match options.pop("true_cap", None):
        case "in":
            options["max_in_degree"] = int(reference.in_degrees.max())
        case "out":
            options["max_out_degree"] = out
        case "regulators":
            options["regulators"] = [gene for gene, degree in out.items() if degree]
    network = infer(expression, options.pop("method", "tvcs"), rng=seed, **options)
    every, linked = (score(network, reference, pairs=pairs) for pairs in ("all", "linked"))
    return every.auroc, every.aupr, linked.auroc


def stability_table(networks, seed):
    """Part of the edges of each stability that are true, odd and even networks, as Markdown."""
    edges = np.linspace(0, 1, 11)
    chosen, true = np.zeros((2, 10), int), np.zeros((2, 10), int)
    for folder in networks:
        network = infer(Expression.of(folder / "timeseries.tsv"), "tvcs", rng=seed)
        reference = read_truth(folder, network.genes)
        is_pair = ~np.eye(len(network.genes), dtype=bool)
        at = np.minimum(np.searchsorted(edges, network.stability[is_pair], side="right") - 1, 9)
        half = 1 - number(folder.name) % 2
        chosen[half] += np.bincount(at, minlength=10)
        true[half] += np.bincount(at[reference.selected[is_pair]], minlength=10)
    rows = [
        [
            f"{edges[k]:.1f} to {edges[k + 1]:.1f}",
            *(f"{true[half, k]} of {chosen[half, k]}" for half in (0, 1)),
        ]
        for k in range(10)
    ]
    return table(["stability", "odd: true of all", "even: true of all"], rows, words=3)


def means_table(results):
    """Means by half as Markdown."""
    rows = []
    for name, by_network in results.items():
        cells = []
        for half in HALVES:
            chosen = [
                found for at, found in by_network
                if half == "all" or (at % 2 == 1) == (half == "odd")
            ]  # fmt: skip
            cells.append(in_one_cell(np.mean(chosen, axis=0)) if chosen else "-")
        rows.append([name, *cells])
    return table(["variant", *HALVES], rows, words=4)


def main():
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--variants", help="names, with commas between them; all by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stability", action="store_true", help="the table of stability instead")
    parser.add_argument("--json", type=Path, help="write every figure to this file")
    given = parser.parse_args()
    names = given.variants.split(",") if given.variants else list(VARIANTS)
    networks = [path.parent for folder in given.folders for path in folder.glob("*/timeseries.tsv")]
    networks.sort(key=lambda folder: (folder.parent.name, number(folder.name)))
    warnings.simplefilter("ignore")
    if given.stability:
        print(stability_table(networks, given.seed))
        return
    results = defaultdict(list)
    for name in names:
        for folder in networks:
            results[name].append((number(folder.name), measure(folder, VARIANTS[name], given.seed)))
        print(means_table({name: results[name]}).splitlines()[-1], flush=True)
    print(f"\n{len(networks)} networks of {', '.join(map(str, given.folders))}\n")
    print(means_table(results))
    if given.json:
        given.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
