"""What `project_blocks` says of blocks that it cannot take: one sentence that names the block."""

import io
import os
import re

import numpy as np
import pytest

from tvcs_core import TVCS, BlockProjection, DataError, answer_block, project, project_blocks
from tvcs_core.projection.blocks.readers import FactsOnly

V = np.arange(12.0).reshape(4, 3)
BOTH = TVCS.matrix((4, 3), row_caps=1, col_caps=1)


def with_entry(value, dtype=float):
    wrong = V.astype(dtype)
    wrong[2, 1] = value
    return wrong


@pytest.mark.parametrize(
    ("blocks", "says"),
    [
        ([V[:2], with_entry(np.nan)[2:]], r"block 1: must be finite, found nan at \[0, 1\]"),
        ([with_entry(-np.inf)], r"block 0: must be finite, found -inf at \[2, 1\]"),
        ([V[:2], V[2:].astype(complex)], "block 1: must hold real numbers, found complex128"),
        ([V[:2], V[2:].astype(str)], "block 1: must hold real numbers, found <U32"),
        ([V[:2], V[2:, :2]], "block 1: must have 3 columns like block 0, found 2"),
        ([V[:2], V[2]], r"block 1: must be a matrix with entries, found shape \(3,\)"),
        ([V, V[:0]], r"block 1: must be a matrix with entries, found shape \(0, 3\)"),
        ([V[:2], np.ma.array(V[2:], mask=V[2:] > 0)], "block 1 must have no masked values, found"),
        ([V[:2]], r"shape \(4, 3\) together, found \(2, 3\)"),
        ([with_entry(2**60, int)], r"block 0: integers must be at most 2\*\*53"),
        ([1e80 * V], "between 6e-61 and 1.6e60 in size, found 1.1e"),
        ([], "at least one block, found none"),
    ],
)
def test_blocks_that_do_not_hold_what_they_must_are_named(blocks, says):
    with pytest.raises(ValueError, match=says):
        project_blocks(blocks, BOTH)


@pytest.mark.parametrize("blocks", [V, 3, None, [V[:2], 3]])
def test_what_is_no_list_of_blocks_is_refused(blocks):
    with pytest.raises(TypeError, match="block"):
        project_blocks(blocks, BOTH)


def test_files_that_are_no_blocks_are_named(tmp_path):
    with pytest.raises(DataError, match=r"none: must be a folder of \.npy files"):
        project_blocks(tmp_path / "none", BOTH)
    with pytest.raises(DataError, match=r"must hold \.npy files, one for each block of rows"):
        project_blocks(tmp_path, BOTH)
    with pytest.raises(DataError, match=r"b\.npy: does not exist"):
        project_blocks([V[:2], tmp_path / "b.npy"], BOTH)
    np.save(tmp_path / "b.npy", V)
    whole = (tmp_path / "b.npy").read_bytes()
    archive = io.BytesIO()
    np.savez(archive, V)
    for damaged in (whole[:-8], whole[:40], b"numbers", archive.getvalue()):
        (tmp_path / "b.npy").write_bytes(damaged)
        with pytest.raises(DataError, match=r"b\.npy: is not a whole \.npy file"):
            project_blocks(tmp_path, BOTH)


@pytest.mark.parametrize("how", ["touched", "shorter", "gone"])
def test_a_file_that_changes_during_the_run_is_named(tmp_path, how):
    V = np.random.default_rng(1).normal(size=(30, 20))
    path = tmp_path / "b.npy"
    np.save(path, V)

    def ask(question, asked=[]):  # noqa: B006
        asked.append(question)
        if len(asked) == 5 and how == "touched":
            np.save(path, V[::-1])
            os.utime(path, ns=(1, 1))
        elif len(asked) == 5 and how == "shorter":
            np.save(path, V[:7])
        elif len(asked) == 5:
            path.unlink()
        return answer_block(path, question)

    def open_holder():
        holder = type("Holder", (), {})()
        holder.ask = ask
        return holder

    with pytest.raises(DataError, match=r"changed (during|while)|does not exist"):
        project_blocks([open_holder], TVCS.matrix(V.shape, row_caps=1, col_caps=1))


