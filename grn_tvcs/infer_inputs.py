"""What `grn-tvcs infer` is given: files and words, read and checked before the long work."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvcs_core import DataError
from tvcs_core.shell import say

if TYPE_CHECKING:
    from grn_tvcs.edge_files import Reference
    from grn_tvcs.expression import Expression
    from grn_tvcs.knockouts import SteadyStates

FINISHED = ".resume"
AUTO = "auto"


def edge_cap(text: str | None) -> tuple[int | None, bool]:
    """Read ``--max-edges``: the cap, and whether it is to be chosen from the data."""
    if text is None or text == AUTO:
        return None, text == AUTO
    try:
        return int(text), False
    except ValueError:
        raise ValueError(f"--max-edges must be an integer >= 0 or {AUTO}, found {text!r}") from None


def refuse_bad_words(threads: int, pairs: str) -> None:
    """Refuse what would fail only after the long work."""
    from grn_tvcs.scores import PAIRS

    if threads < 1:
        raise ValueError(f"--threads must be >= 1, found {threads}")
    if pairs not in PAIRS:
        raise ValueError(f"--pairs must be one of {', '.join(PAIRS)}, found {pairs!r}")


def prepare(out: Path, *, force: bool, resume: bool) -> None:
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


def method_options(method: str, given: list[str]) -> dict[str, Any]:
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


def read_steady(
    knockouts: Path | None, knockdowns: Path | None, wildtype: Path | None
) -> SteadyStates | None:
    """Read the tables of steady states, if any is given."""
    from grn_tvcs.knockouts import read_steady_states

    if knockouts is None and knockdowns is None:
        if wildtype is not None:
            raise ValueError("--wildtype is used beside --knockouts or --knockdowns only")
        return None
    return read_steady_states(knockouts=knockouts, knockdowns=knockdowns, wildtype=wildtype)


def read_out_degrees(cap: int | None, path: Path | None) -> int | dict[str, int] | None:
    """One cap for all regulators, or the caps of a file by name."""
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


def read_regulators(path: Path | None, data: Expression) -> frozenset[str] | None:
    """Read the list of regulators; some of them must be genes."""
    from grn_tvcs.expression import listed
    from tvcs_core.files import read_names

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
    from grn_tvcs.edge_files import reference_in

    if path is None:
        return None
    found = reference_in(path, sorted(data.genes))
    for message in found.said():
        say(f"warning: {path}: {message}")
    return found
