"""What is each part of the default worth, on tables that nothing was learned from? -> three tables.

    python -m benchmarks.real.parts [FOLDER] [--tables N] [--seed N] [--keep DIR]

One part at a time is left out. *Ranking*: the change of log2(AUPR / chance), the mean over the
tables of a family, and how many families gain and lose more than .02. *Chances*: of networks, what
is claimed (a probability of at least one half), what should and what is true, and the error of
probabilities above .1; of tables without any edge, what is claimed and how many have a claim.
*Real sets*: what would be claimed if no check kept probabilities back. Families are designs of our
simulator in fresh draws, its tables with traits of real ones, tables of `stars`, and the real sets
of FOLDER (`benchmarks.real.sets`). Models are not trained anew: parts of the learned combination
are left out of its mean.
"""

from __future__ import annotations

import argparse
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.study import one_thread

one_thread()

import numpy as np  # noqa: E402

from benchmarks.learning.without_edges import (  # noqa: E402
    DRIVEN,
    UNMEASURED,
    draw_without_edges,
)
from benchmarks.pages import table  # noqa: E402
from benchmarks.peers.areas import average_precision  # noqa: E402
from benchmarks.real.sets import (  # noqa: E402
    SIMULATED,
    Gold,
    Table,
    real_table,
    real_tables,
    simulated_table,
)
from benchmarks.real.stars import DESIGNS, LAYOUTS, NETWORK, NULL, of_layout  # noqa: E402
from grn_tvcs import Rules  # noqa: E402
from grn_tvcs.combine.blend.blend import (  # noqa: E402
    LEARNED,
    SUM,
    WEIGHTS,
    blend,
    learned_weight,
    rankings_of,
    used_rankings,
)
from grn_tvcs.combine.calibration import Calibration, load_or_calibrate  # noqa: E402
from grn_tvcs.combine.coexpression import (  # noqa: E402
    coexpression_measures,
    design_for,
    load_coexpression,
)
from grn_tvcs.combine.combiner import Combiner, stage_logits  # noqa: E402
from grn_tvcs.combine.direction import shared_direction  # noqa: E402
from grn_tvcs.combine.evidence_scores import compute_evidence  # noqa: E402
from grn_tvcs.combine.features import pair_features  # noqa: E402
from grn_tvcs.combine.nulls import compress_logits, null_log_odds, weight_by_non_null  # noqa: E402
from grn_tvcs.combine.platt_scaling import sigmoid  # noqa: E402
from grn_tvcs.combine.pretrained import load_pretrained  # noqa: E402
from grn_tvcs.evidence.lagged_regression import DEFAULT_PLAN  # noqa: E402
from grn_tvcs.methods.combined import (  # noqa: E402
    _is_far,
    _shipped_calibration,
    _traits_and_design,
)
from grn_tvcs.network.confidence import LIKELY, calibration_error  # noqa: E402
from grn_tvcs.simulation.designs import CELL_INTERVAL, RANDOM, Design  # noqa: E402
from grn_tvcs.simulation.examples import draw_example  # noqa: E402
from grn_tvcs.simulation.kinds import KINDS, NULLS  # noqa: E402
from grn_tvcs.stability.execution import SERIAL  # noqa: E402
from tvcs_core.streams import stream  # noqa: E402

HELD_OUT = {
    "10 genes, 5 x 21": Design(10, 10, 5, 21),
    "30 genes, 10 x 21": Design(30, 30, 10, 21),
    "30 genes, 1 x 12": Design(30, 30, 1, 12),
    "30 genes, 5 x 8, random starts": Design(30, 30, 5, 8, start=RANDOM),
    "30 genes of which 9 listed, 4 x 8": Design(30, 9, 4, 8),
    "20 genes, 50 at rest": Design(20, 20, 0, 3, n_steady=50),
    "20 genes, cells in bins": Design(20, 20, 2, 30, CELL_INTERVAL, cells=20),
}
ABOVE, NOTABLE, FIRST = 0.1, 0.02, 20
FULL = "all parts"

Array = np.ndarray


