"""Pictures, sounds and videos of tasks: their files, and their types by the first bytes.

A name does not determine how a browser treats a file: ``cat.png`` may be a page with scripts. So
every file is checked by its first bytes, when content is read and again whenever it is served.
Anything but the types below is refused.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import BinaryIO

from tvcs_core.files.display import quoted

HEAD_BYTES = 4096
"""Bytes of a file that are looked at."""
_FITS = {"image": ("image/",), "audio": ("audio/", "video/"), "video": ("video/",)}
_WANTED = {
    "image": ("a picture", "PNG, JPEG, GIF or WebP"),
    "audio": ("a sound", "MP3, WAV, Ogg, MP4 or WebM"),
    "video": ("a film", "MP4 or WebM"),
}

# The third byte of a frame of MPEG audio: a bit rate and a sample rate that there are.
_RATES = b"".join(re.escape(bytes([b])) for b in range(0x10, 0xF0) if b & 0x0C != 0x0C)

_STARTS = (
    (re.compile(rb"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"), "image/png"),
    (re.compile(rb"\xff\xd8\xff[\xc0-\xfe]"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF.{4}WEBPVP8[ LX]", re.DOTALL), "image/webp"),
    (re.compile(rb"ID3[\x02-\x04][^\xff]"), "audio/mpeg"),
    (re.compile(rb"\xff[\xe2\xe3\xf2\xf3\xfa\xfb][" + _RATES + rb"]"), "audio/mpeg"),
    (re.compile(rb"RIFF.{4}WAVE", re.DOTALL), "audio/wav"),
    (re.compile(rb"OggS\0"), "audio/ogg"),
    (re.compile(rb".{4}ftypM4[AB] ", re.DOTALL), "audio/mp4"),
    (re.compile(rb".{4}ftyp(?:iso[m2-9]|mp4[12]|avc1|M4V |dash|MSNV)", re.DOTALL), "video/mp4"),
    (re.compile(rb"\x1a\x45\xdf\xa3.{0,60}\x42\x82\x84webm", re.DOTALL), "video/webm"),
)
_OTHERS = (
    (re.compile(rb"%PDF"), "a PDF"),
    (re.compile(rb"BM.{4}\0\0\0\0", re.DOTALL), "a BMP picture"),
    (re.compile(rb"II\*\0|MM\0\*"), "a TIFF picture"),
    (re.compile(rb".{4}ftyp(?:avi|hei|mif)", re.DOTALL), "an AVIF or HEIC picture"),
    (re.compile(rb".{4}ftypqt", re.DOTALL), "a QuickTime film"),
    (re.compile(rb"\x1a\x45\xdf\xa3"), "a Matroska film"),
    (re.compile(rb"fLaC"), "a FLAC sound"),
    (re.compile(rb"PK\x03\x04|\x1f\x8b"), "a packed file"),
)


class NotMedia(ValueError):
    """A file of an unsupported kind; the message names the kind."""


def kind_of(head: bytes) -> str | None:
    """Return the media type of a file that begins with these bytes; None if it is not shown."""
    return next((kind for start, kind in _STARTS if start.match(head)), None)


def inside(media: Path | None, name: str) -> Path:
    """Return the file of a name in the folder of media.

    Raises
    ------
    ValueError
        If there is no folder, no such file, or it lies outside, by ``..`` or by a link.
    """
    if media is None:
        raise ValueError(f"names the file {quoted(name)}, which needs --media, the folder it is in")
    root = media.resolve()
    try:
        found = (root / name).resolve()
        if found.is_relative_to(root) and found.is_file():
            return found
    except (OSError, ValueError):  # a name too long, or with a character that no file has
        pass
    raise ValueError(f"must be a file inside {media}, found {quoted(name)}")


def open_media(media: Path | None, name: str, column: str | None = None) -> tuple[BinaryIO, str]:
    """Open a file of the folder of media; return it and its media type by its first bytes.

    The check is of the opened file, even if another file takes its name meanwhile.

    Parameters
    ----------
    media
        The folder.
    name
        A path in it.
    column
        Which of `MEDIA_COLUMNS` the file is for; None for any.

    Raises
    ------
    NotMedia
        If its type is not shown, or not in this column.
    ValueError
        As `inside`.
    """
    path = inside(media, name)
    try:
        # Neither a link that was put there since nor a pipe, which would be waited for.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        file = os.fdopen(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb")
    except OSError as error:
        raise ValueError(f"names {quoted(name)}, which cannot be read: {error.strerror}") from None
    try:
        opened, there = os.fstat(file.fileno()), inside(media, name).stat()
        # A folder above it may have become a link in between.
        if not stat.S_ISREG(opened.st_mode) or not os.path.samestat(opened, there):
            raise ValueError(f"must be a file inside {media}, found {quoted(name)}")
        head = file.read(HEAD_BYTES)
        kind = kind_of(head)
        wanted = None if column is None else column.removesuffix("_2")
        if kind is None or (wanted is not None and not kind.startswith(_FITS[wanted])):
            raise NotMedia(_refusal(name, head, kind, column))
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file, kind


def check_media(media: Path | None, name: str, column: str) -> None:
    """Judge a file that a task shows in a column of `MEDIA_COLUMNS`; raise as `open_media` does."""
    open_media(media, name, column)[0].close()


def _refusal(name: str, head: bytes, kind: str | None, column: str | None) -> str:
    found = _described(head) if kind is None else f"of the kind {kind}"
    wanted, kinds = _WANTED.get(
        (column or "").removesuffix("_2"), ("a picture, a sound or a film", "one of its kinds")
    )
    return f"must be {wanted}, found {quoted(name)}, which is {found}: save it as {kinds}"


def _described(head: bytes) -> str:
    """Describe a file that is refused, for the operator."""
    if not head:
        return "empty"
    for start, name in _OTHERS:
        if start.match(head):
            return name
    text = head.decode("latin-1").lower()
    if "<svg" in text:
        return "an SVG drawing, which may run scripts"
    if any(mark in text for mark in ("<!doctype", "<html", "<script", "<body")):
        return "a page of HTML, which may run scripts"
    is_text = not any(byte < 32 and byte not in b"\t\n\r\f" for byte in head)
    return "text" if is_text else f"of no known kind (it begins with {head[:8].hex(' ')})"
