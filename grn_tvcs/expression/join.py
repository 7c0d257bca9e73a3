"""Joining files of the same genes, and refusing tables that do not fit together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.clock import UNIT_NOTE
from grn_tvcs.expression.expression import Expression, repeated
from grn_tvcs.expression.judge.same_names import Identifiers
from grn_tvcs.expression.judge.series import warn_of_units
from grn_tvcs.expression.scales import are_of_one_unit
from grn_tvcs.expression.user_warnings import warn_user
from tvcs_core import DataError
from tvcs_core.arguments import option_words
from tvcs_core.files.display import joined


def join_files(paths: Sequence[str | Path], parts: Sequence[Expression]) -> Expression:
    """Join files of the same layout and genes: all series, and all samples in steady state.

    Genes may stand in any order. The result has that of the first file. If two files
    use one name of a series, names get the number of the file. If only some files have a column
    of perturbations, the others count as not perturbed, with a warning.
    """
    if len(parts) == 1:
        return parts[0]
    genes = parts[0].genes
    if twice := repeated([str(path) for path in paths]):
        raise DataError("is given twice, and its samples would count twice", path=twice[0])
    for path, part in zip(paths, parts, strict=True):
        if strangers := sorted(set(genes) ^ set(part.genes)):
            is_case = {g.lower() for g in genes} == {g.lower() for g in part.genes}
            what = ", which differ in case alone: write them alike" if is_case else "; remove them"
            raise DataError(
                f"must have the genes of {paths[0]}, but these are in one of the two only: "
                f"{joined(strangers)}{what}, or give both one name by "
                f"{option_words({'gene_names': 'FILE'})}",
                path=path,
            )
    refuse_different_units(paths, parts)
    refuse_different_scales(paths, parts)
    warn_of_steps(paths, parts)
    column = [[part.genes.index(gene) for gene in genes] for part in parts]
    names = [list(part.series) for part in parts]
    if repeated([name for part in names for name in dict.fromkeys(part)]):
        names = [[f"{k}: {name}" for name in part] for k, part in enumerate(names, start=1)]
    known = [part.perturbed is not None for part in parts if part.series]
    if any(known) and not all(known):
        without = [
            str(path)
            for path, part in zip(paths, parts, strict=True)
            if part.series and part.perturbed is None
        ]
        warn_user(f"taken as never perturbed, without a column perturbed: {joined(without)}")
    rest = [
        part.steady_values[:, at]
        for part, at in zip(parts, column, strict=True)
        if part.steady_values is not None
    ]
    on = [np.zeros(len(p.times), bool) if p.perturbed is None else p.perturbed for p in parts]
    return Expression(
        np.concatenate([part.values[:, at] for part, at in zip(parts, column, strict=True)]),
        np.concatenate([part.times for part in parts]),
        tuple(name for part in names for name in part),
        genes,
        np.concatenate(on) if any(known) else None,
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        steady_values=np.concatenate(rest) if rest else None,
        scale=parts[0].scale if len({part.scale for part in parts}) == 1 else None,
        guessed_from=parts[0].guessed_from,
        cells=_cells(parts),
        identifiers=reduce(Identifiers.joined, (part.identifiers for part in parts)),
    )


def refuse_different_units(paths: Sequence[str | Path], parts: Sequence[Expression]) -> None:
    """Refuse files with different units of time; one of them may have none."""
    units = [{note for note in p.notes if note.startswith(UNIT_NOTE)} for p in parts if p.series]
    if any(one != units[0] for one in units[1:]) and any(units):
        raise DataError(
            "must give times in the unit of the other files, or none of them any: found "
            + joined(sorted({note.split(",")[0] for one in units for note in one})),
            path=paths[0],
        )


def refuse_different_scales(paths: Sequence[str | Path], parts: Sequence[Expression]) -> None:
    """Refuse logarithms beside levels or counts: no scale is right for both."""
    for path, part in zip(paths, parts, strict=True):
        if not are_of_one_unit(parts[0].levels, part.levels):
            middle = ", ".join(f"{np.median(one.levels):g}" for one in (parts[0], part))
            raise DataError(
                f"must hold values of the unit of {paths[0]}, found the medians {middle}: give "
                "logarithms in all files or in none",
                path=path,
            )


def warn_of_steps(names: Sequence[str | Path], parts: Sequence[Expression]) -> None:
    """Warn where times of one table step by so much more than another's that units may differ."""
    steps = {str(name): part.steps.tolist() for name, part in zip(names, parts, strict=True)}
    warn_of_units("", {name: some for name, some in steps.items() if some})


def _cells(parts: Sequence[Expression]) -> NDArray[np.float64] | None:
    if all(part.cells is None for part in parts):
        return None
    return np.concatenate([np.ones(len(p.times)) if p.cells is None else p.cells for p in parts])
