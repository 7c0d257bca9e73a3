"""Conversion of text files to UTF-8.

Excel writes "CSV UTF-8", "Unicode text" (UTF-16 with a byte-order mark) and "CSV", which uses the
machine's legacy code page. UTF-16 is recognised by its mark and read. A legacy code page cannot be
recognised, since the same bytes mean other letters on another machine. Such a file is refused and
the error gives the remedy.
"""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from tvcs_core.files.display import quoted
from tvcs_core.files.errors import DataError

AS_UTF8 = "save it as 'CSV UTF-8' (Excel: Save As, file type)"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_ZIP = b"PK\x03\x04"
_ZIP_OF_TEXT = re.compile(re.escape(_ZIP) + rb".{26}[^\0]{,200}?\.(csv|tsv|txt|jsonl?)", re.DOTALL)
_BINARY = {  # the first bytes of files that hold no text
    b"\x89HDF": "an HDF5 file, such as .h5ad",
    b"PAR1": "a Parquet file",
    b"ARROW1": "a Feather file",
    b"%PDF": "a PDF",
    b"SQLite format 3\0": "an SQLite database, such as the store of a campaign",
}
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+([eE][+-]?[0-9]+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]+)?")
_PERCENT = re.compile(r"[+-]?[0-9]+([.,][0-9]+)? ?%")
_SEPARATOR = re.compile(rb'"?sep=(.)"?[ \t]*\Z', re.IGNORECASE)


def as_utf8(raw: bytes, path: Path) -> bytes:
    """Convert a text to UTF-8 without a byte-order mark."""
    if raw.startswith(_UTF16):
        try:
            raw = raw.decode("utf-16").encode()
        except UnicodeDecodeError:
            raise DataError("must be whole UTF-16 text, found it cut off", path=path) from None
    try:
        if not raw.isascii():
            raw.decode()
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        message = f"must be UTF-8 text, found other bytes{_guess_format(raw, error.start)}"
        raise DataError(message, path=path, line=line) from None
    if b"\0" in raw:
        raise DataError(f"must be text, found a binary file{_utf16_remedy(raw)}", path=path)
    return raw.removeprefix(codecs.BOM_UTF8)


def number_hint(cell: str) -> str:
    """Return a remedy for a cell such as ``0,9``, ``1,000`` or ``90%``; empty for any other."""
    if _PERCENT.fullmatch(cell):
        return f"; write {float(cell[:-1].replace(',', '.')) / 100:g} for {cell}"
    if _THOUSANDS.fullmatch(cell):
        or_point = f", or {cell.replace(',', '.')} if that is a decimal comma"
        is_clear = "." in cell or cell.count(",") > 1
        return f"; write {cell.replace(',', '')}{'' if is_clear else or_point}"
    if not _DECIMAL_COMMA.fullmatch(cell):
        return ""
    return (
        f"; that is a decimal comma: write {cell.replace(',', '.')}, or save the table again with "
        "a point as decimal separator (Excel: Options, Advanced)"
    )


def separator_line(line: str) -> str | None:
    """Return the separator named by a first line such as ``sep=;``, which Excel writes."""
    match = _SEPARATOR.match(line.encode())
    return None if match is None else match[1].decode()


def _guess_format(raw: bytes, at: int) -> str:
    """Guess the format of a file whose byte `at` is not UTF-8, and give a remedy."""
    if _ZIP_OF_TEXT.match(raw):
        return "; it is a .zip archive: unpack it"
    if raw.startswith(_ZIP):
        return f"; a workbook of Excel (.xlsx) is no text: {AS_UTF8}"
    for first, name in _BINARY.items():
        if raw.startswith(first):
            return f"; it is {name}: save the table as CSV"
    if b"\0" in raw:
        return _utf16_remedy(raw)
    try:
        letter = raw[at : at + 1].decode("cp1252")
    except UnicodeDecodeError:
        return ""
    if not letter.isprintable():
        return ""
    return f" ({quoted(letter)} if it is in Windows' code page cp1252): {AS_UTF8}"


def _utf16_remedy(raw: bytes) -> str:
    """Return a remedy if every other byte is 0, as in English text stored as UTF-16."""
    if max(raw[1:100:2].count(0), raw[:100:2].count(0)) <= 25:
        return ""
    return f"; it looks like UTF-16 without its byte-order mark: {AS_UTF8}"
