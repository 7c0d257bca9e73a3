"""What `grn-tvcs infer` is given: files and words, read and checked before the long work."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grn_tvcs.cli.options import Layout
from grn_tvcs.cli.work import Work
from grn_tvcs.expression.expression import Expression, listed
from grn_tvcs.expression.steady_states import SteadyStates, read_steady_states
from grn_tvcs.methods import METHODS, options_of
from grn_tvcs.network.edge_files import Reference, reference_in
from grn_tvcs.network.rules import Rules
from grn_tvcs.network.scores import PAIRS
from tvcs_core import DataError
from tvcs_core.command.shell import refuse_negative_seed, say
from tvcs_core.files.record import run_record
from tvcs_core.files.tables import read_names, read_table, read_text

FINISHED = ".resume"
AUTO = "auto"
FILES = (
    "regulators", "out_degrees", "knockouts", "knockdowns", "wildtype", "samples", "pseudotime",
    "reference",
)  # fmt: skip


@dataclass(frozen=True)
class Given:
    """The words of ``grn-tvcs infer``, each under the name of its option."""

    expression: list[Path]
    out: Path
    max_in_degree: int | None
    max_out_degree: int | None
    out_degrees: Path | None
    max_edges: str | None
    regulators: Path | None
    samples: Path | None
    pseudotime: Path | None
    genes_in_rows: bool
    time_column: str | None
    series_column: str | None
    perturbed_until: float | None
    scale: str | None
    knockouts: Path | None
    knockdowns: Path | None
    wildtype: Path | None
    missing: str
    method: str
    option: list[str] | None
    reference: Path | None
    pairs: str
    seed: int
    threads: int
    force: bool
    resume: bool

    def read(self) -> tuple[Work, Reference | None]:
        """Read and check all that the work needs, and the true edges, if there are any."""
        refuse_negative_seed(self.seed)
        if self.threads < 1:
            raise ValueError(f"--threads must be >= 1, found {self.threads}")
        if self.pairs not in PAIRS:
            raise ValueError(f"--pairs must be one of {', '.join(PAIRS)}, found {self.pairs!r}")
        cap, is_auto = edge_cap(self.max_edges)
        out_caps = read_out_degrees(self.max_out_degree, self.out_degrees)
        Rules(self.max_in_degree, out_caps, cap)
        options = method_options(self.method, self.option or [])
        data = Layout(
            self.missing, self.samples, self.pseudotime, self.genes_in_rows, self.time_column,
            self.series_column, self.perturbed_until, self.scale,
        ).read(self.expression)  # fmt: skip
        names = read_regulators(self.regulators, data)
        work = Work(
            data=data,
            method=self.method,
            rules=Rules(self.max_in_degree, out_caps, cap, names),
            options=options,
            steady=read_steady(self.knockouts, self.knockdowns, self.wildtype),
            seed=self.seed,
            chooses_edges=is_auto,
            threads=self.threads,
            keep=self.out / FINISHED,
        )
        return work, read_true_edges(self.reference, data)

    def goes_on(self) -> bool:
        """Whether there is finished work of an interrupted run to go on with.

        Raises
        ------
        ValueError
            If there is, and the command says neither ``--resume`` nor ``--force``.
        """
        finished = self.out / FINISHED
        if finished.is_dir() and not (self.resume or self.force):
            raise ValueError(
                f"{self.out} holds finished work of an interrupted run; give --resume to go "
                "on, or --force to begin anew"
            )
        return finished.is_dir() and self.resume

    def is_done(self) -> bool:
        """Whether the folder holds the results of just this run, so that nothing is left to do."""
        path = self.out / "run.json"
        if not path.is_file() or (self.out / FINISHED).is_dir():
            return False
        try:
            before = json.loads(read_text(path))
        except (ValueError, RecursionError):
            return False
        same = run_record("grn-tvcs infer", self.recorded(), seed=self.seed, inputs=self.inputs())
        return isinstance(before, dict) and all(before.get(k) == same[k] for k in same)

    def recorded(self) -> dict[str, Any]:
        """Every option that changes the result; files by their names."""
        cap, is_auto = edge_cap(self.max_edges)
        plain = (
            "max_in_degree", "max_out_degree", "perturbed_until", "scale", "missing",
            "genes_in_rows", "time_column", "series_column", "method",
        )  # fmt: skip
        options = {name: getattr(self, name) for name in plain}
        options["max_edges"] = AUTO if is_auto else cap
        options["option"] = sorted(self.option or [])
        options["pairs"] = self.pairs if self.reference else None
        return options | {name: path and path.name for name, path in self._files().items()}

    def inputs(self) -> list[Path]:
        """Every file that is read, those of expression first."""
        return [*self.expression, *(path for path in self._files().values() if path is not None)]

    def _files(self) -> dict[str, Path | None]:
        return {name: getattr(self, name) for name in FILES}


def edge_cap(text: str | None) -> tuple[int | None, bool]:
    """Read ``--max-edges``: the cap, and whether it is to be chosen from the data."""
    if text is None or text == AUTO:
        return None, text == AUTO
    try:
        return int(text), False
    except ValueError:
        raise ValueError(f"--max-edges must be an integer >= 0 or {AUTO}, found {text!r}") from None


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


def read_steady(
    knockouts: Path | None, knockdowns: Path | None, wildtype: Path | None
) -> SteadyStates | None:
    """Read the tables of steady states, if any is given."""
    if knockouts is None and knockdowns is None:
        if wildtype is not None:
            raise ValueError("--wildtype is used beside --knockouts or --knockdowns only")
        return None
    return read_steady_states(knockouts=knockouts, knockdowns=knockdowns, wildtype=wildtype)


def read_out_degrees(cap: int | None, path: Path | None) -> int | dict[str, int] | None:
    """One cap for all regulators, or the caps of a file by name."""
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


def read_regulators(path: Path | None, data: Expression) -> frozenset[str] | None:
    """Read the list of regulators; some of them must be genes."""
    if path is None:
        return None
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


def read_true_edges(path: Path | None, data: Expression) -> Reference | None:
    """Read the reference, say what of it does not count, and refuse one of other genes."""
    if path is None:
        return None
    found = reference_in(path, sorted(data.genes))
    for message in found.said():
        say(f"warning: {path}: {message}")
    return found
