"""An input has a size: it is refused while it is read, and a table takes little beside its text."""

import gzip
import os
import subprocess
import zipfile

import numpy as np
import pytest
from scipy import sparse

from tests.makers.processes import run_python
from tests.memory import PEAK
from tvcs_core import DataError
from tvcs_core.files.input_size import CHUNK_BYTES, MAX_INPUT, max_input, read_limited
from tvcs_core.files.matrices import read_matrix
from tvcs_core.files.rows import LONGEST_CELL, Rows
from tvcs_core.files.tables import read_names, read_table, read_text

MOST = 12  # times its text is what a table may take while it is read


def peak(script: str, **environment: str) -> tuple[int, str]:
    """Memory in bytes that a script takes from `START()` on, and its output."""
    head = (
        f"import numpy, scipy.sparse\n{PEAK}"
        "def START():\n    global began\n    began = peak_memory()\n"
    )
    result = run_python(f"{head}{script}\nprint(peak_memory() - began)", env=environment)
    *out, last = result.stdout.splitlines()
    return int(last), "\n".join(out)


def bomb(path, megabytes):
    """A .gz that holds many times its size."""
    with gzip.open(path, "wb", compresslevel=9) as file:
        for _ in range(megabytes):
            file.write(b"1,2\n" * 2**18)
    return path


def test_a_gz_is_refused_while_it_is_read(tmp_path):
    path = bomb(tmp_path / "v.csv.gz", 128)
    assert path.stat().st_size < 2**20
    memory, message = peak(
        "from tvcs_core.files.tables import read_table\n"
        "START()\n"
        f"try: read_table({str(path)!r})\n"
        "except ValueError as error: print(error)\n",
        TVCS_MAX_INPUT="8M",
    )
    assert message.startswith(f"{path}: must hold at most 8 MiB, found more in ")
    assert message.endswith("of .gz; TVCS_MAX_INPUT sets a larger limit")
    assert memory < 40 * 2**20


def test_a_gz_beyond_the_limit_is_unpacked_no_further(tmp_path, monkeypatch):
    path, unpacked = bomb(tmp_path / "v.csv.gz", 4), []

    class Counted(gzip.GzipFile):
        def read(self, size=-1):
            unpacked.append(super().read(size))
            return unpacked[-1]

    monkeypatch.setattr(gzip, "open", lambda file: Counted(fileobj=file))
    monkeypatch.setenv("TVCS_MAX_INPUT", "1M")
    with pytest.raises(DataError, match="must hold at most 1 MiB, found more"):
        read_limited(path)
    assert sum(map(len, unpacked)) <= 2**20 + CHUNK_BYTES


@pytest.mark.parametrize("read", [read_table, read_names, read_text])
def test_a_text_of_the_limit_is_read_and_of_one_byte_more_is_not(tmp_path, monkeypatch, read):
    (tmp_path / "t").write_bytes(b"a,b\n" * 25)
    monkeypatch.setenv("TVCS_MAX_INPUT", "100")
    assert len(read(tmp_path / "t")) if read is not read_table else read(tmp_path / "t").rows
    monkeypatch.setenv("TVCS_MAX_INPUT", "99")
    with pytest.raises(DataError, match="at most 99 bytes, found 100 bytes; TVCS_MAX_INPUT sets"):
        read(tmp_path / "t")


def test_a_pipe_is_refused_while_it_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = subprocess.Popen(["sh", "-c", f"yes 1,2 > {tmp_path / 'pipe'}"], stderr=-3)
    try:
        script = (
            f"from tvcs_core.files.tables import read_text; read_text({str(tmp_path / 'pipe')!r})"
        )
        result = run_python(script, env={"TVCS_MAX_INPUT": "1M"}, check=False)
    finally:
        writer.kill()
        writer.wait()
    assert "must hold at most 1 MiB, found more" in result.stderr


def test_the_limit_is_one_constant_unless_it_is_set(monkeypatch):
    monkeypatch.delenv("TVCS_MAX_INPUT", raising=False)
    assert max_input() == MAX_INPUT == 4 * 2**30
    for text, found in [("12", 12), ("3k", 3072), ("8G", 2**33), (" 5M ", 5 * 2**20)]:
        monkeypatch.setenv("TVCS_MAX_INPUT", text)
        assert max_input() == found
    for text in ("x", "G", "1.5G", "-1", "1T", "9" * 17, "٣"):
        monkeypatch.setenv("TVCS_MAX_INPUT", text)
        with pytest.raises(ValueError, match="TVCS_MAX_INPUT must be bytes such as"):
            max_input()


def test_an_npz_of_zeros_is_refused_before_it_is_read(tmp_path):
    n = 2**23
    entries = np.zeros(n), (np.zeros(n, np.int32), np.zeros(n, np.int32))
    sparse.save_npz(tmp_path / "v.npz", sparse.coo_array(entries, shape=(3, 3)))
    memory, message = peak(
        "from pathlib import Path\n"
        "from tvcs_core.files.matrices import read_matrix\n"
        "START()\n"
        f"try: read_matrix(Path({str(tmp_path / 'v.npz')!r}))\n"
        "except ValueError as error: print(error)\n",
        TVCS_MAX_INPUT="25M",
    )
    assert "must hold at most 25 MiB, found arrays of 128 MiB" in message
    assert memory < 20 * 2**20


