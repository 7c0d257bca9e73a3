"""The command `grn-tvcs compare`: differences between conditions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grn_tvcs.cli.layout import Layout
from grn_tvcs.cli.options import Genes, RegulatorFile, Threads, Workers, refuse_few_variable
from tvcs_core.arguments import Help
from tvcs_core.command.options import (
    Force,
    OutFolder,
    Seed,
    command_line,
    name_option,
    number_option,
    recorded,
    with_options,
)
from tvcs_core.command.results import results
from tvcs_core.command.shell import guarded, print_message
from tvcs_core.files.display import plural

if TYPE_CHECKING:
    from grn_tvcs.expression.expression import Expression
    from tvcs_core.engines import Engine

NAME = "grn-tvcs compare"


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """The options of ``grn-tvcs compare``."""

    a: Annotated[
        Path,
        typer.Argument(
            metavar="A",
            help="Time series of the first condition, as for infer, or of all with "
            "--condition-column; or a folder that infer finished.",
        ),
    ]
    b: Annotated[
        Path | None, typer.Argument(metavar="[B]", help="Likewise for the second condition.")
    ] = None
    out: OutFolder
    condition_column: Annotated[
        str | None,
        name_option(
            "Column that names the condition of each sample: of A, of its sheet of samples or "
            "of .obs (a row, where genes stand in rows)."
        ),
    ] = None
    conditions: Annotated[
        str | None,
        Help(
            "Conditions of the column that are compared, in this order: two, or up to six, "
            "then all pairs of them; for two tables the names of the conditions. Default: all, in "
            "the order of the rows, or the names of the files.",
            "A,B",
        ),
    ] = None
    fdr: Annotated[
        float, Help("False discovery rate of the edges that are reported as different.", "SHARE")
    ] = 0.2
    permutations: Annotated[
        int,
        number_option(
            "Maximum number of permutations of the series; all of them if there are fewer."
        ),
    ] = 200
    regulators: RegulatorFile = None
    genes: Genes = None
    top_variable: Annotated[
        int | None,
        number_option(
            "Use the N genes that vary most over all samples, and those of --regulators."
        ),
    ] = None
    layout: Layout
    seed: Seed = 0
    threads: Threads = 1
    workers: Workers = None
    force: Force = False

    @property
    def tables(self) -> list[Path]:
        """The files or folders that are compared."""
        return [self.a] if self.b is None else [self.a, self.b]

    @property
    def wanted(self) -> tuple[str, ...]:
        """The names of ``--conditions``."""
        names = () if self.conditions is None else self.conditions.split(",")
        stripped = tuple(name.strip() for name in names)
        is_wrong = len(stripped) < 2 or len(set(stripped)) < len(stripped) or "" in stripped
        if stripped and (is_wrong or (self.b is not None and len(stripped) != 2)):
            few = "two" if self.b is not None else "two or more"
            raise ValueError(
                f"--conditions must be {few} different names with a comma between, found "
                f"{self.conditions!r}"
            )
        return stripped

    def engine(self) -> Engine:
        """Return the engine; refuse options that exclude each other."""
        from tvcs_core.engines import make_engine

        return make_engine(threads=self.threads, workers=self.workers)


@guarded
@with_options
def compare(given: CompareOptions) -> None:
    """Compare conditions; write differences.tsv, genes.tsv, report.html and run.json.

    Whole series are permuted between the conditions to test a difference against chance, so each
    condition needs at least two series, three for genes and four for any significant edge. Of
    three conditions or more all pairs are compared, with one correction. For two folders of
    finished infer runs only edges.tsv are compared, without genes.tsv.
    """
    given.engine()
    refuse_few_variable(given.top_variable)
    if given.b is None and given.condition_column is None:
        raise ValueError(
            "give the table of the second condition too, or --condition-column with the column "
            "that names the condition of each sample"
        )
    if given.b is not None and given.condition_column is not None:
        raise ValueError("give a second table or --condition-column, not both")
    folders = [path.is_dir() for path in given.tables]
    if any(folders) and not all(folders):
        folder, other = sorted(given.tables, key=Path.is_dir, reverse=True)
        kind = "a file" if other.exists() else "not there"
        raise ValueError(
            f"give two tables or two finished folders, but {folder} is a folder and {other} {kind}"
        )
    if any(folders) and given.b is None:
        raise ValueError("a finished folder has no column of conditions; give a second one")
    _finished(given) if all(folders) else _tables(given)


def _tables(given: CompareOptions) -> None:
    from grn_tvcs.cli.genes import genes_compared
    from grn_tvcs.comparison.page import write_files, write_pairs
    from grn_tvcs.comparison.several import compare_all
    from grn_tvcs.expression.options import OFF
    from tvcs_core.command.progress import Progress

    parts, regulators = genes_compared(
        given.genes, given.top_variable, given.regulators, _read(given)
    )
    parameters = recorded(given)
    with results(NAME, given, seed=given.seed) as out:
        for sentence in _designs(parts, given):
            print_message(sentence)
        with given.engine() as engine, Progress("targets") as progress:
            found = compare_all(
                parts, regulators=regulators, scale=given.layout.scale,
                bins=OFF, fdr=given.fdr, permutations=given.permutations, rng=given.seed,
                engine=engine, progress=progress,
            )  # fmt: skip
        names = (path.resolve().name for path in given.tables)
        words = ["grn-tvcs", "compare", *names, "--out", "DIR"]
        command = command_line(words, parameters | {"seed": given.seed})
        if len(found.pairs) == 1:
            write_files(found.pairs[0], out, command=command)
        else:
            write_pairs(found, out, command=command)
    for one in found.pairs:
        pair = f"{' and '.join(one.names)}: " if len(found.pairs) > 1 else ""
        print_message(pair + (one.describe() if one.is_testable else one.describe_genes()))
    if any(one.is_testable for one in found.pairs):
        print_message(found.pairs[0].describe_power())
    print_message(f"open {given.out / 'report.html'}")


def _designs(parts: dict[str, Expression], given: CompareOptions) -> list[str]:
    """Describe the power of the series of each pair, before the work."""
    from grn_tvcs.comparison.permutations import MIN_SERIES, count_permutations, describe_design
    from grn_tvcs.comparison.several import most_permutations

    n = {name: part.n_series for name, part in parts.items()}
    pairs = list(combinations(parts, 2))
    most = most_permutations(given.permutations, len(pairs))
    return [
        describe_design(
            (a, b), (n[a], n[b]), min(most, count_permutations(n[a], n[b])), fdr=given.fdr,
            n_tests=len(pairs),
        )
        for a, b in pairs
        if min(n[a], n[b]) >= MIN_SERIES
    ]  # fmt: skip


def _read(given: CompareOptions) -> dict[str, Expression]:
    """Read the conditions, by name."""
    from grn_tvcs.comparison.conditions import conditions_in

    layout = given.layout
    if given.b is not None:
        names = given.wanted or _named(given.a, given.b)
        paths = zip(names, given.tables, strict=True)
        return {name: layout.read([path], name) for name, path in paths}
    assert given.condition_column is not None
    found = conditions_in(given.a, given.condition_column, given.wanted, layout)
    return {name: layout.prepared(part, name) for name, part in found.items()}


def _named(a: Path, b: Path) -> tuple[str, str]:
    """Return the names of two conditions: those of their files, or of their folders."""
    if a.stem != b.stem:
        return a.stem, b.stem
    if str(a) != str(b):
        return str(a), str(b)
    raise ValueError(f"give two different tables, found {a} twice")


def _finished(given: CompareOptions) -> None:
    from grn_tvcs.comparison.finished import KINDS, compare_edges, read_finished
    from grn_tvcs.comparison.page import render_finished

    _refuse_table_options(given)
    first, second = (read_finished(path) for path in given.tables)
    header, rows, sentences = compare_edges(first, second)
    records = [one.folder / "run.json" for one in (first, second)]
    named = {"conditions": given.conditions} if given.wanted else {}
    a, b = given.wanted or _folders(first.folder, second.folder)
    names = (path.resolve().name for path in given.tables)
    words = ["grn-tvcs", "compare", *names, "--out", "DIR"]
    page = render_finished(
        (first, second), (a, b), (header, rows), sentences, command=command_line(words, named)
    )  # fmt: skip
    with results(NAME, given, named, inputs=records, notes=sentences) as out:
        out.table("differences.tsv", header, rows)
        out.text("report.html", page)
    counts = {kind: sum(row[2] == kind for row in rows) for kind in KINDS[:-1]}
    print_message(
        ", ".join(f"{n} {kind}" for kind, n in counts.items()) + f" of {plural(len(rows), 'edge')}"
    )
    for sentence in sentences:
        print_message(sentence)
    print_message(f"open {given.out / 'report.html'}")


def _refuse_table_options(given: CompareOptions) -> None:
    """Refuse options that would have no effect, and an output folder that is an input."""
    plain = CompareOptions(a=given.a, out=given.out, layout=Layout())
    values, usual = (recorded(options) for options in (given, plain))
    for name, value in values.items():
        if name != "conditions" and (value or None) != (usual[name] or None):
            raise ValueError(
                f"--{name.replace('_', '-')} is for tables; finished folders have their edges "
                "already"
            )
    if given.out.resolve() in {path.resolve() for path in given.tables}:
        raise ValueError(f"--out must be another folder than the two, found {given.out}")


def _folders(a: Path, b: Path) -> tuple[str, str]:
    """Return the names of two finished networks: those of their folders, if they differ."""
    names = a.resolve().name, b.resolve().name
    return names if names[0] != names[1] else ("the first", "the second")
