"""Saved projections that somebody has changed: refused, not proved, or what is said is still true.

Who changes V, a cap or a bound has made another problem: where `tvcs verify` calls the projection
optimal, it must be so for what the file holds now, which is counted here from the file alone.
``TVCS_MUTATIONS=N`` asks for N of each kind of file instead of 500.
"""

import io
import os
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests.every_command import call
from tests.proofs.counts import note
from tests.proofs.damage import bits, changed_array, edited, members, packed
from tests.proofs.readers import BLOCKS, V, saved
from tests.proofs.test_readers import complaint

pytestmark = pytest.mark.slow

MUTATIONS = int(os.environ.get("TVCS_MUTATIONS", "500"))
STRANGE = [0.0, -1.0, 0.5, 2.0, 3.0, 5.25, 1e-9, 1e9, np.nan, np.inf, -0.0]


def changed_value(content: bytes, rng: Random) -> bytes:
    """Another plausible number in the place of one, of the same kind and shape."""
    array = np.load(io.BytesIO(content), allow_pickle=False).copy()
    if array.dtype.kind == "U" or not array.size:
        return content
    at = rng.randrange(array.size)
    old = array.reshape(-1)[at]
    if array.dtype.kind == "b":
        array.reshape(-1)[at] = not old
    elif array.dtype.kind == "i":
        array.reshape(-1)[at] = old + rng.choice([-1, 1, 2])
    else:
        new = [old + 1e-6, old - 1e-6, old * (1 + 1e-12), old + 1, -old, *STRANGE]
        array.reshape(-1)[at] = rng.choice(new)
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def mutated(content: bytes, rng: Random) -> bytes:
    """Change one to three arrays; now and then exchange two, or take one of another file."""
    if rng.random() < 0.05:
        return rng.choice([bits, edited])(content, rng)
    files = members(content)
    if rng.random() < 0.1:
        first, second = rng.sample(sorted(files), 2)
        files[first], files[second] = files[second], files[first]
    elif rng.random() < 0.1:
        other = members(saved(rng.choice(["dense", "sparse", "groups", "box", "blocks"])))
        name = rng.choice(sorted(other))
        files[name] = other[name]
    for name in rng.sample(sorted(files), rng.choice([1, 1, 1, 2, 3])):
        change = changed_array if rng.random() < 0.3 else changed_value
        files[name] = change(files[name], rng)
    return packed(files)


def gain(value: float, low: float, high: float) -> Fraction:
    """How much nearer to V the best value between the bounds is than 0."""
    v = Fraction(float(value))
    nearest = v if v >= low or np.isinf(low) else Fraction(float(low))
    nearest = nearest if nearest <= high or np.isinf(high) else Fraction(float(high))
    return v * v - (v - nearest) ** 2


def best(arrays: dict[str, np.ndarray], blocks: bool) -> Fraction:
    """The largest gain of the problem that a file holds, by looking at every support."""
    values = V if blocks else arrays["values"]
    shape = tuple(arrays["shape"].tolist()) if "row" in arrays else values.shape
    if "row" in arrays:
        entries = {}
        for r, c, v in zip(arrays["row"], arrays["col"], arrays["values"], strict=True):
            entries[int(r), int(c)] = entries.get((int(r), int(c)), 0.0) + float(v)
    else:
        entries = {at: float(v) for at, v in np.ndenumerate(values)}
    assert all(0 <= k < n for at in entries for k, n in zip(at, shape, strict=True))
    groups = "row_of" in arrays
    row = arrays["row_of"].ravel().tolist() if groups else None
    col = arrays["col_of"].ravel().tolist() if groups else None
    worth = []
    for at, v in entries.items():
        if "allowed" in arrays and not arrays["allowed"][at]:
            continue
        k = int(np.ravel_multi_index(at, shape))
        low, high = (
            (arrays["lower"][at], arrays["upper"][at]) if "lower" in arrays else (-np.inf, np.inf)
        )
        worth.append((row[k] if groups else at[0], col[k] if groups else at[1], gain(v, low, high)))
    most = Fraction(0)
    for keep in product([False, True], repeat=len(worth)):
        chosen = [w for w, k in zip(worth, keep, strict=True) if k]
        rows, cols = (Counter(w[view] for w in chosen if w[view] >= 0) for view in (0, 1))
        if (
            len(chosen) <= int(arrays["total"])
            and all(n <= int(arrays["row_caps"][r]) for r, n in rows.items())
            and all(n <= int(arrays["col_caps"][c]) for c, n in cols.items())
        ):
            most = max(most, sum((w[2] for w in chosen), Fraction(0)))
    return most


@pytest.mark.parametrize("kind", ["dense", "sparse", "groups", "box", "blocks"])
def test_what_verify_says_of_a_changed_projection_is_true(tmp_path, monkeypatch, kind, capfd):
    monkeypatch.chdir(tmp_path)
    content, rng, counts = saved(kind), Random(f"{kind} saved"), Counter()
    (tmp_path / "b").mkdir()
    for name, block in BLOCKS.items():
        (tmp_path / name).write_bytes(block)
    words = ["tvcs", "verify", "p.npz", *(["--blocks", "b"] if kind == "blocks" else [])]
    for _ in range(MUTATIONS):
        new = mutated(content, rng)
        Path("p.npz").write_bytes(new)
        code, out, err = call(words, capfd)
        assert not complaint("verify", code, err), f"{new!r}\n{err}"
        message = dict(line.split(None, 1) for line in out.splitlines())
        assert (code == 0) == (message.get("optimal") == "yes"), out
        counts[{0: "still true", 1: "not proved", 2: "refused"}[code]] += 1
        if code == 0:
            with np.load("p.npz") as file:
                arrays = {name: file[name] for name in file.files}
            true, claimed = best(arrays, kind == "blocks"), Fraction(float(message["kept"]))
            assert abs(claimed - true) <= Fraction(1, 10**9) * true, f"{arrays}\n{out}{float(true)}"
    note("saved projections", kind, mutations=MUTATIONS, **counts)
