"""A check as the rules of an answer set program, as clingo, ILASP and FastLAS read them.

The rules ask facts about a scene; `scene_facts` writes those that one check asks. Following paths, looking
into texts and comparing arrays is the evaluator's part, in the facts; logic, counting and the order of
numbers is the rules'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil, floor
from typing import Any, Final

from evaluator import MISSING, CheckError, compile_check, resolve, sentence
from evaluator.check import is_defined
from evaluator.compile import CompiledCheck, remembered
from evaluator.expression import fields_of
from induce.export.core import in_plain_words
from induce.export.logic_text import ascii_json, asp_number, asp_string
from induce.profile import refuse_non_json

Wire = dict[str, Any]

_SAYABLE: Final = {
    "eq": ("path", "value", "value_path"),
    "neq": ("path", "value", "value_path"),
    "gte": ("path", "value", "value_path"),
    "lte": ("path", "value", "value_path"),
    "gt": ("path", "value", "value_path"),
    "lt": ("path", "value", "value_path"),
    "contains": ("path", "substring", "ci"),
    "exists": ("path",),
    "missing": ("path",),
    "find": ("collection", "where", "values", "absent"),
    "count": ("collection", "where", "eq", "gte", "lte", "values", "absent"),
    "and": ("of",),
    "or": ("of",),
    "not": ("of",),
}
_SIGNS: Final = {"gte": ">=", "lte": "<=", "gt": ">", "lt": "<"}
_GREATEST_TERM: Final = 2**31 - 1
_HEADER: Final = """\
% passes(S): the scene S passes. The rules ask for these facts about it:
%   scene(S)             S is a scene
%   at(X,P,V)            X, a scene or an element, has V at the path P: null, true, false, text(T),
%                        number(K), array or object
%   element(X,P,E)       E is an element of the array at P; member(X,P,E) of the array or object
%   elements(X,P)        there is an array at P; members(X,P) an array or object
%   contains(X,P,T)      the text at P has T in it; contains_ci(X,P,T) without case
%   equals(X,P,T)        the array or object at P equals T
%   same(X,P,Q)          the values at P and Q are equal
% Texts T are as in JSON between the quotes. K is a text whose order is that of the numbers."""


def check_rules(check: object) -> str:
    """The text of rules by which ``passes(S)`` holds of the scenes that pass; see its head for the facts.

    `check` is anything `compile_check` takes.

    Raises
    ------
    CheckError
        When the check is not well formed, or has a form that no such rule can say: ``matches``, equality with
        ``ci`` or ``as``, ``contains`` with ``norm`` or ``word``. `place` says where.
    """
    compiled = compile_check(check)
    rules = _Rules()
    try:
        whole = rules.said(*_expression(compiled), "scene")
        told = sentence(compiled)
    except RecursionError:
        raise CheckError("the check is nested too deeply to be written as rules", "$") from None
    name = f"Check {ascii_json(compiled.check['id'])}: " if is_defined(compiled.check) else "Check: "
    lines = [f"% {name}{ascii_json(told)[1:-1]}", _HEADER, "", f"passes(X) :- scene(X), {whole}(X)."]
    return "\n".join([*lines, *rules.lines]) + "\n"


def scene_facts(check: object, scenes: Sequence[Any], ids: Sequence[str] | None = None) -> str:
    """The facts that `check_rules` of the same check asks of these scenes; they are s0, s1, ... there.

    Raises SceneError when a scene is not plain, finite JSON, CheckError when the check is not well formed.
    """
    expression, _ = _expression(compile_check(check))
    facts = _Facts()
    for number, scene in enumerate(scenes):
        name = str(number) if ids is None else ids[number]
        refuse_non_json(scene, f"scene {name}")
        facts.lines.append(f"% s{number} = {ascii_json(name)}")
        facts.add(f"scene(s{number})")
        facts.ask(expression, f"s{number}", scene)
    return "\n".join(facts.lines) + "\n"


def _expression(compiled: CompiledCheck) -> tuple[Wire, str]:
    wire = compiled.check
    return (wire["expr"], "$.expr") if is_defined(wire) else (wire, "$")


class _Rules:
    """Writes rules; each part of a check becomes a predicate over the rows of a domain."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._names = 0

    def said(self, check: Wire, place: str, domain: str) -> str:
        """The name of the predicate that holds of the rows which pass."""
        if check["op"] in ("cel.compare", "cel.size"):
            check = in_plain_words(check)
        _require_sayable(check, place)
        name = self._new("t")
        write: Callable[..., None] = getattr(self, f"_{_FAMILIES[check['op']]}")
        write(check, place, domain, name)
        return name

    def _new(self, letter: str) -> str:
        self._names += 1
        return f"{letter}{self._names}"

    def _rule(self, name: str, domain: str, *body: str, note: str = "") -> None:
        self.lines.append(
            f"{name}(X) :- {', '.join([f'{domain}(X)', *body])}.{f'  % {note}' if note else ''}"
        )

    def _joint(self, check: Wire, place: str, domain: str, name: str) -> None:
        parts = [self.said(part, f"{place}.of[{i}]", domain) for i, part in enumerate(check["of"])]
        if check["op"] == "and":
            self._rule(name, domain, *(f"{part}(X)" for part in parts))
        for part in parts if check["op"] == "or" else ():
            self._rule(name, domain, f"{part}(X)")
        if check["op"] == "or" and not parts:
            self._rule(name, domain, "X != X", note="never")

    def _negation(self, check: Wire, place: str, domain: str, name: str) -> None:
        self._rule(name, domain, f"not {self.said(check['of'], f'{place}.of', domain)}(X)")

    def _equality(self, check: Wire, _: str, domain: str, name: str) -> None:
        holds = name if check["op"] == "eq" else self._new("t")
        path = asp_string(check["path"])
        if "value_path" in check:
            self._rule(holds, domain, f"same(X,{path},{asp_string(check['value_path'])})")
        elif isinstance(check["value"], list | dict):
            self._rule(holds, domain, f"equals(X,{path},{asp_string(ascii_json(check['value']))})")
        else:
            note = "" if type(check["value"]) not in (int, float) else ascii_json(check["value"])
            self._rule(holds, domain, f"at(X,{path},{_term(check['value'])})", note=note)
        if check["op"] == "neq":
            self._rule(name, domain, f"not {holds}(X)")

    def _order(self, check: Wire, _: str, domain: str, name: str) -> None:
        found, sign = f"at(X,{asp_string(check['path'])},number(K))", _SIGNS[check["op"]]
        if "value_path" in check:
            other = f"at(X,{asp_string(check['value_path'])},number(L))"
            self._rule(name, domain, found, other, f"K {sign} L")
        else:
            number = check["value"]
            self._rule(name, domain, found, f"K {sign} {asp_number(number)}", note=ascii_json(number))

    def _text(self, check: Wire, _: str, domain: str, name: str) -> None:
        relation = "contains_ci" if check.get("ci") else "contains"
        arguments = f"{asp_string(check['path'])},{asp_string(check['substring'])}"
        self._rule(name, domain, f"{relation}(X,{arguments})")

    def _presence(self, check: Wire, _: str, domain: str, name: str) -> None:
        holds = name if check["op"] == "exists" else self._new("t")
        self._rule(holds, domain, f"at(X,{asp_string(check['path'])},V)")
        if check["op"] == "missing":
            self._rule(name, domain, f"not {holds}(X)")

    def _collection(self, check: Wire, place: str, domain: str, name: str) -> None:
        path = asp_string(check["collection"])
        relation, elements = ("member", "members") if check.get("values") else ("element", "elements")
        each = [f"{relation}(X,{path},E)"]
        if "where" in check:
            inner = self._new("d")
            self.lines.append(f"{inner}(E) :- {domain}(X), {each[0]}.")
            each.append(f"{self.said(check['where'], f'{place}.where', inner)}(E)")
        if check["op"] == "find":
            self._rule(name, domain, *each)
            return
        listed = self._new("t")
        self._rule(listed, domain, f"{elements}(X,{path})")
        if "absent" in check:
            present = self._new("t")
            self._rule(present, domain, f"at(X,{path},V)")
            self._rule(listed, domain, f"not {present}(X)")
        bounds = list(_whole_bounds(check))
        number = f"N = #count {{ E : {', '.join(each)} }}"
        self._rule(name, domain, f"{listed}(X)", *([number, *bounds] if bounds else []))


