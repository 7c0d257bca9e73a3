"""Which task gets the next label: `python -m benchmarks.campaign.routes DATA [--powers 0,.1,.2]`.

Labels are bought as adaptive replay buys them, by uncertainty x separation, but that the
uncertainty u of a task counts as u^(1 - a) g^a: g is what labels of the best worker who is left
add, each, and a one of the powers; 0 is what replay does. Right labels with 1, 2 and 3 labels per
task, and how far ahead of 0 on the same splits, with the standard error of the draw of gold. DATA
is as of `stopping`; the splits are others than its.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.pages import standard_error
from benchmarks.study import first_answers
from crowd_tvcs.answers.answers import Answers, read_gold
from crowd_tvcs.belief.uncertainty import uncertainty
from crowd_tvcs.routing.replay import GOLD_SHARE, Split, adaptive, draw_split, expected_drop, gains
from tvcs_core.streams import stream

ASKED = (1, 2, 3)  # labels per task
LEAST = 1e-12  # of a gain, so that labels which add nothing come last

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of recorded answers")
    parser.add_argument("--powers", default="0,.1,.2")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="number of the first split")
    parser.add_argument("--sets", default="")
    given = parser.parse_args()
    there = sorted(path.parent.name for path in given.data.glob("*/truth.csv"))
    for name in given.sets.split(",") if given.sets else there:
        print(name, flush=True)
        truth = read_gold(given.data / name / "truth.csv")
        answers = first_answers(given.data / name / "label.csv", truth)
        found: dict[float, list[list[float]]] = {0.0: []}
        for number in range(given.first, given.first + given.splits):
            rng = stream(0, "chosen", str(number))
            split = draw_split(answers, truth, GOLD_SHARE, per_class=False, rng=rng)
            for power in {0.0: None} | {float(one): None for one in given.powers.split(",")}:
                found.setdefault(power, []).append(bought_by(split, power))
        plain = np.array(found[0.0])
        for power, rows in found.items():
            reached = np.array(rows)
            ahead = reached - plain
            means = " ".join(f"{value:.4f}" for value in reached.mean(axis=0))
            more = " ".join(f"{d.mean():+.4f} ± {standard_error(d):.4f}" for d in ahead.T)
            print(f"  {power:<5g} right {means}  ahead {more}", flush=True)
    return 0


def bought_by(split: Split, power: float) -> list[float]:
    """Return the shares of right labels with `ASKED` labels per task."""

    def score(split: Split, bought: Answers, is_open: Bools, chances: Floats) -> Floats:
        """Uncertainty that falls, moved towards what labels add."""
        scores = expected_drop(split, bought, is_open, chances)
        if power:
            gain = np.maximum(gains(split, bought, is_open, chances), LEAST)
            scores *= (gain / np.maximum(uncertainty(chances), LEAST)) ** power
        return scores

    recorded = split.recorded
    bought = [recorded.select(chosen) for _, chosen in adaptive(split, ASKED, score)]
    return [split.score(split.posterior(answers)) for answers in bought]


if __name__ == "__main__":
    sys.exit(main())
