"""Fill the tables of docs/studies/reliability.md with the counts of the last proofs.

TVCS_COUNTS=tests/proofs/counts.json python3 dev.py prove
python -m tests.proofs.page
"""

import json
import math
from pathlib import Path
from typing import Any

from benchmarks.pages import fill, table
from tests.proofs.counts import COMMIT, KEPT

MUTANTS = Path(__file__).parent / "mutants"
PAGE = Path(__file__).parents[2] / "docs" / "studies" / "reliability.md"
Counts = dict[str, dict[str, Any]]
MOST = ("seconds at most", "MiB at most")


def together(cases: Counts, columns: list[str], sign: str) -> list[list[str]]:
    """A row for each first part of the names of cases: how many, the sums (or largest), of what.

    That is the commits, in the order of the cases.
    """
    groups: dict[str, list[dict[str, Any]]] = {}
    for name, counts in cases.items():
        groups.setdefault(name.split(sign)[0], []).append(counts)
    groups["all"] = list(cases.values())
    rows = []
    for name, parts in groups.items():
        found = [[part.get(column, 0) for part in parts] for column in columns]
        joined = [max(x) if c in MOST else sum(x) for c, x in zip(columns, found, strict=True)]
        cells = [
            f"{x:,.1f}" if c in MOST else f"{x:,}" for c, x in zip(columns, joined, strict=True)
        ]
        commits = dict.fromkeys(part[COMMIT] for part in parts)
        rows.append([name, str(len(parts)), *cells, ", ".join(commits)])
    rows[-1][-1] = ""  # of all
    return rows


TABLES = {
    "readers": (["files", "read", "refused", "failed", *MOST], " ", "kinds of file"),
    "readers in a process of 1 GiB": (["files"], " ", "kinds of file"),
    "kills": (["kills", "complete", "left something"], "\0", ""),
    "kills with --force": (["kills", "without run.json"], "\0", ""),
    "kills of changes": (["kills", "made", "not made"], "\0", ""),
    "saved projections": (["mutations", "refused", "not proved", "still true"], "\0", ""),
    "saved plans": (["edits"], ":", "files"),
    "campaigns": (
        ["kills", "answers", "lost", "double", "over a cap", "wrong counters", "wrong posteriors"],
        "\0", "",
    ),
}  # fmt: skip


SUMS = {
    "readers in a process of 1 GiB",
    "kills with --force",
    "kills of changes",
    "saved plans",
}  # one row


def mutants(folder: Path = MUTANTS) -> str:
    """A row for each file of counts of mutants."""
    rows = []
    for path in sorted(folder.glob("*.json")):
        counted = json.loads(path.read_text(encoding="utf-8"))
        files = counted["files"].values()
        tried, killed, late = (
            sum(of[word] for of in files) for word in ("tried", "killed", "late")
        )
        counts = (len(files), counted["mutants"], tried, killed, late, tried - killed)
        share = math.floor(1000 * killed / tried) / 10  # 90.0 is never less
        rows.append(
            [path.stem, counted["commit"], *(f"{count:,}" for count in counts), f"{share:.1f}"]
        )
    header = [
        "",
        "of commit",
        "files",
        "mutants",
        "tried",
        "killed",
        "by time",
        "survived",
        "% killed",
    ]
    return table(header, rows, words=2)


def written(page: str, kept: dict[str, Counts]) -> str:
    """The page with the tables of these counts."""
    for proof, (columns, sign, parts) in TABLES.items():
        cases = kept.get(proof, {})
        rows = together(cases, columns, sign)
        if proof in SUMS:
            rows = [[*rows[-1][:-1], ", ".join(dict.fromkeys(c[COMMIT] for c in cases.values()))]]
        if not parts:
            rows = [[row[0], *row[2:]] for row in rows]
        header = ["", *([parts] if parts else []), *columns, "of commit"]
        page = fill(page, proof, table(header, rows) if cases else "Not counted yet.")
    return fill(page, "mutants", mutants())


def main() -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), kept), encoding="utf-8")


if __name__ == "__main__":
    main()
