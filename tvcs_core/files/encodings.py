"""Text as UTF-8, whatever a spreadsheet made of it, and what to do where it cannot be told.

Excel writes "CSV UTF-8", "Unicode text" (UTF-16 with a byte-order mark) and "CSV", which is in the
old code page of the machine. The second says what it is and is read. The third does not: the same
bytes are other letters on another machine, so it is refused with the remedy.
"""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from tvcs_core.files.errors import DataError
from tvcs_core.files.shown import shown

AS_UTF8 = "save it as 'CSV UTF-8' (Excel: Save As, file type)"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_ZIP = b"PK\x03\x04"
_ZIP_OF_TEXT = re.compile(re.escape(_ZIP) + rb".{26}[^\0]{,200}?\.(csv|tsv|txt|jsonl?)", re.DOTALL)
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+([eE][+-]?[0-9]+)?")
_PERCENT = re.compile(r"[+-]?[0-9]+([.,][0-9]+)? ?%")
_SEPARATOR = re.compile(rb'"?sep=(.)"?[ \t]*\Z', re.IGNORECASE)


def as_utf8(raw: bytes, path: Path) -> bytes:
    """Return the bytes of a text as UTF-8 without a byte-order mark.

    Raises
    ------
    DataError
        If they are neither UTF-8 nor UTF-16 with a byte-order mark, or no text.
    """
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
        what = f"must be UTF-8 text, found other bytes{_looks_like(raw, error.start)}"
        raise DataError(what, path=path, line=line) from None
    if b"\0" in raw:
        raise DataError(f"must be text, found a binary file{_unmarked_utf16(raw)}", path=path)
    return raw.removeprefix(codecs.BOM_UTF8)


def number_hint(cell: str) -> str:
    """Say what to do about a cell such as ``0,9`` or ``90%``; nothing for any other."""
    if _PERCENT.fullmatch(cell):
        return f"; write {float(cell[:-1].replace(',', '.')) / 100:g} for {cell}"
    if not _DECIMAL_COMMA.fullmatch(cell):
        return ""
    return (
        f"; that is a decimal comma: write {cell.replace(',', '.')}, or save the table again with "
        "a point as decimal separator (Excel: Options, Advanced)"
    )


def separator_line(line: str) -> str | None:
    """The separator that a first line such as ``sep=;`` names, which Excel writes and reads."""
    found = _SEPARATOR.match(line.encode())
    return None if found is None else found[1].decode()


def _looks_like(raw: bytes, at: int) -> str:
    """What the bytes from the first that is no UTF-8 are likely to be."""
    if _ZIP_OF_TEXT.match(raw):
        return "; it is a .zip archive: unpack it"
    if raw.startswith(_ZIP):
        return f"; a workbook of Excel (.xlsx) is no text: {AS_UTF8}"
    if b"\0" in raw:
        return _unmarked_utf16(raw)
    try:
        letter = raw[at : at + 1].decode("cp1252")
    except UnicodeDecodeError:
        return ""
    if not letter.isprintable():
        return ""
    return f" ({shown(letter)} if it is in Windows' code page cp1252): {AS_UTF8}"


def _unmarked_utf16(raw: bytes) -> str:
    """What to do if every other byte is 0, as of English in UTF-16."""
    if max(raw[1:100:2].count(0), raw[:100:2].count(0)) <= 25:
        return ""
    return f"; it looks like UTF-16 without its byte-order mark: {AS_UTF8}"
