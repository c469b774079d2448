"""Tables as labelled scenes: CSV, Parquet and pandas DataFrames, one row a scene.

A table with a column ``scene`` holds records: the scene as JSON text (or as an object), beside ``id``, the
label and ``weight``. Without one the scenes are flat: each column is a key of the scene, except those for
label, id and, if asked for, weight. A dotted column ``order.total`` makes a nested object, because a path
could not address a key with a dot. An empty cell (pandas: NaN, None, NaT, NA) is null.

CSV cells are text, so they are read by rule: empty is null; ``true`` and ``false`` in any case are booleans;
what JSON writes as a number is that number (``007`` and ``1,5`` are no JSON numbers and stay text); NaN and
infinities are refused; all else is text as it stands. Parquet and pandas have types of their own, and
text stays text there.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evaluator import SceneError
from induce.scenes.jsontext import Json, JsonError, find_foreign, json_path, parse_json, quoted
from induce.scenes.records import Place, Record, nearest_hint, read_id, read_label, read_record, read_weight

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NOT_NUMBERS = {"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf", "Inf", "-Inf"}


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns are not part of a flat scene; an empty name means none."""

    label: str = "label"
    id: str = "id"
    weight: str = ""


Row = tuple[Place, Sequence[Json]]


def read_csv(text: str, file: str, delimiter: str) -> tuple[list[str], Iterator[Row]]:
    """Header and typed rows of a CSV text; the line of a row is the one it starts on."""
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = next((cells for cells in lines if any(cell.strip() for cell in cells)), None)
    except csv.Error as error:
        raise Place(file, 1).error(f"not CSV, {error}") from None
    if header is None:
        raise SceneError("no scenes; expected a header line and one row a scene", file)
    return [name.strip() for name in header], _csv_rows(lines, len(header), file)


def _csv_rows(lines: Any, width: int, file: str) -> Iterator[Row]:
    while True:
        place = Place(file, lines.line_num + 1)
        try:
            cells = next(lines, None)
        except csv.Error as error:
            raise place.error(f"not CSV, {error}") from None
        if cells is None:
            return
        if not cells:
            continue
        if len(cells) != width:
            raise place.error(f"expected {width} cells as in the header but found {len(cells)}")
        yield place, cells


def csv_cell(text: str) -> Json:
    """The value of a CSV cell by the rule of this module; raises ValueError for what is no JSON value."""
    bare = text.strip()
    if not bare:
        return None
    lower = bare.lower()
    if lower in ("true", "false"):
        return lower == "true"
    if _NUMBER.fullmatch(bare):
        try:
            return parse_json(bare)
        except JsonError as fault:
            raise ValueError(fault.message) from None
    if bare in _NOT_NUMBERS:
        raise ValueError(f"{bare} is not JSON; leave the cell empty for null")
    return text


def read_parquet(data: Any, file: str) -> tuple[list[str], Iterator[Row]]:
    """Columns and rows of a Parquet file (path or bytes buffer)."""
    import pyarrow.parquet
    from pyarrow.lib import ArrowException

    try:
        table = pyarrow.parquet.ParquetFile(data).read()
    except ArrowException as error:
        reason = str(error).split(".")[0].split("\n")[0]
        raise SceneError(f"cannot be read as Parquet: {reason}", file) from None
    columns = [column.to_pylist() for column in table.columns]
    rows = zip(*columns, strict=True) if columns else iter(())
    return list(table.column_names), ((Place(file, None, f"$[{n}]"), row) for n, row in enumerate(rows))


def is_dataframe(source: object) -> bool:
    """Whether this is a pandas DataFrame, found out without importing pandas."""
    kind = type(source)
    return any(
        base.__module__.split(".")[0] == "pandas" and base.__name__ == "DataFrame" for base in kind.__mro__
    )


def read_dataframe(frame: Any, name: str) -> tuple[list[str], Iterator[Row]]:
    """Columns and rows of a pandas DataFrame; the index is left out."""
    for column in frame.columns:
        if not isinstance(column, str):
            raise SceneError(f"the column {column!r} is not named by a text; rename it", name)
    columns = [[_plain_cell(cell) for cell in frame.iloc[:, n]] for n in range(len(frame.columns))]
    rows = zip(*columns, strict=True) if columns else iter(())
    return list(frame.columns), ((Place(name, None, f"$[{n}]"), row) for n, row in enumerate(rows))


def _plain_cell(cell: Any) -> Any:
    """NumPy numbers as Python's, every kind of missing as None."""
    kind = type(cell)
    if kind.__module__ == "numpy" and hasattr(cell, "item") and getattr(cell, "ndim", 1) == 0:
        cell = cell.item()
    if (isinstance(cell, float) and math.isnan(cell)) or kind.__name__ in ("NaTType", "NAType"):
        return None
    return cell