@dataclass(frozen=True)
class Record:
    """All that the parts say of one table; scores are [input, gene].

    `logits` has those of the whole combination, of trees and nets alone and of first stages.
    """

    family: str
    golds: tuple[tuple[Array, Array], ...]
    allowed: Array
    logits: dict[str, Array]
    rankings: dict[str, Array]
    known: Calibration
    none: float
    n_genes: int
    is_far: bool
    is_outside: bool
    is_coexpressed: bool
    is_one_way: bool


def drawn_tables(number: int, seed: int) -> Iterator[tuple[str, Callable[[], Table]]]:
    """Yield the name of each simulated table, and what draws it."""
    for family, design in HELD_OUT.items():
        for k in range(number):
            yield f"{family} {k}", lambda f=family, d=design, k=k: of_design(f, d, k, seed)
    for family in SIMULATED:
        for k in range(max(1, number // 2)):
            yield f"{family} {k}", lambda f=family, k=k: simulated_table(f, 100 + k + seed)
    for name, what in (*((one.name, one) for one in LAYOUTS), *DESIGNS.items()):
        kinds = (NETWORK, NULL) if name not in DESIGNS else (*NULLS, DRIVEN, UNMEASURED)
        for kind in kinds:
            for k in range(max(1, number // 4)):
                yield (
                    f"{name}, {kind} {k}",
                    lambda n=name, w=what, kind=kind, k=k: of_star(n, w, kind, k, seed),
                )


def of_design(family: str, design: Design, k: int, seed: int) -> Table:
    """Draw a network of a design, flat to star in turn."""
    rng = stream(seed, "parts", design.key, str(k))
    made = draw_example(design, tuple(KINDS)[k % len(KINDS)], rng)
    judged = made.rules.allowed(made.expression.genes)
    return Table(family, family, made.expression, made.rules, (Gold("", made.is_edge, judged),))


def of_star(name: str, where: Any, kind: str, k: int, seed: int) -> Table:
    """Draw a table of a common stimulus, or one without edges."""
    rng = stream(seed, "parts", name, kind, str(k))
    if isinstance(where, Design):
        null = draw_without_edges(where, kind, rng)
        expression, is_edge, rules = null.expression, null.is_edge, null.rules
    else:
        made = of_layout(where, kind, rng)
        expression, is_edge = made.expression, made.is_edge
        rules = Rules(regulators=made.regulators)
    judged = rules.allowed(expression.genes)
    family = "stimulus, networks" if is_edge.any() else "no edge"
    return Table(family, name, expression, rules, (Gold("", is_edge, judged),))


def record_of(made: Table) -> Record:
    """Compute all parts on a table."""
    model, rng, expression = load_pretrained(), stream(0, "combined"), made.expression
    traits, design = _traits_and_design(expression, made.rules, None)
    evidence = compute_evidence(expression, made.rules, rng)
    combiner, features = model.combiner, pair_features(evidence)
    logits = {
        FULL: combiner.logits(features, evidence.inputs),
        "trees": replace(combiner, nets=()).logits(features, evidence.inputs),
        "nets": replace(combiner, stages=()).logits(features, evidence.inputs),
        "first": first_logits(combiner, features),
    }
    known = _shipped_calibration(model, design, DEFAULT_PLAN.resamples) or load_or_calibrate(
        combiner, model.stamp, design, resamples=DEFAULT_PLAN.resamples,
        null_model=model.null_model(design),
    )  # fmt: skip
    rankings = rankings_of(evidence, logits[FULL], expression, made.rules, rng, None, SERIAL)
    shared = shared_direction(expression)
    excess = load_coexpression().is_excessive(
        coexpression_measures(expression), design_for(expression, design)
    )
    inputs = evidence.inputs
    return Record(
        made.family,
        tuple((gold.is_edge[inputs], gold.judged[inputs]) for gold in made.golds),
        evidence.allowed,
        logits,
        rankings,
        known,
        null_log_odds(model.nulls, traits, design, shared=shared),
        len(expression.genes),
        _is_far(model, traits, design),
        model.trait_distributions[design.start].is_out_of_domain(traits, design),
        excess,
        bool(shared > known.shared),
    )


def first_logits(combiner: Combiner, features: Any) -> Array:
    """Return log-odds of the first stages alone."""
    return np.mean(
        [
            np.mean([stage_logits(one.first, features, combiner.names) for one in kind], axis=0)
            for kind in (combiner.stages, combiner.nets)
        ],
        axis=0,
    )


Answer = tuple[Array, bool]  # scores, and whether they are probabilities


def answer(one: Record, weights: dict[str, float] = WEIGHTS, share: float | None = None) -> Answer:
    """Return what `combined` answers; `share` fixes the weight of the learned combination."""
    logits = one.logits[FULL]
    if one.is_far or one.is_outside or one.is_coexpressed or one.is_one_way:
        learned = 0.0 if one.is_far or one.is_one_way else learned_weight(logits, one.allowed)
        learned = learned if share is None else share
        used = used_rankings(one.rankings, learned)
        used = {name: weight for name, weight in used.items() if weights.get(name)}
        return blend(one.rankings, one.allowed, used), False
    z = compress_logits(
        weight_by_non_null(one.known.of(logits, one.n_genes), one.none), one.known.limit
    )
    return np.where(one.allowed, sigmoid(z), 0.0), True


def without(name: str) -> Callable[[Record], Answer]:
    """Answer with other log-odds."""
    return lambda one: answer(replace(one, logits={FULL: one.logits[name]}))


def ungated(**facts: Any) -> Callable[[Record], Answer]:
    """Answer with some facts of the table replaced."""
    return lambda one: answer(replace(one, **facts))


VARIANTS: dict[str, Callable[[Record], Answer]] = {
    FULL: answer,
    "without nets": without("trees"),
    "without trees": without("nets"),
    "without second stages": without("first"),
    "without the check of traits": ungated(is_far=False, is_outside=False),
    "without the check of co-expression": ungated(is_coexpressed=False),
    "without both checks": ungated(is_far=False, is_outside=False, is_coexpressed=False),
    "without the check of one direction": ungated(is_one_way=False),
    "without trees of tables without edges": ungated(none=-50.0),
    "without the limit of tables without edges": lambda one: answer(
        replace(one, known=replace(one.known, limit=-np.inf))
    ),
    "without calibration": lambda one: answer(
        replace(one, known=replace(one.known, offset=0.0, slope=1.0))
    ),
    "the plain sum in place of the blend": lambda one: answer(
        replace(one, rankings={SUM: one.rankings[SUM]})
    ),
    **{
        f"blend without {name}": lambda one, name=name: answer(one, WEIGHTS | {name: 0.0})
        for name in WEIGHTS
    },
    "blend, learned by a fixed weight": lambda one: answer(one, share=WEIGHTS[LEARNED]),
    "blend, size of the sum everywhere": lambda one: answer(replace(one, is_far=True)),
}


def of_family(records: list[Record], variant: Callable[[Record], Answer]) -> dict[str, float]:
    """Return the mean log2 of AUPR relative to chance by family."""
    found: dict[str, list[float]] = {}
    for one in records:
        scores = variant(one)[0]
        for is_edge, judged in one.golds:
            truth = is_edge[judged]
            if truth.any():
                gain = np.log2(average_precision(truth, scores[judged]) / truth.mean())
                found.setdefault(one.family, []).append(float(gain))
    return {family: float(np.mean(values)) for family, values in found.items()}


def lines_of_change(means: Mapping[str, Mapping[str, float]]) -> list[list[str]]:
    """Return a row for each variant, given its means by family, the dearest part first.

    The first variant has all parts.
    """
    full = next(iter(means.values()))
    rows = []
    for name, found in means.items():
        change = {family: value - full[family] for family, value in found.items()}
        mean = float(np.mean(list(change.values())))
        ends = [
            f"{family} {change[family]:+.2f}" if abs(change[family]) >= 0.005 else ""
            for family in (min(change, key=change.__getitem__), max(change, key=change.__getitem__))
        ]
        lose, gain = (sum(sign * v > NOTABLE for v in change.values()) for sign in (-1, 1))
        rows.append((mean, [name, *ends, f"{lose}", f"{gain}", f"{mean:+.3f}"]))
    return [cells for _, cells in sorted(rows, key=lambda row: row[0])]


def chance_lines(records: list[Record]) -> list[list[str]]:
    """Return the rows of the second table."""
    rows = []
    for name, variant in VARIANTS.items():
        if "blend" in name:
            continue
        cells = [name]
        for is_null in (False, True):
            some = [one for one in records if (one.family == "no edge") == is_null]
            found = [(one, *variant(one)) for one in some]
            found = [(one, p) for one, p, is_chance in found if is_chance]
            cells.append(f"{len(found)} of {len(some)}")
            golds = [(p, *one.golds[0]) for one, p in found]
            probability = np.concatenate([np.empty(0), *(p[judged] for p, _, judged in golds)])
            true = np.concatenate([np.empty(0, bool), *(e[judged] for _, e, judged in golds)])
            likely = probability >= LIKELY
            cells += [str(int(likely.sum())), f"{probability[likely].sum():.0f}"]
            if is_null:
                some = [p for _, p in found if (p >= LIKELY).any()]
                cells.append(str(len(some)))
            else:
                error = calibration_error(probability, true, above=ABOVE).error
                cells += [str(int(true[likely].sum())), f"{error:.3f}"]
        rows.append(cells)
    return rows


def real_lines(records: Mapping[str, Record]) -> list[list[str]]:
    """Return what probabilities would claim on real sets if no check kept them back."""
    rows = []
    for name, one in records.items():
        open_to_all = replace(
            one, is_far=False, is_outside=False, is_coexpressed=False, is_one_way=False
        )
        p = answer(open_to_all)[0]
        for is_edge, judged in one.golds:
            truth, probability = is_edge[judged], p[judged]
            top, above = np.argsort(-probability, kind="stable")[:FIRST], probability > ABOVE
            cells = f"{probability[top].sum():.1f}", truth[top].sum(), above.sum()
            more = f"{probability[above].sum():.1f}", truth[above].sum(), f"{probability.max():.2f}"
            given = "yes" if answer(one)[1] else "no"
            rows.append([name, given, f"{truth.mean():.3f}", *map(str, (*cells, *more))])
    return rows


def options(doc: str) -> argparse.ArgumentParser:
    """Make the parser of a study on `all_tables`."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=None, help="of the real sets")
    parser.add_argument("--tables", type=int, default=12, help="of each design")
    parser.add_argument("--seed", type=int, default=0)
    return parser


def all_tables(given: argparse.Namespace) -> list[tuple[str, Callable[[], Table]]]:
    """Return the simulated tables and the real sets that the options of `options` name."""
    tables = list(drawn_tables(given.tables, given.seed))
    if given.folder is not None:
        for name in real_tables(given.folder):
            tables.append((name, lambda name=name: real_table(given.folder, name)))
    return tables


def main() -> int:
    """Run the study."""
    parser = options(__doc__)
    parser.add_argument("--keep", type=Path, default=None, help="folder for what is computed")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = all_tables(given)
    records = []
    real = set() if given.folder is None else {*real_tables(given.folder)}
    for name, draw in tables:
        records.append(kept(name, draw, given.keep))
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    heads = "part", "most lost", "most gained", "families that lose", "that gain", "mean"
    means = {name: of_family(records, variant) for name, variant in VARIANTS.items()}
    print(table(heads, lines_of_change(means), words=3), end="\n\n")
    heads = (
        "part", "networks described", "claimed", "should be true", "are true", "error",
        "without edges described", "claimed", "should be true", "tables with a claim",
    )  # fmt: skip
    print(table(heads, chance_lines(records)), end="\n\n")
    of_real = {name: one for (name, _), one in zip(tables, records, strict=True) if name in real}
    heads = (
        "set", "probabilities", "chance", f"first {FIRST}: should be true", "are true",
        f"above {ABOVE}", "should be true", "are true", "largest",
    )  # fmt: skip
    print(table(heads, real_lines(of_real)))
    return 0


def kept(name: str, draw: Callable[[], Table], keep: Path | None) -> Record:
    """Return the record of a table, from the folder if it is there."""
    path = None if keep is None else keep / f"{name.replace(' ', '-')}.pickle"
    if path is not None and path.exists():
        found: Record = pickle.loads(path.read_bytes())
        return found
    found = record_of(draw())
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(found))
    return found


if __name__ == "__main__":
    sys.exit(main())
