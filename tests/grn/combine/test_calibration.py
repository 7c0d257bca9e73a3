"""What networks of a design say, and what is kept of it."""

import shutil
import tempfile
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pytest

from grn_tvcs.combine import calibration as module
from grn_tvcs.combine.calibration import (
    HIDDEN_FRACTION,
    N_NETWORKS,
    SEED,
    Calibration,
    NullModel,
    calibrate_design,
    load_or_calibrate,
)
from grn_tvcs.combine.direction import simulated_shared_direction, upper_limit
from grn_tvcs.combine.domain_check import traits
from grn_tvcs.combine.evidence_scores import compute_evidence
from grn_tvcs.combine.features import pair_features
from grn_tvcs.combine.nulls import null_log_odds, weight_by_non_null
from grn_tvcs.combine.platt_scaling import fit_platt_scaling
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example, draw_null
from grn_tvcs.simulation.kinds import KINDS, NULLS
from grn_tvcs.stability.execution import Execution
from tvcs_core.engines import Threads
from tvcs_core.jit import folder
from tvcs_core.streams import stream

STAMP = "0" * 64
DESIGN = Design(6, 6, 1, 6)
REST = Design(6, 3, 0, 3, n_steady=8)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    place = tmp_path / "cache"
    monkeypatch.setenv("TVCS_CACHE_DIR", str(place))
    return place


def files_in(cache):
    return sorted(path.relative_to(cache).as_posix() for path in cache.rglob("*.json"))


@pytest.fixture
def no_more_work(monkeypatch):
    """Nothing may be simulated from now on."""

    def refuse():
        def raise_it(*given, **more):
            raise AssertionError("was simulated again")

        monkeypatch.setattr(module, "draw_example", raise_it)

    return refuse


def run(combiner, design=DESIGN, n=3, stamp=STAMP, resamples=4, **more):
    return load_or_calibrate(combiner, stamp, design, n, resamples=resamples, **more)


@pytest.mark.parametrize("design", [DESIGN, REST])
def test_it_is_that_of_a_loop_over_networks(combiner, cache, design):
    logits, truths = [], []
    for k, kind in enumerate((*KINDS, *KINDS)[:6]):
        rng = stream(SEED, "networks of a design", design.key, str(k))
        is_hidden = k in (1, 3, 4)
        made = draw_example(
            replace(design, hidden=HIDDEN_FRACTION) if is_hidden else design, kind, rng
        )
        parts = compute_evidence(made.expression, made.rules, rng, made.steady, resamples=4)
        claimed = combiner.logits(pair_features(parts), parts.inputs)
        places = np.argwhere(parts.allowed)
        logits.append(np.array([claimed[j, i] for j, i in places]))
        truths.append(np.array([made.is_edge[parts.inputs[j], i] for j, i in places]))
    assert run(combiner, design, 6) == Calibration(*fit_platt_scaling(logits, truths))


