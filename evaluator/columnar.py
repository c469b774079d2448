"""Checks over columns: an operator judges all rows of a table at once, with the numbers of its closure.

Two questions are asked of a check, as of a compiled one: `holds`, whether each row passes, and `gaps`, each
row's gap; the second costs more and is asked only where a gap can be seen. Sums are taken in the closures'
order and all else is exact, so that gaps are the same doubles. A form with a field that is not known here,
an operator of an extension, say, is judged by its closure, row by row, within the rest. Where a column is
not covered (an integer beyond 2**53, a value that is not JSON) `UncoveredError` or an error of the evaluator
leaves: the closure then judges the whole check, and says what is wrong with the scene if it looks there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluator.columns import FALSE, NULL, TRUE, Column, Jump, Mask, Rows, UncoveredError
from evaluator.compile import compile_check
from evaluator.values import equal

Gaps = NDArray[np.float64]
Expression = dict[str, Any]
_Element = TypeVar("_Element", bound=np.generic)

_EXACT_DOUBLE: Final = 2**53
_NO_CODE: Final = -2
_SHORT: Final = 8
"""Arrays of up to so many elements are compared as columns; of longer ones few have the length."""


class _Form(NamedTuple):
    """What arrays cover of an operator: its fields, and the two questions. `gaps` is None where 0 or 1."""

    fields: frozenset[str]
    holds: Callable[[Rows, Expression], Mask]
    gaps: Callable[[Rows, Expression], Gaps] | None = None


def holds(rows: Rows, check: Expression) -> Mask:
    """(rows,) whether each row passes a well-formed check."""
    form = _FORMS.get(check["op"])
    if form is None or not check.keys() <= form.fields:
        passes: Mask = _closure_gaps(rows, check) == 0.0
        return passes
    return form.holds(rows, check)


def gaps(rows: Rows, check: Expression) -> Gaps:
    """(rows,) each row's gap to a well-formed check."""
    form = _FORMS.get(check["op"])
    if form is None or not check.keys() <= form.fields:
        return _closure_gaps(rows, check)
    if form.gaps is None:
        return np.subtract(1.0, form.holds(rows, check))
    return form.gaps(rows, check)


def _closure_gaps(rows: Rows, check: Expression) -> Gaps:
    found = np.fromiter(map(compile_check(check).gap, rows.itself.found), np.float64, rows.size)
    if np.isnan(found).any():  # what closures make of NaN depends on the order they meet it in
        raise UncoveredError
    return found


def _at_rows(found: NDArray[_Element], jump: Jump | None, rows: Rows, otherwise: float) -> NDArray[_Element]:
    """What was found of the rows a path leads to, brought back to those it starts from."""
    return found if jump is None else _brought_back(found, jump, rows.size, otherwise)


def _brought_back(found: NDArray[_Element], jump: Jump, size: int, otherwise: float) -> NDArray[_Element]:
    back = np.full(size, otherwise, found.dtype)
    back[jump[0]] = found[jump[1]]
    return back


def _double(number: float) -> float:
    """A check's number as a double."""
    if type(number) is int and not -_EXACT_DOUBLE <= number <= _EXACT_DOUBLE:
        raise UncoveredError
    return float(number)


# Comparison


def _eq(rows: Rows, check: Expression) -> Mask:
    column, jump = rows.locate(check["path"])
    return _at_rows(_equals(column, check["value"]), jump, rows, False)


def _neq(rows: Rows, check: Expression) -> Mask:
    return ~_eq(rows, check)


def _equals(column: Column, value: Any) -> Mask:
    """(rows,) deep equality with a constant; never where nothing is."""
    kind = type(value)
    equal_there: Mask
    if kind is list or kind is dict:
        return _deep_equals(column, value)
    if kind is str and str in column.kinds:
        codes, coded = column.texts()
        equal_there = coded == codes.get(value, _NO_CODE)
    elif (kind is int or kind is float) and not column.kinds.isdisjoint((int, float)):
        equal_there = column.numbers() == _double(value)
    elif (kind is bool or value is None) and kind in column.kinds:
        equal_there = column.others() == (NULL if value is None else TRUE if value else FALSE)
    else:
        equal_there = np.zeros(column.size, np.bool_)
    return equal_there


def _deep_equals(column: Column, value: Any) -> Mask:
    """(rows,) equality with an array or object; an object of the scene may equal either."""
    if type(value) is list and len(value) <= _SHORT and dict not in column.kinds:
        return _equals_short_array(column, value)
    size = len(value)
    mask = np.zeros(column.size, np.bool_)
    at, found = column.of_kinds(frozenset({type(value), dict}))
    same = [len(one) == size and equal(one, value) for one in found]
    mask[slice(None) if at is None else at] = same
    return mask


def _equals_short_array(column: Column, value: list[Any]) -> Mask:
    elements = column.elements()
    if not elements.itself.plain:
        raise UncoveredError
    mask: Mask = elements.lengths == len(value)
    for index, member in enumerate(value):
        mask &= _brought_back(_equals(elements.itself, member), elements.nth(index), column.size, False)
    return mask


