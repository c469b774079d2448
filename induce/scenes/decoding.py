"""From the bytes of a file to its text, which is UTF-8."""

from __future__ import annotations

from evaluator import SceneError
from evaluator.file_kind import compression, not_utf8
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
        lines, problem = not_utf8(data, error.start)
        raise Place(file, line + lines - 1).error(problem) from None
