"""The model that comes with the package: the combiner, what tables look like, common designs."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.calibration import Calibration, Empty
from grn_tvcs.combine.combiner import Combiner, among, load, named, save
from grn_tvcs.combine.likeness import Likeness, covariates
from grn_tvcs.combine.nulls import null_log_odds
from grn_tvcs.combine.trees import Trees
from grn_tvcs.simulation.designs import RANDOM, WILD, Design

PATH = Path(__file__).with_name("universal.npz")
LIKENESS = ("means", "scatter", "distances")
WORDS = {WILD: "wild", RANDOM: "random"}  # starts of series, in names of arrays

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Universal:
    """What `PATH` holds.

    Attributes
    ----------
    combiner
        Learned on networks of all kinds and designs, and behind it those of common designs.
    likeness
        What their tables look like, by where series start.
    growth
        How the logarithm of the number of supported edges follows from `covariates`.
    nulls
        Say of a table whether it has any edge.
    common
        Calibrations of common designs, by the key of the design.
    own
        The common design, by its key, that each of the last stages of `combiner` knows alone.
    made
        The command, its arguments and the versions of libraries that the file was made with.
    stamp
        Hash of the file.
    """

    combiner: Combiner
    likeness: dict[str, Likeness]
    growth: Array
    nulls: Trees
    common: dict[str, Calibration]
    own: tuple[str, ...]
    made: dict[str, Any]
    stamp: str

    def combiner_for(self, design: Design) -> Combiner:
        """What all networks taught, and beside it what those of just this design did."""
        return for_design(self.combiner, self.own, design.key)

    def with_start(self, design: Design, found: dict[str, float]) -> Design:
        """The design with the start of series that the traits of its table look most like.

        Where samples say when a perturbation was on, or are means of cells, and where there are no
        series, nothing is asked.
        """
        if not design.n_series or design.is_perturbation_known or design.cells:
            return design
        designs = [replace(design, start=start) for start in self.likeness]
        return min(designs, key=lambda one: self.likeness[one.start].strangeness(found, one))

    def empty(self, design: Design) -> Empty:
        """What tells tables without any edge, of a design."""
        return Empty(self.nulls, self.likeness[design.start])

    def null_log_odds(
        self,
        found: dict[str, float],
        design: Design,
        effect: float = np.nan,
        shared: float = np.nan,
    ) -> float:
        """Log-odds that a table has no edge, as `nulls.null_log_odds`."""
        return null_log_odds(self.nulls, found, design, effect, shared)

    def edges_with(self, n_edges: int, design: Design, wider: Design) -> int:
        """How many edges another design would support where this one supports `n_edges`."""
        change = (covariates(wider) - covariates(design)) @ self.growth
        return round(n_edges * float(np.exp(change)))


@functools.cache
def universal(path: Path = PATH) -> Universal:
    """Read the model.

    Raises
    ------
    DataError
        If the file is missing, edited or of another version.
    """
    combiner, more, stamp = load(path)
    common = {
        str(key): Calibration(float(offset), float(slope), rows, float(limit), float(shared))
        for key, offset, slope, rows, limit, shared in zip(
            more["common_keys"], more["common_offsets"], more["common_slopes"],
            more["common_traits"], more["common_limits"], more["common_shared"], strict=True,
        )
    }  # fmt: skip
    likeness = {
        start: Likeness(*(more[f"likeness_{word}_{name}"] for name in LIKENESS))
        for start, word in WORDS.items()
    }
    own = tuple(map(str, more["own_keys"]))
    nulls = among(more, "nulls")
    made = json.loads(str(more["made"]))
    return Universal(combiner, likeness, more["growth"], nulls, common, own, made, stamp)


def for_design(combiner: Combiner, own: Sequence[str], key: str = "") -> Combiner:
    """The combiner with the stages that all networks taught, and those of one design.

    `own` are the keys of the designs that the last stages know alone.
    """
    everybodys = combiner.stages[: len(combiner.stages) - len(own)]
    of_design = [
        stages
        for stages, known in zip(combiner.stages[len(everybodys) :], own, strict=True)
        if known == key
    ]
    return Combiner(combiner.names, (*everybodys, *of_design), combiner.nets)


def write_universal(
    path: Path,
    combiner: Combiner,
    likeness: dict[str, Likeness],
    growth: Array,
    nulls: Trees,
    common: dict[str, Calibration],
    own: Sequence[str] = (),
    made: dict[str, Any] | None = None,
) -> None:
    """Write a model; the same one has the same bytes.

    `own` is as in `Universal`, `made` says with which command, arguments and versions.
    """
    n = len(next(iter(common.values())).traits) if common else 0
    shape = (len(common), n, likeness[WILD].means.shape[1])
    looks = {
        f"likeness_{word}_{name}": getattr(likeness[start], name)
        for start, word in WORDS.items()
        for name in LIKENESS
    }
    save(
        combiner,
        path,
        growth=growth,
        **named(nulls, "nulls"),
        made=np.array(json.dumps(made or {}, sort_keys=True)),
        own_keys=np.array(own, dtype=str),
        common_keys=np.array(list(common), dtype=str),
        common_offsets=np.array([c.offset for c in common.values()]),
        common_slopes=np.array([c.slope for c in common.values()]),
        common_limits=np.array([c.limit for c in common.values()]),
        common_shared=np.array([c.shared for c in common.values()]),
        common_traits=np.array([c.traits for c in common.values()]).reshape(shape),
        **looks,
    )
