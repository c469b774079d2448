"""A check in words: one sentence that says what a scene must be like to pass.

Negations are carried inwards first (`not` of `find` is "no ... has", or "every ... has" where it denies the
element something; of `and` an "or" of the opposites), so that a sentence says what is wanted and never "it
is not the case that not". That keeps the verdict, which is all a sentence speaks of. Commas separate
statements about the scene, plain "and" and "or" join what is said of one element, and parentheses keep one
kind of joint inside the other. Numbers and strings are written as in JSON, exactly.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from evaluator.check import is_defined
from evaluator.compile import compile_check
from evaluator.errors import CheckError
from evaluator.json_write import json_text
from evaluator.path import parse_path
from evaluator.safe_text import printable

_WAYS = {
    "cell": "cells",
    "number": "numbers",
    "instant": "instants",
    "day": "days",
    "digits": "digits",
    "loose": "numbers, days or text without case",
}
_PLAIN_PATH = re.compile(r"[\w.\-\[\]=$@/:]+")


def sentence(check: object) -> str:
    """One readable sentence for a check, the same for the same check.

    Takes what `run_check` takes. Raises `CheckError` when the check is not well formed.

    >>> sentence({"op": "not", "of": {"op": "find", "collection": "items", "where":
    ...     {"op": "gte", "path": "price", "value": 20}}})
    'no items has price at least 20'
    """
    compiled = compile_check(check).check
    expression = compiled["expr"] if is_defined(compiled) else compiled
    try:
        return printable(_statement(expression, True, inner=False))
    except RecursionError:
        raise CheckError("the check is nested too deeply to be put in words", "$") from None


def _straight(check: dict[str, Any], positive: bool) -> tuple[dict[str, Any], bool]:
    """The check below its negations, and whether it is affirmed."""
    while check["op"] == "not":
        check, positive = check["of"], not positive
    return (_of_cel(check) if check["op"].startswith("cel.") else check), positive


def _of_cel(check: dict[str, Any]) -> dict[str, Any]:
    """What an operator of `from_cel` says, as a core check; one that never holds is an empty `or`."""
    if check["op"] == "cel.unsupported" or "value" not in check:
        return {"op": "or", "of": []}
    bound = {"<": "lt", "<=": "lte", ">": "gt", ">=": "gte", "==": "eq"}[check["is"]]
    if check["op"] == "cel.compare":
        return {"op": bound, "path": check["path"], "value": check["value"]}
    given = {"where": check["where"]} if "where" in check else {}
    name = f"cel.{bound}" if bound in ("lt", "gt") else bound
    return {"op": "count", "collection": check["collection"], **given, name: check["value"]}


def _parts(check: dict[str, Any], positive: bool) -> tuple[str, list[tuple[dict[str, Any], bool]]]:
    """The joining word of an and/or and its parts, negations carried inwards and nested ones flattened."""
    word = check["op"] if positive else {"and": "or", "or": "and"}[check["op"]]
    parts: list[tuple[dict[str, Any], bool]] = []
    pending = [(part, positive) for part in reversed(check["of"])]
    while pending:
        part, affirmed = _straight(*pending.pop())
        same_joint = part["op"] == (word if affirmed else {"and": "or", "or": "and"}[word])
        if same_joint or (part["op"] in ("and", "or") and len(part["of"]) == 1):
            pending.extend((inner, affirmed) for inner in reversed(part["of"]))
        else:
            parts.append((part, affirmed))
    return word, parts


# Statements about the scene: `order.status is "paid"`


def _statement(check: dict[str, Any], positive: bool, *, inner: bool) -> str:
    check, positive = _straight(check, positive)
    op = check["op"]
    if op in ("and", "or"):
        word, parts = _parts(check, positive)
        if not parts:
            return "anything passes" if word == "and" else "nothing passes"
        statements = [_statement(part, affirmed, inner=len(parts) > 1) for part, affirmed in parts]
        joined = f", {word} ".join(statements)
        return f"({joined})" if inner and len(parts) > 1 else joined
    if op == "find":
        quantity, where = _found(check, positive)
        return f"{quantity} {_element(check, plural=False)} {_told(where, plural=False)}"
    if op == "count":
        return _count_statement(check, positive)
    if "." in op:
        return _asserted(check) if positive else f"it is not so that {_asserted(check)}"
    name = _name(check["path"], "the scene")
    if op == "contains":
        return f"{name} {'contains' if positive else 'does not contain'} {_substring(check)}"
    if op == "matches":
        return f"{name} {'matches' if positive else 'does not match'} {json_text(check['pattern'])}"
    if op in ("exists", "missing"):
        return f"{name} is {'present' if positive == (op == 'exists') else 'missing'}"
    return f"{name} is {_comparison(check, positive, 'the scene')}"


def _asserted(check: dict[str, Any]) -> str:
    """What an operator beyond the core says, as a clause of its own."""
    if check["op"] == "trace.before":
        element, same = _element(check, plural=False), check.get("same", [])
        shared = ", ".join(_name(path, "value") for path in ([same] if type(same) is str else same))
        then, first = (_told(check[name], plural=False) for name in ("then", "first"))
        equal = f" and an equal {shared}" if shared else ""
        return f"every {element} that {then} has an earlier one that {first}{equal}"
    from evaluator.assertions.phrases import phrase  # not at the top: few checks need it

    return phrase(check)


def _count_statement(check: dict[str, Any], positive: bool) -> str:
    name = _name(check["collection"], "the scene")
    quantity, plural = _quantity(check, positive)
    if quantity is None:
        return f"{name} is {_collection_kind(check, positive)}"
    if "where" not in check:
        return f"{name} has {quantity} {_noun(check, plural)}"
    return f"{quantity} of {_element(check, plural=True)} {_told(check['where'], plural=plural)}"


# What is told of an element: `has price at least 20`, `is "red"`


class _Told(NamedTuple):
    verb: str
    rest: str
    open_ended: bool = False

    def text(self, *, plural: bool) -> str:
        forms = {"has": "have", "is": "are"}
        verb = forms.get(self.verb, self.verb) if plural else self.verb
        return f"{verb} {self.rest}" if verb else self.rest


def _told(check: dict[str, Any], *, plural: bool) -> str:
    return _of_element(check, True, plural=plural, inner=False).text(plural=plural)


def _of_element(check: dict[str, Any], positive: bool, *, plural: bool, inner: bool) -> _Told:
    check, positive = _straight(check, positive)
    op = check["op"]
    if op in ("and", "or"):
        return _joined_of_element(check, positive, plural=plural, inner=inner)
    if op == "find":
        quantity, where = _found(check, positive)
        told = _told(where, plural=False)
        return _Told("has", f"{quantity} {_element(check, plural=False)} that {told}", open_ended=True)
    if op == "count":
        return _count_of_element(check, positive)
    if "." in op:
        return _Told("is", f"{'' if positive else 'not '}such that {_asserted(check)}", open_ended=True)
    whole = not parse_path(check["path"])
    name = _name(check["path"], "")
    if op in ("exists", "missing"):
        present = positive == (op == "exists")
        if whole:
            return _Told("is", "present" if present else "missing")
        return _Told("has", name if present else f"no {name}")
    if op == "contains":
        said = f"{'' if positive else 'not '}{'text ' if whole else ''}containing {_substring(check)}"
    elif op == "matches":
        pattern = json_text(check["pattern"])
        said = f"{'' if positive else 'not '}{'text ' if whole else ''}matching {pattern}"
    elif op in ("eq", "neq") and not whole:
        said = f"{'' if positive == (op == 'eq') else 'not '}equal to {_compared(check, 'the element')}"
    else:
        said = _comparison(check, positive, "the element")
    return _Told("is", said) if whole else _Told("has", f"{name} {said}")


def _joined_of_element(check: dict[str, Any], positive: bool, *, plural: bool, inner: bool) -> _Told:
    word, parts = _parts(check, positive)
    if not parts:
        return _Told("is", "anything" if word == "and" else "nothing")
    several = len(parts) > 1
    told = [_of_element(part, affirmed, plural=plural, inner=several) for part, affirmed in parts]
    if not several:
        return told[0]
    told = [_Told(part.verb, f"({part.rest})") if part.open_ended else part for part in told]
    verbs = {part.verb for part in told}
    if len(verbs) == 1:
        verb, joined = told[0].verb, f" {word} ".join(part.rest for part in told)
    else:
        verb, joined = "", f" {word} ".join(part.text(plural=plural) for part in told)
    return _Told(verb, f"({joined})" if inner else joined)


def _count_of_element(check: dict[str, Any], positive: bool) -> _Told:
    quantity, plural = _quantity(check, positive)
    whole = not parse_path(check["collection"])
    name = _name(check["collection"], "the elements")
    if quantity is None:
        kind = _collection_kind(check, positive)
        return _Told("is", kind) if whole else _Told("has", f"{name} that is {kind}", open_ended=True)
    if "where" in check:
        told = _told(check["where"], plural=plural)
        return _Told("has", f"{quantity} of {_element(check, plural=True)} that {told}", open_ended=True)
    noun = _noun(check, plural)
    return _Told("has", f"{quantity} {noun}" if whole else f"{quantity} {noun} in {name}")


# Words shared by both


def _found(check: dict[str, Any], positive: bool) -> tuple[str, dict[str, Any]]:
    """How many elements a `find` asks for, and of which kind: none that is not so is every one that is."""
    where, affirmed = _straight(check["where"], True)
    if not positive and not affirmed:
        return "every", where
    return "some" if positive else "no", check["where"]


def _comparison(check: dict[str, Any], positive: bool, whole: str) -> str:
    words = {"gte": "at least ", "lte": "at most ", "gt": "above ", "lt": "below "}
    if check["op"] == "neq":
        positive = not positive
    said = words.get(check["op"], "") + _compared(check, whole)
    return said if positive else f"not {said}"


def _compared(check: dict[str, Any], whole: str) -> str:
    """What a value is compared with, and in which way."""
    other = "value_path" in check
    said = f"the value of {_name(check['value_path'], whole)}" if other else json_text(check["value"])
    if "as" in check:
        return f"{said} (compared as {_WAYS[check['as']]})"
    return f"{said} (ignoring case)" if check.get("ci") else said


def _substring(check: dict[str, Any]) -> str:
    manner = ["ignoring case"] if check.get("ci") else []
    if check.get("norm"):
        manner.append("however numbers are written")
    if check.get("word"):
        manner.append("not inside a word or number")
    return json_text(check["substring"]) + (f" ({', '.join(manner)})" if manner else "")


def _element(check: dict[str, Any], *, plural: bool) -> str:
    """The elements of a collection, one of them when not `plural`."""
    if check.get("values"):
        whole = "the scene"
        name = f"{'the values' if plural else 'value'} in {_name(check['collection'], whole)}"
    else:
        name = _name(check["collection"], "the elements" if plural else "element")
    return f"{name} (none if missing)" if plural and "absent" in check else name


def _noun(check: dict[str, Any], plural: bool) -> str:
    noun = "value" if check.get("values") else "element"
    return f"{noun}{'s' if plural else ''}{' (none if missing)' if 'absent' in check else ''}"


def _collection_kind(check: dict[str, Any], positive: bool) -> str:
    kinds = ["list"]
    if check.get("values"):
        kinds.append("object")
    said = " or ".join(kinds) + (" or missing" if "absent" in check else "")
    return f"{'a' if positive else 'no'} {said}"


def _quantity(check: dict[str, Any], positive: bool) -> tuple[str | None, bool]:
    """How many, in words (None when no bound is given), and whether that is a plural."""
    words = {
        "eq": "exactly",
        "gte": "at least",
        "lte": "at most",
        "cel.gt": "more than",
        "cel.lt": "fewer than",
    }
    opposites = {
        "eq": "other than",
        "gte": "fewer than",
        "lte": "more than",
        "cel.gt": "at most",
        "cel.lt": "at least",
    }
    given = [(bound, check[bound]) for bound in words if bound in check]
    if not given:
        return None, True
    plural = given[-1][1] != 1
    if positive:
        return " and ".join(f"{words[bound]} {json_text(number)}" for bound, number in given), plural
    return " or ".join(f"{opposites[bound]} {json_text(number)}" for bound, number in given), plural


def _name(path: str, whole: str) -> str:
    """A path as it can stand in a sentence; `whole` for the path to the scene or element itself."""
    if not parse_path(path):
        return whole
    if _PLAIN_PATH.fullmatch(path):
        return path
    return f"`{path}`" if "`" not in path and path.isprintable() else json_text(path)
