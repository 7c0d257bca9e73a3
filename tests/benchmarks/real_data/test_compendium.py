"""The part of the real compendium: a rule, its files, and what the datasheet says of them."""

import gzip

import numpy as np
import pandas as pd
import pytest

from benchmarks.real import compendium
from benchmarks.real.compendium import OUT
from grn_tvcs import Expression


@pytest.fixture
def whole(tmp_path):
    """Forty genes, eight of which regulate; two like courses, two steady-state samples."""
    rng = np.random.default_rng(3)
    genes = [f"g{k:02d}" for k in range(40)]
    samples = ["c1", "c2", "c3", "r1", "d2", "r2"]
    levels = pd.DataFrame(rng.normal(10, 1, (40, 6)), genes, samples)
    text = levels.to_csv(sep="\t", lineterminator="\r").removesuffix("\r")
    known = pd.DataFrame(rng.random((40, 9)) < 0.3, genes, [*genes[:8], "unmeasured"]).astype(int)
    for name, content in (("expression", text), ("gold_standard", known.to_csv(sep="\t"))):
        with gzip.open(tmp_path / f"{name}.tsv.gz", "wt", encoding="utf-8", newline="") as file:
            file.write(content)
    head = "isTs\tis1stLast\tprevCol\tdel.t\tcondName\n"
    rows = [
        "TRUE\tf\tNA\tNA\tc1", "TRUE\tm\tc1\t5\tc2", "TRUE\tl\tc2\t10\tc3", "FALSE\te\tNA\tNA\tr1",
        "TRUE\tf\tNA\tNA\tc1", "TRUE\tl\tc1\t2.5\td2", "FALSE\te\tNA\tNA\tr2",
    ]  # fmt: skip
    (tmp_path / "meta_data.tsv").write_text(head + "\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path, levels, known


def test_a_part_is_what_its_rule_says_and_the_same_twice(whole, tmp_path, monkeypatch):
    folder, levels, known = whole
    monkeypatch.setattr(compendium, "LARGEST", 2)
    monkeypatch.setattr(compendium, "OTHERS", 1)
    monkeypatch.setattr(compendium, "RANDOM", 3)
    monkeypatch.setattr("sys.argv", ["", str(folder), "--out", str(tmp_path / "part")])
    assert compendium.main() == 0
    part = {path.stem: path.read_bytes() for path in (tmp_path / "part").iterdir()}
    compendium.carry(folder, tmp_path / "again")
    assert part == {path.stem: path.read_bytes() for path in (tmp_path / "again").iterdir()}
    tables = {path.stem: pd.read_csv(path, sep="\t") for path in (tmp_path / "part").iterdir()}
    genes = tables["expression"].gene.tolist()
    assert tables["expression"].set_index("gene").equals(levels.loc[genes].round(4))
    edges = set(tables["known_edges"].itertuples(index=False, name=None))
    everything = {(r, t) for t, r in known.stack().loc[lambda is_edge: is_edge > 0].index if r != t}
    everything = {(r, t) for r, t in everything if r in levels.index}
    assert edges == {(r, t) for r, t in everything if r in genes and t in genes}
    sizes = pd.Series([r for r, _ in everything]).value_counts()
    assert set(sizes.index[:2]) <= set(genes)
    assert tables["regulators"].regulator.tolist() == sorted(set(known.columns) & set(genes))


def test_a_course_is_followed_back_and_a_sample_may_begin_two(whole):
    folder, _, _ = whole
    result = pd.read_csv(folder / "meta_data.tsv", sep="\t", index_col="condName")
    rows = compendium.sheet(result).values.tolist()
    assert rows == [
        ["c1", "0", "c3"], ["c2", "5", "c3"], ["c3", "15", "c3"],
        ["c1", "0", "d2"], ["d2", "2.5", "d2"],
        ["r1", "", ""], ["r2", "", ""],
    ]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*3 samples are the same as another")  # they are
def test_the_datasheet_counts_what_is_there():
    sheet = " ".join((OUT / "DATASHEET.md").read_text(encoding="utf-8").split())
    expression = Expression.of(
        OUT / "expression.tsv", samples=OUT / "samples.tsv", genes_in_rows=True
    )
    regulators, edges = (
        pd.read_csv(OUT / f"{name}.tsv", sep="\t") for name in ("regulators", "known_edges")
    )
    sizes = [rows.stop - rows.start for rows in expression.pieces.values()]
    columns = len((OUT / "expression.tsv").read_text().splitlines()[0].split("\t"))
    for message in (
        f"{len(expression.genes)} genes in rows",
        f"All {columns - 1} samples",
        f"{len(sizes)} series of {min(sizes)} to {max(sizes)} samples",
        f"{len(expression.times)} samples in all; {expression.n_steady} in steady state",
        f"{len(regulators)} genes of the part",
        f"{len(edges)} known edges between",
        f"of 298 known targets of SigA {(edges.regulator == 'BSU25200').sum()} are here",
    ):
        assert message in sheet
    assert set(edges.regulator) <= set(regulators.regulator) <= set(expression.genes)
    assert set(edges.target) <= set(expression.genes)
    assert "Simons Foundation" in (OUT / "LICENSE").read_text(encoding="utf-8")
    assert sum(path.stat().st_size for path in OUT.iterdir()) < 1_000_000
