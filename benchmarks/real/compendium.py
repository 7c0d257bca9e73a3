"""Carry a part of the B. subtilis compendium in data/bsubtilis: a rule, not a choice.

    python -m benchmarks.real.compendium FOLDER [--out data/bsubtilis]

FOLDER holds the files that the Inferelator distributes: expression.tsv.gz, gold_standard.tsv.gz,
meta_data.tsv. Only the known edges and one seed say which genes are kept, not their levels and no
method: the regulators of most known targets, others at random, targets of each at random, genes at
random, and every known regulator of all of these. All samples are kept.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.compendium import courses
from benchmarks.study import ROOT

OUT = ROOT / "data" / "bsubtilis"
LARGEST, OTHERS, FEWEST = 10, 6, 5  # regulators; those drawn have at least so many known targets
TARGETS, RANDOM = 6, 12  # targets of each of them, and genes of any kind
SEED, DIGITS = 0, 4


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of the whole compendium")
    parser.add_argument("--out", type=Path, default=OUT, help="where the part goes")
    arguments = parser.parse_args()
    carry(arguments.folder, arguments.out)
    return 0


def carry(folder: Path, out: Path) -> None:
    """Write levels, samples, regulators and known edges of the part."""
    levels = pd.read_csv(folder / "expression.tsv.gz", sep="\t", index_col=0, lineterminator="\r")
    known = pd.read_csv(folder / "gold_standard.tsv.gz", sep="\t", index_col=0) != 0
    edges = known.rename_axis("target").rename_axis("regulator", axis=1).T.stack()
    edges = edges[edges].index.to_frame(index=False)
    edges = edges[edges.isin(levels.index).all(axis=1) & (edges.regulator != edges.target)]
    genes = chosen(edges, np.random.default_rng(SEED))
    edges = edges[edges.isin(genes).all(axis=1)].sort_values(["regulator", "target"])
    regulators = pd.Series(sorted(set(known.columns) & set(genes)), name="regulator")
    out.mkdir(parents=True, exist_ok=True)
    samples = pd.read_csv(folder / "meta_data.tsv", sep="\t", index_col="condName")
    for name, part in (
        ("samples", sheet(samples)),
        ("regulators", regulators),
        ("known_edges", edges),
        ("expression", levels.loc[genes].round(DIGITS).rename_axis("gene").reset_index()),
    ):
        part.to_csv(out / f"{name}.tsv", sep="\t", index=False, lineterminator="\n")


def chosen(edges: pd.DataFrame, rng: np.random.Generator) -> list[str]:
    """Names of the genes that are kept, sorted."""
    count = edges.regulator.value_counts()
    by_size = sorted(count.index, key=lambda gene: (-count[gene], gene))
    largest, rest = by_size[:LARGEST], by_size[LARGEST:]
    others = rng.choice([gene for gene in rest if count[gene] >= FEWEST], OTHERS, replace=False)
    kept = {*largest, *others.tolist()}
    for regulator in (*largest, *others):
        targets = sorted(edges.target[edges.regulator == regulator])
        kept |= set(rng.permutation(targets)[:TARGETS].tolist())
    there_are = sorted({*edges.regulator, *edges.target})
    kept |= set(rng.choice(there_are, RANDOM, replace=False).tolist())
    return sorted(kept | set(edges.regulator[edges.target.isin(kept)]))


def sheet(samples: pd.DataFrame) -> pd.DataFrame:
    """A row for every sample of a series, in time, and one for each in steady state."""
    rows = [(name, f"{at:g}", last) for name, at, last in zip(*courses(samples), strict=True)]
    samples = samples[~samples.index.duplicated()]
    rows += [(name, "", "") for name in samples.index[~samples.isTs]]
    return pd.DataFrame(rows, columns=["sample", "time", "series"])


if __name__ == "__main__":
    sys.exit(main())