@pytest.mark.parametrize(
    "shape", ["(9999999999999,)", "(inf,)", "(1e400,)", "('a',)", "(-1,)", "1"]
)
def test_a_header_that_promises_any_shape_takes_no_memory(tmp_path, shape):
    sparse.save_npz(tmp_path / "v.npz", sparse.coo_array(np.eye(3)))
    with zipfile.ZipFile(tmp_path / "v.npz") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text = text.ljust(117) + b"\n"
    members["data.npy"] = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
    with zipfile.ZipFile(tmp_path / "bad.npz", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    (tmp_path / "bad.npy").write_bytes(members["data.npy"])
    for name in ("bad.npz", "bad.npy"):
        with pytest.raises(DataError, match=f"{name}: is not a whole"):
            read_matrix(tmp_path / name)


def test_an_h5ad_that_claims_a_huge_array_is_refused_before_it_is_read(tmp_path):
    h5py = pytest.importorskip("h5py")
    from grn_tvcs import Expression

    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        file.create_dataset("X", (10**6, 10**6), "f8", chunks=(1000, 1000), compression="gzip")
        for part in ("obs", "var"):
            file.create_group(part).attrs["_index"] = "names"
            file[part]["names"] = ["a"]
    assert (tmp_path / "x.h5ad").stat().st_size < 2**20
    with pytest.raises(DataError, match="at most 4 GiB, found arrays of more"):
        Expression.of(tmp_path / "x.h5ad")


def wide(corner, name, n, m):
    rng = np.random.default_rng(0)
    rows = ([f"{corner}{i}", *(f"{x:.4f}" for x in rng.random(m))] for i in range(n))
    first = {"w": "worker", "": "Time", "G": "gene"}[corner]
    lines = [",".join([first, *(f"{name}{j}" for j in range(m))]), *map(",".join, rows)]
    return "\n".join(lines)


def answers(n):
    rows = (f"task{i // 3},w{i % 3 + 7 * (i // 3 % 100)},{i % 2}" for i in range(n))
    return "\n".join(["task,worker,label", *rows])


def long(n, m):
    rows = (f"worker{i},task{j},0.{i * j % 10000:04d}" for i in range(n) for j in range(m))
    return "\n".join(["worker,task,quality", *rows])


def edges(n):
    rows = (f"G{i}\tG{j}\t0.{i * j % 10000:04d}" for i in range(n) for j in range(n) if i != j)
    return "\n".join(["regulator\ttarget\tscore", *rows])


TABLES = {
    "quality": ("crowd_tvcs", "read_quality(P)", lambda k: wide("w", "t", 150, 400 * k)),
    "long quality": ("crowd_tvcs", "read_quality(P)", lambda k: long(100, 200 * k)),
    "answers": ("crowd_tvcs", "read_answers(P)", lambda k: answers(24_000 * k)),
    "expression": (
        "grn_tvcs.expression", "Expression.of(P)", lambda k: wide("", "G", 150, 400 * k)
    ),
    "genes in rows": (
        "grn_tvcs.expression",
        "Expression.of(P, genes_in_rows=True)",
        lambda k: wide("G", "s", 400 * k, 150).replace(
            "\n", "\nTime," + ",".join(map(str, range(150))) + "\n", 1
        ),
    ),
    "edges": (
        "grn_tvcs.network.edge_files",
        "read_network(P, [f'G{i}' for i in range(N)])".replace("N", "150 * K"),
        lambda k: edges(150 * k),
    ),
    "matrix": (
        "tvcs_core.files.matrices", "read_matrix(Path(P), names=True)",
        lambda k: wide("w", "t", 150, 400 * k),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("size", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_a_table_takes_at_most_twelve_times_its_text(tmp_path, kind, size):
    module, call, make = TABLES[kind]
    if kind == "edges":
        size = int(size**0.5)  # the number of edges is the square of it
    text = make(size)
    name = call.partition("(")[0].partition(".")[0]
    (tmp_path / "small.csv").write_text(make(1))  # for what is loaded at the first table
    (tmp_path / "t.csv").write_text(text)
    memory, _ = peak(
        f"from pathlib import Path\nfrom {module} import {name}\n"
        f"P, K = {str(tmp_path / 'small.csv')!r}, 1\n{call}\nSTART()\n"
        f"P, K = {str(tmp_path / 't.csv')!r}, {size}\n{call}\n"
    )
    assert memory <= MOST * len(text)


def test_rows_are_the_cells_of_the_csv_module(tmp_path, rng):
    import csv
    import io

    alphabet = [
        "a",
        "1",
        " ",
        "\t",
        ",",
        '"x,\ny"',
        '"',
        "é",
        "\u2028",
        "\x1c",
        "\n",
        "\n\n",
        ",,\n",
    ]
    for trial in range(300):
        allowed = [c for c in alphabet if '"' not in c] if trial % 2 else alphabet
        text = "h,i\n" + "".join(rng.choice(allowed, size=30))
        path = tmp_path / "t.csv"
        path.write_bytes(text.encode())
        try:
            expected = [
                [cell.strip() for cell in row]
                for row in csv.reader(io.StringIO(text, newline=""), delimiter=",", strict=True)
            ]
        except csv.Error:
            with pytest.raises(DataError, match="is not a well-formed table"):
                read_table(path)
            continue
        expected = [row for row in expected if any(row)]
        rows = read_table(path).rows
        assert list(rows) == expected == [rows[i] for i in range(len(rows))]
        assert list(rows[1:]) == expected[1:]
        assert rows[-1] == expected[-1]
        assert rows[::2] == expected[::2]


def test_rows_that_are_packed_come_back_as_they_were():
    rows = [["a", ""], ["", ""], ['"', "x\ny"], [",", "'"]]
    packed = Rows.of(rows)
    assert packed == rows
    assert packed[1:3] == rows[1:3]
    assert packed != [*rows[:-1], ["", ""]]


def test_a_cell_beyond_what_csv_takes_is_named_by_its_line(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\nx," + "y" * (LONGEST_CELL + 1) + "\n")
    with pytest.raises(DataError, match=r"t.csv:3: is not a well-formed table \(a cell may have"):
        read_table(tmp_path / "t.csv")