_FAMILIES: Final = {
    "and": "joint",
    "or": "joint",
    "not": "negation",
    "eq": "equality",
    "neq": "equality",
    **dict.fromkeys(_SIGNS, "order"),
    "contains": "text",
    "exists": "presence",
    "missing": "presence",
    "find": "collection",
    "count": "collection",
}


def _require_sayable(check: Wire, place: str) -> None:
    op = check["op"]
    if op not in _SAYABLE:
        raise CheckError(f'a rule of an answer set program cannot say "{op}"', f"{place}.op")
    for field in fields_of(op):
        unsaid = check.get(field.name, False) is not False and field.name not in _SAYABLE[op]
        if unsaid:
            problem = f'a rule of an answer set program cannot say "{field.name}" of "{op}"'
            raise CheckError(problem, f"{place}.{field.name}")


def _whole_bounds(check: Wire) -> Iterator[str]:
    """The bounds of a count on its number N, which is whole, not negative and no more than a term can be."""
    if "eq" in check:
        exactly = check["eq"]
        possible = exactly == floor(exactly) and 0 <= exactly <= _GREATEST_TERM
        yield f"N = {int(exactly) if possible else -1}"
    if "gte" in check:
        yield f"N >= {min(max(0, ceil(check['gte'])), _GREATEST_TERM)}"
    if "lte" in check:
        yield f"N <= {min(max(-1, floor(check['lte'])), _GREATEST_TERM)}"