def table_records(
    header: list[str],
    rows: Iterator[Row],
    file: str,
    columns: Columns,
    on_ignored: Callable[[str], None],
    *,
    textual: bool,
) -> Iterator[Record]:
    """The records of a table; ``textual`` cells (CSV) are typed by rule, others are judged as they are."""
    _judge_header(header, file)
    if "scene" in header:
        return _scene_records(header, rows, columns.label, on_ignored, textual)
    return _flat_records(header, rows, file, columns, textual)


def _judge_header(header: list[str], file: str) -> None:
    seen: set[str] = set()
    for number, name in enumerate(header, start=1):
        if not name:
            raise SceneError(f"column {number} has no name; name it, or leave it out if it is an index", file)
        if name in seen:
            raise SceneError(f"there are two columns {quoted(name)}; names must be unique", file)
        seen.add(name)


def _scene_records(
    header: list[str], rows: Iterator[Row], label: str, on_ignored: Callable[[str], None], textual: bool
) -> Iterator[Record]:
    for number, (place, cells) in enumerate(rows, start=1):
        record = {name: cell for name, cell in zip(header, cells, strict=True) if cell not in (None, "")}
        scene = record.get("scene")
        if isinstance(scene, str):
            try:
                record["scene"] = parse_json(scene)
            except JsonError as fault:
                path = json_path(("scene",), place.root) + fault.path.removeprefix("$")
                raise place.error_at(
                    path, f"{fault.message} (column {(fault.offset or 0) + 1} of the text)"
                ) from None
        else:
            _judge(scene, place, "scene")
        for name in (label, "weight"):
            if name in record:
                record[name] = _cell(record[name], place, name, textual)
        yield read_record(record, place, f"row-{number}", label, on_ignored)


def _flat_records(
    header: list[str], rows: Iterator[Row], file: str, columns: Columns, textual: bool
) -> Iterator[Record]:
    for name in filter(None, (columns.label, columns.weight)):
        if name not in header:
            raise SceneError(f"no column {quoted(name)}{nearest_hint(name, header)}", file)
    taken = [columns.label, columns.id, columns.weight]
    paths = [None if name in taken else tuple(name.split(".")) for name in header]
    _judge_paths([path for path in paths if path is not None], file)
    for number, (place, cells) in enumerate(rows, start=1):
        scene: dict[str, Json] = {}
        for name, path, cell in zip(header, paths, cells, strict=True):
            if path is not None:
                _put(scene, path, _cell(cell, place, name, textual))
        by_name = dict(zip(header, cells, strict=True))
        label, weight = (
            _cell(by_name.get(name), place, name, textual) for name in (columns.label, columns.weight)
        )
        yield Record(
            place=place,
            default_id=f"row-{number}",
            id=read_id(_id_cell(by_name.get(columns.id)), place, columns.id),
            label=read_label(label, place, columns.label),
            scene=scene,
            weight=read_weight(weight, place, columns.weight),
            id_key=columns.id,
        )


def _judge_paths(paths: list[tuple[str, ...]], file: str) -> None:
    if not paths:
        raise SceneError("no columns beside label, id and weight; a flat scene needs at least one", file)
    leaves = set(paths)
    for path in paths:
        if not all(path):
            raise SceneError(
                f"the column {quoted('.'.join(path))} has an empty part; "
                "a dot separates the keys of nested objects",
                file,
            )
        for length in range(1, len(path)):
            if path[:length] in leaves:
                whole, part = quoted(".".join(path)), quoted(".".join(path[:length]))
                raise SceneError(
                    f"the columns {part} and {whole} exclude each other; "
                    f"{part} would be a value and an object",
                    file,
                )


def _put(scene: dict[str, Json], path: tuple[str, ...], value: Json) -> None:
    for key in path[:-1]:
        scene = scene.setdefault(key, {})
    scene[path[-1]] = value


def _cell(cell: Json, place: Place, column: str, textual: bool) -> Json:
    if textual and isinstance(cell, str):
        try:
            return csv_cell(cell)
        except ValueError as error:
            raise place.error(str(error), column) from None
    _judge(cell, place, column)
    return cell


def _id_cell(cell: Json) -> Json:
    """Ids stay as they are written (``007``); an empty cell is no id."""
    return None if cell == "" else cell


def _judge(value: Json, place: Place, column: str) -> None:
    fault = find_foreign(value, (column,))
    if fault is not None:
        raise place.error_at(place.root + fault.path.removeprefix("$"), fault.message)
