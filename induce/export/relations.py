"""Labelled scenes as relations: what a learner of logic programs is given instead of JSON.

Every scene, and every element of a collection, is a row with a name of its own (``s3``, ``e2_17``). Links
lead from a row to its elements; the other relations say of one row what stands at one path. JSON values
become names too (``v7``, ``w2``), and a number the ordinal it has among the numbers of its path, so that no
text and no integer of a scene is ever a term of a logic program.

Learners of logic programs try every constant, so what could only memorise a scene is no constant: values that
stand in one row only, and values and ordinals of paths that name or date a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np

from evaluator import canonical_json
from induce.column import Column
from induce.examples import Examples
from induce.export.logic_text import name_of
from induce.grammar import Grammar
from induce.profile import Scope, profile

Fact = tuple[str, ...]
"""The name of a predicate and its arguments."""


class Link(NamedTuple):
    """A collection: rows of the type `owner` have elements, which are rows of the type `name`."""

    name: str
    owner: str
    path: str
    most: int
    """The most elements that a row has."""


class Relation(NamedTuple):
    """What is said of the value at one path of the rows of one type.

    ``value``: which scalar it is; ``rank``: its ordinal among the numbers there; ``word``: a text that is in
    it; ``present``: that there is one. `constants` are the terms that may be asked for in its second place,
    with their meaning; `left_out` is how many others the limit has left out.
    """

    kind: Literal["value", "rank", "word", "present"]
    name: str
    rows: str
    path: str
    constants: tuple[tuple[str, Any], ...] = ()
    left_out: int = 0


class SceneRelations(NamedTuple):
    """The scenes of a learning task as relations.

    `facts` has the facts of each scene; `links` and `relations` are in a fixed order, outer rows first.
    """

    examples: Examples
    links: tuple[Link, ...]
    relations: tuple[Relation, ...]
    facts: tuple[tuple[Fact, ...], ...]


def scene_relations(
    examples: Examples, grammar: Grammar, max_nesting: int, max_constants: int
) -> SceneRelations:
    """The relations that the operators, paths and limits of a grammar give, over examples.

    Each has at most `max_constants` constants: the most frequent values and words, ordinals evenly spread.
    """
    builder = _Builder(grammar, max_constants)
    root = profile(examples.scenes, grammar, max_nesting)
    builder.add(root, "scene", "s")
    facts = [tuple(builder.facts_of(("scene", row))) for row in range(len(examples.scenes))]
    return SceneRelations(examples, tuple(builder.links), tuple(builder.relations), tuple(facts))


class _Builder:
    def __init__(self, grammar: Grammar, max_constants: int) -> None:
        self.grammar = grammar
        self.max_constants = max_constants
        self.links: list[Link] = []
        self.relations: list[Relation] = []
        self._values: dict[str, str] = {}
        self._facts: dict[tuple[str, int], list[Fact]] = {}
        self._elements: dict[tuple[str, int], list[tuple[str, int]]] = {}
        self._types = 0

    def facts_of(self, row: tuple[str, int]) -> Iterator[Fact]:
        """The facts of a row and of all that is linked to it."""
        pending = [row]
        while pending:
            row = pending.pop()
            yield from self._facts[row]
            pending.extend(reversed(self._elements.get(row, [])))

    def add(self, scope: Scope, rows: str, letter: str) -> None:
        """Name the rows of a scope and say what stands in its columns and collections."""
        names = [f"{letter}{row}" for row in range(len(scope.rows))]
        for row, name in enumerate(names):
            self._facts[rows, row] = [(rows, name)]
        for path in sorted(scope.columns):
            self._add_column(scope.columns[path], scope.name, rows, names)
        for path in sorted(scope.children):
            child = scope.children[path]
            self._types += 1
            elements = f"in{self._types}_{name_of(child.name)}".rstrip("_")
            owners = child.owner.tolist()
            most = int(np.bincount(child.owner).max()) if owners else 0
            self.links.append(Link(elements, rows, child.name, most))
            letter_of_element = f"e{self._types}_"
            for element, owner in enumerate(owners):
                fact = (f"has_{elements}", names[owner], f"{letter_of_element}{element}")
                self._facts[rows, owner].append(fact)
                self._elements.setdefault((rows, owner), []).append((elements, element))
            self.add(child, elements, letter_of_element)

    def _add_column(self, column: Column, prefix: str, rows: str, names: list[str]) -> None:
        path = f"{prefix}.{column.path}".strip(".")
        allows = self.grammar.allows
        if (allows("eq") or allows("neq")) and not column.identifier_like:
            self._add_values(column, path, rows, names)
        if (allows("gte") or allows("lte")) and not column.identifier_like and len(column.numbers) > 1:
            self._add_ranks(column, path, rows, names)
        if allows("contains") and (words := column.tokens(self.grammar.max_tokens)):
            self._add_words(column, words, path, rows, names)
        present = column.present
        if (allows("exists") or allows("missing")) and present.any() and not present.all():
            name = self._relation("present", rows, path)
            for row in np.flatnonzero(present).tolist():
                self._facts[rows, row].append((name, names[row]))

    def _add_values(self, column: Column, path: str, rows: str, names: list[str]) -> None:
        counts = column.occurrences
        codes = sorted(
            (code for code, count in enumerate(counts) if count > 1), key=lambda code: -counts[code]
        )
        kept = sorted(codes[: self.max_constants])
        if not kept:
            return
        terms = {code: self._value(column.distinct[code]) for code in kept}
        constants = tuple((term, column.distinct[code]) for code, term in terms.items())
        name = self._relation("value", rows, path, constants, len(codes) - len(kept))
        self._say(
            rows, names, name, [[terms[code]] if code in terms else [] for code in column.codes.tolist()]
        )

    def _add_ranks(self, column: Column, path: str, rows: str, names: list[str]) -> None:
        last = len(column.numbers) - 1
        steps = min(last, self.max_constants - 1)
        kept = [round(step * last / steps) for step in range(steps + 1)]
        constants = tuple((str(rank), column.numbers[rank]) for rank in kept)
        name = self._relation("rank", rows, path, constants, last + 1 - len(kept))
        self._say(rows, names, name, [[str(rank)] if rank >= 0 else [] for rank in column.ranks.tolist()])

    def _add_words(self, column: Column, words: list[str], path: str, rows: str, names: list[str]) -> None:
        kept = words[: self.max_constants]
        constants = tuple((f"w{number}", word) for number, word in enumerate(kept))
        name = self._relation("word", rows, path, constants, len(words) - len(kept))
        found = [
            [term for term, word in constants if type(text) is str and word in text] for text in column.values
        ]
        self._say(rows, names, name, found)

    def _value(self, value: Any) -> str:
        """The term of a scalar: one for equal ones, wherever they stand."""
        return self._values.setdefault(canonical_json(value), f"v{len(self._values)}")

    def _relation(
        self,
        kind: Literal["value", "rank", "word", "present"],
        rows: str,
        path: str,
        constants: tuple[tuple[str, Any], ...] = (),
        left_out: int = 0,
    ) -> str:
        name = f"{kind}{len(self.relations)}_{name_of(path)}".rstrip("_")
        self.relations.append(Relation(kind, name, rows, path, constants, left_out))
        return name

    def _say(self, rows: str, names: list[str], relation: str, terms: list[list[str]]) -> None:
        for row, said in enumerate(terms):
            self._facts[rows, row].extend((relation, names[row], term) for term in said)
