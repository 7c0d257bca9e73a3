"""Tiny files of every kind that tasks show, and some that would run scripts."""

import base64
import io
import struct
import wave
import zlib


def png(width=1, height=1, more=b""):
    """A white picture, with `more` bytes after its end."""

    def chunk(name, body):
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\xff" * width) * height)
    signature = b"\x89PNG\r\n\x1a\n"
    return signature + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"") + more


def wav(seconds=1.0):
    """Silence."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(2 * int(8000 * seconds)))
    return out.getvalue()


def mp3(seconds=1.0):
    """Silent frames of 128 kbit/s and 44.1 kHz."""
    return (b"\xff\xfb\x90\x00" + bytes(413)) * int(seconds * 44100 / 1152)


GIF = base64.b64decode("R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==")
WEBP = base64.b64decode("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsOCwkJ"
    "DRENDg8QEBEQCgwSExIQEw8QEBD/yQALCAABAAEBAREA/8wABgAQEAX/2gAIAQEAAD8A0s8g/9k="
)
OGG = b"OggS\0\2" + bytes(20) + b"\1\x1e\1vorbis" + bytes(23)
MP4 = struct.pack(">I", 24) + b"ftypisom\0\0\2\0isommp41"
M4A = struct.pack(">I", 24) + b"ftypM4A \0\0\2\0isommp42"
WEBM = bytes.fromhex("1a45dfa39f4286810142f7810142f2810442f381084282847765626d") + bytes(20)

KINDS = {
    "image/png": png(),
    "image/jpeg": JPEG,
    "image/gif": GIF,
    "image/webp": WEBP,
    "audio/mpeg": mp3(),
    "audio/wav": wav(),
    "audio/ogg": OGG,
    "audio/mp4": M4A,
    "video/mp4": MP4,
    "video/webm": WEBM,
}
"""By media type: a file that begins as such files do (those of Ogg and films hold nothing)."""

SCRIPT = "document.title='ran';parent.ran=1;fetch('/operator',{method:'GET'})"
PAGE = f"<!doctype html><title>x</title><script>{SCRIPT}</script>".encode()
SVG = f'<svg xmlns="http://www.w3.org/2000/svg"><script>{SCRIPT}</script></svg>'.encode()

HOSTILE = {
    "page.html": PAGE,
    "page.png": PAGE,
    "drawing.svg": SVG,
    "drawing.jpg": b'<?xml version="1.0"?>' + SVG,
    "script.js": SCRIPT.encode(),
    "style.css": b"*{background:url(/operator)}",
    "paper.pdf": b"%PDF-1.7\n/OpenAction<</S/JavaScript/JS(app.alert(1))>>",
    "wide.mp3": "\ufeff<script>1</script>".encode("utf-16-le"),
    "space.gif": b"  " + GIF,
    "none.png": b"",
    "old.bmp": b"BM" + bytes(60),
    "new.avif": struct.pack(">I", 24) + b"ftypavif" + bytes(12),
    "film.mkv": bytes.fromhex("1a45dfa3a34286810142f7810142f2810442f381084282886d6174726f736b61"),
    "data.csv": b"task,label\nt1,good\n",
}
"""Files that are refused, whatever they are called."""

POLYGLOTS = {
    "both.png": png(more=PAGE),
    "both.gif": GIF[:6] + b"/*" + GIF[8:] + b"*/=1;" + SCRIPT.encode(),
    "both.html": png(more=PAGE),
    "both.js": b"GIF89a=1;" + SCRIPT.encode(),
    "both.svg": JPEG + SVG,
    "both.mp3": b"ID3\4\0\0\0\0\0\0" + PAGE,
    "both.wav": b"RIFF<!--WAVE-->" + PAGE,
}
"""Files that begin as a picture or a sound does, and are a page or a script to who looks for it."""
