"""Files as a spreadsheet saves them: read where they say what they are, else refused by name."""

import codecs

import pytest

from tvcs_core.files.encodings import _utf16_remedy, number_hint
from tvcs_core.files.errors import DataError
from tvcs_core.files.tables import read_table, read_text

TEXT = "worker;task;quality\nZoë;t1;0.9\nŁukasz;t2;0.8\n"
ROWS = [line.split(";") for line in TEXT.splitlines()]


def write(folder, content):
    path = folder / "t.csv"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("bom", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-8"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_what_says_how_it_is_encoded_is_read(tmp_path, bom, ends):
    marks = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
    text = TEXT.replace("\n", ends)
    path = write(tmp_path, marks.get(bom, b"") + text.encode(bom))
    assert read_table(path).rows == ROWS
    assert read_text(path) == TEXT


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "SEP=;", "sep=;  "])
def test_the_line_that_names_the_separator_is_no_row(tmp_path, first):
    # without it the commas of the names would make commas the separator
    table = read_table(write(tmp_path, f"{first}\r\na;b,c,d\r\nx;\r\n".encode()))
    assert table.rows == [["a", "b,c,d"], ["x", ""]]
    assert list(table.lines) == [2, 3]
    assert "t.csv:3" in str(table.error("what", 1))


def test_a_separator_that_is_none_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"between cells may be tab, .* first line names '\|'"):
        read_table(write(tmp_path, b"sep=|\na|b\n"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (TEXT.replace("Ł", "L").encode("cp1252"),
         r"t.csv:2: must be UTF-8 text, found other bytes \('ë' if .* cp1252\): save it as 'CSV "
         r"UTF-8'"),
        (b"PK\x03\x04\x14\x00\x06\x00\x81\xff", "a workbook of Excel .* save it as 'CSV UTF-8'"),
        (b"\x89HDF\r\n\x1a\n\0\0\0\0\0\0\x08\x08", "it is an HDF5 file, .* save the table as CSV$"),
        (b"SQLite format 3\0\x10\0\x02\x02\0\x40\x81", "it is an SQLite database, .* as CSV$"),
        (b"PAR1\x15\x04\x15\x90\0", "it is a Parquet file: save the table as CSV$"),
        (b"a\tb\n\x81\t1\n", r":2: must be UTF-8 text, found other bytes$"),
        (TEXT.replace("Ł", "L").replace("ë", "e").encode("utf-16-le"),
         "binary file; it looks like UTF-16 without its byte-order mark: save it as"),
        (TEXT.replace("Ł", "L").replace("ë", "e").encode("utf-16-be"),
         "binary file; it looks like UTF-16 without its byte-order mark: save it as"),
        (TEXT.replace("Ł", "É").encode("utf-16-le"),
         "UTF-8 text, found other bytes; it looks like UTF-16 without its byte-order mark: save"),
        (TEXT.encode("utf-16")[:-1], "must be whole UTF-16 text"),
    ],
)  # fmt: skip
def test_what_does_not_say_it_is_refused_with_the_remedy(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        read_table(write(tmp_path, content))


@pytest.mark.parametrize(
    ("cell", "remedy"),
    [
        ("0,9", "; that is a decimal comma: write 0.9, or save"),
        ("90 %", "; write 0.9 for 90 %"),
        ("1,000", "; write 1000, or 1.000 if that is a decimal comma"),
        ("1,234,567", "; write 1234567"),
        ("1,000.5", "; write 1000.5"),
        ("0,123", "; that is a decimal comma: write 0.123, or save"),
        ("x", ""),
        ("1,00,0", ""),
    ],
)
def test_a_number_in_another_form_has_a_remedy(cell, remedy):
    found = number_hint(cell)
    assert found.startswith(remedy)
    assert bool(found) == bool(remedy)


def test_a_table_gives_the_remedy_of_its_first_bad_number(tmp_path):
    table = read_table(write(tmp_path, b"worker;quality\nann;0,9\nbob;x\n"))
    with pytest.raises(DataError, match="found '0,9'; that is a decimal comma"):
        table.numbers(1, [1])


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("at", ["first", "last"])
def test_text_looks_like_utf16_where_more_than_half_of_every_other_byte_is_0(side, at):
    for zeros in (1, 25, 26, 50):
        raw = bytearray(b"a" * 160)
        places = range(side, 100, 2)
        for k in list(places)[:zeros] if at == "first" else list(places)[-zeros:]:
            raw[k] = 0
        assert ("looks like UTF-16" in _utf16_remedy(bytes(raw))) == (zeros > 25)
