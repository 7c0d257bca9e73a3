"""How closely genes go together, and tables where they do so more than in simulated ones."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from benchmarks import coexpression as command
from benchmarks.learning import coexpression as learning
from benchmarks.learning import designs
from benchmarks.learning.coexpression import LARGE_NETWORK_GENES, learn_coexpression
from benchmarks.learning.files import write_coexpression
from grn_tvcs.combine.coexpression import (
    MAX_GENES,
    MEASURES,
    Coexpression,
    coexpression_measures,
    design_for,
    load_coexpression,
)
from grn_tvcs.expression.expression import Expression
from grn_tvcs.simulation.designs import GENES, Design
from grn_tvcs.simulation.examples import draw_example
from grn_tvcs.simulation.kinds import KINDS
from tvcs_core import DataError

DESIGN = Design(10, 10, 4, 8)
DESIGNS = (DESIGN, replace(DESIGN, n_steady=12), Design(10, 10, 0, 3, n_steady=30))


def operons(rng, design, size=2, own=0.3):
    """Logarithms of genes in operons: each walks on its own, and its genes differ by little."""
    n = -(-design.n_genes // size)
    rows = design.n_series * design.n_points
    walk = rng.standard_normal((design.n_series, design.n_points, n)).cumsum(axis=1)
    rest = 2 * rng.standard_normal((design.n_steady, n))
    common = np.concatenate([walk.reshape(rows, n), rest])
    levels = np.repeat(common, size, axis=1)[:, : design.n_genes]
    levels = levels + own * rng.standard_normal(levels.shape)
    return Expression(
        levels[:rows],
        np.tile(np.arange(float(design.n_points)), design.n_series),
        tuple(str(s) for s in range(design.n_series) for _ in range(design.n_points)),
        tuple(f"G{k:03d}" for k in range(design.n_genes)),
        scale="log",
        steady_values=levels[rows:] if design.n_steady else None,
    )


def of(design, seed):
    return draw_example(design, tuple(KINDS)[seed % len(KINDS)], seed).expression


def slow_closest(values):
    r = np.corrcoef(values.T)
    n = len(r)
    return np.median([max(abs(r[i, j]) for j in range(n) if j != i) for i in range(n)])


def without_first(values):
    z = (values - values.mean(axis=0)) / values.std(axis=0)
    first = np.linalg.eigh(z.T @ z)[1][:, -1:]
    return z - z @ first @ first.T


def slow_own(values):
    n, most = values.shape[1], max(3, len(values) // 2)
    if n > most:
        values = values[:, [round(k * (n - 1) / (most - 1)) for k in range(most)]]
    z = (values - values.mean(axis=0)) / values.std(axis=0)
    largest = sorted(np.linalg.eigvalsh(z.T @ z), reverse=True)
    known = largest[: min(z.shape[1], len(z) - 1)]
    return np.log(2 * sum(known[len(known) // 2 :]) / sum(known) + 1e-3)


@pytest.mark.parametrize("design", DESIGNS)
def test_measures_are_what_they_say(design):
    table = of(design, 3)
    scores = norm.ppf((rankdata(table.levels, axis=0) - 0.5) / len(table.levels))
    found = coexpression_measures(table)
    assert found[2] == pytest.approx(slow_own(without_first(scores)), rel=1e-6)
    if not design.n_series:
        assert np.isnan(found[:2]).all()
        return
    steps = np.concatenate([np.diff(scores[p], axis=0) for p in table.pieces.values()])
    steps = without_first(steps)
    assert found[:2] == pytest.approx([slow_closest(steps), slow_own(steps)], rel=1e-6)


@pytest.mark.parametrize("design", DESIGNS)
def test_units_logarithms_and_the_order_of_genes_change_no_measure(design, rng):
    table = of(design, 5)
    known = coexpression_measures(table)
    unit = rng.uniform(1e-6, 1e6, 10)

    def turned(change):
        rest = None if table.steady_values is None else change(table.steady_values)
        return coexpression_measures(
            replace(table, values=change(table.values), steady_values=rest)
        )

    assert np.array_equal(turned(lambda x: x * 8.0), known, equal_nan=True)
    assert turned(lambda x: x * unit) == pytest.approx(known, nan_ok=True)
    assert turned(lambda x: np.log2(x + 1)) == pytest.approx(known, nan_ok=True)
    order = rng.permutation(10)
    assert turned(lambda x: x[:, order]) == pytest.approx(known, rel=1e-9, nan_ok=True)


def test_genes_that_do_not_vary_say_nothing_and_of_many_genes_some_speak(rng):
    table = of(DESIGN, 1)
    flat = np.concatenate([table.values, np.full((len(table.values), 3), 0.5)], axis=1)
    genes = (*table.genes, "a", "b", "c")
    assert np.array_equal(
        coexpression_measures(replace(table, values=flat, genes=genes)),
        coexpression_measures(table),
    )
    wide = Design(3 * MAX_GENES, 3 * MAX_GENES, 2, 6)
    many = operons(rng, wide, size=1)
    some = np.linspace(0, 3 * MAX_GENES - 1, MAX_GENES).round().astype(int)
    genes = tuple(many.genes[k] for k in some)
    few = replace(many, values=many.values[:, some], genes=genes)
    assert np.array_equal(coexpression_measures(many), coexpression_measures(few))


@pytest.mark.parametrize("n_genes", [1, 2])
def test_of_one_or_two_genes_nothing_is_known(n_genes, rng):
    table = operons(rng, Design(max(n_genes, 2), 1, 3, 5))
    few = replace(table, values=table.values[:, :n_genes], genes=table.genes[:n_genes])
    assert np.isnan(coexpression_measures(few)).all()
    assert not load_coexpression().is_excessive(
        coexpression_measures(few), design_for(few, Design(2, 1, 3, 5))
    )


def test_two_steps_say_nothing(rng):
    assert np.isnan(coexpression_measures(operons(rng, Design(8, 8, 1, 3)))).all()
    assert np.isnan(coexpression_measures(operons(rng, Design(8, 8, 2, 2)))).all()


@pytest.fixture(scope="module")
def learned():
    designs = [replace(DESIGNS[k % 3], n_genes=6 + k % 7, n_regulators=6) for k in range(240)]
    found = np.array([coexpression_measures(of(design, k)) for k, design in enumerate(designs)])
    return learn_coexpression(found, designs), found, designs


def test_deviations_have_the_mean_and_variance_that_is_learned(learned):
    known, found, designs = learned
    for k in range(3):
        alone = np.full_like(found, np.nan)
        alone[:, k] = found[:, k]
        close = [known.excess(row, design) for row, design in zip(alone, designs, strict=True)]
        assert np.nanmean(close) == pytest.approx(0, abs=0.05)
        assert np.nanmean(np.square(close)) == pytest.approx(1, rel=1e-6)


def test_closeness_is_the_mean_of_what_is_known_and_rises_as_genes_go_together(learned):
    known, found, designs = learned
    row = found[0]
    parts = [np.where(np.arange(3) == k, row, np.nan) for k in range(3)]
    each = [known.excess(part, designs[0]) for part in parts]
    assert known.excess(row, designs[0]) == pytest.approx(np.mean(each))
    assert np.isnan(known.excess(np.full(3, np.nan), designs[0]))
    for k, change in enumerate((0.1, -0.1, -0.1)):
        moved = row + change * (np.arange(3) == k)
        assert known.excess(moved, designs[0]) > known.excess(row, designs[0])


def test_a_limit_is_what_99_in_100_of_the_nearest_tables_are_within(learned):
    known, found, designs = learned
    pairs = zip(found, designs, strict=True)
    close = np.array([known.excess(row, design) for row, design in pairs])
    for timed in (0, 1):
        those = [k for k, design in enumerate(designs) if (design.n_series > 0) == timed]
        near = sorted(those, key=lambda k: abs(np.log(designs[k].n_genes / 5)))[: len(those) // 2]
        assert known.limits[timed, 0] == pytest.approx(np.quantile(close[near], 0.99))
    is_excessive = [
        known.is_excessive(row, design) for row, design in zip(found, designs, strict=True)
    ]
    assert 0.004 < np.mean(is_excessive) < 0.05


@pytest.mark.parametrize("n_genes", [6, 10, 30])
@pytest.mark.parametrize("given", ["series", "both", "rest"])
def test_operons_are_close_and_new_tables_of_the_simulator_seldom_are(n_genes, given, rng):
    series, rest = {"series": (6, 0), "both": (6, 40), "rest": (0, 80)}[given]
    design = Design(n_genes, n_genes, series, 8, n_steady=rest)
    known = load_coexpression()
    for _ in range(5):
        assert known.is_excessive(coexpression_measures(operons(rng, design)), design)
    new = [
        known.is_excessive(coexpression_measures(of(design, 900 + k)), design) for k in range(12)
    ]
    assert sum(new) <= 2  # one in a hundred is expected


def test_limits_of_many_genes_in_series_stand_on_more_tables_which_move_nothing_else(
    monkeypatch, rng
):
    monkeypatch.setattr(learning, "MAX_NEIGHBOURS", 10)
    monkeypatch.setattr(learning, "MAX_NEIGHBOURS_LARGE", 30)
    rest = [Design(n, n, 0, 3, n_steady=30) for n in rng.integers(5, 101, 40)]
    timed = [Design(n, n, 4, 8) for n in rng.integers(5, 101, 80)]
    more = [Design(n, n, 4, 8) for n in rng.integers(60, 101, 60)]
    designs = rest + timed + more
    found = rng.standard_normal((len(designs), 3))
    known = learn_coexpression(found, designs, len(rest + timed))
    usual = learn_coexpression(found[: -len(more)], designs[: -len(more)])
    assert np.array_equal(known.means, usual.means)
    assert np.array_equal(known.spreads, usual.spreads)
    pairs = zip(found, designs, strict=True)
    close = np.array([known.excess(row, design) for row, design in pairs])
    for place, n in enumerate(GENES):
        for is_timed in (False, True):
            those = [k for k, design in enumerate(designs) if (design.n_series > 0) == is_timed]
            near = sorted(those, key=lambda k: abs(np.log(designs[k].n_genes / n)))
            near = near[: 30 if is_timed and n > 40 else 10]
            limit = known.limits[int(is_timed), place]
            assert limit == pytest.approx(np.quantile(close[near], 0.99))


def test_genes_that_know_nothing_of_each_other_are_not_close(rng):
    for design in DESIGNS:
        assert not load_coexpression().is_excessive(
            coexpression_measures(operons(rng, design, size=1)), design
        )


def test_a_design_gets_the_number_of_genes_that_are_looked_at(rng):
    rounded = Design(10, 10, 4, 8)
    for n, looked_at in ((7, 7), (12, 12), (300, MAX_GENES)):
        table = operons(rng, Design(n, n, 1, 5))
        assert design_for(table, rounded).n_genes == looked_at
    assert GENES[-1] == MAX_GENES


def test_what_is_learned_comes_back_from_its_file_and_a_changed_file_is_refused(learned, tmp_path):
    known, again = learned[0], tmp_path / "again.npz"
    path = tmp_path / "coexpression.npz"
    for one in (path, again):
        write_coexpression(one, known, "{}")
    assert path.read_bytes() == again.read_bytes()
    back = load_coexpression(path)
    for name in ("means", "spreads", "limits"):
        assert np.array_equal(getattr(back, name), getattr(known, name))
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(again, **arrays | {"limits": arrays["limits"] + 1})
    with pytest.raises(DataError, match="was changed after it was written"):
        load_coexpression(again)
    with pytest.raises(DataError, match=r"none\.npz: cannot be read"):
        load_coexpression(tmp_path / "none.npz")


def test_a_higher_limit_lets_more_pass():
    known = load_coexpression()
    wider = Coexpression(known.means, known.spreads, known.limits + 100)
    found = coexpression_measures(operons(np.random.default_rng(1), DESIGN))
    assert known.is_excessive(found, DESIGN)
    assert not wider.is_excessive(found, DESIGN)


TABLES, OF_MANY = 60, 12


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(designs, "QUARTERS", ((5, 8),) * 4)
    monkeypatch.setattr(command, "LARGE_NETWORK_GENES", 6)


def run(path, *more, seed=3):
    words = {"tables": TABLES, "many": OF_MANY, "seed": seed, "out": path}
    command.main(
        [*(word for key, value in words.items() for word in (f"--{key}", str(value))), *more]
    )
    return path


def test_the_command_gives_the_same_bytes_again_and_other_seeds_others(small, tmp_path, capsys):
    path = run(tmp_path / "one.npz")
    before = path.read_bytes()
    with pytest.raises(SystemExit) as same:
        run(path, "--check")
    assert same.value.code == 0
    assert capsys.readouterr().out.endswith("one.npz: the same bytes\n")
    with pytest.raises(SystemExit) as other:
        run(path, "--check", seed=4)
    assert other.value.code == 1
    assert capsys.readouterr().out.endswith("one.npz: other bytes\n")
    assert path.read_bytes() == before
    assert np.isfinite(load_coexpression(path).limits).all()


def test_every_table_is_of_a_network_and_none_has_knock_outs():
    jobs = command.jobs_of(200, 50, 0)
    assert [number for number, _, _ in jobs] == list(range(250))
    assert all(
        design.n_genes > LARGE_NETWORK_GENES and design.n_series for _, design, _ in jobs[200:]
    )
    assert command.jobs_of(200, 0, 0) == jobs[:200]
    assert {kind for _, _, kind in jobs} == set(KINDS)
    assert not any(design.knocked_out or design.knocked_down for _, design, _ in jobs)


def test_the_file_that_comes_along_says_what_made_it():
    with np.load(command.PATH) as file:
        result = json.loads(str(file["made"]))
    assert result["command"] == "python -m benchmarks.coexpression"
    parameters = {"tables": command.TABLES, "many": command.TABLES_OF_MANY}
    assert (result["seed"], result["parameters"]) == (0, parameters)
    assert load_coexpression().means.shape[1] == len(MEASURES)
