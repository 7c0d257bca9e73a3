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
from grn_tvcs.expression.judge.names import NAMED, OF_GENES
from grn_tvcs.expression.sheet import Sheet
from tvcs_core import DataError
from tvcs_core.arguments import option_name, option_words
from tvcs_core.files.display import joined, quoted
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
_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?")
_POINT = re.compile(r"[+-]?[0-9]*\.[0-9]+([eE][+-]?[0-9]+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+")


def open_sheet(path: str | Path, sheet: str | None = None) -> Sheet:
    """Read a table of expression or of samples, whatever program wrote it.

    Parameters
    ----------
    path
        Text with tabs, commas, semicolons or spaces between cells, or a workbook.
    sheet
        The sheet of a workbook; None for the only one.

    Raises
    ------
    DataError
        As `tvcs_core.files.tables.read_table`; or if it is a web page, a title stands above the
        table, or commas may be decimal points as well as thousands.
    """
    _refuse_cells_of_10x(Path(path))
    _refuse_other_files(str(path))
    try:
        table = read_table(path, sheet=sheet, spaces=True, comments=True)
    except DataError as error:
        if not error.remedies:
            raise
        raise DataError(
            f"has the sheets {joined(one['sheet'] for one in error.remedies)}; name one with "
            f"{option_name('sheet')}, such as {option_words(error.remedies[0])}",
            path=path,
            remedies=error.remedies,
        ) from None
    table.check_width("see that each sample or gene has a line of its own")
    width = len(table.rows[0])
    refuse_cells(path, len(table.rows), width, BYTES_OF_A_LEVEL + BYTES_OF_A_ROW // width)
    _refuse_page(table)
    _refuse_title(table)
    _refuse_other_delimiter(table)
    return Sheet.of(_with_points(_without_empty_columns(_of_r(_unwrapped(table)))))


def _refuse_cells_of_10x(path: Path) -> None:
    """Refuse a folder of Cell Ranger, its matrix or its .h5: cells in them have no time."""
    folder = path if path.is_dir() else path.parent
    is_matrix = MATRIX.fullmatch(path.name) is not None
    if path.is_dir() and any(MATRIX.fullmatch(one.name) for one in path.iterdir()):
        is_matrix = True
    if not is_matrix and path.suffix.lower() != ".h5":
        return
    reads = (
        f"read_10x_h5({path.name!r})" if path.suffix == ".h5" else f"read_10x_mtx({folder.name!r})"
    )
    raise DataError(
        "is a matrix of cells without times, as Cell Ranger (10x) writes it: make an .h5ad of it, "
        f"with the pseudotime of every cell in obs (Python: scanpy.{reads}, then "
        f".write('cells.h5ad')), and give that with {option_words({'time_column': 'NAME'})}",
        path=path,
    )


def _refuse_other_files(path: str) -> None:
    """Refuse an address, and files that hold no text."""
    if _ADDRESS.match(path):
        raise DataError("is an address: download the file, and give its path", path=path)
    suffix = Path(path.lower().removesuffix(".gz")).suffix
    if suffix in OTHER_FILES and Path(path).is_file():
        what, remedy = OTHER_FILES[suffix]
        raise DataError(f"must be a table of text or .xlsx, found {what}: {remedy}", path=path)


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
    if not empty:
        return table
    for row in table.rows[1:]:
        if len(row) != len(header):
            return table
        empty -= {j for j in empty if row[j]}
        if not empty:
            return table
    kept = [j for j in range(len(header)) if j not in empty]
    return _of_rows(table, ([row[j] for j in kept] for row in table.rows))


def _refuse_page(table: Table) -> None:
    """Refuse a page of HTML, as saved from a link that leads to a page instead of the file."""
    if table.rows[0][0].lower().startswith(PAGES):
        raise table.error(
            "must be a table, found a web page or XML: download the file itself (of GitHub: Raw)",
            row=0,
        )


def _refuse_title(table: Table) -> None:
    """Refuse a first line that is a title or a comment, and names that stand behind a ``#``."""
    first = table.rows[0]
    if _is_commented(table):
        raise table.error(
            "the first line must name the columns alone, but it begins with '#': remove the #",
            row=0,
        )
    if first[0].lower() not in NAMED and _is_title(table):
        title = " ".join(filter(None, first))
        raise table.error(
            f"the first line must name the columns, but it holds {title!r} alone: remove what "
            "stands above the table",
            row=0,
        )


def _refuse_other_delimiter(table: Table) -> None:
    """Refuse a table of one column in which bars part the cells."""
    first = table.rows[0]
    if len(first) == 1 and "|" in first[0] and all("|" in row[0] for row in table.rows[1:3]):
        raise table.error(
            f"between cells must stand tabs, commas or semicolons, found '|' in {quoted(first[0])}"
            "; put tabs in their place",
            row=0,
        )


def _is_commented(table: Table) -> bool:
    """Whether the first line names the columns behind a ``#``, as `numpy.savetxt` writes it."""
    first = table.rows[0]
    if first[0].startswith("#") and first[0].lstrip("# ").lower() in NAMED:
        return True
    below = table.rows[1] if len(table.rows) > 1 else []
    is_header = len(below) == len(first) - 1 and any(map(is_number, below))
    return table.delimiter == SPACE and first[0] == "#" and is_header


def _is_title(table: Table) -> bool:
    """Whether the first line has few cells above a table of many, or other delimiters."""
    first = table.rows[0]
    filled = [sum(map(bool, row)) for row in table.rows[:4]]
    if max(filled[1:], default=0) > 2 * filled[0]:
        return True
    if first[0] == "#" and table.delimiter == SPACE:
        return True
    if len(table.rows) < 2:
        return False
    below = table.rows[1]
    is_alone = len(first) == 1 or table.delimiter == SPACE or first[0].startswith("#")
    if len(below) == 1 and is_alone:
        return not DELIMITERS.keys().isdisjoint(below[0])
    if len(table.rows) < 3:
        return False
    if _is_header_below(first, below, table.rows[2]):
        return True
    if not 2 < len(below) == len(first) + 1:
        return False
    # A table of R has its first numbers, or names that come twice, here; a header neither.
    is_header = all(below) and len(set(below)) == len(below) and not any(map(is_number, below))
    is_named = any(cell.lower() in NAMED for cell in first)
    return is_header and not is_named and any(map(is_number, table.rows[2]))


def _is_header_below(first: list[str], second: list[str], third: list[str]) -> bool:
    """Whether the second line names the columns: plainly, or by numbers such as times."""
    if len(second) < len(first) or any(map(_is_heading, first)):
        return False
    if len(third) == len(second) + 1:  # of R
        return all(map(is_number, second)) and not is_number(third[0])
    corner, *names = second
    if len(third) != len(second) or len(second) == len(first):
        return False
    if len(second) > len(first) + 1 and _is_heading(corner):
        return True
    if not all(map(is_number, names)) or is_number(third[0]):
        return False
    rises = sorted(names, key=float) == names
    return rises if not corner else bool(OF_GENES.fullmatch(corner.lower()))


def _is_heading(cell: str) -> bool:
    return cell.lower() in NAMED or bool(OF_GENES.fullmatch(cell.lower()))


def _with_points(table: Table) -> Table:
    """Write decimal commas as points, if no cell has a point and commas do not separate cells."""
    if table.delimiter == "," or not _has_commas(table):
        return table
    place, only_thousands = None, True
    for i, row in enumerate(table.rows):
        for j, cell in enumerate(row):
            if "," in cell and _COMMA.fullmatch(cell):
                place = place or (i, j)
                only_thousands = only_thousands and bool(_THOUSANDS.fullmatch(cell))
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


def _has_commas(table: Table) -> bool:
    return not isinstance(table.rows, Rows) or table.rows.may_hold(",")


def _pointed(cell: str) -> str:
    return cell.replace(",", ".") if "," in cell and _COMMA.fullmatch(cell) else cell


def _of_rows(table: Table, rows: Iterator[list[str]]) -> Table:
    return replace(table, rows=Rows.of(rows))
