"""The records of the methods: help, errors, reports and options say of a method what they say."""

import inspect

import numpy as np
import pytest
from typer.testing import CliRunner

from grn_tvcs import METHODS, Expression, Network, Rules, infer
from grn_tvcs.cli.main import app
from grn_tvcs.methods.table import NO_OPTIONS, Method
from grn_tvcs.network.provenance import Provenance
from grn_tvcs.report.methods_text import methods_paragraph
from grn_tvcs.report.references import REFERENCES, cited
from tvcs_core.lazy import choices


@pytest.mark.parametrize("name", METHODS)
def test_a_record_finds_its_function_and_is_called_like_it(name):
    method = METHODS[name]
    assert method.name == name
    assert method.function.__name__ == name.replace("-", "_")
    first = list(inspect.signature(method).parameters)[:3]
    assert first == ["expression", "rules", "rng"]
    assert set(method.keywords) - set(NO_OPTIONS) == set(method.options)
    assert method.takes_steady_states == ("steady" in inspect.signature(method).parameters)
    assert method.takes_prior == ("prior" in inspect.signature(method).parameters)
    assert method.about[0].endswith(".")


def test_the_help_names_every_method_with_its_hint():
    assert choices(METHODS.values()).startswith(
        "combined, tvcs, tvcs-plain (the paper's model as printed), "
    )
    done = CliRunner().invoke(app, ["infer", "--help-all"], terminal_width=100_000)
    assert f"{choices(METHODS.values())}." in " ".join(done.output.split())


def test_a_method_that_selects_edges_has_them_in_own_and_no_other_has_any(monkeypatch):
    def three(expression, rules, rng):
        """Score all pairs alike and select three."""
        n = len(expression.genes)
        chosen = np.zeros((n, n), dtype=bool)
        chosen[0, 1:] = True
        return Network.of(expression.genes, 1.0 - np.eye(n), selected=chosen)

    class Mine(Method):
        function = staticmethod(three)

    rng = np.random.default_rng(0)
    made = Expression(rng.uniform(size=(9, 4)), np.arange(9.0), ("1",) * 9, tuple("ABCD"))
    for selects in (True, False):
        monkeypatch.setitem(METHODS, "mine", Mine("mine", selects=selects))
        network = infer(made, "mine", max_edges=5, rng=0)
        assert network.selected.sum() == 5
        assert (network.own is not None) == selects
    assert infer(made, "aracne", rng=0).own is not None


@pytest.mark.parametrize("name", METHODS)
def test_a_known_perturbation_is_named_where_the_method_uses_it(name):
    rng = np.random.default_rng(0)
    made = Expression(
        rng.uniform(size=(9, 3)), np.arange(9.0), ("1",) * 9, tuple("ABC"),
        perturbed=np.arange(9) < 4,
    )  # fmt: skip
    network = Network.of(made.genes, 1.0 - np.eye(3)).select_under_caps(Rules(max_edges=2))
    message = methods_paragraph(network, Provenance(made, Rules(max_edges=2), name, seed=0))
    described = METHODS[name].describe(network, made)
    assert described in message
    assert cited(described)
    assert set(cited(described)) <= set(REFERENCES.values())
    assert ("A perturbation was on in 4 samples" in message) == bool(METHODS[name].perturbation)
