"""Tables as R, Excel and pandas write them, brought to one form before their columns are judged.

R writes a header one cell short over row names. Spreadsheets leave empty columns and titles. A
comma may be the decimal point. A table that needs none of this comes back as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from grn_tvcs.expression.formats.cells import BYTES_OF_A_LEVEL
from grn_tvcs.expression.formats.geo import is_series_matrix, series_matrix
from grn_tvcs.expression.judge.names import NAMED, OF_GENES
from grn_tvcs.expression.sheet import Sheet
from tvcs_core import DataError
from tvcs_core.arguments import option_name, option_words
from tvcs_core.files.display import joined, quoted
from tvcs_core.files.encodings import DECIMAL_COMMA, THOUSANDS
from tvcs_core.files.input_size import refuse_cells
from tvcs_core.files.rows import Rows
from tvcs_core.files.tables import DELIMITERS, SPACE, Table, is_number, read_table

UNNAMED = re.compile(r"(unnamed: [0-9]+)?")  # headings of nothing, as pandas writes them
PAGES = ("<!doctype", "<html", "<?xml")  # how a web page begins
MATRIX = re.compile(r".+\.mtx(\.gz)?", re.IGNORECASE)
_R, _PANDAS = "save it from R by write.csv", "save it from Python by frame.to_csv"
_TABLES = "save its table as .csv"
# By the end of the name: what they are, and how a table is made of them.
OTHER_FILES = {
    ".rds": ("a file of R", _R), ".rda": ("a file of R", _R), ".rdata": ("a file of R", _R),
    ".parquet": ("a file of Parquet", f"{_PANDAS}, after pandas.read_parquet"),
    ".feather": ("a file of Arrow", f"{_PANDAS}, after pandas.read_feather"),
    ".pkl": ("a pickle of Python", _PANDAS), ".npy": ("an array", "give it in Python"),
    ".zarr": ("a folder of zarr", "give the AnnData in Python (anndata.read_zarr), or write .h5ad"),
    ".loom": ("a loom file", "write it as .h5ad (scanpy.read_loom, then .write)"),
    ".json": ("JSON", f"{_PANDAS}, after pandas.read_json"),
    ".pdf": ("a PDF", _TABLES), ".docx": ("a document of Word", _TABLES),
    ".doc": ("a document of Word", _TABLES), ".ods": ("a sheet of LibreOffice", _TABLES),
    ".numbers": ("a sheet of Numbers", _TABLES), ".pzfx": ("a file of Prism", _TABLES),
    ".cel": ("raw intensities of a microarray", "normalise them first (R: affy::rma)"),
    **dict.fromkeys((".fa", ".fasta", ".fastq", ".fq", ".bam", ".sam"), (
        "sequences", "count the reads of each gene first (featureCounts, salmon)",
    )),
}  # fmt: skip
_ADDRESS = re.compile(r"(https?|ftp|s3|gs):/", re.IGNORECASE)
BYTES_OF_A_ROW = 150  # for its name, while names are judged
_POINT = re.compile(r"[+-]?[0-9]*\.[0-9]+([eE][+-]?[0-9]+)?")


def open_sheet(path: str | Path, sheet: str | None = None, option: str = "sheet") -> Sheet:
    """Read a table of expression or of samples, whatever program wrote it; GEO's is both.

    Parameters
    ----------
    path
        Text with tabs, commas, semicolons or spaces between cells, or a workbook.
    sheet
        The sheet of a workbook; None for the only one.
    option
        The option that names the sheet.

    Raises
    ------
    DataError
        As `tvcs_core.files.tables.read_table`; or if it is a web page, a title stands above the
        table, rows differ in their number of cells, or commas may be decimal points as well as
        thousands.
    """
    _refuse_other_files(Path(path))
    try:
        table = read_table(path, sheet=sheet, spaces=True, comments=True)
    except DataError as error:
        names = [one["sheet"] for one in error.remedies if "sheet" in one]
        if not names:
            raise
        remedies = [{option: name} for name in names]
        raise DataError(
            f"has the sheets {joined(names)}; name one with {option_name(option)}, such as "
            f"{option_words(remedies[0])}",
            path=path,
            remedies=remedies,
        ) from None
    table.check_width("see that each sample or gene has a line of its own")
    width = len(table.rows[0])
    refuse_cells(path, len(table.rows), width, BYTES_OF_A_LEVEL + BYTES_OF_A_ROW // width)
    _refuse_page(table)
    if is_series_matrix(table):
        return series_matrix(table)
    _refuse_title(table)
    return Sheet.of(_with_points(_without_empty_columns(_of_r(_unwrapped(table)))))


def open_samples(path: str | Path, sheet: str | None) -> Sheet:
    """Read a sheet of samples, which may be inside a series matrix of GEO."""
    samples = open_sheet(path, sheet, "samples_sheet")
    return samples.sample_sheet or samples


def _refuse_other_files(path: Path) -> None:
    """Refuse an address, files that hold no text, and cells of Cell Ranger, which have no time."""
    if _ADDRESS.match(str(path)):
        raise DataError("is an address: download the file, and give its path", path=path)
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix in OTHER_FILES and path.exists():
        what, remedy = OTHER_FILES[suffix]
        raise DataError(f"must be a table of text or .xlsx, found {what}: {remedy}", path=path)
    folder = path if path.is_dir() else path.parent
    is_folder = path.is_dir() and any(MATRIX.fullmatch(one.name) for one in path.iterdir())
    if is_folder or MATRIX.fullmatch(path.name) or suffix == ".h5":
        kind = f"h5({path.name!r})" if suffix == ".h5" else f"mtx({folder.name!r})"
        raise DataError(
            "is a matrix of cells without times, as Cell Ranger (10x) writes it: make an .h5ad of "
            f"it, with the pseudotime of every cell in obs (Python: scanpy.read_10x_{kind}, then "
            f".write('cells.h5ad')), and give that with {option_words({'time_column': 'NAME'})}",
            path=path,
        )


def _unwrapped(table: Table) -> Table:
    """Replace line breaks in headings that a spreadsheet wrapped by spaces."""
    if not any("\n" in cell for cell in table.rows[0]):
        return table
    return _of_rows(table, ([" ".join(cell.split()) for cell in row] for row in table.rows))


def _of_r(table: Table) -> Table:
    """Give the names of rows a first, empty heading, where every row has one cell more."""
    short = len(table.rows[0])
    if len(table.rows) < 2 or len(table.rows[1]) <= short:
        return table
    if not any(len(row) < short or any(row[short:]) for row in table.rows[1:]):
        return _of_rows(table, (row[:short] for row in table.rows))  # delimiters at the end
    if any(len(row) != short + 1 for row in table.rows[1:]):
        return table
    return _of_rows(table, (row if i else ["", *row] for i, row in enumerate(table.rows)))


def _without_empty_columns(table: Table) -> Table:
    header = table.rows[0]
    empty = {j for j, cell in enumerate(header) if UNNAMED.fullmatch(cell.lower())}
    for row in table.rows[1:] if empty else ():
        empty -= {j for j in empty if j >= len(row) or row[j]}
    if not empty:
        return table
    kept = [j for j in range(len(header)) if j not in empty]
    return _of_rows(table, ([row[j] for j in kept if j < len(row)] for row in table.rows))


def _refuse_page(table: Table) -> None:
    """Refuse a page of HTML, as saved from a link that leads to a page instead of the file."""
    if table.rows[0][0].lower().startswith(PAGES):
        raise table.error(
            "must be a table, found a web page or XML: download the file itself (of GitHub: Raw)",
            row=0,
        )


def _refuse_title(table: Table) -> None:
    """Refuse a first line that does not name the columns, and bars between cells."""
    first, *below = table.rows[:3]
    if len(first) == 1 and "|" in first[0] and all("|" in row[0] for row in below):
        raise table.error(
            f"between cells must stand tabs, commas or semicolons, found '|' in {quoted(first[0])}"
            "; put tabs in their place",
            row=0,
        )
    is_mark_alone = first[0] == "#" and table.delimiter == SPACE
    if is_mark_alone or (first[0].startswith("#") and first[0].lstrip("# ").lower() in NAMED):
        raise table.error(
            "the first line must name the columns alone, but it begins with '#': remove the #",
            row=0,
        )
    if not any(map(_is_heading, first)) and _is_title(table):
        title = " ".join(filter(None, first))
        raise table.error(
            f"the first line must name the columns, but it holds {title!r} alone: remove what "
            "stands above the table",
            row=0,
        )


def _is_title(table: Table) -> bool:
    """Whether the first line has few cells above a table of many, or other delimiters."""
    first, *below = table.rows[:4]
    if max((sum(map(bool, row)) for row in below), default=0) > 2 * sum(map(bool, first)):
        return True
    if below and len(below[0]) == 1:
        return any(mark in below[0][0] for mark in DELIMITERS)
    # A table of R has its first levels behind the name of a row here, a title the names of columns.
    if len(below) < 2 or len(below[0]) <= len(first) or not any(map(is_number, below[1])):
        return False
    corner, *names = below[0]
    if all(map(is_number, names)):
        may_be_corner = not corner or is_number(corner) or OF_GENES.fullmatch(corner)
        return bool(may_be_corner) and not is_number(below[1][0])
    is_different = len({*below[0]} - {""}) == len(below[0])
    return is_different and not any(map(is_number, below[0]))


def _is_heading(cell: str) -> bool:
    return cell.lower() in NAMED or bool(OF_GENES.fullmatch(cell.lower()))


def _with_points(table: Table) -> Table:
    """Write decimal commas as points, if no cell has a point and commas do not separate cells."""
    has_commas = not isinstance(table.rows, Rows) or table.rows.may_hold(",")
    if table.delimiter == "," or not has_commas:
        return table
    place, only_thousands = None, True
    for i, row in enumerate(table.rows):
        for j, cell in enumerate(row):
            if "," in cell and DECIMAL_COMMA.fullmatch(cell):
                place = place or (i, j)
                only_thousands = only_thousands and bool(THOUSANDS.fullmatch(cell))
            elif _POINT.fullmatch(cell) and i:
                return table  # the cells with commas are refused as no numbers
    if place is None:
        return table
    if only_thousands and table.delimiter != ";":
        cell = table.rows[place[0]][place[1]]
        raise table.error(
            f"must be a number that can be read in one way, found {cell!r}: thousands or a "
            f"decimal comma; write {cell.replace(',', '')} or {cell.replace(',', '.')} everywhere",
            *place,
        )
    return _of_rows(table, ([_pointed(cell) for cell in row] for row in table.rows))


def _pointed(cell: str) -> str:
    return cell.replace(",", ".") if "," in cell and DECIMAL_COMMA.fullmatch(cell) else cell


def _of_rows(table: Table, rows: Iterator[list[str]]) -> Table:
    return replace(table, rows=Rows.of(rows))
