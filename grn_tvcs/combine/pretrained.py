"""Pretrained model of the package: combiner, traits of simulated tables, common designs."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.calibration import Calibration, NullModel
from grn_tvcs.combine.combiner import Combiner, load, models_of
from grn_tvcs.combine.domain_check import TraitDistribution, covariates
from grn_tvcs.combine.trees import Trees
from grn_tvcs.simulation.designs import RANDOM, WILD, Design

PATH = Path(__file__).with_name("pretrained.npz")
TRAIT_FIELDS = ("means", "scatter", "limits")  # in the file as ``likeness_START_FIELD``
WORDS = {WILD: "wild", RANDOM: "random"}  # starts of series in the names of arrays in the file

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PretrainedModels:
    """Contents of the file `PATH`, which `python -m benchmarks.universal` writes.

    Attributes
    ----------
    combiner
        Stages trained on networks of all kinds and designs.
    trait_distributions
        Distribution of traits by the start of series.
    growth
        Coefficients of the logarithm of the number of supported edges on `covariates`.
    nulls
        Trees that return the log-odds that a table has no edge.
    common
        Calibrations of common designs by the key of the design.
    made
        Command, arguments and versions of libraries that made the file.
    stamp
        Hash of the file.
    """

    combiner: Combiner
    trait_distributions: dict[str, TraitDistribution]
    growth: Array
    nulls: Trees
    common: dict[str, Calibration]
    made: dict[str, Any]
    stamp: str

    def with_start(self, design: Design, found: dict[str, float]) -> Design:
        """Return the design with the start of series that is nearest to the traits of the table.

        The design stays as it is if the perturbation is known, if samples are means of cells, or
        without series.
        """
        if not design.n_series or design.is_perturbation_known or design.cells:
            return design
        designs = [replace(design, start=start) for start in self.trait_distributions]
        return min(
            designs,
            key=lambda one: self.trait_distributions[one.start].relative_distance(found, one),
        )

    def null_model(self, design: Design) -> NullModel:
        """Return the model of tables without edges for a design."""
        return NullModel(self.nulls, self.trait_distributions[design.start])

    def edges_with(self, n_edges: int, design: Design, wider: Design) -> int:
        """Predict the supported edges in a `wider` design from the `n_edges` in this one."""
        change = (covariates(wider) - covariates(design)) @ self.growth
        return round(n_edges * float(np.exp(change)))


@functools.cache
def load_pretrained(path: Path = PATH) -> PretrainedModels:
    """Load the pretrained model.

    Raises
    ------
    DataError
        If the file is missing, edited or of another version.
    """
    combiner, more, stamp = load(path)
    common = {
        str(key): Calibration(*numbers)
        for key, numbers in zip(more["common_keys"], more["common_numbers"].tolist(), strict=True)
    }
    trait_distributions = {
        start: TraitDistribution(*(more[f"likeness_{word}_{name}"] for name in TRAIT_FIELDS))
        for start, word in WORDS.items()
    }
    [nulls] = models_of("nulls", Trees, more)
    made = json.loads(str(more["made"]))
    return PretrainedModels(
        combiner, trait_distributions, more["growth"], nulls, common, made, stamp
    )
