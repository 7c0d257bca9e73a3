"""Damage to files, each kind by a name: a function of what the file held and a generator."""

import gzip
import io
import pickle
import re
import zipfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random

import numpy as np

LARGE = 96 * 2**20  # bytes that a bomb holds; the limit is below, see `LIMIT`
LIMIT = "16M"
TRAP = "trap-that-a-pickle-springs"
NUMBER = re.compile(rb"-?\d+(\.\d+)?")
HUGE = [
    b"9" * 400, b"1e999", b"-1e999", b"1e-999", b"-0.0", b"18446744073709551616",
    b"9223372036854775808", b"-9223372036854775809", b"4294967296", b"1e308", b"nan", b"NaN",
    b"inf", b"-Infinity", b"0x10", b"1_000", b"1,5", "\u0663".encode(), "\u00bd".encode(),
    b"1e400000000", b"True", b"null", b"",
]  # fmt: skip
CLIMBING = [
    b"../../../../etc/passwd", b"/etc/passwd", b"..\\..\\x", b"../" * 40 + b"x", b"~root/x",
    b"file:///etc/passwd", b"/dev/zero", b"/dev/stdin", b"C:\\x", b".", b"..", b"/", b"a/../../b",
    b"\\\\host\\share", b"%2e%2e/x",
]  # fmt: skip
JUNK = b'",\t\n\r;\x00\xff0-e.naif{}[]:'


class Trap:
    """What a pickle would run where somebody loads it."""

    def __reduce__(self):
        return Path.touch, (Path(TRAP),)


