"""Weights of the blend of rankings, chosen by leaving whole families of tables out.

    python -m benchmarks.real.weights FOLDER [--simulate 6] [--keep DIR] [--no-learned]

FOLDER holds the real sets (`benchmarks.real.sets`); --simulate N adds N tables of each simulated
family. All rankings of each table are kept in --keep; remove it after a change of the learned
combination. For each family, the weights that are best on the mean of the others are judged on it,
beside the plain sum and the weights of the package; the worst family comes first. Figures are
log2(AUPR / chance), the mean over the tables and gold standards of a family.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import warnings
from pathlib import Path

from benchmarks.study import one_thread

one_thread()

import numpy as np  # noqa: E402

from benchmarks.pages import table  # noqa: E402
from benchmarks.peers.areas import average_precision  # noqa: E402
from benchmarks.real.sets import (  # noqa: E402
    SIMULATED,
    Table,
    real_table,
    real_tables,
    simulated_table,
)
from grn_tvcs.combine.blend.blend import (  # noqa: E402
    LEAD,
    LEARNED,
    NO_RANKS,
    PIDC,
    SIZE,
    SUM,
    WEIGHTS,
    learned_weight,
    log_ranks,
    rankings_of,
)
from grn_tvcs.combine.evidence_scores import CLR, RANK, RATES, compute_evidence  # noqa: E402
from grn_tvcs.combine.features import pair_features  # noqa: E402
from grn_tvcs.combine.pretrained import load_pretrained  # noqa: E402
from grn_tvcs.methods.combined import _is_far, _traits_and_design  # noqa: E402
from grn_tvcs.stability.execution import SERIAL  # noqa: E402
from tvcs_core.streams import stream  # noqa: E402

PARTS = tuple(WEIGHTS)
# Weights that are tried.
GRID = {
    SUM: (1.0, 2.0), LEARNED: (0.0, 1.0, 2.0), SIZE: (0.0, 4.0), RATES: (0.0, 0.5),
    CLR: (0.0, 0.5), RANK: (0.0, 0.5), PIDC: (0.5, 1.0), LEAD: (0.0, 5.0, 10.0),
}  # fmt: skip
TODAY = (1.0, *(0.0 for _ in PARTS[1:]))  # the plain sum

Array = np.ndarray
Judged = list[tuple[Array, Array]]  # log ranks [part, pair] and the truth, by gold standard


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of the real sets")
    parser.add_argument("--simulate", type=int, default=6, metavar="N", help="of each family")
    parser.add_argument("--keep", type=Path, default=None, help="folder for the rankings")
    parser.add_argument("--no-learned", action="store_true", help="weights without what is learned")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    names = [*real_tables(given.folder)]
    names += [f"{family} {k}" for k in range(given.simulate) for family in SIMULATED]
    families: dict[str, Judged] = {}
    for name in names:
        families.setdefault(family_of(name), []).extend(judged(name, given.folder, given.keep))
        print(f"{name}: ranked", flush=True)
    grid = GRID | {LEARNED: (0.0,)} if given.no_learned else GRID
    weights = list(itertools.product(*grid.values()))
    print(describe_weights(families, weights))
    return 0


def family_of(name: str) -> str:
    """Return the family of a table by its name."""
    return name.split("-")[0].split(" ")[0]


def judged(name: str, folder: Path, keep: Path | None) -> Judged:
    """Return the log ranks of all parts over the pairs that count, and which of these are edges."""
    path = None if keep is None else keep / f"{name.replace(' ', '-')}.npz"
    if path is not None and path.exists():
        with np.load(path) as known:
            n = len(known.files) // 2
            return [(known[f"ranks{k}"], known[f"edges{k}"]) for k in range(n)]
    family, _, k = name.partition(" ")
    made = simulated_table(family, int(k)) if k else real_table(folder, name)
    ranks, inputs = ranks_of(made)
    found = [(ranks[:, gold.judged[inputs]], gold.is_edge[inputs][gold.judged[inputs]])
             for gold in made.golds]  # fmt: skip
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays = {f"ranks{k}": one for k, (one, _) in enumerate(found)}
        np.savez(path, **arrays, **{f"edges{k}": is_edge for k, (_, is_edge) in enumerate(found)})
    return found


def ranks_of(made: Table) -> tuple[Array, Array]:
    """Return the log ranks of all parts, 0 if absent, [part, input, gene], and the inputs.

    Those of the learned combination are multiplied by its share of the largest weight; they or the
    size of the sum are 0. This size and the lead are no ranks.
    """
    rng, model = stream(0, "combined"), load_pretrained()
    evidence = compute_evidence(made.expression, made.rules, rng)
    traits, design = _traits_and_design(made.expression, made.rules, None)
    logits = model.combiner.logits(pair_features(evidence), evidence.inputs)
    found = rankings_of(evidence, logits, made.expression, made.rules, rng, None, SERIAL)
    ranks = np.zeros((len(PARTS), *evidence.allowed.shape))
    is_far = _is_far(model, traits, design)
    of = {
        LEARNED: 0.0 if is_far else learned_weight(logits, evidence.allowed) / WEIGHTS[LEARNED],
        SIZE: float(is_far),
    }
    for one, part in zip(ranks, PARTS, strict=True):
        if part in found:
            values = found[part][evidence.allowed]
            one[evidence.allowed] = of.get(part, 1.0) * (
                values if part in NO_RANKS else log_ranks(values)
            )
    return ranks, evidence.inputs


def gain(weights: tuple[float, ...], tables: Judged) -> float:
    """Return the mean log2 of AUPR relative to chance over the tables of a family."""
    found = [
        average_precision(is_edge, np.array(weights) @ ranks) / is_edge.mean()
        for ranks, is_edge in tables
    ]
    return float(np.log2(found).mean())


def describe_weights(families: dict[str, Judged], weights: list[tuple[float, ...]]) -> str:
    """Describe the choice with each family left out, the worst first, and the frozen weights."""
    frozen = tuple(WEIGHTS.get(part, 0.0) for part in PARTS)
    every = list(dict.fromkeys([*weights, frozen, TODAY]))
    gains = np.array([[gain(w, tables) for tables in families.values()] for w in every])
    n_tried = len(weights)
    rows = []
    for k, family in enumerate(families):
        others = np.delete(gains, k, axis=1)[:n_tried].mean(axis=1)
        best = int(others.argmax())
        of_all = [gains[best, k], gains[every.index(frozen), k], gains[every.index(TODAY), k]]
        rows.append((family, words(every[best]), *of_all))
    rows.sort(key=lambda row: row[2] - row[4])
    mean = np.mean([row[2:] for row in rows], axis=0)
    cells = [(*row[:2], *(f"{value:.2f}" for value in row[2:])) for row in rows]
    cells.append(("mean", "", *(f"{value:.3f}" for value in mean)))
    names = ("family left out", "weights by the others", "by these", "frozen", "plain sum")
    best = [every[k] for k in np.argsort(-gains[:n_tried].mean(axis=1))[:8]]
    lines = [f"{words(w)}: {gains[every.index(w)].mean():.3f}" for w in best]
    return "\n".join([
        table(names, cells, words=2), "", f"frozen: {words(frozen)}", "best on all families:",
        *lines,
    ])  # fmt: skip


def words(weights: tuple[float, ...]) -> str:
    """Write weights in words, without parts of weight 0."""
    pairs = zip(weights, PARTS, strict=True)
    return " + ".join(f"{w:g} {part}" if w != 1 else part for w, part in pairs if w)


if __name__ == "__main__":
    sys.exit(main())
