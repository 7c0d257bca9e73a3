"""Our simulator against GeneNetWeaver: `python -m benchmarks.networks.simulator FOLDER=NOISE ...`.

FOLDER holds one folder per network, with the files that `grn-tvcs simulate` writes (the true
edges in goldstandard_signed.tsv or goldstandard.tsv) and NOISE names the noise of its
measurement, such as `networks/ecoli100=microarray`. Every topology goes through our simulator
`--seeds` times; each statistic of the folder stands beside the mean and deviation of ours over
the seeds. Writes statistics.csv, tables.md and run.json; `--write-docs` also puts the tables into
docs/studies/simulator.md. About a second per run of 100 genes and core.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.networks.cases import read as read_network
from benchmarks.pages import fill_file, table
from benchmarks.study import DOCS
from grn_tvcs import Network, Simulation, simulate
from grn_tvcs.simulation.topology import grow
from tvcs_core.command.results import results

PAGE = DOCS / "studies" / "simulator.md"
BANDS = ((0.02, 0.05), (0.05, 0.15), (0.15, 0.3), (0.3, 0.5), (0.5, 0.7))


@dataclass(frozen=True)
class Experiments:
    """The experiments on one network, read from files or simulated."""

    series: np.ndarray  # (series, points, genes)
    wild_type: np.ndarray
    knockouts: np.ndarray
    knockdowns: np.ndarray
    multifactorial: np.ndarray
    perturbations: np.ndarray
    network: Network


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folders", nargs="+", metavar="FOLDER=NOISE")
    parser.add_argument("--out", required=True, metavar="DIR")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--force", action="store_true", help="replace the files of a folder in use")
    parser.add_argument("--write-docs", action="store_true", help=f"update {PAGE.name}")
    options = parser.parse_args()
    rows = []
    for word in options.folders:
        folder, _, noise = word.rpartition("=")
        began = time.perf_counter()
        found = list(compare(Path(folder), noise, options.seeds))
        print(f"{folder}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
        rows += [(Path(folder).name, *row) for row in found]
    how = "GeneNetWeaver / ours, in bold where they differ by more than two deviations:"
    page = "\n\n".join([summary(rows), how, statistics_table(rows)])
    names = [Path(word).name for word in options.folders]
    parameters = {"folders": names, "seeds": options.seeds}
    with results("python -m benchmarks.networks.simulator", options, parameters, seed=0) as out:
        header = ("folder", "statistic", "theirs", "ours", "deviation")
        out.table("statistics.csv", header, rows)
        out.text("tables.md", f"{page}\n")
    print(page)
    if options.write_docs:
        fill_file(PAGE, {"measured": page})


def compare(folder: Path, noise: str, n_seeds: int) -> Iterator[tuple[str, float, float, float]]:
    """Name, value in the folder, mean and deviation of ours, of every statistic."""
    theirs = [read(path) for path in sorted(folder.iterdir()) if path.is_dir()]
    ours: dict[str, list[float]] = {}
    for seed in range(n_seeds):
        made = [
            measured(
                simulate(
                    n_series=len(data.series),
                    n_points=data.series.shape[1],
                    topology=data.network,
                    noise=noise,
                    rng=np.random.default_rng([seed, k]),
                )
            )
            for k, data in enumerate(theirs)
        ]
        grown = [
            grow(
                len(d.network.genes),
                int(d.network.out_degrees.sum()),
                rng=np.random.default_rng([seed, k]),
            )
            for k, d in enumerate(theirs)
        ]
        for name, value in (statistics(made) | degrees(grown)).items():
            ours.setdefault(name, []).append(value)
    for name, value in (statistics(theirs) | degrees([d.network for d in theirs])).items():
        yield name, value, float(np.mean(ours[name])), float(np.std(ours[name], ddof=1))


def read(folder: Path) -> Experiments:
    expression, network = read_network(folder)

    def rows(name: str) -> np.ndarray:
        return np.loadtxt(folder / f"{name}.tsv", skiprows=1, ndmin=2)

    return Experiments(
        np.array([expression.values[rows] for rows in expression.pieces.values()]),
        rows("wildtype")[0],
        rows("knockouts"),
        rows("knockdowns"),
        rows("multifactorial"),
        rows("timeseries_perturbations"),
        network,
    )


def measured(made: Simulation) -> Experiments:
    pieces = made.expression.pieces.values()
    return Experiments(
        np.array([made.expression.values[rows] for rows in pieces]),
        made.wild_type,
        made.knockouts,
        made.knockdowns,
        made.multifactorial,
        made.perturbations,
        made.network,
    )


def statistics(networks: list[Experiments]) -> dict[str, float]:
    """What is compared; genes and series of all networks are pooled."""
    found: dict[str, float] = {}
    rest = np.concatenate([d.series[:, 0].mean(axis=0) for d in networks])
    levels = np.concatenate([d.series.ravel() for d in networks])
    for q in (0.1, 0.25, 0.5, 0.75, 0.9):
        found[f"wild type, quantile {q}"] = np.quantile(rest, q)
    for q in (0.05, 0.25, 0.5, 0.75, 0.95):
        found[f"series, quantile {q}"] = np.quantile(levels, q)
    found["series, share of zeros"] = np.mean(levels == 0)
    over_time = np.concatenate([d.series.std(axis=1).ravel() for d in networks])
    found["deviation over time, median"] = np.median(over_time)
    found["deviation over time, quantile 0.9"] = np.quantile(over_time, 0.9)
    for lag in (1, 5):
        found[f"autocorrelation, lag {lag}"] = np.mean(
            np.concatenate([autocorrelation(d.series, lag) for d in networks])
        )
    found |= responses(networks) | knocked(networks)
    spread = np.concatenate([d.multifactorial.std(axis=0) for d in networks])
    found["multifactorial, deviation, median"] = np.median(spread)
    return {name: float(value) for name, value in found.items()}


def autocorrelation(series: np.ndarray, lag: int) -> np.ndarray:
    x = series - series.mean(axis=1, keepdims=True)
    power = (x**2).sum(axis=1)
    return ((x[:, lag:] * x[:, :-lag]).sum(axis=1) / np.where(power > 0, power, 1.0)).ravel()


def responses(networks: list[Experiments]) -> dict[str, float]:
    """Changes of the mean over the last five perturbed points from the mean start."""
    own, other, deltas = [], [], []
    for d in networks:
        half = d.series.shape[1] // 2
        change = np.abs(d.series[:, half - 4 : half + 1].mean(axis=1) - d.series[:, 0].mean(axis=0))
        own.append(change[d.perturbations != 0])
        other.append(change[d.perturbations == 0])
        deltas.append(d.perturbations.ravel())
    delta = np.concatenate(deltas)
    return {
        "perturbed, share of genes": np.mean(delta != 0),
        "perturbed, mean size of the change asked for": np.abs(delta[delta != 0]).mean(),
        "perturbed, mean change": np.concatenate(own).mean(),
        "not perturbed, mean change": np.concatenate(other).mean(),
    }


def knocked(networks: list[Experiments]) -> dict[str, float]:
    """Effects of knock-outs; what a gene does that is no target shows the noise."""
    direct, signed, other, own, half, level, noise = [], [], [], [], [], [], []
    for d in networks:
        edge = d.network.scores > 0
        middle = np.median(d.knockouts, axis=0)
        effect = d.knockouts - middle
        direct.append(np.abs(effect[edge]))
        signed.append(-effect[edge] * d.network.signs[edge])
        other.append(np.abs(effect[~edge & ~np.eye(len(middle), dtype=bool)]))
        own.append(np.diag(d.knockouts))
        is_on = middle > 0.2
        half.append((np.diag(d.knockdowns) / np.where(is_on, middle, 1.0))[is_on])
        level.append(middle)
        noise.append(1.4826 * np.median(np.abs(effect), axis=0))
    sizes, levels, noises = (np.concatenate(x) for x in (direct, level, noise))
    found = {
        "knock-out, direct targets, median effect": np.median(sizes),
        "knock-out, direct targets, quantile 0.9": np.quantile(sizes, 0.9),
        "knock-out, direct targets, share with the edge's sign": np.mean(
            np.concatenate(signed) > 0
        ),
        "knock-out, other genes, median effect": np.median(np.concatenate(other)),
        "knock-out, own level, mean": np.concatenate(own).mean(),
        "knock-down, own level / median, median": np.median(np.concatenate(half)),
    }
    for low, high in BANDS:
        inside = (levels >= low) & (levels < high)
        found[f"noise, level {low} to {high}"] = np.median(noises[inside])
    return found


def degrees(networks: list[Network]) -> dict[str, float]:
    """Ours are grown here, with as many genes and edges."""
    incoming = np.concatenate([n.in_degrees for n in networks])
    shares = np.bincount(np.minimum(incoming, 4), minlength=5) / incoming.size
    found = {f"grown: in-degree {k}{'+' if k == 4 else ''}": shares[k] for k in range(5)}
    hubs = [n.out_degrees.max() / n.out_degrees.sum() for n in networks]
    among = [n.scores[:, n.out_degrees > 0].sum() / n.scores.sum() for n in networks]
    found["grown: regulators per network"] = np.mean([(n.out_degrees > 0).sum() for n in networks])
    found["grown: edges of the largest hub, share"] = np.mean(hubs)
    found["grown: edges between regulators, share"] = np.mean(among)
    return {name: float(value) for name, value in found.items()}


def statistics_table(rows: list[tuple[str, str, float, float, float]]) -> str:
    """Write both by statistic and folder; bold where they differ by more than two deviations."""
    folders = list(dict.fromkeys(row[0] for row in rows))
    cells: dict[str, dict[str, str]] = {}
    for folder, what, theirs, ours, deviation in rows:
        text = f"{theirs:.3f} / {ours:.3f}"
        is_far = abs(theirs - ours) > 2 * deviation
        cells.setdefault(what, {})[folder] = f"**{text}**" if is_far else text
    lines = [[what, *(of.get(folder, "") for folder in folders)] for what, of in cells.items()]
    return table(("statistic", *folders), lines)


def summary(rows: list[tuple[str, str, float, float, float]]) -> str:
    """How many statistics lie within two deviations, and how far off levels are."""
    lines = []
    for folder in dict.fromkeys(row[0] for row in rows):
        mine = [r for r in rows if r[0] == folder and not r[1].startswith("grown")]
        gaps = np.array([abs(a - b) / max(s, 1e-12) for _, _, a, b, s in mine])
        gaps = np.where([a == b for _, _, a, b, _ in mine], 0.0, gaps)
        lines.append((folder, str(len(mine)), str((gaps <= 2).sum()), f"{np.median(gaps):.2f}"))
    return table(("folder", "statistics", "within 2 deviations", "median gap, deviations"), lines)


if __name__ == "__main__":
    main()
