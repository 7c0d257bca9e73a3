"""The inputs of `grn-tvcs infer`: files and options, read and checked before the long work."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from grn_tvcs.cli.genes import genes_used
from grn_tvcs.cli.options import InferOptions
from grn_tvcs.cli.work import Inference
from grn_tvcs.expression.formats.steady import read_steady_states
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.methods import METHODS, options_of, refuse_without_prior
from grn_tvcs.methods.steady_samples import refuse_unsuited
from grn_tvcs.network.edge_files import reference_in
from grn_tvcs.network.prior import read_prior
from grn_tvcs.network.rules import Rules
from tvcs_core import DataError
from tvcs_core.files.display import joined, quoted
from tvcs_core.files.record import run_record
from tvcs_core.files.tables import read_table, read_text

CALIBRATE = "calibrate"  # a method takes it that has a keyword-only argument of this name


def read_inputs(given: InferOptions) -> Inference:
    """Read and check all that the work needs.

    The work gets the bins of cells if the user names none.
    """
    # What is wrong whatever the files hold comes before the files, which may be large.
    engine, calibration, cap = given.engine(), given.wanted_calibration(), given.edge_cap
    given.refuse_wrong_values()
    layout = given.layout
    out_caps = read_out_degrees(given.max_out_degree, given.out_degrees)
    rules = Rules(given.max_in_degree, out_caps, cap)
    options = all_method_options(given.method, given.option or [], calibration)
    if given.prior is not None:
        refuse_without_prior(given.method)
    samples = layout.read_samples(given.expression)
    data = layout.average_in_bins(samples)
    bins = layout.bins or (None if data is samples else "auto")
    given = replace(given, layout=replace(layout, bins=bins))
    refuse_unsuited(data, given.method)
    steady = read_steady(given, data.genes)
    if steady is not None and not data.series:
        raise ValueError(
            "--knockouts, --knockdowns and --overexpressions are used beside time series, but all "
            "samples are at rest; given as EXPRESSION they are steady-state samples too"
        )
    used = genes_used(given, data, steady)
    rules = replace(rules, regulators=used.regulators, targets=used.targets)
    rules.roles(used.data.genes)
    prior = None if given.prior is None else read_prior(given.prior, used.data.genes)
    reference = None
    if given.reference is not None:
        reference = reference_in(given.reference, sorted(used.data.genes))
    return Inference(
        given=given,
        data=used.data,
        rules=rules,
        options=options,
        steady=used.steady,
        prior=prior,
        reference=reference,
        engine=engine,
    )


def goes_on(given: InferOptions) -> bool:
    """Whether there are checkpoints of an interrupted run to resume.

    Raises
    ------
    ValueError, DataError
        If there are, without ``--resume`` or ``--force``; or if they are of another method, since
        the end of this run would remove them. The code that resumes checks the data, options and
        seed of the checkpoints.
    """
    is_there = given.checkpoints.is_dir()
    methods = set()
    if is_there:
        methods = {path.name for path in given.checkpoints.iterdir() if path.is_dir()}
    anew = given.force and not given.resume
    if (others := sorted(methods - {given.method})) and not anew:
        raise DataError(
            f"is of a run with method {joined(others)} (now {given.method}); give --force "
            f"{'in place of --resume ' if given.resume else ''}to begin anew",
            path=given.checkpoints,
        )
    if is_there and not (given.resume or given.force):
        raise ValueError(
            f"{given.out} holds finished work of an interrupted run; give --resume to go on if "
            "it was of these data, options and seed, or --force to begin anew"
        )
    return is_there and given.resume


def is_done(given: InferOptions, parameters: dict[str, Any], inputs: list[Path]) -> bool:
    """Whether the folder holds the results of just this run, so that nothing is left to do."""
    path = given.out / "run.json"
    if not path.is_file() or given.checkpoints.is_dir():
        return False
    try:
        before = json.loads(read_text(path))
    except (ValueError, RecursionError):
        return False
    same = run_record("grn-tvcs infer", parameters, seed=given.seed, inputs=inputs)
    return isinstance(before, dict) and all(before.get(k) == same[k] for k in same)


def all_method_options(method: str, given: list[str], calibration: int | None) -> dict[str, Any]:
    """Return the options of the method: those of ``--option``, and ``--calibrate`` if given.

    Raises
    ------
    ValueError
        If the method does not take one of them, or it is given twice.
    """
    options = method_options(method, given)
    if calibration is None:
        return options
    if CALIBRATE not in options_of(method):
        able = [name for name in METHODS if CALIBRATE in options_of(name)]
        those = f"; methods that do: {', '.join(able)}" if able else ""
        raise ValueError(f"{method} does not take --{CALIBRATE}{those}")
    if CALIBRATE in options:
        raise ValueError(f"give --{CALIBRATE} or --option {CALIBRATE}, not both")
    return options | {CALIBRATE: calibration}


def method_options(method: str, given: list[str]) -> dict[str, Any]:
    """Options as Python values, each of the kind of its default."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, found {method!r}")
    defaults = options_of(method)
    options: dict[str, Any] = {}
    for text in given:
        name, is_there, value = text.partition("=")
        if not is_there:
            raise ValueError(f"--option must be NAME=VALUE, found {text!r}")
        if name not in defaults:
            known = ", ".join(defaults) or "none"
            raise ValueError(f"{method} does not take {name!r}; its options: {known}")
        try:
            options[name] = _like(defaults[name], value)
        except ValueError:
            raise ValueError(
                f"--option {name} must be like {_shown(defaults[name])}, found {value!r}"
            ) from None
    return options


def _like(default: Any, text: str) -> Any:
    if isinstance(default, tuple):
        words = text.split(",")
        return tuple(_like(part, word) for part, word in zip(default, words, strict=True))
    if isinstance(default, bool):
        if text not in ("true", "false"):
            raise ValueError(text)
        return text == "true"
    return text if default is None else type(default)(text)


def _shown(default: Any) -> str:
    return ",".join(map(str, default)) if isinstance(default, tuple) else str(default)


def read_steady(given: InferOptions, genes: Sequence[str]) -> SteadyStates | None:
    """Read the tables of steady states, if any is given; `genes` are those of the expression."""
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
    read = read_steady_states(**changed, wildtype=given.wildtype, gene_names=names)
    return read.called_as(genes)


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
