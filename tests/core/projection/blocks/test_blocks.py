"""The projection of a V in blocks of rows: what `project` finds, whatever is cut or lost."""

import multiprocessing
import os
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from tests.core.projection.test_exact import CAPS, FAMILIES, draw_caps
from tests.memory import PEAK
from tvcs_core import (
    TVCS,
    BlockProjection,
    DataError,
    answer_block,
    certify_blocks,
    project,
    project_blocks,
)
from tvcs_core.projection import projection
from tvcs_core.projection.blocks import block as block_module
from tvcs_core.projection.exact import solve_dense

SAFE = [name for name in FAMILIES if name not in ("huge", "tiny")]


def cut(rng, V, blocks):
    """V in so many blocks of rows, cut anywhere."""
    cuts = np.sort(rng.choice(np.arange(1, len(V)), blocks - 1, replace=False))
    return np.split(V, cuts)


def on_one_grid(V, constraint):
    """The projection of `project` without those of small values, each on a grid of its own."""
    entries = projection.enter(V, constraint)
    solved = solve_dense(entries.gains, *constraint.caps, squared=entries.squared)
    return projection.proved(entries, constraint, solved)


def check(V, constraint, found):
    """It is the support of `project` on one grid, with a gap as small."""
    ours = on_one_grid(V, constraint)
    np.testing.assert_array_equal(
        np.column_stack([found.rows, found.cols]), np.argwhere(ours.support)
    )
    np.testing.assert_array_equal(found.matrix.toarray(), ours.matrix)
    assert found.objective == pytest.approx(ours.objective, rel=1e-14)
    assert -1e-300 <= found.gap <= max(1e-12 * found.objective, 4 * ours.gap)
    assert found.facts["size"] == V.nbytes
    assert found.facts.get("widened", 1) > 0
    for prices, caps in (
        (found.row_duals, constraint.row_caps),
        (found.col_duals, constraint.col_caps),
    ):
        assert prices.shape == caps.shape
        assert (prices >= 0).all()
    surplus = V.astype(float) ** 2 - found.row_duals[:, None] - found.col_duals - found.total_dual
    bound = found.row_duals @ constraint.row_caps + found.col_duals @ constraint.col_caps
    bound += found.total_dual * constraint.total + np.maximum(surplus, 0).sum()
    assert bound == pytest.approx(found.bound, rel=1e-9, abs=1e-290)


def draw(seed, largest):
    """A matrix of any family, caps of any kind, loose ones too, and a cut."""
    rng = np.random.default_rng(seed)
    n, m = (int(side) for side in rng.integers(1, largest + 1, 2))
    V = FAMILIES[SAFE[seed % len(SAFE)]](rng, n, m)
    if np.abs(V).max() > 1e60:
        V = np.log1p(np.abs(V))
    rows, cols, total = draw_caps(rng, n, m, CAPS[rng.integers(len(CAPS))])
    rows = rows + m if rng.random() < 0.2 else rows
    constraint = TVCS.matrix((n, m), row_caps=rows, col_caps=cols, total=total)
    return V, constraint, cut(rng, V, n if rng.random() < 0.3 else int(rng.integers(1, n + 1)))


@pytest.mark.parametrize("seed", range(3 * len(SAFE)))
def test_the_support_is_that_of_project(seed):
    V, constraint, blocks = draw(seed, 25)
    check(V, constraint, project_blocks(blocks, constraint))


