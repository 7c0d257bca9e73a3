"""The inputs of `grn-tvcs infer`: files and options, read and checked before the long work."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from grn_tvcs.cli.genes import genes_used
from grn_tvcs.cli.options import InferOptions
from grn_tvcs.cli.work import Inference
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.formats.steady import read_steady_states
from grn_tvcs.expression.options import AUTO
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.inference.samples import refuse_unsuited
from grn_tvcs.network.edge_files import reference_in
from grn_tvcs.network.prior import read_prior
from grn_tvcs.network.rules import Rules
from tvcs_core.files.display import quoted
from tvcs_core.files.tables import read_table


def read_inputs(given: InferOptions) -> Inference:
    """Read and check all that the work needs.

    The work gets the bins of cells if the user names none.
    """
    # What is wrong whatever the files hold comes before the files, which may be large.
    engine, options = given.engine(), given.checked_method_options()
    layout = given.layout
    out_caps = read_out_degrees(given.max_out_degree, given.out_degrees)
    rules = Rules(given.max_in_degree, out_caps, given.max_edges)
    data = layout.read(given.expression)
    bins = layout.bins or (None if data.unbinned is None else AUTO)
    given = replace(given, layout=replace(layout, bins=bins))
    refuse_unsuited(data, given.method)
    steady = read_steady(given, data)
    if steady is not None and not data.series:
        raise ValueError(
            "--knockouts, --knockdowns and --overexpressions are used beside time series, but all "
            "samples are at rest; given as EXPRESSION they are steady-state samples too"
        )
    data, steady, rules = genes_used(given, data, steady, rules)
    rules.roles(data.genes)
    prior = None if given.prior is None else read_prior(given.prior, data.genes, data.identifiers)
    reference = None
    if given.reference is not None:
        reference = reference_in(given.reference, sorted(data.genes), data.identifiers)
    return Inference(
        given=given,
        data=data,
        rules=rules,
        options=options,
        steady=steady,
        prior=prior,
        reference=reference,
        engine=engine,
    )


def read_steady(given: InferOptions, data: Expression) -> SteadyStates | None:
    """Read the tables of steady states beside the expression, if any is given."""
    changed = {
        name: getattr(given, name) for name in ("knockouts", "knockdowns", "overexpressions")
    }
    if not any(changed.values()):
        if given.wildtype is not None:
            raise ValueError(
                "--wildtype is used beside --knockouts, --knockdowns or --overexpressions only"
            )
        return None
    names = given.layout.gene_names
    read = read_steady_states(
        **changed, wildtype=given.wildtype, gene_names=names, identifiers=data.identifiers
    )
    return read.called_as(data.genes, data.identifiers)


def read_out_degrees(cap: int | None, path: Path | None) -> int | dict[str, int] | None:
    """One cap for all regulators, or the caps of a file by name."""
    if path is None:
        return cap
    if cap is not None:
        raise ValueError("give --max-out-degree or --out-degrees, not both")
    table = read_table(path)
    caps: dict[str, int] = {}
    for i, row in enumerate(table.rows):
        is_cap = len(row) == 2 and row[1].isascii() and row[1].isdecimal() and len(row[1]) < 19
        if not is_cap:
            found = quoted("\t".join(row))
            raise table.error(f"must be a name and a cap >= 0, found {found}", row=i)
        if row[0] in caps:
            raise table.error(f"must name a regulator once, found {row[0]!r} twice", row=i)
        caps[row[0]] = int(row[1])
    return caps
