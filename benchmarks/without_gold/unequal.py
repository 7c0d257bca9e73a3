"""Votes without gold where classes are unequal: `python -m benchmarks.without_gold.unequal DATA`.

Five of the six public sets have nearly equal classes. Here a task of their classes is kept with the
probabilities 1, .5, .3, .25 and .2 (with two classes 1 and .3), in three draws: right labels by all
answers and by three drawn ones. `--write-docs` fills the table of
docs/studies/crowd-without-gold.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.pages import fill_file, plain, table
from benchmarks.study import DOCS
from benchmarks.without_gold.study import PEERS, alone, drawn, judged, recorded
from crowd_tvcs.answers.answers import Answers
from tvcs_core.streams import stream

METHODS = ("unsupervised", "majority", *PEERS)
KEPT = (1.0, 0.5, 0.3, 0.25, 0.2)
DRAWS = 3


def unequal(
    answers: Answers, truth: NDArray[np.int64], number: int
) -> tuple[Answers, NDArray[np.bool_]]:
    """Keep the classes in unequal shares; return the answers and the mask of kept tasks."""
    k, rng = len(answers.classes), stream(0, "unequal classes", str(number))
    share = rng.permutation(KEPT[:k] if k > 2 else KEPT[::2][:k])
    kept = (truth >= 0) & (rng.random(truth.size) < share[np.maximum(truth, 0)])
    return answers.select(kept[answers.task_of]), kept


def right(data: str, name: str, method: str, labels: int) -> float:
    answers, _, truth = recorded(data, name)
    found = []
    for number in range(DRAWS):
        part, kept = unequal(answers, truth, number)
        seen = drawn(part, labels, number, np.zeros(truth.size, dtype=bool))
        found.append(judged(alone(method, seen, data, name), truth, kept)[0])
    return float(np.mean(found))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of recorded answers")
    parser.add_argument("--write-docs", action="store_true")
    given = parser.parse_args()
    names = sorted(path.parent.name for path in given.data.glob("*/truth.csv"))
    rows = []
    for labels, word in ((0, "all"), (3, "three")):
        cells = [[right(str(given.data), name, m, labels) for m in METHODS] for name in names]
        rows += [[n, word, *map(plain, each)] for n, each in zip(names, cells, strict=True)]
        rows.append(["mean", word, *map(plain, np.mean(cells, axis=0).tolist())])
    text = table(["set", "labels", *METHODS], rows, words=2)
    print(text)
    if given.write_docs:
        page = DOCS / "studies" / "crowd-without-gold.md"
        fill_file(page, {"unequal": text})
    return 0


if __name__ == "__main__":
    sys.exit(main())
