"""Public functions refuse what is of another kind by the name of the argument."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest

from grn_tvcs import (
    Expression,
    Network,
    Prior,
    Rules,
    SteadyStates,
    average_in_bins,
    compare,
    infer,
    most_variable,
    score,
    simulate,
    subset_genes,
)
from tvcs_core import (
    TVCS,
    Huber,
    LeastSquares,
    Problem,
    certify,
    certify_blocks,
    project,
    project_blocks,
    project_many,
    solve,
)

WRONG = {
    "a word": "star",
    "a word of NumPy": np.str_("star"),
    "below 0": -1,
    "a fraction": 2.5,
    "NaN": float("nan"),
    "nothing": None,
    "an empty list": [],
    "words": ["a", "b"],
    "a dictionary": {"a": 1},
    "bytes": b"x",
    "an object": object(),
    "one dimension": np.arange(3.0),
    "three dimensions": np.zeros((2, 2, 2)),
    "NaNs": np.full((3, 3), np.nan),
    "complex numbers": np.ones((3, 3)) * 1j,
    "words in an array": np.array(["a", "b"]),
    "objects in an array": np.array([[1, "a"], [None, 2]], dtype=object),
    "a mask": np.array([True, False, True]),
    "columns of one name": pd.DataFrame(np.ones((3, 2)), columns=["A", "A"]),
}
GENES = ("A", "B", "C", "D")
# What is called, and the arguments that are made wrong one by one.
CALLS = {
    project: "V constraint method",
    project_many: "stack constraint threads",
    project_blocks: "constraint threads retries",
    certify: "projection",
    certify_blocks: "projection",
    LeastSquares: "X y ridge intercept",
    Huber: "delta ridge",
    Problem: "loss constraint",
    solve: "problem method rng max_iter tol patience",
    Expression: "values times series genes steady_values cells scale",
    SteadyStates: "levels changed is_knockout genes",
    Network.of: "genes scores signs stability evidence confidence false_discovery",
    Prior: "genes weights signs",
    Rules: "max_in_degree max_out_degree max_edges regulators targets",
    infer: "method max_in_degree max_edges regulators targets steady prior scale bins rng",
    compare: "b names regulators scale level exchanges rng",
    average_in_bins: "expression bins",
    subset_genes: "expression names",
    most_variable: "expression n",
    score: "network reference pairs cut",
    simulate: "n_genes n_series n_points topology n_edges max_in_degree noise noise_level sde "
    "series_only rng",
}
# Other words of the field for an argument.
SAID_OF = {"V": "shape", "stack": "shape", "y": "shape", "changed": "gene", "names": "genes"}
# Data that have no names of their own.
SAID_OF |= dict.fromkeys(("expression", "b", "reference"), "(?:array|DataFrame|reference)")
SHAPED = (
    "times",
    "genes",
    "changed",
    "is_knockout",
    "series",
)  # what others must have the shape of
EACH = [(function, name) for function, names in CALLS.items() for name in names.split()]


@cache
def right():
    """Arguments of each call that are right."""
    V = np.random.default_rng(0).random((3, 3))
    caps = TVCS.matrix((3, 3), row_caps=2, col_caps=2, total=4)
    problem = Problem(LeastSquares(V, V), caps)
    levels = np.random.default_rng(1).random((16, 4))
    series = tuple(str(k // 4) for k in range(16))
    data = Expression(levels, [0, 1, 2, 3] * 4, series, GENES)
    network = infer(data, "pcc", rng=0)
    changed = {"changed": GENES, "is_knockout": np.ones(4, bool)}
    return {
        project: {"V": V, "constraint": caps},
        project_many: {"stack": [V], "constraint": caps},
        project_blocks: {"blocks": [V], "constraint": caps},
        certify: {"projection": project(V, caps)},
        certify_blocks: {"projection": project_blocks([V], caps), "blocks": [V]},
        LeastSquares: {"X": V, "y": V},
        Huber: {"X": V, "y": V},
        Problem: {"loss": problem.loss, "constraint": caps},
        solve: {"problem": problem, "method": "iht"},
        Expression: {"values": levels, "times": data.times, "series": series, "genes": GENES},
        SteadyStates: {"levels": levels[:4], "genes": GENES, **changed},
        Network.of: {"genes": GENES, "scores": network.scores},
        Prior: {"genes": GENES, "weights": np.zeros((4, 4))},
        Rules: {},
        infer: {"expression": data, "method": "pcc"},
        compare: {"a": data, "b": data},
        average_in_bins: {"expression": data, "bins": 2},
        subset_genes: {"expression": data, "names": GENES[:2]},
        most_variable: {"expression": data, "n": 2},
        score: {"network": network, "reference": network},
        simulate: {"n_genes": 4, "n_series": 2, "n_points": 3},
    }


def refusal(function, arguments):
    """What is said by the error with which a call is refused; None where it is not."""
    try:
        function(**arguments)
    except FileNotFoundError:  # a word is a path to some
        return None
    except (TypeError, ValueError) as error:
        return str(error)
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("function", "name"), EACH, ids=[f"{f.__name__}-{n}" for f, n in EACH])
def test_what_is_no_argument_is_refused_by_its_name(function, name):
    words = [name, name.replace("_", " "), name.removesuffix("s"), SAID_OF.get(name, name)]
    words += ["shape"] * (name in SHAPED)
    refused = {
        kind: refusal(function, right()[function] | {name: wrong}) for kind, wrong in WRONG.items()
    }
    message = {kind: what for kind, what in refused.items() if what is not None}
    assert message
    unnamed = {
        kind: what
        for kind, what in message.items()
        if "\n" in what or not any(re.search(rf"(?<![a-z]){word}(?![a-z])", what) for word in words)
    }
    assert not unnamed
