"""Agreement with the original evaluator, case by case, on its recorded behaviour.

A case is what the original answered: to a check on a scene (`checks`, `meta`), to a path (`paths`), to a call
of a tool (`tools`), to the ticks of a subscription (`attach`), to a CEL predicate (`cel`). To agree is:

* the same verdict, the same gap as a double, and the same `why` to the letter (`cel`: verdict and gap);
* an error where the original threw or answered nothing;
* an error, too, where the check lacks a field or has one of another type, although the original goes on and
  coerces it (`is_sound` says which, apart from the code that is audited), and where a scene holds a number
  that is not finite or half a surrogate pair.

Left out are CEL texts with a quoted operator as a string, which the original takes for the operator.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from evaluator.attach import attach_check
from evaluator.compile import run_check
from evaluator.errors import CheckError, SceneError
from evaluator.path import lookup, parse_path, resolve
from evaluator.tools import HANDLERS
from evaluator.values import MISSING, has_lone_surrogate

CORPORA: Final = ("checks", "meta", "paths", "tools", "attach", "cel")
"""The files of a folder of cases, `NAME.jsonl`, in the order in which they are audited."""


class Disagreement(NamedTuple):
    """A case in which the answers differ."""

    case: str
    ours: str
    original: str


class Tally(NamedTuple):
    """How many cases of a corpus there are, and those that disagree."""

    corpus: str
    total: int
    disagreements: tuple[Disagreement, ...]

    @property
    def agreeing(self) -> int:
        """How many cases agree."""
        return self.total - len(self.disagreements)


def golden_folder() -> Path | None:
    """The folder with the cases that ship with the project: in the package, or in a clone beside it."""
    package = Path(__file__).parent
    for folder in (package / "golden" / "autocheck", package.parent / "tests" / "golden" / "autocheck"):
        if folder.is_dir():
            return folder
    return None


def audit_corpus(folder: Path, corpus: str) -> Tally:
    """Put every case of a corpus to this evaluator.

    Raises `OSError` when the file cannot be read, `ValueError` when a line is no case.
    """
    total, disagreements = 0, []
    for case in _cases(folder / f"{corpus}.jsonl"):
        if corpus == "cel" and _QUOTED_OPERATOR.search(case["check"]):
            continue
        if corpus == "attach" and not is_sound(case["check"]):
            continue
        total += 1
        ours = _answer(_ASK[corpus], case)
        if not _agrees(corpus, case, ours):
            disagreements.append(Disagreement(case["id"], f"{ours!r:.300}", f"{case['expect']!r:.300}"))
    return Tally(corpus, total, tuple(disagreements))


def _cases(path: Path) -> Iterator[dict[str, Any]]:
    """The cases of a file, read as the original reads JSON: every number is a double."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                case = json.loads(line, parse_int=_as_double)
            except ValueError as error:
                raise ValueError(f"{path}:{number}: not JSON: {error}") from None
            if type(case) is not dict or not {"id", "expect"} <= case.keys():
                raise ValueError(f'{path}:{number}: a case is an object with "id" and "expect"')
            yield case


def _as_double(digits: str) -> float:
    number = int(digits)
    return number if abs(number) <= 2**53 else float(digits)


# Asking this evaluator


class _Refused(NamedTuple):
    """This evaluator's answer is an error."""

    fault: str
    message: str


def _answer(ask: Callable[[dict[str, Any]], Any], case: dict[str, Any]) -> Any:
    try:
        return ask(case)
    except CheckError as error:
        return _Refused("check", str(error))
    except SceneError as error:
        return _Refused("scene", str(error))


def _ask_check(case: dict[str, Any]) -> Any:
    return run_check(case["scene"], case["check"]).to_dict()


def _ask_path(case: dict[str, Any]) -> Any:
    found = lookup(case["scene"], case["path"])
    value = resolve(case["scene"], case["path"])
    shown = {"undefined": True} if value is MISSING else {"json": value}
    return {"value": shown, "present": found.present}


def _ask_tool(case: dict[str, Any]) -> Any:
    answer = HANDLERS[case["tool"]](case["args"])
    return _Refused(answer["fault"], answer["error"]) if "error" in answer else answer


def _ask_subscription(case: dict[str, Any]) -> Any:
    fired: list[int] = []
    ticks: list[Any] = []
    step = 0
    first = (case.get("opts") or {}).get("fireOnFirst") is True
    subscription = attach_check(case["check"], lambda *_: fired.append(step), fire_on_first=first)
    for step, action in enumerate(case["steps"]):  # noqa: B007 (the callback reads it)
        if action["do"] == "tick":
            ticks.append(subscription.tick(action.get("scene")).to_dict())
        else:
            subscription.unsubscribe()
    return {"ticks": ticks, "fired": fired}


def _ask_cel(case: dict[str, Any]) -> Any:
    from evaluator.cel import from_cel

    return run_check(case["scene"], from_cel(case["check"])).to_dict()


_ASK: Final[dict[str, Callable[[dict[str, Any]], Any]]] = {
    "checks": _ask_check,
    "meta": _ask_check,
    "paths": _ask_path,
    "tools": _ask_tool,
    "attach": _ask_subscription,
    "cel": _ask_cel,
}
_QUOTED_OPERATOR = re.compile(r"""(["'])(==|!=|<=|>=|&&|\|\||[<>!.(),\[\]])\1""")
_QUOTED_KEY = re.compile(r"""\[\s*["']""")


