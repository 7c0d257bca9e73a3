"""The commands `grn-tvcs infer` and `check`, and the options that other commands share."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvcs_core.shell import guarded, refuse_negative_seed, say

if TYPE_CHECKING:
    from grn_tvcs.expression import Expression
    from grn_tvcs.knockouts import SteadyStates
    from grn_tvcs.network import Network
    from grn_tvcs.rules import Rules

FINISHED = ".resume"

OutFolder = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Folder for the results; made if missing.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace the files of a folder in use.")]
Seed = Annotated[int, typer.Option(help="Same seed, same bytes.")]
ExpressionFile = Annotated[
    Path,
    typer.Argument(
        metavar="EXPRESSION",
        help="TSV or CSV, plain or .gz: one row per sample, one column per gene, a column Time. "
        "Columns series, condition, replicate name the series; without them a blank line or a "
        "time that falls back starts a new one. A column perturbed holds 0 or 1.",
    ),
]
RegulatorFile = Annotated[
    Path | None,
    typer.Option("--regulators", metavar="FILE", help="Genes that may regulate, one per line."),
]
Missing = Annotated[
    str, typer.Option(help="What to do about missing values: error, drop or interpolate.")
]
PerturbedUntil = Annotated[
    float | None,
    typer.Option(
        metavar="TIME", help="Every series is perturbed from its start until TIME (DREAM: 500)."
    ),
]

Samples = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Sheet with columns sample, time and perhaps series, condition, replicate, "
        "perturbed; the first column of EXPRESSION then names the samples.",
    ),
]
Pseudotime = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="BEELINE's PseudoTime.csv; EXPRESSION is ExpressionData.csv."
    ),
]
GenesInRows = Annotated[
    bool, typer.Option("--genes-in-rows", help="The first column of EXPRESSION names genes.")
]


def _table(what: str) -> Any:
    return typer.Option(metavar="FILE", help=f"{what}: one column per gene.")


@guarded
def infer(
    expression: ExpressionFile,
    out: OutFolder,
    max_in_degree: Annotated[
        int | None, typer.Option(help="Most regulators of a gene. Default: no cap.")
    ] = None,
    max_out_degree: Annotated[
        int | None, typer.Option(help="Most targets of a regulator. Default: no cap.")
    ] = None,
    out_degrees: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A cap for each regulator: lines of name, tab, cap."),
    ] = None,
    max_edges: Annotated[
        int | None,
        typer.Option(help="Most edges in all. Default: 2 per gene if no cap is given, else none."),
    ] = None,
    regulators: RegulatorFile = None,
    samples: Samples = None,
    pseudotime: Pseudotime = None,
    genes_in_rows: GenesInRows = False,
    perturbed_until: PerturbedUntil = None,
    knockouts: Annotated[Path | None, _table("Knock-outs, in the order of the genes")] = None,
    knockdowns: Annotated[Path | None, _table("Knock-downs, in the order of the genes")] = None,
    wildtype: Annotated[Path | None, _table("Wild type at rest")] = None,
    missing: Missing = "error",
    method: Annotated[
        str,
        typer.Option(
            help="tvcs, tvcs-plain (the paper's model as printed), pcc, aracne, clr, mrnet, "
            "genie3, dyngenie3 or tigress."
        ),
    ] = "tvcs",
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Option of the method; may be given often."),
    ] = None,
    seed: Seed = 0,
    threads: Annotated[int, typer.Option(help="Threads; the result is the same.")] = 1,
    force: Force = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where an interrupted run stopped.")
    ] = False,
) -> None:
    """Infer a network; write edges.tsv, network.graphml, network.sif, report.html and run.json."""
    from grn_tvcs.methods import infer as infer_network
    from grn_tvcs.progress import Progress
    from grn_tvcs.rules import Rules
    from tvcs_core.files import output_folder

    refuse_negative_seed(seed)
    if threads < 1:
        raise ValueError(f"--threads must be >= 1, found {threads}")
    caps: dict[str, Any] = {
        "max_in_degree": max_in_degree,
        "max_out_degree": _out_degrees(max_out_degree, out_degrees),
        "max_edges": max_edges,
    }
    Rules(**caps)
    given = _options(method, option or [])
    layout: dict[str, Any] = {
        "samples": samples, "pseudotime": pseudotime, "genes_in_rows": genes_in_rows,
    }  # fmt: skip
    data = _read(expression, missing, perturbed_until, layout)
    names = None if regulators is None else _read_regulators(regulators, data)
    steady = _read_steady(knockouts, knockdowns, wildtype)
    files = {
        "regulators": regulators, "out_degrees": out_degrees, "knockouts": knockouts,
        "knockdowns": knockdowns, "wildtype": wildtype, "samples": samples,
        "pseudotime": pseudotime,
    }  # fmt: skip
    recorded = {
        **caps, "max_out_degree": max_out_degree, "perturbed_until": perturbed_until,
        "missing": missing, "genes_in_rows": genes_in_rows, "method": method,
        "option": sorted(option or []),
        **{name: path and path.name for name, path in files.items()},
    }  # fmt: skip
    _prepare(out, force=force, resume=resume)
    with output_folder(out, force=force or resume) as folder, Progress("halves") as progress:
        say(f"{expression}: {_size(data)}; {_said(data)}; method {method}, seed {seed}")
        if method == "tvcs":
            say(_expected(data, Rules(**caps, regulators=names), given, threads))
        network = infer_network(
            data, method, **caps, regulators=names, steady=steady, rng=seed,
            threads=threads, progress=progress, keep=out / FINISHED, **given,
        )  # fmt: skip
        rules = Rules(**caps, regulators=names).with_defaults(len(data.genes))
        inputs = [expression, *(path for path in files.values() if path is not None)]
        _write_results(folder, network, data, rules, recorded, seed, inputs)
    shutil.rmtree(out / FINISHED, ignore_errors=True)
    n_selected, n_scored = int(network.out_degrees.sum()), int((network.scores > 0).sum())
    say(f"{n_selected} edges selected of {n_scored} with a score; open {out / 'report.html'}")


def _prepare(out: Path, *, force: bool, resume: bool) -> None:
    """See to finished work of an earlier run in the folder."""
    finished = out / FINISHED
    if resume and not finished.is_dir():
        raise ValueError(f"nothing to resume: there is no {finished}")
    if finished.is_dir() and not resume:
        if not force:
            raise ValueError(
                f"{out} holds finished work of an interrupted run; give --resume to go on, or "
                "--force to begin anew"
            )
        shutil.rmtree(finished)


def _options(method: str, given: list[str]) -> dict[str, Any]:
    """Options as Python values, each of the kind of its default."""
    from grn_tvcs.methods import METHODS, options_of

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


def _expected(data: Expression, rules: Rules, options: dict[str, Any], threads: int) -> str:
    """Say what the work will take; refuse what cannot fit."""
    from grn_tvcs.cost import estimate
    from grn_tvcs.methods import options_of
    from grn_tvcs.progress import span

    inputs = int(rules.allowed(data.genes).any(axis=1).sum())
    resamples = (options_of("tvcs") | options)["resamples"]
    cost = estimate(len(data.genes), inputs, len(data.times), resamples, threads)
    cost.refuse_what_cannot_fit()
    return f"about {span(cost.seconds)} and {cost.memory / 1e9:.1f} GB"


def _read(
    path: Path, missing: str, perturbed_until: float | None, layout: dict[str, Any]
) -> Expression:
    from grn_tvcs.expression_formats import read_layout

    data = read_layout(path, missing=missing, **layout)
    if perturbed_until is None:
        return data
    if data.perturbed is not None:
        raise ValueError("give a column perturbed or --perturbed-until, not both")
    return data.with_perturbation_until(perturbed_until)


def _read_steady(
    knockouts: Path | None, knockdowns: Path | None, wildtype: Path | None
) -> SteadyStates | None:
    from grn_tvcs.knockouts import read_steady_states

    if knockouts is None and knockdowns is None:
        if wildtype is not None:
            raise ValueError("--wildtype is used beside --knockouts or --knockdowns only")
        return None
    return read_steady_states(knockouts=knockouts, knockdowns=knockdowns, wildtype=wildtype)


def _out_degrees(cap: int | None, path: Path | None) -> int | dict[str, int] | None:
    from tvcs_core.files import read_table

    if path is None:
        return cap
    if cap is not None:
        raise ValueError("give --max-out-degree or --out-degrees, not both")
    table = read_table(path)
    caps: dict[str, int] = {}
    for i, row in enumerate(table.rows):
        if len(row) != 2 or not row[1].isdecimal():
            raise table.error("must be a name and a cap >= 0", row=i)
        if row[0] in caps:
            raise table.error(f"must name a regulator once, found {row[0]!r} twice", row=i)
        caps[row[0]] = int(row[1])
    return caps


def _write_results(
    folder: Path,
    network: Network,
    data: Expression,
    rules: Rules,
    options: dict[str, Any],
    seed: int,
    inputs: list[Path],
) -> None:
    from grn_tvcs.edge_files import write_edges
    from grn_tvcs.formats import write_graphml, write_sif
    from grn_tvcs.report import render
    from tvcs_core.files import write_json
    from tvcs_core.record import run_record

    write_edges(network, folder / "edges.tsv")
    write_graphml(network, folder / "network.graphml")
    write_sif(network, folder / "network.sif")
    source = inputs[0].name
    command = _command("infer", source, options | {"seed": seed})
    page = render(
        network, data, rules, method=options["method"], source=source, command=command, seed=seed
    )
    (folder / "report.html").write_text(page, encoding="utf-8")
    record = run_record(
        "grn-tvcs infer",
        options,
        seed=seed,
        inputs=inputs,
        max_edges_used=rules.max_edges,
        selected=int(network.out_degrees.sum()),
        constant_genes=list(data.constant_genes),
        genes=list(network.genes),
    )
    write_json(folder / "run.json", record)


@guarded
def check(
    expression: ExpressionFile,
    regulators: RegulatorFile = None,
    missing: Missing = "error",
    samples: Samples = None,
    pseudotime: Pseudotime = None,
    genes_in_rows: GenesInRows = False,
    perturbed_until: PerturbedUntil = None,
) -> None:
    """Say how EXPRESSION is understood: genes, samples, series, spacing, names that match."""
    import numpy as np

    from grn_tvcs.expression import listed, scale, spacing

    layout = {"samples": samples, "pseudotime": pseudotime, "genes_in_rows": genes_in_rows}
    data = _read(expression, missing, perturbed_until, layout)
    lengths = np.diff([rows.start for rows in data.pieces().values()] + [len(data.times)])
    points = f"{lengths.min()}" if np.ptp(lengths) == 0 else f"{lengths.min()} to {lengths.max()}"
    low, high = data.values.min(), data.values.max()
    turned = genes_in_rows or pseudotime is not None
    print(
        f"orientation  {'genes' if turned else 'samples'} in rows, "
        f"{'samples' if turned else 'genes'} in columns"
    )
    print(f"genes        {len(data.genes)}: {listed(data.genes)}")
    print(f"samples      {len(data.times)}")
    print(f"series       {lengths.size} of {points} time points")
    print(f"spacing      {spacing(data)}")
    print(f"values       {low:g} to {high:g}")
    print(f"scale        {scale(data)}")
    on = data.perturbed
    print(f"perturbed    {'not known' if on is None else f'{on.sum()} of {on.size} samples'}")
    print(f"constant     {listed(data.constant_genes) or 'no gene'}")
    if regulators is not None:
        names = _read_regulators(regulators, data)
        missing_names = sorted(names - set(data.genes))
        print(f"regulators   {len(names) - len(missing_names)} of {len(names)} names are genes")
        if missing_names:
            print(f"no gene      {listed(missing_names)}")


def _read_regulators(path: Path, data: Expression) -> frozenset[str]:
    from grn_tvcs.expression import listed
    from tvcs_core import DataError
    from tvcs_core.files import read_names

    names = frozenset(read_names(path))
    missing = sorted(names - set(data.genes))
    if len(missing) == len(names):
        found = listed(missing) or "an empty list"
        raise DataError(
            f"must name genes of the expression file, found none: here stands {found}; "
            f"there {listed(data.genes)}",
            path=path,
        )
    return names


def _size(data: Expression) -> str:
    n_series = len(data.pieces())
    return f"{len(data.genes)} genes, {len(data.times)} samples in {n_series} series"


def _said(data: Expression) -> str:
    from grn_tvcs.expression import scale

    on = data.perturbed
    known = "perturbation not known" if on is None else f"{on.sum()} samples perturbed"
    return f"{scale(data)}; {known}"


def _command(name: str, source: str, options: Mapping[str, object]) -> str:
    words = ["grn-tvcs", name, source, "--out", "DIR"]
    for option, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            if one is not None and one is not False:
                words += [f"--{option.replace('_', '-')}", *([] if one is True else [str(one)])]
    return shlex.join(words)
