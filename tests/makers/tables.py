"""Tables as files."""

import csv
from pathlib import Path


def rows_of(path):
    """The rows of a table with a header: dictionaries by the names of the columns."""
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t" if str(path).endswith(".tsv") else ","))


def edit(path, change):
    """Change the rows of a table in place, its header among them."""
    with Path(path).open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    change(rows)
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def save(path, *rows):
    """Write rows of values without commas."""
    Path(path).write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