@pytest.mark.parametrize(
    ("constraint", "what"),
    [
        (TVCS.matrix((4, 3), row_caps=1, allowed=V > 3), "allowed"),
        (TVCS.matrix((4, 3), row_caps=1, bounds=(0, 1)), "bounds"),
        (TVCS.groups(V.astype(int) % 2, None, row_caps=1), "groups"),
    ],
)
def test_constraints_of_another_kind_are_refused_by_name(constraint, what):
    with pytest.raises(ValueError, match=f"caps alone, found one with {what}"):
        project_blocks([V], constraint)


@pytest.mark.parametrize("options", [{"threads": 0}, {"retries": -1}])
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} must be >= "):
        project_blocks([V], BOTH, **options)


@pytest.mark.parametrize(
    ("source", "question", "message"),
    [
        (None, FactsOnly(), "source must be an array or .npy file, found None"),
        (V.tolist(), FactsOnly(), "source must be an array or .npy file, found list"),
        (V, None, "question must be one of project_blocks, found None"),
        (V, FactsOnly, "question must be one of project_blocks, found type"),
        (FactsOnly(), V, "question must be one of project_blocks, found an array"),
    ],
)
def test_what_is_no_block_and_no_question_is_refused_by_name(source, question, message):
    with pytest.raises(TypeError, match=f"^{re.escape(message)}"):
        answer_block(source, question)


def test_what_is_no_holder_and_no_answer_is_refused_at_once():
    silent = type("Holder", (), {"ask": lambda self, question: None})()
    for opened, message in (
        (None, "block 0 must open a reader, found None"),
        (silent, "block 0 must answer as answer_block does, found None"),
    ):
        with pytest.raises(TypeError, match=message):
            project_blocks([lambda opened=opened: opened], BOTH)


def test_a_core_that_does_not_fit_is_refused(monkeypatch, rng):
    V = rng.normal(size=(50, 50))
    monkeypatch.setattr("tvcs_core.projection.blocks.core.available_memory", lambda: 2000)
    with pytest.raises(MemoryError, match="more than 10 entries"):
        project_blocks([V[:20], V[20:]], TVCS.matrix(V.shape, row_caps=2, col_caps=2, total=60))


def test_a_file_that_holds_no_projection_of_blocks_is_refused(tmp_path, rng):
    project(V, BOTH).save(tmp_path / "p.npz")
    with pytest.raises(DataError, match="is no saved projection of blocks"):
        BlockProjection.load(tmp_path / "p.npz")
    project_blocks([V], BOTH).save(tmp_path / "p.npz")
    whole = (tmp_path / "p.npz").read_bytes()
    (tmp_path / "p.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"is not a whole \.npz file"):
        BlockProjection.load(tmp_path / "p.npz")


def test_a_file_of_blocks_whose_shape_is_not_that_of_its_caps_is_refused(tmp_path):
    path = tmp_path / "p.npz"
    project_blocks([V], BOTH).save(path)
    with np.load(path) as file:
        arrays = dict(file) | {"shape": np.array([2**40, V.shape[1]])}
    with path.open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(DataError, match=r"its shape .* is not that of its caps"):
        BlockProjection.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"rows": np.zeros(2, np.int64)[:1]},
            r"its cols must be integers of shape \(1,\), found int64",
        ),
        ({"cols": np.zeros(2)}, r"its cols must be integers of shape .*, found float64 of shape"),
        ({"row_duals": np.zeros(3)}, r"its row_duals must be real numbers of shape \(4,\), found"),
        (
            {"gap": np.zeros(2)},
            r"its gap must be real numbers of shape \(\), found float64 of shape",
        ),
    ],
)
def test_a_file_of_blocks_with_other_arrays_is_refused(tmp_path, change, message):
    path = tmp_path / "p.npz"
    project_blocks([V], BOTH).save(path)
    with np.load(path) as file:
        arrays = dict(file) | change
    np.savez(path, **arrays)
    with pytest.raises(DataError, match=message):
        BlockProjection.load(path)