# Comparing


def _agrees(corpus: str, case: dict[str, Any], ours: Any) -> bool:
    original = case["expect"]
    if isinstance(ours, _Refused):
        return _may_refuse(corpus, case, ours.fault)
    if corpus == "paths":
        return ("throws" in original and _QUOTED_KEY.search(case["path"]) is not None) or all(
            _same(ours[name], original.get(name)) for name in ours
        )
    if corpus == "attach":
        fired = [event["step"] for event in original["fired"]]
        return ours["fired"] == fired and _same_all(ours["ticks"], original["ticks"])
    if "throws" in original or "returns" in original or ("pass" not in original and corpus != "tools"):
        return False
    if corpus == "cel":
        strict = original["pass"] is False and original["gap"] == 0  # there a failure is at no distance
        return ours["pass"] is original["pass"] and (
            ours["gap"] > 0 if strict else _same(ours["gap"], original["gap"])
        )
    return _same(ours, original)


def _may_refuse(corpus: str, case: dict[str, Any], fault: str) -> bool:
    original = case["expect"]
    if "throws" in original or "returns" in original:
        return True
    if corpus in ("checks", "meta"):
        unsound = "pass" not in original or not is_sound(case["check"]) or not _is_finite(case["check"])
        return unsound if fault == "check" else not _is_finite(case["scene"])
    if corpus == "tools":
        check = case["args"].get("check")
        return not is_sound(check) or not _is_finite(case["args"])
    return fault == "scene" and not _is_finite(case.get("scene"))


def _same_all(ours: list[Any], original: list[Any]) -> bool:
    return len(ours) == len(original) and all(map(_same, ours, original))


def _same(ours: Any, original: Any) -> bool:
    """Deep equality with JSON's types; "Infinity" is the infinite number, and NaN itself."""
    if type(ours) is float and original in ("Infinity", "NaN"):
        original = float(original)
    if type(ours) is bool or type(original) is bool:
        return ours is original
    if isinstance(ours, int | float) and isinstance(original, int | float):
        return ours == original or (ours != ours and original != original)
    if type(ours) is dict and type(original) is dict:
        return ours.keys() == original.keys() and all(_same(ours[key], original[key]) for key in ours)
    if type(ours) is list and type(original) is list:
        return _same_all(ours, original)
    return type(ours) is type(original) and bool(ours == original)


def _is_finite(value: Any) -> bool:
    """Whether no number is infinite or NaN and no text holds half a surrogate pair."""
    if isinstance(value, dict):
        return all(_is_finite(key) and _is_finite(member) for key, member in value.items())
    if isinstance(value, list):
        return all(map(_is_finite, value))
    if isinstance(value, str):
        return not has_lone_surrogate(value)
    return not isinstance(value, float) or math.isfinite(value)


# Which checks of the core language are sound, decided apart from the operators


def is_sound(check: Any) -> bool:
    """Whether a check, bare or defined, has every field it needs, each of its type, all through."""
    if type(check) is dict and type(check.get("id")) is str and type(check.get("expr", 0)) in _EXPR_TYPES:
        check = check["expr"]
    if type(check) is not dict or type(check.get("op")) is not str or check["op"] not in _FIELDS:
        return False
    required, optional = _FIELDS[check["op"]]
    return all(name in check and fits(check[name]) for name, fits in required.items()) and all(
        fits(check[name]) for name, fits in optional.items() if name in check
    )


_EXPR_TYPES = (dict, list, type(None))


def _is_inner(check: Any) -> bool:
    return type(check) is dict and "op" in check and is_sound({"id": "", "expr": check})


def _are_inner(checks: Any) -> bool:
    return type(checks) is list and all(map(_is_inner, checks))


def _is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _is_path(value: Any) -> bool:
    try:
        return type(value) is str and parse_path(value) is not None
    except CheckError:
        return False


_Fields = dict[str, Callable[[Any], bool]]
_ANY: Callable[[Any], bool] = lambda _: True  # noqa: E731
_FIELDS: Final[dict[str, tuple[_Fields, _Fields]]] = {
    "eq": ({"path": _is_path, "value": _ANY}, {}),
    "neq": ({"path": _is_path, "value": _ANY}, {}),
    "gte": ({"path": _is_path, "value": _is_number}, {}),
    "lte": ({"path": _is_path, "value": _is_number}, {}),
    "contains": (
        {"path": _is_path, "substring": lambda value: type(value) is str},
        {"ci": lambda value: type(value) is bool},
    ),
    "exists": ({"path": _is_path}, {}),
    "missing": ({"path": _is_path}, {}),
    "find": ({"collection": _is_path, "where": _is_inner}, {}),
    "count": (
        {"collection": _is_path},
        {"where": _is_inner, "eq": _is_number, "gte": _is_number, "lte": _is_number},
    ),
    "and": ({"of": _are_inner}, {}),
    "or": ({"of": _are_inner}, {}),
    "not": ({"of": _is_inner}, {}),
}
