"""A small file cannot fill the memory: it is refused by its shape, with the limits of every day."""

import gzip
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from tests.memory import PEAK
from tvcs_core import DataError
from tvcs_core.files import input_size
from tvcs_core.files.input_size import refuse_cells, refuse_expansion
from tvcs_core.files.tables import read_table

MOST = 512 * 2**20  # bytes that a refused file may cost, however small it is
PARTS = {
    "[Content_Types].xml": """<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/xl/workbook.xml" ContentType=
"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>
<Override PartName="/xl/worksheets/sheet1.xml" ContentType=
"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>""",
    "_rels/.rels": """<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" Target="xl/workbook.xml" Type=
"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/>
</Relationships>""",
    "xl/workbook.xml": """<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"
xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">
<sheets><sheet name="a" sheetId="1" r:id="rId1"/></sheets></workbook>""",
    "xl/_rels/workbook.xml.rels": """<Relationships
xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" Target="worksheets/sheet1.xml" Type=
"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"/></Relationships>""",
}
SHEET = """<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
<dimension ref="A1:XFD1048576"/><sheetData>{}</sheetData></worksheet>"""


def workbook(path, cells):
    """Write a workbook by hand: openpyxl would not write a cell at the far end of every row."""
    rows = [f'<row r="{i}"><c r="{column}{i}">{value}</c></row>' for i, column, value in cells]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in PARTS.items():
            archive.writestr(name, text)
        archive.writestr("xl/worksheets/sheet1.xml", SHEET.format("".join(rows)))
    return path


def of_one_row(path):
    """Write 400 MB of the same row into a .gz of 400 kB."""
    with gzip.open(path, "wb", compresslevel=9) as file:
        for _ in range(100):
            file.write(b"1,2\n" * 2**20)
    return path


def of_far_cells(path):
    """Write a sheet with a cell in the last column of every row."""
    return workbook(path, [(i, "XFD", "<v>1</v>") for i in range(1, 20_001)])


def of_empty_far_cells(path):
    """Write a sheet whose cells in the last column are all empty."""
    return workbook(path, [(i, "XFD", "") for i in range(1, 20_001)])


def of_one_wide_row(path):
    """Write a sheet with one wide row, above 60,000 of one cell."""
    below = [(i, "A", "<v>1</v>") for i in range(2, 60_001)]
    return workbook(path, [(1, "XFD", "<v>1</v>"), *below])


BOMBS = [
    ("v.csv.gz", of_one_row),
    ("far.xlsx", of_far_cells),
    ("empty.xlsx", of_empty_far_cells),
    ("wide.xlsx", of_one_wide_row),
]


@pytest.mark.parametrize(("name", "write"), BOMBS, ids=[name for name, _ in BOMBS])
def test_a_small_file_that_fills_the_memory_is_refused_and_costs_little(name, write, tmp_path):
    path = write(tmp_path / name)
    assert path.stat().st_size < 2 * 2**20
    script = (
        f"{PEAK}\nfrom tvcs_core.files.tables import read_table\n"
        f"try: read_table({str(path)!r})\n"
        "except ValueError as error: print(error)\n"
        "print(peak_memory())"
    )
    environment = {name: value for name, value in os.environ.items() if name != "TVCS_MAX_INPUT"}
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment
    )
    message, memory = result.stdout.splitlines()
    assert message.startswith(f"{path}: may hold at most 200 times its ")
    assert message.endswith("if it is meant to, give a limit such as TVCS_MAX_INPUT=4G")
    assert int(memory) < MOST


def test_a_sheet_whose_two_rows_lie_far_apart_is_read(tmp_path):
    path = workbook(tmp_path / "gap.xlsx", [(1, "A", "<v>1</v>"), (1_048_576, "A", "<v>2</v>")])
    table = read_table(path)
    assert list(table.rows) == [["1"], ["2"]]
    assert list(table.lines) == [1, 1_048_576]


def test_a_table_of_mostly_zeros_is_read(tmp_path):
    """Counts of single cells are: 99 % of 0 shrink to a hundred and twentieth."""
    values = np.random.default_rng(0).random((600, 9000)) < 0.01
    row = np.where(values, b"1", b"0")
    with gzip.open(tmp_path / "v.csv.gz", "wb") as file:
        for cells in row.tolist():
            file.write(b",".join(cells) + b"\n")
    assert len(read_table(tmp_path / "v.csv.gz").rows) == 600


def test_a_user_who_sets_the_limit_says_that_the_file_is_meant(monkeypatch, tmp_path):
    monkeypatch.delenv("TVCS_MAX_INPUT", raising=False)
    refuse_expansion("v", 2**20, 200 * 2**20)
    refuse_expansion("v", 1, 32 * 2**20)
    with pytest.raises(DataError, match="may hold at most 200 times its 1 MiB on disk, found 201"):
        refuse_expansion("v", 2**20, 201 * 2**20)
    monkeypatch.setenv("TVCS_MAX_INPUT", "4G")
    refuse_expansion("v", 1, 2**31)


def test_a_table_must_fit_into_the_memory_that_is_free(monkeypatch):
    monkeypatch.setattr(input_size, "available_memory", lambda: 2**30)
    refuse_cells("v", 1024, 1024, 1024)
    with pytest.raises(DataError, match=r"1,025 rows x 1,024 columns take 1\.001 GiB"):
        refuse_cells("v", 1025, 1024, 1024)
    monkeypatch.setattr(input_size, "available_memory", lambda: None)
    refuse_cells("v", 2**30, 2**30)
