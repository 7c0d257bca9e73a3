"""The data set that comes with the package, by a call: crowd40."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tvcs_core.files.display import summary

if TYPE_CHECKING:
    from crowd_tvcs.answers.answers import Answers, Gold
    from crowd_tvcs.answers.quality import Quality


class Dataset(NamedTuple):
    """A crowd.

    Attributes
    ----------
    quality
        The probability that each worker labels each task rightly.
    answers
        Labels of the workers for the gold tasks.
    gold
        True labels of the gold tasks.
    folder
        The files, for the command line, with their DATASHEET.md.
    """

    quality: Quality
    answers: Answers
    gold: Gold
    folder: Path

    def __repr__(self) -> str:
        return summary(self)


def crowd40() -> Dataset:
    """Return a simulated crowd of 40 workers, 120 tasks and 20 gold tasks.

    The quality of each pair is drawn uniformly from 0.5 to 0.9, as in the paper; real workers are
    not like that. Nothing in it was measured.

    Examples
    --------
    >>> data = crowd40()
    >>> data.quality.values.shape, len(data.gold)
    ((40, 120), 20)
    """
    from crowd_tvcs.answers.answers import read_answers, read_gold
    from crowd_tvcs.answers.quality import read_quality
    from tvcs_core.files.extras import carried

    folder = carried(__package__, "crowd40")
    quality = read_quality(folder / "quality.csv").quality
    return Dataset(
        quality, read_answers(folder / "answers.csv"), read_gold(folder / "gold.csv"), folder
    )
