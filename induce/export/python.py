"""A check as Python source: one function `passes(scene)` that needs nothing but the standard library.

Its verdict is the evaluator's on every scene that is plain JSON. The helpers it needs are copied from
`induce.export.standalone`, their sources as they stand.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from functools import cache
from typing import Any, Final, NamedTuple

from evaluator import CheckError, compile_check, sentence
from evaluator.check import is_defined
from evaluator.path import Has, Index, Keyed, Property, parse_path
from evaluator.values import is_index_text
from induce.export import standalone
from induce.export.core import in_plain_words

Wire = dict[str, Any]

DEEPEST_BRACKETS: Final = 30
"""Brackets nested deeper go into a function or constant of their own: Python's parser stops at 200."""
_STRING: Final = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
_LONGEST_DECIMAL: Final = 4_000
_ORDERS: Final = {"gte": "at_least", "lte": "at_most", "gt": "above", "lt": "below"}


def python_source(check: object) -> str:
    """The text of a Python module with the function ``passes(scene) -> bool``.

    `check` is anything `compile_check` takes.

    Raises
    ------
    CheckError
        When the check is not well formed, or asks for what a function without dependencies cannot do:
        ``matches`` (RE2's patterns) and equality with ``as``; `place` says where.
    """
    wire = compile_check(check).check
    expression, place = (wire["expr"], "$.expr") if is_defined(wire) else (wire, "$")
    writer = _Writer()
    try:
        body = writer.body(expression, place)
    except RecursionError:
        raise CheckError("the check is nested too deeply to be written as Python", "$") from None
    lines = [
        f"# {line}"
        for line in (f"Check {json.dumps(wire['id'])}" if is_defined(wire) else "", _in_words(wire))
        if line
    ]
    imports, *library = _library(writer.used | {"Any"})
    parts = ["\n".join([*lines, "from __future__ import annotations", "", imports]), *library]
    parts.extend(writer.parts)
    parts.append(
        f'def passes(scene: Any) -> bool:\n    """Whether a scene, plain JSON, passes."""\n    return {body}'
    )
    return "\n\n\n".join(parts) + "\n"


def _in_words(wire: Wire) -> str:
    """The check's sentence as a comment can hold it."""
    try:
        told = sentence(wire)
    except CheckError:  # too deep for words
        return ""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in told)


