"""The combiner and its file."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.learning.files import save
from grn_tvcs.combine import combiner as module
from grn_tvcs.combine.combiner import FORMAT, IMPOSSIBLE, Combiner, Stages, digest, load
from tvcs_core import DataError


@pytest.fixture(scope="module")
def written(combiner, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.npz"
    save(combiner, path, growth=np.arange(3.0))
    return path


def logits_of(combiner, networks):
    return [combiner.logits(one.table, one.inputs) for one in networks]


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_excluded_pairs_are_impossible_and_the_rest_is_ranked(combiner, networks):
    for network, logits in zip(networks, logits_of(combiner, networks), strict=True):
        allowed = network.table.allowed
        assert (logits[~allowed] == IMPOSSIBLE).all()
        assert np.ptp(logits[allowed]) > 0.5
        assert (np.abs(logits[allowed]) < 15).all()


@pytest.mark.parametrize("rows", [1, 3])
def test_blocks_of_rows_say_what_one_says(combiner, networks, monkeypatch, rows):
    whole = logits_of(combiner, networks)
    monkeypatch.setattr(module, "ROWS", rows)
    assert same(logits_of(combiner, networks), whole)


def test_the_same_combiner_makes_the_same_bytes(combiner, written, tmp_path):
    again = tmp_path / "again.npz"
    save(combiner, again, growth=np.arange(3.0))
    assert again.read_bytes() == written.read_bytes()


def test_a_combiner_comes_back_as_it_was(combiner, written, networks):
    back, more, stamp = load(written)
    assert back.names == combiner.names
    for read, known in zip((back.stages, back.nets), (combiner.stages, combiner.nets), strict=True):
        assert len(read) == len(known) == 1
        for stage in ("first", "second"):
            of_both = getattr(read[0], stage), getattr(known[0], stage)
            assert type(of_both[0]) is type(of_both[1])
            for one, other in zip(*of_both, strict=True):
                assert one.dtype == other.dtype
                assert np.array_equal(one, other)
    assert list(more) == ["growth"]
    assert more["growth"].tolist() == [0, 1, 2]
    assert len(stamp) == 64
    assert same(logits_of(back, networks), logits_of(combiner, networks))


def test_nets_count_as_much_as_trees(combiner, networks):
    """As a mean, however many there are of each."""
    trees, nets = combiner.stages[0], combiner.nets[0]
    less = Stages(*(net._replace(base=net.base - 1) for net in nets))

    def said(*parts):
        return logits_of(Combiner(combiner.names, *parts), networks)

    alone = said((trees,)), said((), (nets,)), said((), (less,))
    assert not same(alone[1], alone[2])
    for network, tree, net, other, both in zip(
        networks, *alone, said((trees, trees), (nets, less, less)), strict=True
    ):
        wanted = (tree + (net + 2 * other) / 3) / 2
        allowed = network.table.allowed
        assert both[allowed] == pytest.approx(wanted[allowed])


def test_another_combiner_has_another_hash(combiner, written, tmp_path):
    other = tmp_path / "other.npz"
    save(combiner, other, growth=np.arange(3.0) + 1e-12)
    assert load(other)[2] != load(written)[2]


@pytest.mark.parametrize(
    "other",
    [
        {"a": np.zeros((2, 3)), "b": np.ones(1)},
        {"a": np.zeros(6, dtype=np.float32), "b": np.ones(1)},
        {"a": np.zeros(6), "c": np.ones(1)},
        {"a": np.zeros(6)},
        {"a": np.zeros(6), "b": np.array([2.0])},
    ],
)
def test_names_shapes_types_and_values_are_in_the_hash(other):
    assert digest(other) != digest({"a": np.zeros(6), "b": np.ones(1)})


def test_the_hash_asks_nothing_of_the_order():
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.ones(1)}
    turned = {"b": np.ones(1), "a": np.asfortranarray(arrays["a"])}
    assert digest(turned) == digest(arrays)


def refused(path):
    """The one line that says what is wrong with a file."""
    with pytest.raises(DataError) as error:
        load(path)
    said = str(error.value)
    assert said.startswith(f"{path}: ")
    assert "\n" not in said
    return said.removeprefix(f"{path}: ")


def arrays_in(path):
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def test_arrays_that_were_edited_are_refused(written, tmp_path):
    path = tmp_path / "edited.npz"
    for name in ("trees 0 value", "trees 1 threshold", "nets 0 first", "growth"):
        arrays = arrays_in(written)
        arrays[name] = arrays[name].copy()
        least = {np.float64: 1e-9, np.float32: 1e-3, np.float16: 1}[arrays[name].dtype.type]
        arrays[name][-1] += np.asarray(least, dtype=arrays[name].dtype)
        np.savez(path, **arrays)
        assert refused(path).startswith("was changed after it was written")
    arrays = arrays_in(written)
    del arrays["digest"]
    np.savez(path, **arrays)
    assert refused(path).startswith("was changed after it was written")


def test_no_flipped_byte_changes_what_is_read(combiner, written, networks, tmp_path, rng):
    """Of a flip that changes nothing but dates in the archive nobody needs to know."""
    path, good = tmp_path / "flipped.npz", written.read_bytes()
    stamp, n_refused = load(written)[2], 0
    for place in rng.integers(0, len(good), 60):
        path.write_bytes(good[:place] + bytes([good[place] ^ 0x41]) + good[place + 1 :])
        try:
            back, _, found = load(path)
        except DataError:
            n_refused += 1
            refused(path)
        else:
            assert found == stamp
            assert np.array_equal(back.stages[0].first.value, combiner.stages[0].first.value)
    assert n_refused > 30


@pytest.mark.parametrize("part", [0.0, 0.01, 0.5, 0.99])
def test_half_a_file_is_refused(written, tmp_path, part):
    path = tmp_path / "half.npz"
    good = written.read_bytes()
    path.write_bytes(good[: int(part * len(good))])
    assert refused(path).startswith("must be a model of evidence (.npz)")


def test_another_format_is_refused(written, tmp_path):
    path = tmp_path / "later.npz"
    np.savez(path, **arrays_in(written) | {"format": np.array(FORMAT + 1)})
    assert refused(path) == f"must be a model of format {FORMAT}, found {FORMAT + 1}"
    np.savez(path, a=np.zeros(3))
    assert refused(path) == f"must be a model of format {FORMAT}, found 0"


def test_a_model_of_other_features_is_refused(combiner, tmp_path):
    """A feature of another name would be missing in every table, and nothing would say so."""
    first, *others = combiner.names
    save(replace(combiner, names=("another", *others)), path := tmp_path / "other.npz")
    found = refused(path)
    assert found.startswith("must be a model of the features that are computed here")
    assert "another" in found
    assert first in found


@pytest.mark.parametrize(
    "stated", [np.array([FORMAT, FORMAT]), np.array([]), np.array("4\x1b" * 99), np.array(np.nan)]
)
def test_a_format_that_is_no_number_is_refused(written, tmp_path, stated):
    path = tmp_path / "odd.npz"
    np.savez(path, **arrays_in(written) | {"format": stated})
    said = refused(path)
    assert said.startswith(f"must be a model of format {FORMAT}, found ")
    assert said.isprintable()
    assert len(said) < 200


def test_what_is_no_archive_is_refused(tmp_path):
    text, alone = tmp_path / "model.txt", tmp_path / "alone.npy"
    text.write_text("from\tto\tscore\n")
    np.save(alone, np.zeros(3))
    for path in (text, alone):
        assert refused(path).startswith("must be a model of evidence (.npz)")


def test_pickles_are_not_opened(tmp_path):
    path = tmp_path / "pickled.npz"
    np.savez(path, names=np.array([{"a": 1}], dtype=object))
    assert refused(path).startswith("must be a model of evidence (.npz)")


def test_a_missing_file_and_a_folder_are_named_as_such(tmp_path):
    assert refused(tmp_path / "none.npz") == "cannot be read: No such file or directory"
    assert refused(tmp_path).startswith("cannot be read: ")
