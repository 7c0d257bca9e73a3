"""Response model of workers with K classes: one matrix of probabilities per worker and task.

Row y of a matrix holds the probability of each answer given the truth y. A worker with one accuracy
q has q on the diagonal and (1 - q) / (K - 1) elsewhere: an *even* matrix. A worker is at least as
informative as another whose matrix is their own, garbled (Blackwell, 1951). The even matrix with
the smallest off-diagonal share s that satisfies ``M[y, l] >= s * sum of column l`` everywhere can
be garbled into M. So every worker has an even one who is at least as informative, whose accuracy is
called their *reach*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from crowd_tvcs.arrays import Bools, Floats, Integers
from tvcs_core.arguments import array_of

MAX_CLASSES = 100  # limit of inputs: a matrix takes 80 kB
MIN_INFORMATIVENESS = 1e-12  # gain of one answer that counts as 0


@dataclass(frozen=True, eq=False)
class AnswerModel:
    """Response probabilities, with every distinct matrix once.

    Attributes
    ----------
    matrices
        The matrices, of shape (matrices, classes, classes): truth, then answer.
    kind
        Matrix index of every worker on every task, of shape (workers, tasks).
    prior
        Probability of every class before any answer, of shape (tasks, classes).
    reach
        Accuracy of an even worker who is at least as informative, per matrix, in [1/K, 1].
    is_even
        Whether the worker is that even worker.
    informativeness
        Gain of one answer over a guess among K equally likely classes; 0 if uninformative.
    """

    matrices: Floats
    kind: Integers
    prior: Floats
    reach: Floats
    is_even: Bools
    informativeness: Floats

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return self.matrices.shape[1]


def answer_model(quality: Floats, prior: Floats, confusion: Floats | None) -> AnswerModel:
    """Make the model of accuracies of shape (workers, tasks), or of one matrix per worker.

    `prior` has shape (tasks, classes); `confusion`, of shape (workers, classes, classes), takes
    precedence over `quality`. All arguments are taken as checked.
    """
    n_classes = prior.shape[1]
    if confusion is None:
        accuracy, inverse = np.unique(quality, return_inverse=True)
        kind = inverse.reshape(quality.shape).astype(np.int64)
        matrices = even_matrices(accuracy, n_classes)
    else:
        kind = np.repeat(np.arange(quality.shape[0])[:, None], quality.shape[1], axis=1)
        matrices = np.array(confusion, dtype=np.float64, order="C")
    return model_of(matrices, kind, prior)


def model_of(matrices: Floats, kind: Integers, prior: Floats) -> AnswerModel:
    """Make the model of matrices, their indices by pair, and priors; all taken as checked."""
    n_classes = prior.shape[1]
    accuracy = matrices[:, 0, 0]
    is_even = (matrices == even_matrices(accuracy, n_classes)).all(axis=(1, 2))
    is_even &= accuracy >= 1.0 / n_classes
    reach = accuracy.copy()
    reach[~is_even] = _reach(matrices[~is_even])
    informativeness = (matrices.max(axis=1).sum(axis=1) - 1.0) / n_classes
    informativeness[informativeness < MIN_INFORMATIVENESS] = 0.0
    # Kernels would be compiled again for arrays of another layout or that may not be written.
    return AnswerModel(matrices, kind, np.array(prior, order="C"), reach, is_even, informativeness)


def even_matrices(accuracy: Floats, n_classes: int) -> Floats:
    """Return matrices with these accuracies and mistakes spread evenly over the other classes.

    `accuracy` has any shape; the result has two more axes, truth and answer.
    """
    out = np.empty((*accuracy.shape, n_classes, n_classes))
    out[:] = ((1.0 - accuracy) / (n_classes - 1))[..., None, None]
    at = np.arange(n_classes)
    out[..., at, at] = accuracy[..., None]
    return out


def _reach(matrices: Floats) -> Floats:
    """Return the accuracy of the even matrix that can be garbled into each of these."""
    column = matrices.sum(axis=1, keepdims=True)
    share = np.where(column > 0.0, matrices / np.where(column > 0.0, column, 1.0), np.inf)
    least = share.min(axis=(1, 2))
    return np.clip(1.0 - (matrices.shape[1] - 1) * least + 1e-12, 0.0, 1.0)


def checked_classes(n_classes: int) -> int:
    """Return a number of classes, refusing an invalid one."""
    if isinstance(n_classes, bool) or not isinstance(n_classes, int | np.integer):
        raise TypeError(f"n_classes must be an integer, found {n_classes!r}")
    if not 2 <= n_classes <= MAX_CLASSES:
        raise ValueError(f"n_classes must be from 2 to {MAX_CLASSES}, found {n_classes}")
    return int(n_classes)


def checked_confusion(confusion: ArrayLike, n_workers: int, n_classes: int) -> Floats:
    """Return confusion matrices, refusing a wrong shape or rows that are not probabilities."""
    out = array_of("confusion", confusion, np.float64)
    shape = (n_workers, n_classes, n_classes)
    if out.shape != shape:
        raise ValueError(
            f"confusion must have shape {shape}, workers x truth x answer, found {out.shape}"
        )
    wrong = ~((out >= 0.0) & (out <= 1.0)).all(axis=2)
    wrong |= ~(np.abs(out.sum(axis=2) - 1.0) <= 1e-6)
    if wrong.any():
        i, y = np.argwhere(wrong)[0]
        raise ValueError(
            "the rows of every confusion matrix must hold chances that add up to 1, but row "
            f"{y} of worker {i} is {out[i, y].tolist()}"
        )
    out = adding_up_to_one(out)
    out.setflags(write=False)
    return out


def checked_prior(prior: ArrayLike | None, n_tasks: int, n_classes: int) -> Floats:
    """Return the probability of every class for every task; equal ones for None."""
    if prior is None:
        prior = np.full(n_classes, 1.0 / n_classes)
    given = array_of("class_prior", prior, np.float64)
    if given.shape not in ((n_classes,), (n_tasks, n_classes)):
        raise ValueError(
            f"class_prior must have shape ({n_classes},) or ({n_tasks}, {n_classes}), "
            f"found {given.shape}"
        )
    rows = np.array(np.broadcast_to(given, (n_tasks, n_classes)))
    wrong = ~(rows >= 0.0).all(axis=1) | ~(np.abs(rows.sum(axis=1) - 1.0) <= 1e-6)
    if wrong.any():
        j = int(np.argmax(wrong))
        raise ValueError(
            "class_prior must hold chances >= 0 that add up to 1, but those of task "
            f"{j} are {rows[j].tolist()}"
        )
    rows = adding_up_to_one(rows)
    rows.setflags(write=False)
    return rows


def adding_up_to_one(chances: Floats) -> Floats:
    """Divide probabilities by their sums over the last axis, which are 1 up to rounding."""
    return chances / chances.sum(axis=-1, keepdims=True)