def _order(reaches: np.ufunc, *, upwards: bool, strict: bool = False) -> _Form:
    """A number's order to a bound; where the bound itself must be passed, the gap there is one step."""

    def holds(rows: Rows, check: Expression) -> Mask:
        column, jump = rows.locate(check["path"])
        mask: Mask = reaches(column.numbers(), _double(check["value"]))
        return _at_rows(mask, jump, rows, False)

    def gaps(rows: Rows, check: Expression) -> Gaps:
        column, jump = rows.locate(check["path"])
        numbers, bound = column.numbers(), _double(check["value"])
        short = bound - numbers if upwards else numbers - bound
        left = np.where(np.isnan(short), 1.0, np.maximum(short, 0.0))
        if strict:
            left[short == 0.0] = 1.0 if bound.is_integer() else 1e-6
        return _at_rows(left, jump, rows, 1.0)

    return _Form(frozenset({"op", "path", "value"}), holds, gaps)


# Presence and text


def _exists(rows: Rows, check: Expression) -> Mask:
    column, jump = rows.locate(check["path"])
    return _at_rows(column.present(), jump, rows, False)


def _missing(rows: Rows, check: Expression) -> Mask:
    return ~_exists(rows, check)


def _contains(rows: Rows, check: Expression) -> Mask:
    column, jump = rows.locate(check["path"])
    if str not in column.kinds:
        return np.zeros(rows.size, np.bool_)
    codes, coded = column.texts()
    substring = check["substring"]
    if check.get("ci", False):
        lowered = substring.lower()
        hits = [lowered in text for text in column.lowered()]
    else:
        hits = [substring in text for text in codes]
    hits.append(False)  # of the code -1, no string
    return _at_rows(np.array(hits)[coded], jump, rows, False)


# Collections


def _find(rows: Rows, check: Expression) -> Mask:
    column, jump = rows.locate(check["collection"])
    elements = column.elements()
    return _at_rows(elements.any_in(holds(elements, check["where"])), jump, rows, False)


def _find_gaps(rows: Rows, check: Expression) -> Gaps:
    column, jump = rows.locate(check["collection"])
    elements = column.elements()
    where = check["where"]
    if _is_all_or_nothing(where):
        return _at_rows(np.subtract(1.0, elements.any_in(holds(elements, where))), jump, rows, 1.0)
    least = elements.least(gaps(elements, where), 1.0)
    return _at_rows(np.where(least == 0.0, 0.0, np.maximum(least, 1.0)), jump, rows, 1.0)


def _is_all_or_nothing(check: Expression) -> bool:
    """Whether the gap is 0 or 1 in every row, so that the verdict says it."""
    form = _FORMS.get(check["op"])
    return form is not None and form.gaps is None and check.keys() <= form.fields


def _counts(rows: Rows, check: Expression) -> tuple[NDArray[np.int64], Jump | None]:
    """How many elements count in the rows the collection's path leads to, -1 where there is no array."""
    column, jump = rows.locate(check["collection"])
    elements = column.elements()
    if "where" in check:
        return elements.count_in(holds(elements, check["where"])), jump
    return elements.lengths, jump


def _count(rows: Rows, check: Expression) -> Mask:
    counts, jump = _counts(rows, check)
    mask: Mask = counts >= 0
    if "eq" in check:
        mask &= counts == _double(check["eq"])
    if "gte" in check:
        mask &= counts >= _double(check["gte"])
    if "lte" in check:
        mask &= counts <= _double(check["lte"])
    return _at_rows(mask, jump, rows, False)


def _count_gaps(rows: Rows, check: Expression) -> Gaps:
    counts, jump = _counts(rows, check)
    total = np.zeros(len(counts))
    if "eq" in check:
        total += np.abs(counts - _double(check["eq"]))
    if "gte" in check:
        total += np.maximum(_double(check["gte"]) - counts, 0.0)
    if "lte" in check:
        total += np.maximum(counts - _double(check["lte"]), 0.0)
    total[counts < 0] = 1.0
    return _at_rows(total, jump, rows, 1.0)


# Logic


def _and(rows: Rows, check: Expression) -> Mask:
    mask = np.ones(rows.size, np.bool_)
    for branch in check["of"]:
        mask &= holds(rows, branch)
    return mask


def _and_gaps(rows: Rows, check: Expression) -> Gaps:
    total = np.zeros(rows.size)
    for branch in check["of"]:
        total += gaps(rows, branch)
    return total


def _or(rows: Rows, check: Expression) -> Mask:
    mask = np.zeros(rows.size, np.bool_)
    for branch in check["of"]:
        mask |= holds(rows, branch)
    return mask


def _or_gaps(rows: Rows, check: Expression) -> Gaps:
    least = np.full(rows.size, np.inf)
    for branch in check["of"]:
        np.minimum(least, gaps(rows, branch), out=least)
    return least


def _not(rows: Rows, check: Expression) -> Mask:
    return ~holds(rows, check["of"])


_FORMS: Final = {
    "eq": _Form(frozenset({"op", "path", "value"}), _eq),
    "neq": _Form(frozenset({"op", "path", "value"}), _neq),
    "gte": _order(np.greater_equal, upwards=True),
    "lte": _order(np.less_equal, upwards=False),
    "gt": _order(np.greater, upwards=True, strict=True),
    "lt": _order(np.less, upwards=False, strict=True),
    "contains": _Form(frozenset({"op", "path", "substring", "ci"}), _contains),
    "exists": _Form(frozenset({"op", "path"}), _exists),
    "missing": _Form(frozenset({"op", "path"}), _missing),
    "find": _Form(frozenset({"op", "collection", "where"}), _find, _find_gaps),
    "count": _Form(frozenset({"op", "collection", "where", "eq", "gte", "lte"}), _count, _count_gaps),
    "and": _Form(frozenset({"op", "of"}), _and, _and_gaps),
    "or": _Form(frozenset({"op", "of"}), _or, _or_gaps),
    "not": _Form(frozenset({"op", "of"}), _not),
}
