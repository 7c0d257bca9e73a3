"""Tables of levels that tests of readers write, and what a refusal offers."""

import numpy as np
import pandas as pd
import pytest

from grn_tvcs import Expression
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.ways import ways_that_read

NAMES = ("Fos", "Jun", "Egr1", "Myc", "Atf3", "Klf4", "Rela", "Stat1", "Irf1", "Il6", "Tnf", "T")
TIMES = (0, 1, 2, 4, 8, 24)


def levels(rng, n_series=3, names=NAMES):
    """Levels of genes in so many series of the same times."""
    rows = n_series * len(TIMES)
    return pd.DataFrame(np.round(np.exp(rng.normal(4, 1, (rows, len(names)))), 3), columns=names)


def course(rng, n_series=3):
    table = levels(rng, n_series)
    table.insert(0, "Time", [*TIMES] * n_series)
    return table


def turned(table, samples):
    """Genes in rows, in samples of these names."""
    made = table.T
    made.columns = samples
    return made.rename_axis("gene").reset_index()


def refused(path, **given):
    with pytest.raises(ValueError, match=r".") as why:
        Expression.of(path, **given)
    ways = ways_out(path, why.value, **given)
    return str(why.value), [{k: v for k, v in way.items() if given.get(k) != v} for way in ways]


def ways_out(path, error, **given):
    """Options with which a file is read that was refused with some."""
    return [way.options.given() for way in ways_that_read([path], error, Options.of(**given))]