@pytest.mark.slow
@pytest.mark.parametrize("largest", [12, 40, 150])
def test_the_support_is_that_of_project_on_very_many(largest):
    for seed in range(1000, 1000 + 12_000 // largest):
        V, constraint, blocks = draw(seed, largest)
        check(V, constraint, project_blocks(blocks, constraint))


@pytest.mark.parametrize("family", ["gauss", "ties", "separable", "constant"])
def test_blocks_send_few_entries_of_a_larger_table(family, rng):
    V = FAMILIES[family](rng, 400, 350)
    constraint = TVCS.matrix(V.shape, row_caps=6, col_caps=7, total=1800)
    found = project_blocks(cut(rng, V, 4), constraint)
    check(V, constraint, found)
    assert 0 < found.facts["core"] < (0.4 if family == "separable" else 0.05) * V.size


def test_pieces_of_a_block_do_not_show(monkeypatch, rng):
    V = rng.integers(-3, 4, (40, 30)).astype(float)
    constraint = TVCS.matrix(V.shape, row_caps=3, col_caps=4, total=90)
    whole = project_blocks([V], constraint)
    monkeypatch.setattr(block_module, "CHUNK_ENTRIES", 100)
    pieces = project_blocks(cut(rng, V, 3), constraint, threads=3)
    for name in ("rows", "cols", "values", "objective"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(pieces, name))
    check(V, constraint, pieces)


@pytest.mark.parametrize("dtype", ["float32", "float64", ">f8", "float16", "int8", "int64", "bool"])
def test_files_of_any_real_type_are_read(dtype, tmp_path, rng):
    V = (4 * rng.normal(size=(30, 20))).astype(dtype)
    for i, rows in enumerate(np.split(V, [12])):
        np.save(tmp_path / f"{8 + 2 * i}.npy", rows)  # 8.npy and 10.npy
    (tmp_path / "notes.txt").write_text("not a block")
    constraint = TVCS.matrix(V.shape, row_caps=2, col_caps=2, total=30)
    check(V, constraint, project_blocks(tmp_path, constraint))
    paths = [tmp_path / "8.npy", str(tmp_path / "10.npy")]
    check(V, constraint, project_blocks(paths, constraint))
    mapped = [np.load(path, mmap_mode="r") for path in paths]
    check(V, constraint, project_blocks(mapped, constraint))


def test_files_in_the_order_of_columns_are_read(tmp_path, rng):
    V = rng.normal(size=(30, 20))
    np.save(tmp_path / "a.npy", np.asfortranarray(V))
    constraint = TVCS.matrix(V.shape, row_caps=2, col_caps=2)
    check(V, constraint, project_blocks(tmp_path, constraint))
    check(V, constraint, project_blocks([V[:, ::-1][:, ::-1]], constraint))


def test_integers_leave_no_gap_at_all(rng):
    V = 2.0 * rng.integers(-9, 10, (60, 50))
    constraint = TVCS.matrix(V.shape, row_caps=3, col_caps=np.arange(50) % 5, total=100)
    assert project_blocks(cut(rng, V, 5), constraint).gap == 0


class Mortal:
    """A holder in this process that dies before it answers question number `dies_at`."""

    def __init__(self, rows, life):
        self.rows, self.life = rows, life

    def ask(self, question):
        self.life["asked"] += 1
        if self.life["asked"] == self.life["dies_at"]:
            raise ConnectionResetError("the worker is gone")
        return sent(answer_block(self.rows, sent(question)))


def sent(thing):
    """What arrives where it is sent to: arrays may not be written to, as with Dask."""
    buffers = []
    data = pickle.dumps(thing, protocol=5, buffer_callback=buffers.append)
    return pickle.loads(data, buffers=[bytes(buffer) for buffer in buffers])


def test_a_holder_that_is_lost_at_any_question_is_replaced(rng):
    V = FAMILIES["low rank"](rng, 90, 80)
    constraint = TVCS.matrix(V.shape, row_caps=4, col_caps=5, total=300)
    blocks = cut(rng, V, 3)
    undisturbed = project_blocks(blocks, constraint)
    check(V, constraint, undisturbed)
    questions = undisturbed.facts["questions"]
    for dies_at in range(1, questions + 1):
        life, opened = {"asked": 0, "dies_at": dies_at}, []

        def open_holder(life=life, opened=opened):
            opened.append(Mortal(blocks[1], life))
            return opened[-1]

        found = project_blocks([blocks[0], open_holder, blocks[2]], constraint)
        assert len(opened) == 2
        assert (found.facts["replaced"], life["asked"]) == (1, questions + 1)
        for name in ("rows", "cols", "values", "row_duals", "col_duals"):
            np.testing.assert_array_equal(getattr(found, name), getattr(undisturbed, name))


def test_a_holder_that_is_always_lost_ends_the_run(rng):
    V = rng.normal(size=(6, 5))
    tried = []

    def open_holder():
        tried.append(1)
        raise EOFError("nobody answers")

    with pytest.raises(RuntimeError, match=r"block 1: 3 readers in turn.*EOFError: nobody answers"):
        project_blocks([V[:3], open_holder], TVCS.matrix(V.shape, row_caps=1))
    assert len(tried) == 3


def test_a_holder_that_is_replaced_by_one_of_another_block_is_refused(rng):
    V = rng.normal(size=(20, 20))
    opened = []

    def open_holder():
        opened.append(1)
        return Mortal(V[: 10 + len(opened)], {"asked": 0, "dies_at": 3})

    with pytest.raises(DataError, match="block 0: changed during the run"):
        project_blocks([open_holder, V[11:]], TVCS.matrix(V.shape, row_caps=1, col_caps=1))


@pytest.mark.slow
def test_a_process_that_is_killed_is_replaced(tmp_path, rng):
    V = rng.normal(size=(200, 150))
    np.save(tmp_path / "a.npy", V[:120])
    constraint = TVCS.matrix(V.shape, row_caps=3, col_caps=4, total=450)
    pools = []

    class Elsewhere:
        def __init__(self):
            context = multiprocessing.get_context("spawn")
            self.pool, self.asked = ProcessPoolExecutor(1, mp_context=context), 0
            pools.append(self.pool)

        def ask(self, question):
            self.asked += 1
            if self.asked == 6 and len(pools) == 1:
                self.pool.submit(os._exit, 1)
            return self.pool.submit(answer_block, tmp_path / "a.npy", question).result()

    try:
        found = project_blocks([Elsewhere, V[120:]], constraint)
    finally:
        for pool in pools:
            pool.shutdown()
    assert found.facts["replaced"] == 1
    check(V, constraint, found)


LARGER_THAN_MEMORY = """
import sys
import numpy as np
from tvcs_core import TVCS, certify_blocks, project_blocks
side, folder = 7000, sys.argv[1]
for i, rng in enumerate(np.random.default_rng(0).spawn(2)):
    with open(f"{folder}/{i}.npy", "wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (side // 2, side)}
        np.lib.format.write_array_header_1_0(file, header)
        for _ in range(side // 100):
            rng.standard_normal((50, side)).tofile(file)
constraint = TVCS.matrix((side, side), row_caps=10, col_caps=10, total=50_000)
found = project_blocks(folder, constraint)
assert certify_blocks(found, folder).optimal
print(found.facts["size"], peak_memory())
"""


@pytest.mark.slow
def test_files_larger_than_the_memory_that_is_used(tmp_path):
    script = [sys.executable, "-c", PEAK + LARGER_THAN_MEMORY, str(tmp_path)]
    result = subprocess.run(script, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    size, peak = (int(word) for word in result.stdout.split())
    assert size == 8 * 7000**2
    assert peak < 0.8 * size


@pytest.mark.slow
def test_ten_million_entries_in_four_blocks_send_an_eighth(rng):
    V = rng.normal(size=(3162, 3162))
    constraint = TVCS.matrix(V.shape, row_caps=10, col_caps=10, total=25_000)
    life = {"asked": 0, "dies_at": 15}
    blocks = np.array_split(V, 4)
    found = project_blocks([*blocks[:3], lambda: Mortal(blocks[3], life)], constraint)
    assert found.facts["replaced"] == 1
    assert found.facts["sent"] <= V.nbytes / 8
    check(V, constraint, found)


def test_a_tenth_of_that_sends_few_entries_too(rng):
    V = rng.normal(size=(1000, 1000))
    constraint = TVCS.matrix(V.shape, row_caps=10, col_caps=10, total=8000)
    found = project_blocks(np.array_split(V, 4), constraint)
    assert found.facts["sent"] <= V.nbytes / 4
    check(V, constraint, found)


def test_the_proof_counts_what_is_wrong(rng):
    """Prices that are off by one leave the gap that they must, by code that shares no kernel."""
    from tvcs_core.projection.blocks.proof import ProveBlock

    V = rng.normal(size=(9, 7))
    ours = project(V, TVCS.matrix(V.shape, row_caps=2, col_caps=2))
    rows, cols = np.nonzero(ours.support)
    what = (ours.row_duals, ours.col_duals, ours.total_dual + 0.5, rows, cols, V[rows, cols])
    proof = answer_block(V, ProveBlock(*what)).content
    surplus = V**2 - ours.row_duals[:, None] - ours.col_duals - ours.total_dual - 0.5
    slack = np.where(ours.support, np.maximum(-surplus, 0), np.maximum(surplus, 0)).sum()
    assert (proof.objective, proof.slack) == pytest.approx((ours.objective, slack))
    assert proof.wrong == 0
    assert answer_block(V + 1, ProveBlock(*what)).content.wrong == rows.size


def test_a_saved_projection_is_read_back_and_certified(tmp_path, rng):
    V = rng.normal(size=(40, 30))
    constraint = TVCS.matrix(V.shape, row_caps=3, col_caps=np.arange(30) % 4, total=50)
    found = project_blocks([V[:15], V[15:]], constraint)
    found.save(tmp_path / "p.npz")
    read = BlockProjection.load(tmp_path / "p.npz")
    for name in (
        "rows",
        "cols",
        "values",
        "row_duals",
        "col_duals",
        "total_dual",
        "objective",
        "gap",
    ):
        np.testing.assert_array_equal(getattr(read, name), getattr(found, name))
    assert (read.bound, read.relative_gap) == (found.bound, found.relative_gap)
    certificate = certify_blocks(read, [V[:30], V[30:]])
    assert certificate.optimal
    assert certificate.objective == pytest.approx(found.objective)
