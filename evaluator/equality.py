"""Other ways for two values to be equal, which `as` asks for: values that people write in more than one form.

Every way only adds to plain equality: values that are equal are equal in each of them, and what is missing
equals nothing. A value that cannot be read in the way asked for (`"soon"` as an instant) equals only itself.

=========  ==========================================================================================
`number`   two numbers, or texts that read as such: `1200`, `"1,200.00"` and `"$1200"`
`cell`     as a spreadsheet's cells: as `number`, or two texts without case
`day`      two texts that start with the same calendar day, as it is written there: `2026-01-05T23:30Z`
`instant`  two ISO 8601 texts for one instant; `Z` is +00:00, without a zone it is UTC
`digits`   the same digits in the same order, whatever stands between: phone numbers
`loose`    as `number`, as `day`, or two texts without case
=========  ==========================================================================================

The rules are those of the AutomationBench graders for sheets (`cell`), calendars, phones and Salesforce
(`loose`). Case is put aside by lower-casing, as in `contains`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from math import isfinite
from typing import Any, Final, Literal, get_args

from evaluator.values import MISSING, equal, string_form

Way = Literal["cell", "number", "instant", "day", "digits", "loose"]
Same = Callable[[Any, Any], bool]

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?P<fraction>\.[0-9]*)?|(?P<bare>\.[0-9]+))(?P<power>[eE][+-]?[0-9]+)?")
_LONGEST_NUMBER = 400
_CURRENCY = "$€£¥₹"
_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?![0-9])")
_TIME = re.compile(
    r"[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9})[0-9]*)?)? ?"
    r"(?:[Zz]|([+-])([0-9]{2})(?::?([0-9]{2}))?)?"
)
_SECOND = 1_000_000_000


def same_ignoring_case(left: Any, right: Any) -> bool:
    """Equality where texts, in arrays and objects too, are lower-cased first; keys are not."""
    return left is not MISSING and right is not MISSING and equal(left, right, ignore_case=True)


def same_as(way: Way) -> Same:
    """Equality in one of the ways of the table above."""
    reads_same = _READINGS[way]

    def same(left: Any, right: Any) -> bool:
        if left is MISSING or right is MISSING:
            return False
        return equal(left, right) or reads_same(left, right)

    return same


def _same_number(left: Any, right: Any) -> bool:
    number = _number(left)
    return number is not None and number == _number(right)


def _number(value: Any) -> float | None:
    """The number that a value is or that its text says, without blanks, a currency sign and commas."""
    if type(value) is int or type(value) is float:
        return value
    if type(value) is not str or len(value) > 2 * _LONGEST_NUMBER:
        return None
    text = value.strip().lstrip(_CURRENCY).replace(",", "").strip()
    written = _NUMBER.fullmatch(text) if len(text) <= _LONGEST_NUMBER else None
    if written is None:
        return None
    if not (written["fraction"] or written["bare"] or written["power"]):
        return int(text)
    number = float(text)
    return number if isfinite(number) else None


def _same_text(left: Any, right: Any) -> bool:
    return type(left) is str and type(right) is str and left.lower() == right.lower()


def _same_cell(left: Any, right: Any) -> bool:
    return _same_number(left, right) or _same_text(left, right)


def _same_day(left: Any, right: Any) -> bool:
    day = _day(left)
    return day is not None and day == _day(right)


def _day(value: Any) -> date | None:
    """The calendar day a text starts with."""
    written = _DAY.match(value) if type(value) is str else None
    if written is None:
        return None
    try:
        return date(int(written[1]), int(written[2]), int(written[3]))
    except ValueError:
        return None


def _same_instant(left: Any, right: Any) -> bool:
    instant = _instant(left)
    return instant is not None and instant == _instant(right)


def _instant(value: Any) -> int | None:
    """The nanosecond an ISO 8601 text names, counted in UTC; a day alone is its midnight."""
    day = _day(value.strip()) if type(value) is str and len(value) < 100 else None
    if day is None:
        return None
    clock = value.strip()[len("2026-01-05") :]
    seconds = day.toordinal() * 86_400
    if not clock:
        return seconds * _SECOND
    written = _TIME.fullmatch(clock)
    if written is None:
        return None
    hour, minute, second, fraction, sign, zone_hour, zone_minute = written.groups(default="0")
    if int(hour) > 23 or int(minute) > 59 or int(second) > 59 or int(zone_minute) > 59:
        return None
    offset = (int(zone_hour) * 60 + int(zone_minute)) * (-60 if sign == "-" else 60)
    seconds += int(hour) * 3_600 + int(minute) * 60 + int(second) - offset
    return seconds * _SECOND + int(fraction.ljust(9, "0"))


def _same_digits(left: Any, right: Any) -> bool:
    digits = _digits(left)
    return bool(digits) and digits == _digits(right)


def _digits(value: Any) -> str:
    if type(value) is int or type(value) is float:
        value = string_form(value)
    return re.sub(r"[^0-9]+", "", value) if type(value) is str else ""


def _same_loosely(left: Any, right: Any) -> bool:
    return _same_number(left, right) or _same_day(left, right) or _same_text(left, right)


_READINGS: Final[dict[Way, Same]] = {
    "cell": _same_cell,
    "number": _same_number,
    "instant": _same_instant,
    "day": _same_day,
    "digits": _same_digits,
    "loose": _same_loosely,
}
WAYS: Final[tuple[Way, ...]] = get_args(Way)
