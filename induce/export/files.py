"""Files written whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def require_writable(path: str | os.PathLike[str]) -> None:
    """Raise the OSError that :func:`write_atomically` would raise, before the work that is to be written.

    A full disk shows only when writing.
    """
    if _is_stream(path):
        return
    target = _target(path)
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"{path}: the folder {target.parent} cannot be written to; choose another")


def write_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Write a UTF-8 text file so that a reader finds the old content or the new one, never a part.

    The text goes to a temporary file in the same folder, which then takes the name. A symbolic link is
    followed; a pipe or device (``/dev/stdout``) is written to directly.

    Raises
    ------
    OSError
        In one sentence: no such folder, a folder where the file should be, no permission, no space.
    """
    require_writable(path)
    data = text.encode("utf-8")
    try:
        if _is_stream(path):
            with open(path, "ab") as stream:
                stream.write(data)
        else:
            _replace(_target(path), data)
    except OSError as error:
        raise OSError(f"{path}: cannot be written: {(error.strerror or 'unknown reason').lower()}") from error


def _replace(target: Path, data: bytes) -> None:
    temporary = target.parent / f".{target.name[:40]}.{secrets.token_hex(6)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(temporary, flags, 0o666), "wb") as stream:
            stream.write(data)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _target(path: str | os.PathLike[str]) -> Path:
    if not os.fspath(path):
        raise OSError("an empty text is no file name; name a file")
    try:
        target = Path(os.path.realpath(path))
        is_folder, has_folder = target.is_dir(), target.parent.is_dir()
    except (OSError, ValueError) as error:
        raise OSError(f"{os.fspath(path)!r} is no usable file name: {error}") from None
    if is_folder or os.fspath(path).endswith(os.sep):
        raise IsADirectoryError(f"{path}: is a folder; name a file")
    if not has_folder:
        raise FileNotFoundError(f"{path}: the folder {target.parent} does not exist; make it first")
    return target


def _is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether the path is no file to be replaced: a pipe or device, or what ``/dev/stdout`` stands for."""
    name = os.fspath(path)
    return (
        "\0" not in name
        and os.path.exists(name)
        and (name.startswith("/dev/") or not (os.path.isfile(name) or os.path.isdir(name)))
    )