@pytest.mark.parametrize(
    ("n_genes", "n_listed", "n_hidden"),
    [(20, 20, N_NETWORKS // 2), (21, 21, 0), (21, 20, N_NETWORKS // 2)],
)
def test_half_of_the_networks_of_few_genes_or_with_a_list_have_some_that_are_not_measured(
    combiner, monkeypatch, n_genes, n_listed, n_hidden
):
    drawn = []

    def draw(design, kind, rng):
        drawn.append((kind, design.hidden))
        return draw_example(DESIGN, kind, rng)

    monkeypatch.setattr(module, "draw_example", draw)
    design = replace(DESIGN, n_genes=n_genes, n_regulators=n_listed)
    calibrate_design(combiner, design, resamples=2)
    assert sum(hidden == HIDDEN_FRACTION for _, hidden in drawn) == n_hidden
    assert {kind for kind, hidden in drawn if not hidden} == set(KINDS)
    assert {kind for kind, hidden in drawn if hidden} == (set(KINDS) if n_hidden else set())


@pytest.mark.parametrize("design", [DESIGN, REST])
def test_a_design_is_simulated_once(combiner, cache, no_more_work, design):
    first = run(combiner, design)
    no_more_work()
    assert run(combiner, design) == first
    assert len(files_in(cache)) == 1
    with pytest.raises(AssertionError, match="simulated again"):
        calibrate_design(combiner, design, 3, resamples=4)


def test_what_is_kept_is_ours_alone(combiner, cache, monkeypatch):
    monkeypatch.setattr(module, "version", version)
    run(combiner)
    (path,) = cache.rglob("*.json")
    assert path.parent.name == f"designs-grn_tvcs-{version('tvcs')}-{STAMP[:16]}"
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o077 == 0
    assert not list(cache.rglob(".partial*"))


@pytest.mark.parametrize("damage", ["byte", "half", "empty", "text"])
def test_a_damaged_file_is_made_again(combiner, cache, damage):
    first = run(combiner)
    (path,) = cache.rglob("*.json")
    good = path.read_bytes()
    bad = {
        "byte": good[:-9] + bytes([good[-9] ^ 1]) + good[-8:],
        "half": good[: len(good) // 2],
        "empty": b"",
        "text": b'{"offset": 9.0, "slope": 9.0}',
    }[damage]
    path.write_bytes(bad)
    assert run(combiner) == first
    assert path.read_bytes() == good


def test_another_model_design_number_or_resamples_is_another_file(combiner, cache):
    run(combiner)
    for more in (
        {"stamp": "1" * 64},
        {"design": replace(DESIGN, n_points=7)},
        {"n": 2},
        {"resamples": 6},
    ):
        before = len(files_in(cache))
        other = run(combiner, **more)
        assert len(files_in(cache)) == before + 1, more
        assert run(combiner, **more) == other


def test_a_file_for_another_design_is_not_taken(combiner, cache):
    """A seal holds the name of its file."""
    run(combiner)
    (path,) = cache.rglob("*.json")
    other = replace(DESIGN, n_points=7)
    copied = path.with_name(path.name.replace(DESIGN.key, other.key))
    shutil.copy(path, copied)
    assert run(combiner, other) != run(combiner)


def test_threads_change_nothing_and_networks_come_in_order(combiner, cache):
    result = []
    one = calibrate_design(combiner, DESIGN, 6, resamples=4)
    execution = Execution(Threads(2), lambda *at: result.append(at))
    two = calibrate_design(combiner, DESIGN, 6, resamples=4, execution=execution)
    assert one == two
    assert result == [(k, 6) for k in range(1, 7)]


def no_temporary_folder():
    raise FileNotFoundError("No usable temporary directory found")


def test_without_a_folder_to_write_to_it_is_simulated_each_time(combiner, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TVCS_CACHE_DIR", str(tmp_path / "file" / "below"))
    monkeypatch.setattr(folder, "_user_cache", lambda: None)
    monkeypatch.setattr(tempfile, "gettempdir", no_temporary_folder)
    assert run(combiner) == run(combiner)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_full_disk_costs_time_and_no_more(combiner, cache, monkeypatch):
    def full(path, payload):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write_sealed", full)
    assert run(combiner) == calibrate_design(combiner, DESIGN, 3, resamples=4)
    assert files_in(cache) == []


def test_a_folder_that_others_can_write_is_passed_over(combiner, cache, tmp_path, monkeypatch):
    run(combiner)
    (path,) = cache.rglob("*.json")
    path.parent.chmod(0o777)
    elsewhere = tmp_path / "elsewhere"
    monkeypatch.setattr(folder, "_user_cache", lambda: elsewhere)
    run(combiner)
    assert len(list(elsewhere.rglob("*.json"))) == 1


def test_an_interrupted_calibration_simulates_the_rest_alone(
    combiner, cache, tmp_path, monkeypatch
):
    def interrupt(done, of):
        if done == 2:
            raise KeyboardInterrupt

    execution = Execution(checkpoint_dir=tmp_path / "keep")
    with pytest.raises(KeyboardInterrupt):
        run(combiner, execution=execution.reporting(interrupt))
    simulated, draw = [], module.draw_example
    monkeypatch.setattr(
        module, "draw_example", lambda *given: (simulated.append(1), draw(*given))[1]
    )
    found = run(combiner, execution=execution)
    assert len(simulated) == 1
    shutil.rmtree(cache)
    assert found == run(combiner)
    with pytest.raises(ValueError, match=r"is of a run with other model; give --force"):
        run(combiner, stamp="1" * 64, execution=execution)


@pytest.fixture
def undecided(nulls, trait_distribution):
    """Trees that hardly tell tables without edges, of which none looks strange."""
    trees = nulls._replace(value=nulls.value / 1000)
    return NullModel(trees, replace(trait_distribution, limits=1e12 * trait_distribution.limits))


def test_the_limit_is_the_largest_chance_of_tables_without_edges(
    combiner, cache, undecided, monkeypatch
):
    monkeypatch.setattr(module, "N_NULL_TABLES", 7)
    found = calibrate_design(combiner, DESIGN, 3, resamples=4, null_model=undecided)
    claimed = []
    for k in range(7):
        rng = stream(SEED, "tables of a design", DESIGN.key, str(k))
        made = draw_null(DESIGN, NULLS[k % 3], rng)
        none = null_log_odds(undecided.nulls, traits(made.expression), DESIGN)
        parts = compute_evidence(made.expression, made.rules, rng, resamples=4)
        logits = combiner.logits(pair_features(parts), parts.inputs)[parts.allowed]
        claimed.append(weight_by_non_null(found.offset + found.slope * logits, none).max())
    assert found.limit == pytest.approx(max(claimed), rel=1e-12)
    assert run(combiner, null_model=undecided) == found
    assert run(combiner, null_model=undecided) == found  # from the file


def test_tables_that_traits_tell_or_that_have_no_chances_set_no_limit(
    combiner, cache, undecided, nulls, monkeypatch
):
    monkeypatch.setattr(module, "N_NULL_TABLES", 3)
    result = nulls._replace(base=np.array([30.0]))
    strange = replace(
        undecided.trait_distribution, limits=undecided.trait_distribution.limits / 1e9
    )
    for null_model in (
        None,
        undecided._replace(nulls=result),
        undecided._replace(trait_distribution=strange),
    ):
        found = calibrate_design(combiner, DESIGN, 1, resamples=4, null_model=null_model)
        assert found.limit == -np.inf
    assert run(combiner, n=1).limit == run(combiner, n=1).limit == -np.inf  # and from the file


def test_series_have_a_limit_of_one_direction_which_is_kept(combiner, cache, monkeypatch):
    monkeypatch.setattr(module, "N_DIRECTION_NETWORKS", 5)
    design = replace(DESIGN, n_series=3)
    found = run(combiner, design)
    shared = [simulated_shared_direction(design, k) for k in range(5)]
    assert found.shared == upper_limit(np.array(shared))
    assert 0 < found.shared < 1
    assert run(combiner, design) == found  # from the file
    assert run(combiner).shared == np.inf  # one series
    assert run(combiner).shared == np.inf


def test_of_more_genes_than_are_simulated_fewer_pairs_are_edges():
    known = Calibration(0.5, 2.0)
    z = np.array([-1.0, 0.0, 3.0])
    for n_genes in (0, 10, 100):
        assert known.of(z, n_genes) == pytest.approx(0.5 + 2 * z)
    assert known.of(z, 500) == pytest.approx(0.5 + 2 * z - np.log(5))