class _Writer:
    """Writes expressions over one variable, the scene or an element; notes the helpers they use."""

    def __init__(self) -> None:
        self.used: set[str] = set()
        self.parts: list[str] = []

    def body(self, check: Wire, place: str) -> str:
        """The expression of the whole check; an `and` or `or` has a line for each part."""
        if check["op"] not in ("and", "or") or len(check["of"]) < 2:
            return self.said(check, place, "scene")
        parts = [self.within(part, f"{place}.of[{i}]", "scene") for i, part in enumerate(check["of"])]
        return "(\n        " + f"\n        {check['op']} ".join(parts) + "\n    )"

    def said(self, check: Wire, place: str, it: str) -> str:
        text = self._said(check, place, it)
        if _depth(text) <= DEEPEST_BRACKETS:
            return text
        name = f"part_{len(self.parts) + 1}"
        self.parts.append(f"def {name}({it}: Any) -> bool:\n    return {text}")
        return f"{name}({it})"

    def within(self, check: Wire, place: str, it: str) -> str:
        """The expression, in brackets where another may stand beside it."""
        text = self.said(check, place, it)
        joins = check["op"] in ("and", "or") and len(check["of"]) > 1 and not text.startswith("part_")
        return f"({text})" if joins else text

    def denied(self, check: Wire, place: str, it: str) -> str:
        text = self.within(check, place, it)
        return f"not ({text})" if check["op"] in ("exists", "missing") else f"not {text}"

    def _said(self, check: Wire, place: str, it: str) -> str:
        if check["op"] in ("cel.compare", "cel.size"):
            check = in_plain_words(check)
        op = check["op"]
        match op:
            case "and" | "or":
                if not check["of"]:
                    return str(op == "and")
                parts = [self.within(part, f"{place}.of[{i}]", it) for i, part in enumerate(check["of"])]
                return f" {op} ".join(parts)
            case "not":
                return self.denied(check["of"], f"{place}.of", it)
            case "eq" | "neq":
                same = self.equality(check, place, it)
                return same if op == "eq" else f"not {same}"
            case "gte" | "lte" | "gt" | "lt":
                return self.call(_ORDERS[op], self.path(check["path"], it), self.other(check, it))
            case "contains":
                return self.contains(check, it)
            case "exists" | "missing":
                self.used.add("MISSING")
                return f"{self.path(check['path'], it)} is {'not ' if op == 'exists' else ''}MISSING"
            case "find":
                return self.call("some", self.elements(check, it), self.where(check, place))
            case "count":
                given = [self.where(check, place)] if "where" in check else []
                bounds = [
                    f"{name}={self.value(check[name])}" for name in ("eq", "gte", "lte") if name in check
                ]
                return self.call("counted", self.elements(check, it), *given, *bounds)
        raise CheckError(f'a Python function without dependencies cannot say "{op}"', f"{place}.op")

    def call(self, name: str, *arguments: str) -> str:
        self.used.add(name)
        return f"{name}({', '.join(arguments)})"

    def where(self, check: Wire, place: str) -> str:
        return f"lambda it: {self.said(check['where'], f'{place}.where', 'it')}"

    def elements(self, check: Wire, it: str) -> str:
        found = self.path(check["collection"], it)
        if check.get("values"):
            found = self.call("values_of", found)
        return self.call("or_empty", found) if "absent" in check else found

    def equality(self, check: Wire, place: str, it: str) -> str:
        if "as" in check:
            problem = 'a Python function without dependencies cannot compare with "as"'
            raise CheckError(problem, f"{place}.as")
        fold = ["fold=True"] if check.get("ci") else []
        return self.call("same", self.path(check["path"], it), self.other(check, it), *fold)

    def other(self, check: Wire, it: str) -> str:
        """What a value is compared with."""
        return self.path(check["value_path"], it) if "value_path" in check else self.value(check["value"])

    def contains(self, check: Wire, it: str) -> str:
        found, substring = self.path(check["path"], it), self.value(check["substring"])
        flags = [check.get(name, False) for name in ("ci", "norm", "word")]
        if any(flags[1:]):
            return self.call("contains_word", found, substring, *map(str, flags))
        return self.call("contains", found, substring, *(["fold=True"] if flags[0] else []))

    def path(self, path: str, it: str) -> str:
        segments = parse_path(path)
        if not segments:
            return it
        steps = []
        for segment in segments:
            match segment:
                case Property(key):
                    steps.append(ascii(key))
                case Index(digits):
                    significant = digits.lstrip("0") or "0"
                    steps.append(significant if len(significant) < 19 else str(10**18))
                case Keyed(field, text):
                    steps.append(f"({field!a}, '=', {text!a})")
                case Has(field, text):
                    steps.append(f"({field!a}, 'has', {text!a})")
        return self.call("at" if all(map(_is_name, segments)) else "follow", it, *steps)

    def value(self, value: Any) -> str:
        """A JSON value as a literal."""
        if type(value) is dict:
            text = "{" + ", ".join(f"{key!a}: {self.value(one)}" for key, one in value.items()) + "}"
        elif type(value) is list:
            text = "[" + ", ".join(map(self.value, value)) + "]"
        elif type(value) is int and abs(value) >= 10**_LONGEST_DECIMAL:
            text = hex(value)
        else:
            text = ascii(value)
        if _depth(text) <= DEEPEST_BRACKETS:
            return text
        name = f"VALUE_{len(self.parts) + 1}"
        self.parts.append(f"{name} = {text}")
        return name


def _is_name(segment: object) -> bool:
    """Whether a step means something on objects alone."""
    return isinstance(segment, Property) and segment.key != "length" and not is_index_text(segment.key or "x")


def _depth(text: str) -> int:
    """How deep brackets are nested."""
    deepest = now = 0
    for character in _STRING.sub("", text):
        if character in "([{":
            now += 1
            deepest = max(deepest, now)
        elif character in ")]}":
            now -= 1
    return deepest


class _Piece(NamedTuple):
    """One statement at the top of `standalone`: its source and the names it uses."""

    text: str
    uses: frozenset[str]
    is_import: bool


@cache
def _pieces() -> dict[str, _Piece]:
    """The statements of `standalone` by the name each gives, in their order."""
    source = inspect.getsource(standalone)
    found: dict[str, _Piece] = {}
    for statement in ast.parse(source).body:
        match statement:
            case ast.ImportFrom(module="__future__") | ast.Expr():
                continue
            case ast.Import(names=[alias]) | ast.ImportFrom(names=[alias]):
                name = alias.name
            case ast.FunctionDef(name=name):
                pass
            case ast.Assign(targets=[ast.Name(id=name)]):
                pass
        text = ast.get_source_segment(source, statement) or ""
        uses = frozenset(node.id for node in ast.walk(statement) if isinstance(node, ast.Name))
        found[name] = _Piece(text, uses, isinstance(statement, ast.Import | ast.ImportFrom))
    return found


def _library(names: set[str]) -> list[str]:
    """The imports, as one text, and the helpers that the names need, in the order of `standalone`."""
    pieces = _pieces()
    wanted: set[str] = set()
    pending = sorted(names & pieces.keys())
    while pending:
        name = pending.pop()
        if name not in wanted:
            wanted.add(name)
            pending.extend(sorted(pieces[name].uses & pieces.keys()))
    chosen = [piece for name, piece in pieces.items() if name in wanted]
    imports = "\n".join(piece.text for piece in chosen if piece.is_import)
    return [imports, *(piece.text for piece in chosen if not piece.is_import)]
