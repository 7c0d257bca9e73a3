"""The command `grn-tvcs infer`."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from grn_tvcs.cli.options import InferOptions
from tvcs_core.command.options import with_options
from tvcs_core.command.results import results
from tvcs_core.command.shell import guarded, print_message
from tvcs_core.command.standard_input import files_of, shown
from tvcs_core.files.display import plural

if TYPE_CHECKING:
    from grn_tvcs.expression.expression import Expression


@guarded
@with_options
def infer(given: InferOptions) -> None:
    """Infer a network; write edges.tsv, network.graphml, network.sif, report.html and run.json."""
    with files_of(given.expression) as files:
        try:
            _infer(replace(given, expression=files))
        except KeyboardInterrupt:
            if given.checkpoints.exists():
                print_message(
                    f"{given.checkpoints} holds the finished part; the same command with --resume "
                    "continues"
                )
            raise


def _infer(given: InferOptions) -> None:
    # Read and check everything, then do the long work, then write.
    from grn_tvcs.cli.inputs import read_inputs
    from grn_tvcs.cli.results import write_results
    from grn_tvcs.cli.resume import DONE, INTERRUPTED, earlier_run
    from grn_tvcs.inference.directions import describe_undirected
    from grn_tvcs.inference.samples import unknowable
    from grn_tvcs.methods.table import METHODS
    from grn_tvcs.network.edge import FILES
    from grn_tvcs.network.rules import FEW
    from grn_tvcs.stability.stability import why_no_stability

    work = read_inputs(given)
    given = work.given
    out, data = given.out, work.data
    before = earlier_run(given)
    if before == DONE:
        print_message(f"nothing is left to do: {out} holds the results of this run")
        return
    is_resumed = before == INTERRUPTED
    place = replace(given, force=given.force or is_resumed)
    with results("grn-tvcs infer", place, seed=given.seed) as written:
        if not is_resumed:
            shutil.rmtree(given.checkpoints, ignore_errors=True)
        files = " ".join(map(shown, given.expression))
        print_message(
            f"{files}: {_about(data, given.method)}; method {given.method}, seed {given.seed}"
        )
        not_known = unknowable(data, given.method)
        if not_known is not None:
            print_message(not_known)
        if "resamples" in METHODS[given.method].options:  # what halves the series
            print_message(work.expected())
            why = why_no_stability(data) if data.series else None
            if why is not None:
                print_message(f"no edge gets a stability: {why}")
        else:
            work.refuse_too_large()
        with work.engine:
            network = work.run()
        made = network.provenance
        assert made is not None  # `infer` made it
        if network.verdict is not None:
            print_message(network.verdict.describe())
        for note in network.notes:
            print_message(note)
        if why := made.rules.why_so_many(network.n_selected):
            print_message(f"{why} --max-edges N selects N.")
        if direction := describe_undirected(network):
            print_message(direction)
        write_results(work, network, written)
    shutil.rmtree(given.checkpoints, ignore_errors=True)
    (out / FILES[not given.compress]).unlink(missing_ok=True)  # of an earlier run
    n_selected, n_scored = network.n_selected, network.n_scored
    edges = plural(n_selected, "candidate edge" if made.rules.chosen_by == FEW else "edge")
    print_message(f"{edges} selected of {n_scored} with a score; open {out / 'report.html'}")


def _about(data: Expression, method: str) -> str:
    from grn_tvcs.expression.expression import describe_samples
    from grn_tvcs.report.methods_text import describe_values

    on = data.perturbed
    genes = plural(len(data.genes), "gene")
    facts = [f"{genes}, {describe_samples(data)}", describe_values(data, method)]
    if data.series:
        known = (
            "perturbation not known" if on is None else f"{plural(on.sum(), 'sample')} perturbed"
        )
        facts.append(known)
    return "; ".join(facts)
