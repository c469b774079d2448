"""From the bytes of a file to its text, which is UTF-8."""

from __future__ import annotations

from evaluator import SceneError
from evaluator.file_kind import compression, encoding
from induce.scenes.records import Place

_BOM = b"\xef\xbb\xbf"


def refuse_compressed(data: bytes, file: str) -> None:
    """Raise :class:`SceneError` for a file whose first bytes say that it is compressed."""
    packed = compression(data)
    if packed:
        raise SceneError(packed, file)


def decode(data: bytes, file: str, line: int = 1) -> str:
    """The text of a file, or of one line, with or without a byte order mark.

    ``line`` is the number of the first line of ``data``. Raises :class:`SceneError`.
    """
    if line == 1:
        refuse_compressed(data, file)
        data = data.removeprefix(_BOM)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line += data.count(b"\n", 0, error.start)
        column = error.start - data.rfind(b"\n", 0, error.start)
        found = encoding(data)
        hint = f" (it looks like {found})" if found else ""
        raise Place(file, line).error(
            f"not UTF-8 at byte {column} of the line{hint}; save the file as UTF-8"
        ) from None
