"""What a learner of logic programs learnt of an exported task, read back as a check.

`induce.export.task.export_task` says in relations what stands in scenes; here rules over these relations
become checks again: an element of a collection is a ``find``, several rules are an ``or``. So the standard
evaluator grades them on any scene, and they can be read in the words of its paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from induce.export.relations import Link, Relation, SceneRelations

Check = dict[str, Any]
HEAD: Final = "pass"
_SCENE: Final = "scene"
_LITERAL: Final = re.compile(r"\s*(not\s+)?([a-z]\w*)\s*\(([^()]*)\)\s*([,;]|$)")


class UnreadableRuleError(ValueError):
    """A rule that is no check, or is no rule over the task's relations."""


class Literal(NamedTuple):
    """``not`` it or not, the predicate, and its arguments."""

    denied: bool
    predicate: str
    arguments: tuple[str, ...]


class Vocabulary:
    """The predicates of an exported task and what each says of its first argument."""

    def __init__(self, task: SceneRelations) -> None:
        paths = {_SCENE: "", **{link.name: link.path for link in task.links}}
        self._types = frozenset(paths)
        self._links = {f"has_{link.name}": link for link in task.links}
        self._collections = {link.name: _below(paths[link.owner], link.path) for link in task.links}
        self._tests: dict[tuple[str, ...], tuple[str, Check]] = {}
        for link in task.links:
            for size in range(2, link.most + 1):
                check = {"op": "count", "collection": self._collections[link.name], "gte": size}
                self._tests[f"many_{link.name}", str(size)] = (link.owner, check)
        for relation in task.relations:
            path = _below(paths[relation.rows], relation.path)
            for predicate, term, check in _tests_of(relation, path):
                self._tests[(predicate, term) if term else (predicate,)] = (relation.rows, check)

    def link(self, predicate: str) -> Link | None:
        """The link to the elements of a collection that a predicate is."""
        return self._links.get(predicate)

    def owner(self, rows: str) -> str | None:
        """The type of the rows whose elements are rows of this type; None for scenes."""
        link = self._links.get(f"has_{rows}")
        return link.owner if link else None

    def find(self, rows: str, where: Sequence[Check]) -> Check:
        """That there is an element of this type where all these hold."""
        collection = self._collections[rows]
        if not where:
            return {"op": "count", "collection": collection, "gte": 1}
        return {"op": "find", "collection": collection, "where": _all_of(where)}

    def is_type(self, literal: Literal) -> bool:
        """Whether it says only what its argument is."""
        return literal.predicate in self._types and len(literal.arguments) == 1

    def test(self, literal: Literal) -> tuple[str, Check]:
        """The type of the row that a literal tests, and the test.

        Popper's predicates have their constant in their name.
        """
        constants = literal.arguments[1:]
        found = self._tests.get((literal.predicate, *constants))
        if found is None and not constants:
            found = self._with_constant_in_name(literal.predicate)
        if found is None:
            raise UnreadableRuleError(f"{_text(literal)} is no test of the task")
        rows, check = found
        return rows, _negated(check) if literal.denied else check

    def _with_constant_in_name(self, predicate: str) -> tuple[str, Check] | None:
        denied = predicate.startswith("not_")
        base, _, term = predicate.removeprefix("not_").rpartition("_")
        found = self._tests.get((base, term))
        if found is None:
            return None
        rows, check = found
        return rows, _negated(check) if denied else check


def read_rule(text: str) -> tuple[Literal, tuple[Literal, ...]]:
    """The head and the body of a rule ``pass(V0) :- has_in1_items(V0,V1), not value3(V1,v2).``"""
    head, _, body = text.strip().removesuffix(".").partition(":-")
    heads = list(_literals(head))
    if len(heads) != 1 or heads[0].denied or heads[0].predicate != HEAD or len(heads[0].arguments) != 1:
        raise UnreadableRuleError(f"{text.strip()!r} is no rule for {HEAD}")
    return heads[0], tuple(_literals(body))


def check_of(rules: Sequence[str], vocabulary: Vocabulary) -> tuple[Check, int]:
    """The check that some rule of a program holds, and the literals in their bodies.

    Types are not counted. Raises :class:`UnreadableRuleError`.
    """
    parts, size = [], 0
    for rule in rules:
        head, body = read_rule(rule)
        said = [literal for literal in body if not vocabulary.is_type(literal)]
        size += len(said)
        parts.append(_all_of(_Elements(head.arguments[0], body, vocabulary).tests()))
    return parts[0] if len(parts) == 1 else {"op": "or", "of": parts}, size