def _term(value: Any) -> str:
    """The term of the value at a path."""
    if type(value) is int or type(value) is float:
        return f"number({asp_number(value)})"
    if type(value) is str:
        return f"text({asp_string(value)})"
    if type(value) is list:
        return "array"
    return "object" if type(value) is dict else {None: "null", True: "true", False: "false"}[value]


class _Facts:
    """Collects the facts that a check asks, each once."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._known: set[str] = set()
        self._rows: dict[tuple[str, str, bool], list[str]] = {}

    def add(self, fact: str) -> None:
        if fact not in self._known:
            self._known.add(fact)
            self.lines.append(f"{fact}.")

    def ask(self, check: Wire, row: str, value: Any) -> None:
        """Add what the check asks of a row, a scene or an element, with this value."""
        if check["op"] in ("cel.compare", "cel.size"):
            check = in_plain_words(check)
        match check:
            case {"op": "and" | "or", "of": parts}:
                for part in parts:
                    self.ask(part, row, value)
            case {"op": "not", "of": part}:
                self.ask(part, row, value)
            case {"op": "find" | "count", "collection": path}:
                self._at(row, path, value)
                self._elements(check, row, value)
            case {"path": path}:
                self._at(row, path, value)
                self._of_path(check, row, value)

    def _at(self, row: str, path: str, value: Any) -> None:
        found = resolve(value, path)
        if found is not MISSING:
            self.add(f"at({row},{asp_string(path)},{_term(found)})")

    def _of_path(self, check: Wire, row: str, value: Any) -> None:
        path = asp_string(check["path"])
        if "value_path" in check:
            self._at(row, check["value_path"], value)
            if check["op"] in ("eq", "neq") and remembered(check).passes(value) is (check["op"] == "eq"):
                self.add(f"same({row},{path},{asp_string(check['value_path'])})")
        elif check["op"] == "contains" and remembered(check).passes(value):
            relation = "contains_ci" if check.get("ci") else "contains"
            self.add(f"{relation}({row},{path},{asp_string(check['substring'])})")
        elif check["op"] in ("eq", "neq") and isinstance(check["value"], list | dict):
            equal = remembered(check).passes(value) is (check["op"] == "eq")
            if equal:
                self.add(f"equals({row},{path},{asp_string(ascii_json(check['value']))})")

    def _elements(self, check: Wire, row: str, value: Any) -> None:
        found, path = resolve(value, check["collection"]), asp_string(check["collection"])
        any_values = check.get("values", False)
        relation, elements = ("member", "members") if any_values else ("element", "elements")
        if type(found) is dict and any_values:
            found = list(found.values())
        if type(found) is not list:
            return
        self.add(f"{elements}({row},{path})")
        key = (row, check["collection"], any_values)
        if key not in self._rows:
            first = sum(map(len, self._rows.values()))
            self._rows[key] = [f"e{first + i}" for i in range(len(found))]
        for name, element in zip(self._rows[key], found, strict=True):
            self.add(f"{relation}({row},{path},{name})")
            if "where" in check:
                self.ask(check["where"], name, element)