def bits(content: bytes, rng: Random) -> bytes:
    out = bytearray(content)
    for _ in range(rng.randint(1, 8) if out else 0):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def truncated(content: bytes, rng: Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def edited(content: bytes, rng: Random) -> bytes:
    """Cut out, insert and repeat, as editors and people do."""
    out = bytearray(content)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(out) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            del out[at : at + rng.randint(1, 20)]
        elif kind == 1:
            out[at:at] = bytes(rng.choices(JUNK, k=rng.randint(1, 4)))
        elif kind == 2:
            out[at:at] = out[at : at + rng.randint(1, 40)]
        elif at < len(out):
            out[at] = rng.randrange(256)
    return bytes(out)


def nul(content: bytes, rng: Random) -> bytes:
    at = rng.randrange(len(content) + 1)
    n = rng.choice([1, 2, 511, len(content) + 1])
    return content[:at] + bytes(n) + content[at + rng.choice([0, n]) :]


def encoded(content: bytes, rng: Random) -> bytes:
    """Write the text in another encoding, or in several."""
    text = content.decode("utf-8", "replace")
    at = rng.randrange(len(text) + 1)
    text = text[:at] + rng.choice(["é", "名", "\u202e", "\ufeff", "\x85", "😀", ""]) + text[at:]
    how = rng.choice(
        ["utf-16", "utf-16-le", "utf-32", "utf-8-sig", "latin-1", "cp1252", "utf-7", "cp037"]
    )
    whole = text.encode(how, "replace")
    raw = [b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xff\xfe", b"\xef\xbb\xbf", whole]
    return content[:at] + rng.choice(raw) + content[at:] if rng.random() < 0.4 else whole


def huge(content: bytes, rng: Random) -> bytes:
    """Put another number in the place of one."""
    found = list(NUMBER.finditer(content))
    if not found:
        return content + rng.choice(HUGE)
    place = rng.choice(found)
    return content[: place.start()] + rng.choice(HUGE) + content[place.end() :]


def deep(content: bytes, rng: Random) -> bytes:
    """Nest JSON, as a whole or in the place of a value."""
    n = rng.choice([50, 2_000, 100_000])
    nested = rng.choice([b"[" * n, b"[" * n + b"]" * n, b'{"a":' * n + b"1" + b"}" * n])
    places = [m.end() for m in re.finditer(rb'[:,\[]\s*(?=["\d\[{])', content)]
    if not places or rng.random() < 0.3:
        return nested
    at = rng.choice(places)
    return content[:at] + nested + content[at:]


def climbing(content: bytes, rng: Random) -> bytes:
    """Put a path that leads out of the folder in the place of a name."""
    names = list(re.finditer(rb"[A-Za-z_][\w.]*", content))
    if not names:
        return rng.choice(CLIMBING)
    place = rng.choice(names)
    return content[: place.start()] + rng.choice(CLIMBING) + content[place.end() :]


def gzipped(content: bytes, rng: Random) -> bytes:
    """Pack it: whole, twice, cut off, with a tail."""
    packed = gzip.compress(content, 1)
    kind = rng.randrange(5)
    if kind == 0:
        return packed[: rng.randrange(len(packed))]
    if kind == 1:
        return gzip.compress(packed, 1)
    if kind == 2:
        return packed + bytes(rng.choices(JUNK, k=9))
    return bits(packed, rng) if kind == 3 else packed


@cache
def _bomb() -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1) as file:
        for _ in range(LARGE // 2**20):
            file.write(b"1,2\n" * 2**18)
    return out.getvalue()


def gzip_bomb(content: bytes, rng: Random) -> bytes:
    """A small file of many times its size; some begin with what was there."""
    return (gzip.compress(content, 1) if rng.random() < 0.5 else b"") + _bomb()


def members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(files: dict[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", how, compresslevel=1) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def parts_of(content: bytes) -> dict[str, bytes]:
    """The members of an archive; of another file itself, as one member."""
    return members(content) if content[:2] == b"PK" else {"x": content}


def _header(shape: str, kind: str = "<f8") -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text = text.ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


ZEROS = bytes(LARGE)


def zip_bomb(content: bytes, rng: Random) -> bytes:
    """Let a member hold, or promise, far more than the archive."""
    files = parts_of(content)
    name = rng.choice(sorted(files))
    kind = rng.randrange(4)
    if kind == 0:
        files[name] = _header(f"({LARGE // 8},)") + ZEROS
    elif kind == 1:
        files[name] = files[name] + ZEROS
    elif kind == 2:
        files[name] = _header(rng.choice(["(9999999999999,)", "(inf,)", "(-1,)", "1", "('a',)"]))
    else:
        files[f"more{rng.randrange(9)}.npy"] = _header(f"({LARGE // 8},)") + ZEROS
    return packed(files)


def inner(content: bytes, rng: Random) -> bytes:
    """Damage a member, and pack the archive well."""
    files = parts_of(content)
    name = rng.choice(sorted(files))
    kind = rng.randrange(4)
    if kind == 0:
        del files[name]
    elif kind == 1:
        files[name] = files[rng.choice(sorted(files))]
    elif kind == 2:
        files[name] = rng.choice([bits, truncated, edited])(files[name], rng)
    else:
        files[name] = changed_array(files[name], rng)
    return packed(files, rng.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED]))


def changed_array(content: bytes, rng: Random) -> bytes:
    """Another value, kind or shape in a `.npy`; of another file, other bytes."""
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
    except ValueError:
        return edited(content, rng)
    strange = [np.nan, np.inf, 1e300, -1, 2**31, 2**62, -(2**63), 0, 1]
    kind = rng.randrange(6)
    with np.errstate(all="ignore"):
        if kind == 0 and array.size and array.dtype.kind in "biuf":
            array = array.astype(rng.choice([float, np.int64, array.dtype])).copy()
            value = rng.choice(strange[3:] if array.dtype.kind in "biu" else strange)
            if array.dtype.kind in "biu" and array.itemsize < 8:
                value = min(abs(value), 2**15 - 1 if array.itemsize > 1 else 1)
            array.reshape(-1)[rng.randrange(array.size)] = value
        elif kind == 1:
            with suppress(ValueError):  # of text that is no number
                array = array.astype(rng.choice(["<i1", "U9", "S9", "c16", "?", ">f4", "M8[s]"]))
        elif kind == 2:
            array = np.concatenate([array.ravel()] * 2)
        elif kind == 3:
            array = array.ravel()[: rng.randrange(array.size + 1)]
        elif kind == 4:
            array = array.reshape((1,) * rng.randint(1, 4) + array.shape)
        else:
            array = np.full(array.shape, rng.choice(strange))
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    return out.getvalue()


def pickled(content: bytes, rng: Random) -> bytes:
    """A pickle that would leave a file behind, plain, as `.npy`, or in an archive."""
    trap = pickle.dumps(Trap(), protocol=rng.randint(0, 5))
    kind = rng.randrange(3)
    if kind == 0:
        return trap
    array = _header("(1,)", "|O") + trap
    if kind == 1:
        return array
    files = parts_of(content)
    files[rng.choice(sorted(files))] = array
    return packed(files)


def climbing_members(content: bytes, rng: Random) -> bytes:
    """Names in an archive that lead out of the folder."""
    files = parts_of(content)
    name = rng.choice(sorted(files))
    files[rng.choice(CLIMBING).decode() + rng.choice(["", ".npy"])] = files.pop(name)
    return packed(files)


ANY = {
    "bits": bits,
    "truncation": truncated,
    "edits": edited,
    "NUL": nul,
    "encodings": encoded,
    "huge numbers": huge,
    "deep JSON": deep,
    "paths that climb": climbing,
    "gzip": gzipped,
    "gzip bomb": gzip_bomb,
    "zip bomb": zip_bomb,
    "pickle": pickled,
}
ARCHIVE = {
    "bits": bits,
    "truncation": truncated,
    "edits": edited,
    "NUL": nul,
    "members": inner,
    "more members": inner,
    "values": inner,
    "gzip bomb": gzip_bomb,
    "zip bomb": zip_bomb,
    "pickle": pickled,
    "paths that climb": climbing_members,
}
RARE = ("gzip bomb", "zip bomb")  # each takes some tenths of a second to unpack


def kinds_for(content: bytes) -> dict:
    return ARCHIVE if content[:2] == b"PK" else ANY


def damaged(content: bytes, rng: Random) -> tuple[str, bytes]:
    """The name of a damage, and what is left of the file."""
    kinds = kinds_for(content)
    weights = [0.05 if name in RARE else 1.0 for name in kinds]
    (name,) = rng.choices(list(kinds), weights)
    if name == "bits" and content[:6] == b"\x93NUMPY" and rng.random() < 0.5:
        return "values", changed_array(content, rng)
    return name, kinds[name](content, rng)
