"""What bytes that are no UTF-8 text are, told by how they begin: compressed, or text in another encoding."""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE

_COMPRESSED = re.compile(
    rb"(?P<gzip>\x1f\x8b)"
    rb"|(?P<bzip2>BZh[1-9](?:1AY&SY|\x17rE8P\x90))"
    rb"|(?P<xz>\xfd7zXZ\x00)"
    rb"|(?P<zstd>\x28\xb5\x2f\xfd)"
    rb"|(?P<zip>PK\x03\x04)"
)
_UNPACK = {
    "gzip": "gzip -dc < FILE",
    "bzip2": "bzip2 -dc < FILE",
    "xz": "xz -dc < FILE",
    "zstd": "zstd -dc < FILE",
    "zip": "unzip -p FILE",
}
_ENCODINGS = (  # UTF-32 first: its mark begins with that of UTF-16
    ("UTF-32", (BOM_UTF32_LE, BOM_UTF32_BE)),
    ("UTF-16", (BOM_UTF16_LE, BOM_UTF16_BE)),
)


def compression(data: bytes) -> str | None:
    """How a file that begins with `data` is compressed and what to do, as messages say it, or None.

    No text begins like any of these.
    """
    found = _COMPRESSED.match(data)
    if found is None or found.lastgroup is None:
        return None
    return f"compressed with {found.lastgroup}; unpack it first ({_UNPACK[found.lastgroup]})"


def encoding(data: bytes) -> str | None:
    """The encoding whose byte order mark the data begins with, where that is not UTF-8."""
    return next((name for name, marks in _ENCODINGS if data.startswith(marks)), None)


def not_utf8(data: bytes, offset: int) -> tuple[int, str]:
    """The line, from 1, and what is wrong where the data is not UTF-8 from an offset on."""
    line = data.count(b"\n", 0, offset) + 1
    found = encoding(data)
    if found:
        return line, f"not UTF-8 but {found}, by its byte order mark; save it as UTF-8"
    byte = offset - data.rfind(b"\n", 0, offset)
    return line, f"not UTF-8 at byte {byte} of the line; save it as UTF-8"
