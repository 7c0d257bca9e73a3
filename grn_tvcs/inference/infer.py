"""The function `infer`, which runs every method under one contract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from inspect import signature
from typing import TYPE_CHECKING, Any

from grn_tvcs.expression.options import AUTO, OFF
from grn_tvcs.methods.table import DEFAULT, METHODS, NO_OPTIONS

if TYPE_CHECKING:
    import numpy as np

    from grn_tvcs.expression.steady_states import SteadyStates
    from grn_tvcs.network.network import Network
    from grn_tvcs.network.prior import Prior

WORK = ("threads", "engine", "progress", "checkpoint_dir")  # options of how to work
# Arguments of other libraries, and what `infer` has in their place.
FOREIGN = (
    dict.fromkeys(("seed", "random_state", "random_seed", "rng_seed"), "rng, as rng=1")
    | dict.fromkeys(("n_jobs", "n_threads", "nthreads", "num_workers", "nCores"), "threads")
    | dict.fromkeys(("workers", "client", "executor", "cluster", "client_or_address"), "engine")
    | dict.fromkeys(("tf_names", "tfs", "TFs", "transcription_factors"), "regulators")
    | dict.fromkeys(("gene_names", "genes"), "them to Expression, or targets for some genes")
    | dict.fromkeys(("limit", "n_edges", "top", "top_n"), "max_edges")
    | dict.fromkeys(("n_estimators", "ntrees", "nTrees", "n_trees"), "trees")
    | dict.fromkeys(("prior_network", "priors", "prior_edges", "base_GRN"), "prior")
    | dict.fromkeys(("knockouts", "knockdowns", "wildtype"), "steady=read_steady_states(...)")
    | dict.fromkeys(("max_regulators", "max_indegree"), "max_in_degree")
    | dict.fromkeys(("max_targets", "max_outdegree"), "max_out_degree")
    | dict.fromkeys(("verbose", "verbosity"), "progress=True")
    | dict.fromkeys(
        ("time", "time_key", "timepoint", "timepoints"), "time_column, the column's name"
    )
)


def infer(
    expression: Any,
    method: str = DEFAULT,
    *,
    max_in_degree: int | None = None,
    max_out_degree: int | Mapping[str, int] | None = None,
    max_edges: int | None = None,
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
        then have none. `max_edges` changes no score, confidence or verdict, but those of
        ``"tvcs-plain"``. Without it, as many edges are selected as the verdict supports, under the
        other caps. Without a verdict the number is one for every ten targets, as candidates to
        test.
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
        Options of the method, such as ``resamples`` for ``"tvcs"``; see
        ``METHODS[method].options``. Options of reading, such as ``time_column``, where
        `expression` is to be read. Some methods also take ``threads``; ``engine``, which does the
        work instead of threads: one of `tvcs_core.engines`, a Dask client, an executor or a
        `joblib.Parallel`; ``progress``, True to show it, as in a notebook, or a function of the
        finished and the total units of work; ``checkpoint_dir``, a folder from which an
        interrupted run can resume.

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
    from grn_tvcs.expression.bins import prepared
    from grn_tvcs.expression.read import READING, read_with
    from grn_tvcs.inference.finish import finished
    from grn_tvcs.inference.inputs import inputs_of
    from grn_tvcs.network.provenance import Provenance
    from grn_tvcs.network.rules import Rules, gene_set
    from grn_tvcs.stability.execution import Execution
    from tvcs_core.engines import Threads
    from tvcs_core.streams import stream

    reading = {name: options.pop(name) for name in READING if name in options}
    how = {name: options.pop(name) for name in WORK if name in options}
    check_arguments(method, steady, prior, options)
    if options.get("calibrate") == OFF:
        options["calibrate"] = 0
    named = gene_set("regulators", regulators), gene_set("targets", targets)
    rules = Rules(max_in_degree, max_out_degree, max_edges, *named)
    expression = read_with(expression, reading, "expression")
    expression = prepared(expression, bins, scale)
    calibrates = bool(options.get("calibrate"))
    inputs = inputs_of(expression, method, rules, steady, prior, calibrates=calibrates)
    with _shown(how.get("progress")) as progress:
        threads = Threads(how.get("threads", 1))
        engine = threads if how.get("engine") is None else how["engine"]
        execution = Execution(engine, progress, how.get("checkpoint_dir"))
        options |= {"steady": inputs.steady, "prior": inputs.prior, "execution": execution}
        drawn = stream(rng, "infer", method)
        scored = METHODS[method].score(inputs.expression, inputs.rules, drawn, options)
        network = finished(scored, inputs, method)
    rules = inputs.rules.with_number(inputs.candidates.targets.size, network.verdict)
    seed = rng if isinstance(rng, int) else None
    provenance = Provenance(expression, rules, method, seed, steady)
    return replace(network.select_under_caps(rules), provenance=provenance)


def check_arguments(
    method: str,
    steady: SteadyStates | None,
    prior: Prior | None,
    options: Mapping[str, Any],
) -> None:
    """Check the arguments of `infer` that need no data."""
    from grn_tvcs.expression.steady_states import SteadyStates
    from grn_tvcs.network.prior import Prior
    from tvcs_core.arguments import check_choice, check_type

    check_choice("method", method, METHODS)
    check_type("steady", steady, SteadyStates, or_none=True)
    if prior is not None and not isinstance(prior, Prior):
        raise TypeError(
            f"prior must be a Prior, found {type(prior).__name__}; read_prior(edges, genes) makes "
            "one of a file or a DataFrame"
        )
    known = METHODS[method]
    if unknown := set(options) - set(NO_OPTIONS) - set(known.options):
        raise TypeError(f"{method} does not take {min(unknown)!r}; {_remedy(min(unknown), method)}")
    calibrate = options.get("calibrate")
    if isinstance(calibrate, str) and calibrate != OFF:
        raise ValueError(f"calibrate must be an integer >= 0 or {OFF!r}, found {calibrate!r}")
    for name, default in known.options.items():
        if name in options and options[name] != OFF:
            _check_like(name, options[name], default)
    if steady is not None and not known.takes_steady_states:
        able = ", ".join(name for name in METHODS if METHODS[name].takes_steady_states)
        raise TypeError(f"{method} cannot use steady states; methods that do: {able}")
    if prior is not None:
        refuse_without_prior(method)


def _remedy(name: str, method: str) -> str:
    """Return what to give instead of an argument that `infer` does not take with this method."""
    from grn_tvcs.expression.read import READING
    from tvcs_core.arguments import is_on_command_line
    from tvcs_core.files.display import did_you_mean

    options, right = METHODS[method].options, FOREIGN.get(name)
    if right is not None and (right != "trees" or right in options):
        return f"give {right}"
    there_are = f"its options: {', '.join(options) or 'none'}"
    if is_on_command_line() or any(name in other.options for other in METHODS.values()):
        return there_are
    return there_are + did_you_mean(name, (*options, *signature(infer).parameters, *READING, *WORK))


def _check_like(name: str, value: Any, default: Any) -> None:
    """Raise unless an option is finite and of the kind of its default: a number, or a range."""
    from math import isfinite

    from tvcs_core.arguments import check_number, items_of

    if isinstance(default, tuple):
        numbers = items_of(name, value, "two numbers")
        if len(numbers) != len(default):
            raise ValueError(f"{name} must be two numbers, found {len(numbers)}")
        for one, like in zip(numbers, default, strict=True):
            _check_like(name, one, like)
    elif isinstance(default, int | float):
        check_number(name, value, whole=isinstance(default, int))
        if not isfinite(value):
            raise ValueError(f"{name} must be finite, found {value}")


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
    """Raise if a method cannot use prior edges."""
    if not METHODS[method].takes_prior:
        able = ", ".join(name for name, known in METHODS.items() if known.takes_prior)
        raise TypeError(f"{method} cannot use prior edges; methods that can: {able}")
