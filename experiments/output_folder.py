"""The folder of a single run, which Hydra makes, and writes into, before the run begins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_LOG, _SETTINGS = "experiments.log", ".hydra"


@contextmanager
def undone_without_results(output: Path) -> Iterator[None]:
    """Leave ``output`` as it was when the block is left by an exit or an interrupt and no result is there.

    A result is any change beside Hydra's own files. Other exceptions are faults of ours: what there is to
    see of them stays.
    """
    before = _Contents.of(output)
    try:
        yield
    except (SystemExit, KeyboardInterrupt):
        if before.results == _results(output):
            with suppress(OSError):  # what the system holds on to, such as a mount, stays
                before.restore()
        raise


@dataclass(frozen=True, slots=True)
class _Contents:
    """What a folder holds: Hydra's files as they are, and of the other entries what tells when they change.

    ``missing`` are the folders that are yet to be made, the innermost first.
    """

    path: Path
    files: Mapping[Path, bytes]
    results: Mapping[str, tuple[int, int]]
    missing: tuple[Path, ...]

    @classmethod
    def of(cls, path: Path) -> _Contents:
        files = {file: file.read_bytes() for file in _hydras_files(path)}
        missing = tuple(folder for folder in (path / _SETTINGS, path, *path.parents) if not folder.exists())
        return cls(path, files, _results(path), missing)

    def restore(self) -> None:
        for file in _hydras_files(self.path):
            if file not in self.files:
                file.unlink()
        for file, data in self.files.items():
            file.write_bytes(data)
        for folder in self.missing:
            folder.rmdir()


def _hydras_files(path: Path) -> list[Path]:
    return [file for file in (path / _LOG, *(path / _SETTINGS).glob("*")) if file.is_file()]


def _results(path: Path) -> dict[str, tuple[int, int]]:
    if not path.is_dir():
        return {}
    others = (entry for entry in path.iterdir() if entry.name not in (_LOG, _SETTINGS))
    return {entry.name: (entry.stat().st_ino, entry.stat().st_mtime_ns) for entry in others}
