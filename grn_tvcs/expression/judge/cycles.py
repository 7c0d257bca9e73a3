"""Threshold cycles of quantitative PCR (Ct, Cq): the fewer, the higher the expression.

Names decide, of genes or samples or of the file, unless the values lie outside of all cycles.
Changes of cycles (dCt, ddCt) fall likewise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.missing_values import CYCLES, RISING
from tvcs_core import DataError
from tvcs_core.files.display import joined

LEAST, MOST, LATE = 4.0, 50.0, 20.0  # cycles of any gene; some gene needs as many as `LATE`
_PARTS = re.compile(r"[\s_.()\[\]:-]+")
_CYCLE = re.compile(r"c[tq]")
_OF_CYCLES = re.compile(r"c[tq]|mean|avg|values?|cycles?")
_CHANGE = re.compile(r"(d|δ|∆|delta){1,2}c[tq]")


def refuse_cycles(path: str, names: Sequence[str], values: NDArray[np.float64]) -> None:
    """Refuse cycles, and changes of them, in place of levels.

    Parameters
    ----------
    path
        The file; its name may say what the values are.
    names
        Of genes, or of samples.
    values
        NaN where one is missing.

    Raises
    ------
    DataError
        If most names or that of the file are of cycles, and the values may be.
    """
    may_be = _may_be_cycles(values)
    found = [name for name in names if _is_of_cycles(name, may_be=may_be)]
    of_file = may_be and any(map(_CYCLE.fullmatch, _parts(PurePath(path).stem)))
    if 2 * len(found) <= len(names) and not of_file:
        return
    where = joined(found[:3]) if found else "its name"
    raise DataError(
        f"must hold levels, but {where} and values of {np.nanmin(values):g} to "
        f"{np.nanmax(values):g} are those of {CYCLES}: {RISING}",
        path=path,
    )


def are_like_cycles(values: NDArray[np.float64]) -> bool:
    """Whether values without such a name may be cycles: no level is so even as these are."""
    return _may_be_cycles(values) and bool((values != np.rint(values)).mean() > 0.5)


def _may_be_cycles(values: NDArray[np.float64]) -> bool:
    known = values[~np.isnan(values)]
    if not known.size:
        return False
    return bool(LEAST <= known.min() and LATE <= known.max() <= MOST)


def _parts(name: str) -> list[str]:
    return [part for part in _PARTS.split(name.lower()) if part]


def _is_of_cycles(name: str, *, may_be: bool) -> bool:
    """Whether a name is of cycles beside a word: CT4 and CT_1 are times and controls.

    Examples
    --------
    >>> [_is_of_cycles(name, may_be=True) for name in ("TP53_Ct", "dCt TP53", "CT_1", "CT4")]
    [True, True, False, False]
    >>> _is_of_cycles("2^-ddCt TP53", may_be=True)
    False
    """
    if name.startswith(("-", "2^")) or "minus" in name.lower():
        return False
    parts = _parts(name)
    if any(map(_CHANGE.fullmatch, parts)):
        return True
    has_word = any(not (part.isdecimal() or _OF_CYCLES.fullmatch(part)) for part in parts)
    return may_be and has_word and any(map(_CYCLE.fullmatch, parts))
