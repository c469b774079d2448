"""Where labelled scenes come from: files of several formats, folders, tables and Python records."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from evaluator import SceneError
from induce.collector import collector_paused
from induce.scenes.decoding import decode, refuse_compressed
from induce.scenes.jsontext import Json, JsonError, find_foreign, parse_json, quoted
from induce.scenes.labelled import LabelledScenes
from induce.scenes.records import Place, Record, assemble, kind_of, nearest_hint, read_record
from induce.scenes.tables import Columns, is_dataframe, read_csv, read_dataframe, read_parquet, table_records
from induce.scenes.traces import labelled_apart, looks_like_span, read_labels, trace_files, trace_records

FORMATS = ("jsonl", "json", "csv", "tsv", "parquet", "scene-otel")
_SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zip")


def load_scenes(
    source: object = None,
    *,
    fmt: str | None = None,
    label_column: str = "label",
    id_column: str = "id",
    weight_column: str = "",
    pass_dir: str | os.PathLike[str] | None = None,
    fail_dir: str | os.PathLike[str] | None = None,
    labels: str | os.PathLike[str] | None = None,
) -> LabelledScenes:
    """Load and validate labelled scenes; labels may be missing (``require_labels`` asks for them).

    Parameters
    ----------
    source : path, DataFrame or iterable of records
        ``"-"`` is standard input (JSONL unless `fmt` says otherwise); a record is a dict
        ``{"id"?, "label"?, "scene", "weight"?}``; in place of "scene" it may have a "trace" (and a "world"),
        or be a trace itself. None with a folder pair.
    fmt : {"jsonl", "json", "csv", "tsv", "parquet", "scene-otel"}, default by suffix
        A record a line (blank lines are skipped), an array of records, a table (see
        :mod:`induce.scenes.tables`), or recorded runs (see :mod:`induce.scenes.traces`), which are
        recognised by their first line. With ``fmt="scene-otel"`` the source may also be a folder of such
        files (``*.jsonl``, in the order of their names) or a list of paths.
    label_column : str
        Key or column of the label: pass or fail, true or false, 1 or 0; null is no label.
    id_column : str
        Column of the id in flat tables, empty for none. A record's id is always ``id``.
    weight_column : str
        Column of the weight in flat tables; without it every column is part of the scene.
        A record's weight is always ``weight``.
    pass_dir, fail_dir : path
        Folders of scenes, one ``*.json`` file each, in the order of their names. The file's name
        without suffix is the id, after ``pass/`` or ``fail/`` where both folders have it.
    labels : path
        Labels of recorded runs: JSONL, ``{"id", "label"}`` a line. They count before what a run says itself.
        Also for scenes and traces in JSON that have no labels, as ``evaluator traces`` writes them.

    Raises
    ------
    SceneError
        Names the file, line and JSON path, what was expected and what to do.
    """
    if pass_dir is not None or fail_dir is not None:
        if labels is not None:
            raise SceneError(
                "labels are for recorded runs; the folders pass_dir and fail_dir label their scenes"
            )
        if source is not None:
            raise SceneError("give either a source or the folders pass_dir and fail_dir, not both")
        return _load_folders(pass_dir, fail_dir)
    if source is None:
        raise SceneError("no source; give a file, a DataFrame, records, or the folders pass_dir and fail_dir")
    if fmt is not None and fmt not in FORMATS:
        raise SceneError(f"unknown format {quoted(fmt)}{nearest_hint(fmt, FORMATS)}")
    ignored: set[str] = set()
    columns = Columns(label_column, id_column, weight_column)
    if fmt == "scene-otel":
        paths = _trace_paths(source)
        file = paths[0] if len(paths) == 1 else "traces"
        records = _trace_records(paths, columns.label, labels, ignored)
    elif isinstance(source, (str, os.PathLike)):
        path = os.fsdecode(source)
        if not path:
            raise SceneError("an empty text is no file name; name a file, or - for standard input")
        file = "standard input" if path == "-" else path
        records = _file_records(path, file, fmt or _format_of(path), columns, labels, ignored)
    elif labels is not None:
        raise SceneError("labels are for recorded runs, given by their files")
    elif is_dataframe(source):
        file = "DataFrame"
        header, rows = read_dataframe(source, file)
        records = table_records(header, rows, file, columns, ignored.add, textual=False)
    elif isinstance(source, Iterable) and not isinstance(source, (bytes, bytearray, dict)):
        file = "records"
        records = _python_records(source, file, label_column, ignored.add)
    else:
        raise SceneError(
            f"cannot load scenes from a value of type {type(source).__name__}; "
            "give a path, a DataFrame or a list of records"
        )
    with collector_paused():
        return assemble(records, file, ignored)


def _format_of(path: str) -> str:
    if path == "-":
        return "jsonl"
    suffix = Path(path).suffix.lower()
    if suffix in _COMPRESSED_SUFFIXES:  # what is read then says how it is compressed
        suffix = Path(path).with_suffix("").suffix.lower()
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    if Path(path).is_dir():
        raise SceneError("is a folder; scenes in folders are given by label, as pass_dir and fail_dir", path)
    known = ", ".join(_SUFFIXES)
    raise SceneError(
        f"cannot tell the format by the suffix (known: {known}); name it: {', '.join(FORMATS)}", path
    )


def _trace_paths(source: object) -> list[str]:
    if isinstance(source, (str, os.PathLike)):
        path = os.fsdecode(source)
        return [str(found) for found in trace_files(Path(path))] if os.path.isdir(path) else [path]
    if isinstance(source, Iterable) and not isinstance(source, (bytes, bytearray, dict)):
        paths = list(source)
        if paths and all(isinstance(path, (str, os.PathLike)) for path in paths):
            return [os.fsdecode(path) for path in paths]
    raise SceneError("recorded runs are read from files; give a path, a folder or a list of paths")


def _trace_records(
    paths: list[str], label: str, labels: str | os.PathLike[str] | None, ignored: set[str]
) -> Iterator[Record]:
    named = _side_labels(labels, label)
    for path in paths:
        with _open(path) as stream:
            file = "standard input" if path == "-" else path
            yield from trace_records(stream, file, named, ignored.add)


def _side_labels(path: str | os.PathLike[str] | None, label: str) -> dict[str, str | None]:
    if path is None:
        return {}
    file = os.fsdecode(path)
    with _open(file) as stream:
        return read_labels(stream, file, label)


def _file_records(
    path: str,
    file: str,
    fmt: str,
    columns: Columns,
    labels: str | os.PathLike[str] | None,
    ignored: set[str],
) -> Iterator[Record]:
    with _open(path) as stream:
        if fmt == "jsonl":
            lines, are_spans = _peeked(stream)
            if are_spans:
                yield from trace_records(lines, file, _side_labels(labels, columns.label), ignored.add)
                return
        if fmt == "jsonl" or fmt == "json":
            if fmt == "jsonl":
                records = _jsonl_records(lines, file, columns.label, ignored.add)
            else:
                records = _array_records(decode(stream.read(), file), file, columns.label, ignored.add)
            apart = _side_labels(labels, columns.label)
            yield from records if labels is None else labelled_apart(records, apart)
        elif labels is not None:
            raise SceneError("labels are for recorded runs, and this holds a table of scenes", file)
        elif fmt == "parquet":
            data = stream.read()
            refuse_compressed(data, file)
            header, rows = read_parquet(io.BytesIO(data), file)
            yield from table_records(header, rows, file, columns, ignored.add, textual=False)
        else:
            text = decode(stream.read(), file)
            header, rows = read_csv(text, file, "\t" if fmt == "tsv" else ",")
            yield from table_records(header, rows, file, columns, ignored.add, textual=True)


def _peeked(stream: BinaryIO) -> tuple[Iterator[bytes], bool]:
    """All lines of a file, and whether the first that is not blank is a span of a recorded run."""
    begin: list[bytes] = []
    for line in stream:
        begin.append(line)
        if line.strip():
            break
    return chain(begin, stream), bool(begin) and looks_like_span(begin[-1])


def _open(path: str) -> AbstractContextManager[BinaryIO]:
    if path == "-":
        return nullcontext(sys.stdin.buffer)
    try:
        return open(path, "rb")
    except IsADirectoryError:
        raise SceneError("is a folder; expected a file", path) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise SceneError(f"cannot be read: {(reason or 'unknown reason').lower()}", path) from None


def _jsonl_records(
    stream: Iterable[bytes], file: str, label: str, on_ignored: Callable[[str], None]
) -> Iterator[Record]:
    for number, line in enumerate(stream, start=1):
        place = Place(file, number)
        text = decode(line, file, number).rstrip("\r\n")
        if text.strip():
            try:
                value = parse_json(text)
            except JsonError as fault:
                hint = (
                    "; for one array of records, name the format json"
                    if text.lstrip().startswith("[")
                    else ""
                )
                raise place.error_at(
                    fault.path, f"{fault.message} (column {(fault.offset or 0) + 1}){hint}"
                ) from None
            yield read_record(value, place, f"line-{number}", label, on_ignored)


def _array_records(text: str, file: str, label: str, on_ignored: Callable[[str], None]) -> Iterator[Record]:
    if not text.strip():
        return
    value = _parse_file(text, file)
    if not isinstance(value, list):
        raise Place(file).error(
            f"expected an array of records but found {kind_of(value)}; "
            "for one record a line, name the format jsonl"
        )
    for index, record in enumerate(value):
        yield read_record(record, Place(file, None, f"$[{index}]"), f"scene-{index + 1}", label, on_ignored)


def _parse_file(text: str, file: str) -> Json:
    try:
        return parse_json(text)
    except JsonError as fault:
        offset = fault.offset or 0
        line = text.count("\n", 0, offset) + 1
        column = offset - text.rfind("\n", 0, offset)
        raise Place(file, line).error_at(fault.path, f"{fault.message} (column {column})") from None


def _python_records(
    source: Iterable[Any], file: str, label: str, on_ignored: Callable[[str], None]
) -> Iterator[Record]:
    for index, value in enumerate(source):
        place = Place(file, None, f"$[{index}]")
        fault = find_foreign(value)
        if fault is not None:
            raise place.error_at(place.root + fault.path.removeprefix("$"), fault.message)
        yield read_record(value, place, f"scene-{index + 1}", label, on_ignored)


def load_json(path: str | os.PathLike[str]) -> Json:
    """The value of a JSON file, read as strictly as scenes; raises :class:`SceneError`."""
    file = os.fsdecode(path)
    with _open(file) as stream:
        name = "standard input" if file == "-" else file
        return _parse_file(decode(stream.read(), name), name)


def _load_folders(
    pass_dir: str | os.PathLike[str] | None, fail_dir: str | os.PathLike[str] | None
) -> LabelledScenes:
    files = {
        label: _json_files(Path(folder))
        for label, folder in (("pass", pass_dir), ("fail", fail_dir))
        if folder is not None
    }
    stems = {label: {path.stem for path in paths} for label, paths in files.items()}
    shared = stems.get("pass", set()) & stems.get("fail", set())
    records = [
        Record(
            place=Place(str(path)),
            default_id="",
            id=f"{label}/{path.stem}" if path.stem in shared else path.stem,
            label=label,
            scene=_scene_file(path),
            weight=1.0,
        )
        for label, paths in files.items()
        for path in paths
    ]
    return assemble(records, "folders")


def _json_files(folder: Path) -> list[Path]:
    try:
        entries = sorted(folder.iterdir(), key=lambda path: path.name)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise SceneError(f"cannot be read as a folder: {reason}", str(folder)) from None
    found = [path for path in entries if path.suffix.lower() == ".json" and not path.name.startswith(".")]
    if not found:
        raise SceneError("no scenes; expected files that end in .json, one scene each", str(folder))
    return found


def _scene_file(path: Path) -> Json:
    scene = load_json(path)
    if isinstance(scene, dict) and "scene" in scene and "label" in scene:
        raise Place(str(path)).error(
            "this is a labelled record, but in a folder pair each file is a scene and the folder its label; "
            "put such records in a JSONL file"
        )
    return scene
