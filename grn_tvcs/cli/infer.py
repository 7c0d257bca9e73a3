"""The command `grn-tvcs infer`."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from grn_tvcs.cli.options import (
    ExpressionFiles,
    Force,
    GenesInRows,
    Knockdowns,
    Knockouts,
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
    Scale,
    Seed,
    SeriesColumn,
    Threads,
    TimeColumn,
    WildType,
)
from tvcs_core.command.shell import guarded, say

if TYPE_CHECKING:
    from grn_tvcs.cli.inputs import Given
    from grn_tvcs.expression.expression import Expression


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
    scale: Scale = None,
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
    given = locals()
    from grn_tvcs.cli.inputs import Given

    _run(Given(**given))


def _run(given: Given) -> None:
    """Read and check everything, then do the long work, then write."""
    from grn_tvcs.cli.results import Results
    from grn_tvcs.stability.stability import untold
    from tvcs_core.files.folders import output_folder

    work, reference = given.read()
    out, data = given.out, work.data
    if given.resume and given.is_done():
        say(f"nothing is left to do: {out} holds the results of this run")
        return
    goes_on = given.goes_on()
    with output_folder(out, force=given.force or goes_on) as folder:
        if not goes_on:
            shutil.rmtree(work.keep, ignore_errors=True)
        files = " ".join(map(str, given.expression))
        say(f"{files}: {_about(data)}; method {given.method}, seed {given.seed}")
        if given.method == "tvcs":
            say(work.expected())
            why = untold(data)
            if why is not None:
                say(f"no edge gets a stability: {why}")
        count = work.count()
        if count is not None:
            say(count.said())
        network, rules = work.run(count)
        Results(network, data, rules, given, reference, count, work.steady).write(folder)
    shutil.rmtree(work.keep, ignore_errors=True)
    n_selected, n_scored = int(network.out_degrees.sum()), int((network.scores > 0).sum())
    say(f"{n_selected} edges selected of {n_scored} with a score; open {out / 'report.html'}")


def _about(data: Expression) -> str:
    from grn_tvcs.expression.scales import said

    on = data.perturbed
    known = "perturbation not known" if on is None else f"{on.sum()} samples perturbed"
    size = f"{len(data.genes)} genes, {len(data.times)} samples in {len(data.pieces())} series"
    return f"{size}; {said(data)}; {known}"
