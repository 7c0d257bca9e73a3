"""The command `grn-tvcs infer`."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from grn_tvcs.cli_options import (
    ExpressionFiles,
    Force,
    GenesInRows,
    Knockdowns,
    Knockouts,
    Layout,
    MaxEdges,
    MaxInDegree,
    MaxOutDegree,
    Method,
    MethodOptions,
    Missing,
    OutDegrees,
    OutFolder,
    Pairs,
    PerturbedUntil,
    Pseudotime,
    ReferenceFile,
    RegulatorFile,
    Resume,
    Samples,
    Seed,
    SeriesColumn,
    Threads,
    TimeColumn,
    WildType,
)
from tvcs_core.shell import guarded, refuse_negative_seed, say

if TYPE_CHECKING:
    from grn_tvcs.expression import Expression


# One parameter for each option, and beyond them one step after the other: read, work, write.
@guarded
def infer(
    expression: ExpressionFiles,
    out: OutFolder,
    max_in_degree: MaxInDegree = None,
    max_out_degree: MaxOutDegree = None,
    out_degrees: OutDegrees = None,
    max_edges: MaxEdges = None,
    regulators: RegulatorFile = None,
    samples: Samples = None,
    pseudotime: Pseudotime = None,
    genes_in_rows: GenesInRows = False,
    time_column: TimeColumn = None,
    series_column: SeriesColumn = None,
    perturbed_until: PerturbedUntil = None,
    knockouts: Knockouts = None,
    knockdowns: Knockdowns = None,
    wildtype: WildType = None,
    missing: Missing = "error",
    method: Method = "tvcs",
    option: MethodOptions = None,
    reference: ReferenceFile = None,
    pairs: Pairs = "all",
    seed: Seed = 0,
    threads: Threads = 1,
    force: Force = False,
    resume: Resume = False,
) -> None:
    """Infer a network; write edges.tsv, network.graphml, network.sif, report.html and run.json."""
    from grn_tvcs import infer_inputs as given
    from grn_tvcs.infer_results import Results
    from grn_tvcs.infer_work import Work
    from grn_tvcs.rules import Rules
    from tvcs_core.files import output_folder

    refuse_negative_seed(seed)
    given.refuse_bad_words(threads, pairs)
    cap, is_auto = given.edge_cap(max_edges)
    out_caps = given.read_out_degrees(max_out_degree, out_degrees)
    Rules(max_in_degree, out_caps, cap)
    options = given.method_options(method, option or [])
    layout = Layout(
        missing, samples, pseudotime, genes_in_rows, time_column, series_column, perturbed_until
    )
    data = layout.read(expression)
    rules = Rules(max_in_degree, out_caps, cap, given.read_regulators(regulators, data))
    steady = given.read_steady(knockouts, knockdowns, wildtype)
    true = given.read_true_edges(reference, data)
    recorded: dict[str, Any] = {
        "max_in_degree": max_in_degree, "max_edges": "auto" if is_auto else cap,
        "max_out_degree": max_out_degree, "perturbed_until": perturbed_until, "missing": missing,
        "genes_in_rows": genes_in_rows, "time_column": time_column,
        "series_column": series_column, "method": method, "option": sorted(option or []),
        "pairs": pairs if reference else None,
    }  # fmt: skip
    files = {
        "regulators": regulators, "out_degrees": out_degrees, "knockouts": knockouts,
        "knockdowns": knockdowns, "wildtype": wildtype, "samples": samples,
        "pseudotime": pseudotime, "reference": reference,
    }  # fmt: skip
    there = {name: path for name, path in files.items() if path is not None}
    recorded |= dict.fromkeys(files) | {name: path.name for name, path in there.items()}
    inputs = [*expression, *there.values()]
    keep = out / given.FINISHED
    work = Work(data, method, rules, options, steady, seed, is_auto, threads, keep)
    given.prepare(out, force=force, resume=resume)
    with output_folder(out, force=force or resume) as folder:
        say(f"{' '.join(map(str, expression))}: {_about(data)}; method {method}, seed {seed}")
        if method == "tvcs":
            say(work.expected())
        count = work.count()
        if count is not None:
            say(count.said())
        network, kept = work.run(count)
        results = Results(
            network, data, kept, recorded, seed, inputs, len(expression), true, pairs, count
        )
        results.write(folder)
    shutil.rmtree(keep, ignore_errors=True)
    n_selected, n_scored = int(network.out_degrees.sum()), int((network.scores > 0).sum())
    say(f"{n_selected} edges selected of {n_scored} with a score; open {out / 'report.html'}")


def _about(data: Expression) -> str:
    from grn_tvcs.expression import scale

    on = data.perturbed
    known = "perturbation not known" if on is None else f"{on.sum()} samples perturbed"
    size = f"{len(data.genes)} genes, {len(data.times)} samples in {len(data.pieces())} series"
    return f"{size}; {scale(data)}; {known}"