class _Elements:
    """The variables of one rule: whose element each is, and what is said of it."""

    def __init__(self, scene: str, body: Sequence[Literal], vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._scene = scene
        self._same: dict[str, str] = {}
        self._owners: dict[str, str] = {}
        self._types = {scene: _SCENE}
        self._tests: dict[str, list[Check]] = {scene: []}
        tested = []
        for literal in body:
            link = vocabulary.link(literal.predicate)
            if vocabulary.is_type(literal):
                self._say_type(literal.arguments[0], literal.predicate)
            elif link is not None:
                self._say_link(literal, link)
            else:
                tested.append(literal)
        for literal in tested:
            rows, check = vocabulary.test(literal)
            self._say_type(literal.arguments[0], rows)
            self._tests[self._name(literal.arguments[0])].append(check)
        for variable in list(self._tests):
            self._place(variable)

    def tests(self) -> list[Check]:
        """What the rule says of the scene."""
        return self._tests_of(self._scene)

    def _tests_of(self, variable: str) -> list[Check]:
        found = [
            self._vocabulary.find(self._types[element], self._tests_of(element))
            for element, owner in self._owners.items()
            if self._name(owner) == variable
        ]
        return [*self._tests[variable], *found]

    def _name(self, variable: str) -> str:
        while variable in self._same:
            variable = self._same[variable]
        return variable

    def _say_type(self, variable: str, rows: str) -> None:
        variable = self._name(variable)
        if self._types.setdefault(variable, rows) != rows:
            raise UnreadableRuleError(f"{variable} is both of {self._types[variable]} and of {rows}")
        self._tests.setdefault(variable, [])

    def _say_link(self, literal: Literal, link: Link) -> None:
        if literal.denied or len(literal.arguments) != 2:
            raise UnreadableRuleError(f"{_text(literal)} has no counterpart in a check")
        owner, element = map(self._name, literal.arguments)
        self._say_type(owner, link.owner)
        self._say_type(element, link.name)
        known = self._owners.setdefault(element, owner)
        if self._name(known) != owner:  # an element has one owner
            self._unite(self._name(known), owner)

    def _unite(self, kept: str, gone: str) -> None:
        if gone == self._scene:
            kept, gone = gone, kept
        self._same[gone] = kept
        self._tests[kept].extend(self._tests.pop(gone))
        owner = self._owners.pop(gone, None)
        if owner is not None:
            known = self._owners.setdefault(kept, owner)
            if self._name(known) != self._name(owner):
                self._unite(self._name(known), self._name(owner))

    def _place(self, variable: str) -> None:
        """Give a row that no link leads to an owner: in the facts of one scene there is no other place."""
        while variable != self._scene and variable not in self._owners:
            rows = self._vocabulary.owner(self._types[variable])
            if rows is None:
                raise UnreadableRuleError(f"{variable} is a scene beside {self._scene}")
            owner = self._scene if rows == _SCENE else f"owner of {variable}"
            self._owners[variable] = owner
            self._say_type(owner, rows)
            variable = owner


def _literals(text: str) -> Iterator[Literal]:
    place = 0
    while text[place:].strip():
        found = _LITERAL.match(text, place)
        if found is None:
            raise UnreadableRuleError(f"{text[place:].strip()!r} is no list of literals")
        arguments = tuple(argument.strip() for argument in found[3].split(","))
        yield Literal(found[1] is not None, found[2], arguments)
        place = found.end()


def _text(literal: Literal) -> str:
    denied = "not " if literal.denied else ""
    return f"{denied}{literal.predicate}({','.join(literal.arguments)})"


def _below(outer: str, path: str) -> str:
    """A path inside the rows at `outer`, as it is written there."""
    return path if not outer else path.removeprefix(outer).removeprefix(".")


def _tests_of(relation: Relation, path: str) -> Iterator[tuple[str, str, Check]]:
    """The tests of a relation: predicate, constant if it has one, check."""
    name = relation.name
    match relation.kind:
        case "present":
            yield name, "", {"op": "exists", "path": path}
            yield f"no_{name}", "", {"op": "missing", "path": path}
        case "rank":
            for term, number in relation.constants:
                yield f"gte_{name}", term, {"op": "gte", "path": path, "value": number}
                yield f"lte_{name}", term, {"op": "lte", "path": path, "value": number}
        case "word":
            for term, word in relation.constants:
                yield name, term, {"op": "contains", "path": path, "substring": word}
        case "value":
            for term, value in relation.constants:
                yield name, term, {"op": "eq", "path": path, "value": value}


def _negated(check: Check) -> Check:
    return {**check, "op": "neq"} if check["op"] == "eq" else {"op": "not", "of": check}


def _all_of(checks: Sequence[Check]) -> Check:
    return checks[0] if len(checks) == 1 else {"op": "and", "of": list(checks)}
