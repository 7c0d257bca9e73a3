"""Methods of network inference, and `infer`, which runs them under one contract.

A method is a function ``(expression, rules, rng, *, options) -> Network``. It gets genes sorted by
name and gives every ordered pair a score >= 0; higher scores are more confident. It may ignore the
rules, which `infer` applies to all methods alike. Its options are its keyword-only arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from grn_tvcs.methods.table import DEFAULT, METHODS, NO_OPTIONS

if TYPE_CHECKING:
    import numpy as np

    from grn_tvcs.expression.expression import Expression
    from grn_tvcs.expression.steady_states import SteadyStates
    from grn_tvcs.network.network import Network
    from grn_tvcs.network.prior import Prior
    from grn_tvcs.network.rules import Rules

AUTO = "auto"  # as many edges as the data support
DIGITS = 6  # significant digits of scores
OFF = "off"  # no networks are simulated, as on the command line
# Arguments of other libraries, and what `infer` has in their place.
FOREIGN = (
    dict.fromkeys(("seed", "random_state", "random_seed", "rng_seed"), "rng, as rng=1")
    | dict.fromkeys(("n_jobs", "n_threads", "nthreads", "num_workers", "nCores"), "threads")
    | dict.fromkeys(("tf_names", "tfs", "TFs", "transcription_factors"), "regulators")
    | dict.fromkeys(("gene_names", "genes"), "them to Expression, or targets for some genes")
    | dict.fromkeys(("limit", "n_edges", "top", "top_n"), "max_edges")
    | dict.fromkeys(("n_estimators", "ntrees", "nTrees", "n_trees"), "trees")
    | dict.fromkeys(("prior_network", "priors", "prior_edges", "base_GRN"), "prior")
    | dict.fromkeys(("knockouts", "knockdowns", "wildtype"), "steady=read_steady_states(...)")
    | dict.fromkeys(("max_regulators", "max_indegree"), "max_in_degree")
    | dict.fromkeys(("max_targets", "max_outdegree"), "max_out_degree")
    | dict.fromkeys(("verbose", "verbosity"), "progress=True")
)
MIN_STEPS = 6  # steps from sample to sample and steady-state samples; with fewer a warning


def infer(
    expression: Any,
    method: str = DEFAULT,
    *,
    max_in_degree: int | None = None,
    max_out_degree: int | Mapping[str, int] | None = None,
    max_edges: int | str | None = None,
    regulators: Iterable[str] | None = None,
    targets: Iterable[str] | None = None,
    steady: SteadyStates | None = None,
    prior: Prior | None = None,
    scale: str | None = None,
    bins: int | str = AUTO,
    rng: int | np.random.Generator | None = None,
    **options: Any,
) -> Network:
    """Infer which gene regulates which.

    Genes and series are sorted first, so their order in files does not matter.

    Parameters
    ----------
    expression
        Levels over time, or in steady state, or both: an `Expression`, or what `Expression.of`
        reads (a path, a DataFrame, an AnnData, an array with `gene_names`). Methods
        without time use all samples, dynGENIE3 uses both kinds in its own way, and ``"tvcs"``,
        ``"tvcs-plain"``, ``"lagged-correlation"`` and ``"knock-outs"`` use series only, with a
        warning about other samples. Constant genes get no regulators, with a warning.
    method
        One of `METHODS`; by default ``"combined"``.
    max_in_degree, max_out_degree, max_edges
        Caps on the regulators of a gene, the targets of a regulator and all edges; None for no cap
        on the first two. `max_out_degree` may map names of regulators to their caps; the others
        then have none. Without `max_edges`, or with ``"auto"``, as many edges are selected as the
        verdict supports, under the other caps. Without a verdict the number is one for every ten
        targets, as candidates to test. ``"auto"`` is for methods with a confidence only; for the
        others, see `choose_edges`.
    regulators
        Names of the genes that may regulate; None means all. Names are matched without version,
        species prefix and case where they differ in these alone, with a warning.
    targets
        Names of the genes whose regulators are sought; None means all. ``"tvcs"`` takes time and
        memory for these alone.
    steady
        Knock-outs, knock-downs, over-expression and wild type of the same genes, for methods that
        use them.
    prior
        Prior edges of the same genes, for methods that use them.
    scale
        Scale of the values: ``"levels"``, ``"log"`` or ``"counts"``; by default that of
        `expression`, or a guess, with a warning if it is doubtful.
    bins
        Cells along time are averaged in so many bins per series, as `average_in_bins` does it;
        ``"off"`` for none.
    rng
        Seed or generator; equal seeds give equal networks.
    **options
        Options of the method, such as ``resamples`` for ``"tvcs"``; see `options_of`. Options of
        reading, such as ``time_column``, where `expression` is to be read. Some methods
        also take ``threads``; ``engine``, which does the work instead of threads: one of
        `tvcs_core.engines`, a Dask client, an executor or a `joblib.Parallel`; ``progress``, True
        to show it, as in a notebook, or a function of the finished and the total units of work;
        ``checkpoint_dir``, a folder from which an interrupted run can
        resume.

    Returns
    -------
    Network
        Genes sorted by name, scores of six significant digits. Selected are the edges with the
        largest sum of scores under the caps; `own` is the selection of ARACNE and TIGRESS. Pairs
        whose direction the data do not show are `undirected`, and one edge each. Methods with a
        confidence also give a `verdict`. The network keeps its inputs for `Network.report`.

    Raises
    ------
    ValueError, TypeError
        If the method is unknown or does not take an option, a cap is negative or no integer, no
        regulator is a gene, values on the scale of levels or counts are negative, all samples are
        in steady state and the method needs series, or they are fewer than three, or networks are
        to be simulated (``calibrate``) with fewer than six steps and steady-state samples.
    """
    from grn_tvcs.expression.read import READING, taken
    from grn_tvcs.network.provenance import Provenance
    from grn_tvcs.network.rules import Rules, gene_set

    of_reading = {name: options.pop(name) for name in READING if name in options}
    check_arguments(method, steady, prior, options, max_edges)
    expression = taken("expression", expression, of_reading)
    cap = None if isinstance(max_edges, str) else max_edges
    genes = expression.genes
    named = (
        _called("regulators", gene_set("regulators", regulators), genes),
        _called("targets", gene_set("targets", targets), genes),
    )
    rules = Rules(max_in_degree, max_out_degree, cap, *named)
    if options.get("calibrate") == OFF:
        options["calibrate"] = 0
    given = options | {"steady": steady, "prior": prior}
    with _shown(options.get("progress")) as progress:
        given["progress"] = progress
        settled = _settled(expression, scale, bins, method)
        network, rules = _inferred(settled, method, rules, rng, given)
    seed = rng if isinstance(rng, int) else None
    return replace(network, provenance=Provenance(settled, rules, method, seed, steady))


def check_arguments(
    method: str,
    steady: SteadyStates | None,
    prior: Prior | None,
    options: Mapping[str, Any],
    max_edges: int | str | None,
) -> None:
    """Check the arguments of `infer` that need no data."""
    from grn_tvcs.expression.steady_states import SteadyStates
    from grn_tvcs.network.prior import Prior
    from tvcs_core.arguments import check_choice, check_type

    check_choice("method", method, METHODS)
    check_type("steady", steady, SteadyStates, or_none=True)
    check_type("prior", prior, Prior, or_none=True)
    known = METHODS[method]
    if unknown := set(options) - set(NO_OPTIONS) - set(known.options):
        name = min(unknown)
        there_are = f"its options: {', '.join(known.options) or 'none'}"
        right = FOREIGN.get(name)
        if right == "trees" and right not in known.options:
            right = None
        remedy = there_are if right is None else f"give {right}"
        raise TypeError(f"{method} does not take {name!r}; {remedy}")
    calibrate = options.get("calibrate")
    if isinstance(calibrate, str) and calibrate != OFF:
        raise ValueError(f"calibrate must be an integer >= 0 or {OFF!r}, found {calibrate!r}")
    if steady is not None and not known.takes_steady_states:
        able = ", ".join(name for name in METHODS if METHODS[name].takes_steady_states)
        raise TypeError(f"{method} cannot use steady states; methods that do: {able}")
    if prior is not None:
        refuse_without_prior(method)
    if isinstance(max_edges, str):
        if max_edges != AUTO:
            raise ValueError(f"max_edges must be an integer >= 0 or {AUTO!r}, found {max_edges!r}")
        if not known.has_confidence:
            raise ValueError(
                f"{method} gives no confidence to choose the number of edges by: give max_edges="
                "choose_edges(expression, ...).n_edges"
            )


def _called(kind: str, names: frozenset[str] | None, genes: Sequence[str]) -> frozenset[str] | None:
    """Return names as the genes are called; a warning counts those that are written otherwise."""
    from grn_tvcs.expression.judge.same_names import same_names
    from grn_tvcs.expression.user_warnings import warn_user

    if names is None:
        return None
    same = same_names(sorted(names), genes)
    if sentence := same.describe():
        warn_user(f"{kind}: {sentence}")
    return frozenset(same.gene_of.get(name, name) for name in names)


def _settled(expression: Expression, scale: str | None, bins: int | str, method: str) -> Expression:
    """Return the expression on its scale, cells along time averaged in bins."""
    from grn_tvcs.expression.bins import in_bins
    from grn_tvcs.expression.scales import on_scale
    from grn_tvcs.methods.steady_samples import refuse_unsuited

    refuse_unsuited(expression, method)
    return on_scale(in_bins(expression, bins, scale), scale)


def _inferred(
    settled: Expression,
    method: str,
    rules: Rules,
    rng: int | np.random.Generator | None,
    options: dict[str, Any],
) -> tuple[Network, Rules]:
    """Return the network of an expression on its scale, and the caps in use."""
    import numpy as np

    from grn_tvcs.combine.signs import supported_signs
    from grn_tvcs.expression.scales import scale_like
    from grn_tvcs.expression.user_warnings import warn_user
    from grn_tvcs.methods.directions import without_direction
    from grn_tvcs.methods.steady_samples import used_by
    from grn_tvcs.network.digits import significant
    from grn_tvcs.network.evidence import name_overexpressed
    from tvcs_core.files.display import joined
    from tvcs_core.streams import stream

    known = METHODS[method]
    steady, prior = options.pop("steady"), options.pop("prior")
    rng = stream(rng, "infer", method)
    expression = used_by(settled, method).in_name_order()
    candidates = rules.candidates(expression.genes, expression.constant_genes)
    caps = rules.max_out_degree
    for kind, names in (
        ("regulators", rules.regulators),
        ("targets", rules.targets),
        ("regulators with a cap", frozenset(caps) if isinstance(caps, Mapping) else None),
    ):
        missing = sorted((names or frozenset()) - set(expression.genes))
        if 0 < len(missing) < len(names or ()):  # if none is a gene, an error follows
            warn_user(
                f"{len(missing)} of {len(names or ())} {kind} are no genes: {joined(missing)}"
            )
    n_steps, n_rest = len(expression.times) - len(expression.pieces()), expression.n_steady
    if n_steps + n_rest < MIN_STEPS:
        kinds = {"steps from sample to sample": n_steps, "steady-state samples": n_rest}
        found = " and ".join(f"{n} {kind}" for kind, n in kinds.items() if n)
        if options.get("calibrate"):
            raise ValueError(
                f"calibrate: {found} are too few for edge probabilities; give {MIN_STEPS} or more, "
                "or calibrate=0 (--calibrate off)"
            )
        warn_user(f"{found} are too few to tell regulators apart")
    if expression.constant_genes:
        warn_user(f"constant genes get no regulators: {joined(expression.constant_genes)}")
    if steady is not None:
        steady = steady.of(expression.genes)
        steady = options["steady"] = replace(steady, levels=scale_like(expression, steady.levels))
        steady.warn_of_contrary(expression)
    if prior is not None:
        prior = options["prior"] = prior.of(expression.genes)
    able = {name: value for name, value in options.items() if name in known.keywords}
    network: Network = known(expression, rules, rng, **able)
    pairs = network.pairs.restrict_to(candidates.regulators, candidates.targets)
    scores = significant(np.where(candidates.allowed, pairs.scores, 0.0), DIGITS)
    own = pairs.selected if known.selects else None
    pairs = replace(pairs, scores=scores, selected=scores > 0, own=own)
    signs = supported_signs(pairs, expression, steady, prior) * (scores > 0)
    pairs = replace(pairs, signs=signs.astype(np.int8))
    if steady is not None and steady.n_overexpressions and pairs.evidence is not None:
        is_up = steady.only_overexpressed()[pairs.regulators]
        pairs = replace(pairs, evidence=name_overexpressed(pairs.evidence, is_up))
    undirected = without_direction(pairs, candidates.allowed, expression, method, steady, prior)
    network = network.replace(pairs=replace(pairs, undirected=undirected)).with_verdict()
    rules = rules.with_number(candidates.targets.size, network.verdict)
    return network.select_under_caps(rules), rules


@contextmanager
def _shown(progress: Any) -> Iterator[Any]:
    """Yield the callback for progress; a progress bar if `progress` is True."""
    if progress is not True:
        yield None if progress is False else progress
        return
    from tvcs_core.command.progress import Progress

    with Progress("parts of the work", live=True) as shown:
        yield shown


def refuse_without_prior(method: str) -> None:
    """Raise if a method cannot use prior edges.

    Raises
    ------
    TypeError
        With the names of the methods that can.
    """
    if not METHODS[method].takes_prior:
        able = ", ".join(name for name, known in METHODS.items() if known.takes_prior)
        raise TypeError(f"{method} cannot use prior edges; methods that can: {able}")


def options_of(method: str) -> dict[str, Any]:
    """Return the options of a method and their defaults."""
    return METHODS[method].options
