"""TIGRESS: least angle regression with stability selection.

The level of every target is regressed on those of its regulators, ignoring time. Every run
multiplies the standardised columns by weights from U(alpha, 1), draws half of the samples, and adds
L regulators by least angle regression; the other half gives a second run. With F(l) the fraction of
runs in which regulator j entered in the first l steps, the score is

    s = mean of F(l) over l = 1..L     ("area": 1 if j is always first, 0 if it never enters),

while F(L) is the plain frequency of Meinshausen and Buhlmann (2010). alpha = .2, L = 5 and 100
splits, as in the authors' program. Here all targets share splits and weights, which leaves the
distribution of each target unchanged, so one Gram matrix serves all. Haury, Mordelet, Vera-Licona
and Vert, BMC Systems Biology 6, 145 (2012); the regression: Efron et al., Annals of Statistics 32
(2004).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.forests import streams_by_name
from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.rules import Rules
from grn_tvcs.stability.execution import SERIAL, Execution
from tvcs_core.engines import Job, hash_of

DESCRIPTION = (
    "Ordered pairs were scored by TIGRESS (Haury et al., 2012): least angle regression (Efron "
    "et al., 2004) with stability selection (Meinshausen and Bühlmann, 2010) of the target's "
    "level on those of regulators in the same sample; time was not used."
)

MIN_FREQUENCY = 0.6  # F(L) of selected edges; Meinshausen and Buhlmann suggest .6 to .9
CHUNK_SPLITS = 4  # splits per unit of work
CONTENT = "pairs that entered"  # version of checkpoints; those with another text are refused
TOLERANCE = 1e-9  # of correlations, relative to standardised columns


def tigress(
    expression: Expression,
    rules: Rules,
    rng: np.random.Generator,
    *,
    splits: int = 100,
    steps: int = 5,
    lowest_weight: float = 0.2,
    execution: Execution = SERIAL,
) -> Network:
    """Score edges by the area under their selection frequency.

    `splits` of the samples give two runs each, `steps` is L and `lowest_weight` is alpha.
    `selected` holds the method's own selection, edges that entered in at least 60 % of the runs.
    `execution` does the runs.
    """
    genes = expression.genes
    inputs, _, allowed = rules.inputs(genes, expression.constant_genes)
    x = expression.unbinned_levels
    x = x - x.mean(axis=0)
    sd = x.std(axis=0)
    x = x / np.where(expression.is_constant | (sd == 0), np.inf, sd)
    streams = streams_by_name(genes, rng)
    weights = np.array([stream.uniform(lowest_weight, 1.0, splits) for stream in streams])
    steps = min(steps, len(genes) - 1)
    orders = np.array([rng.permutation(len(x)) for _ in range(splits)])
    runs = Runs(x, weights[inputs], orders, inputs, allowed, steps)
    job = Job("splits", runs_of_splits, runs, -(-splits // CHUNK_SPLITS), runs.facts)
    sums = np.zeros((3, *allowed.shape), np.int64)
    with execution.results(job) as found:
        for _, _, (places, part) in found:
            sums.reshape(3, -1)[:, places] += part
    area, count, sign = sums
    n_runs = 2 * splits
    scores = area / (n_runs * max(steps, 1))
    own = (count >= MIN_FREQUENCY * n_runs) & (scores > 0)
    return Network(
        genes, Pairs(inputs, np.arange(len(genes)), scores, np.sign(sign).astype(np.int8), own)
    )


class Runs(NamedTuple):
    """Shared data of the runs of all splits.

    Attributes
    ----------
    x
        Standardised levels; (samples, genes).
    weights
        Of the inputs in each split; (inputs, splits).
    orders
        Permutation of the samples that each split cuts into halves; (splits, samples).
    inputs, allowed
        From `Rules.inputs`.
    steps
        Steps per run.
    """

    x: NDArray[np.float64]
    weights: NDArray[np.float64]
    orders: NDArray[np.int64]
    inputs: NDArray[np.int64]
    allowed: NDArray[np.bool_]
    steps: int

    @property
    def facts(self) -> dict[str, str]:
        """All inputs of the runs, as hashes with names."""
        return {
            "sums": CONTENT,
            "data": hash_of("", self.x),
            "regulators or targets": hash_of("", self.inputs, self.allowed),
            "options": hash_of((self.steps, len(self.orders)), self.weights),
            "seed": hash_of("", self.orders),
        }


def runs_of_splits(runs: Runs, unit: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the pairs that entered in the runs of a unit, with their area, count and sign.

    A pair is its flat index in [input, gene]. At most `steps` pairs enter per gene and run.
    """
    area, count, sign = sums = np.zeros((3, *runs.allowed.shape), np.int64)
    for split in range(len(runs.orders))[unit * CHUNK_SPLITS : (unit + 1) * CHUNK_SPLITS]:
        for rows in np.split(runs.orders[split], [len(runs.x) // 2]):
            half = runs.x[rows] - runs.x[rows].mean(axis=0)
            inputs = half[:, runs.inputs] * runs.weights[:, split]
            entries = least_angle_entries(inputs, half, runs.allowed, runs.steps)
            for step, (entering, targets, signs) in enumerate(entries):
                pairs = entering, targets
                area[pairs] += runs.steps - step
                count[pairs] += 1
                sign[pairs] += signs.astype(np.int64)
    places = np.flatnonzero(count)
    return places, sums.reshape(3, -1)[:, places].astype(np.int32)


def least_angle_entries(
    inputs: NDArray[np.float64],
    outputs: NDArray[np.float64],
    allowed: NDArray[np.bool_],
    steps: int,
) -> list[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]]:
    """Return per step: the columns of `inputs` that enter, their outputs and their signs.

    Columns are centred; `allowed` [input, output] holds the candidates. All outputs take their
    steps together. Fitted outputs drop out, so later steps may have fewer.
    """
    if not inputs.shape[1]:
        return []
    gram = inputs.T @ inputs
    correlation = outputs.T @ inputs  # [output, input], with the residuals
    is_open = allowed.T.copy()
    targets = np.arange(len(correlation))
    level = np.where(is_open, np.abs(correlation), 0.0).max(axis=1, initial=0.0)
    entering = np.where(is_open, np.abs(correlation), -1.0).argmax(axis=1)
    active = np.empty((targets.size, 0), dtype=np.intp)
    goes_on = level > TOLERANCE
    entries = []
    for _ in range(steps):
        targets, correlation, is_open, level, active, entering = (
            array[goes_on] for array in (targets, correlation, is_open, level, active, entering)
        )
        if not targets.size:
            break
        at = np.arange(targets.size)
        is_open[at, entering] = False
        active = np.column_stack([active, entering])
        signs = np.sign(np.take_along_axis(correlation, active, axis=1))
        entries.append((entering, targets, signs[:, -1]))
        # 1. equiangular direction: correlations of active inputs fall at rate 1 (Efron, 2.4-2.6)
        among = gram[active[:, :, None], active[:, None, :]]
        direction = np.linalg.solve(among, signs[:, :, None])[:, :, 0]
        rate = sum(d[:, None] * gram[a] for d, a in zip(direction.T, active.T, strict=True))
        # 2. distance at which an inactive input, with either sign, is as correlated (Efron, 2.13)
        far = np.minimum(
            _distance(level[:, None] - correlation, 1 - rate),
            _distance(level[:, None] + correlation, 1 + rate),
        )
        far = np.where(is_open, far, np.inf)
        entering = far.argmin(axis=1)
        # 3. go there; at distance `level` all correlations are 0, the least squares fit
        step = far[at, entering]
        goes_on = step < (1 - TOLERANCE) * level
        correlation = correlation - np.where(goes_on, step, 0.0)[:, None] * rate
        level = level - step
        goes_on &= level > TOLERANCE
    return entries


def _distance(gap: NDArray[np.float64], closing: NDArray[np.float64]) -> NDArray[np.float64]:
    meets = closing > TOLERANCE
    return np.where(meets, np.maximum(gap, 0.0) / np.where(meets, closing, 1.0), np.inf)
