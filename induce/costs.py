"""The description length of a literal: what it costs, in bits, to say it in a grammar.

"Simpler" has this one meaning everywhere: in the search, in ties, in `objective_of` and in
tests. The shape is ILASP's (a cost per mode declaration) with the costs of paths and
constants read from the profile: naming one of n paths or values takes log2 n bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from induce.column import ArrayConstant, Column, is_number, scalar_key
from induce.constants import half_digits
from induce.grammar import Grammar, units
from induce.literals import (
    Alternatives,
    Bound,
    Collect,
    Either,
    Hypothesis,
    Literal,
    Members,
    Operation,
    OtherPath,
    PathTest,
    preference,
)
from induce.operations import Operations
from induce.pairs import Pair, Pairs, comparable_pairs
from induce.profile import Scope, is_freely_written
from induce.set_beam import Codes
from induce.value_sets import ValueSets

if TYPE_CHECKING:
    from induce.proposers.rows import Candidate

JSON = Any


class Disjunctions(Protocol):
    """Which disjunctions about one element the grammar holds."""

    def of(self, scope: Scope) -> Sequence[Candidate]:
        """The candidates of a scope, cheapest first."""

    def price(self, scope: Scope, parts: Sequence[Literal]) -> int | None:
        """What one costs; None where the grammar does not hold it."""


_ANY_NUMBER = 1 << 30
MOST_NATURAL = 2.0
"""Bits saved at most by what rules about runs mostly speak of: the names of steps."""


class OutsideGrammarError(ValueError):
    """The check cannot be said in the grammar; the message names the part."""


class DescriptionLength:
    """Costs of literals over the scopes of one profile, in units of 1/16 bit.

    Without `sets` the grammar has no value sets.
    """

    def __init__(self, root: Scope, grammar: Grammar, sets: ValueSets | None = None) -> None:
        self.root = root
        self.grammar = grammar
        self.sets = sets
        self.disjunctions: Disjunctions | None = None
        """Those of one element, see `induce.disjunctions`; without them the grammar has none."""
        self.costs = grammar.costs
        self.operations = Operations.of(root, grammar, sets)
        self._tokens: dict[int, dict[str, None]] = {}
        self._caseless: dict[int, dict[str, None]] = {}
        self._pairs: dict[int, Pairs] = {}

    def tokens(self, column: Column) -> dict[str, None]:
        """The substrings that ``contains`` may use on `column`, best first."""
        key = id(column)
        if key not in self._tokens:
            self._tokens[key] = dict.fromkeys(column.tokens(self.grammar.max_tokens))
        return self._tokens[key]

    def caseless_tokens(self, column: Column) -> dict[str, None]:
        """The substrings, in lower case, that ``contains`` may use on `column` putting case aside."""
        key = id(column)
        if key not in self._caseless:
            most = self.grammar.max_tokens if self.grammar.ignore_case else 0
            self._caseless[key] = dict.fromkeys(column.caseless_tokens(most) if most else ())
        return self._caseless[key]

    def pairs(self, scope: Scope) -> Pairs:
        """The pairs of paths that may be compared."""
        key = id(scope)
        if key not in self._pairs:
            most = self.grammar.max_pairs if self.grammar.cross_field else 0
            self._pairs[key] = comparable_pairs(scope, most) if most else {}
        return self._pairs[key]

    def path_choice(self, scope: Scope) -> float:
        """Bits to pick one path of the scope; a second literal on the same path saves them."""
        return self.costs.path * math.log2(max(1, scope.plain_paths))

    def path(self, scope: Scope, column: Column) -> float:
        bits = self.path_choice(scope) + self.costs.level * column.levels
        if self.operations is not None and column is self.operations.tools.column:
            bits -= min(self.path_choice(scope) / 2, MOST_NATURAL)  # more would make a repetition free
        if column.kind == "index":
            bits += self.costs.index
        elif column.kind == "keyed":
            bits += self.costs.keyed
        elif column.kind == "having":
            bits += self.costs.keyed + self.costs.having
        elif column.kind == "length":
            bits += self.costs.length
        return bits

    def eq(self, scope: Scope, column: Column, code: int) -> int:
        return units(self.costs.eq + self.path(scope, column) + self._choice(column, code))

    def _choice(self, column: Column, code: int) -> float:
        """Bits to pick one value of a column."""
        value = column.distinct[code]
        if isinstance(value, bool):
            return 0.0
        bits = math.log2(len(column.distinct))
        bits += self.costs.number if is_number(value) else 0.0
        bits += self.costs.identifier if column.identifier_like else 0.0
        return bits + (self.costs.once if column.occurrences[code] == 1 else 0.0)

    def one_of(self, scope: Scope, column: Column, codes: Codes) -> int:
        """Cost of a value set; of its negation, `negation` more."""
        members = sum(self._choice(column, code) for code in codes) + self.costs.member * (len(codes) - 1)
        tools = None if self.sets is None else self.sets.tools
        if tools is not None and column is tools.column and codes in tools.classes:
            members = min(members, tools.class_bits)
        return units(self.costs.eq + self.path(scope, column) + members)

    def neq(self, scope: Scope, column: Column, code: int) -> int:
        extra = self.costs.number if is_number(column.distinct[code]) else 0.0
        return self.eq(scope, column, code) + units(self.costs.negation + extra)

    def eq_array(self, scope: Scope, column: Column, array: ArrayConstant) -> int:
        """Cost of ``eq`` with a whole array; ``neq`` costs the negation more."""
        bits = self.costs.eq + self.path(scope, column) + self.costs.array
        bits += math.log2(len(column.distinct) + len(column.arrays))
        return units(bits + (self.costs.once if int(array.rows.sum()) == 1 else 0.0))

    def cross_field(self, scope: Scope, pair: Pair, op: str) -> int:
        """Cost of ``eq``, ``gte`` or ``lte`` between two paths, in either order."""
        bits = self.costs.eq if op == "eq" else self.costs.threshold
        bits += self.path(scope, pair.left) + self.path(scope, pair.right) + self.costs.cross_field
        return units(bits + (self.costs.identifier_threshold if pair.dear and op != "eq" else 0.0))

    def threshold(self, scope: Scope, column: Column, digits: int) -> int:
        """Cost of ``gte`` or ``lte`` with a constant of so many half digits."""
        bits = self.costs.threshold + self.path(scope, column)
        bits += self.costs.identifier_threshold if column.identifier_like else 0.0
        digit_bits = self.costs.digit * digits / 2
        return units(bits + min(digit_bits, 3 + math.log2(max(1, len(column.numbers)))))

    def presence(self, scope: Scope, column: Column, op: str) -> int:
        bits = (self.costs.exists if op == "exists" else self.costs.missing) + self.path(scope, column)
        return units(bits + (self.costs.identifier if column.identifier_like else 0.0))

    def contains(self, scope: Scope, column: Column) -> int:
        return self.contains_one_of(scope, column, 1, ignore_case=False)

    def contains_caseless(self, scope: Scope, column: Column) -> int:
        return self.contains_one_of(scope, column, 1, ignore_case=True)

    def contains_one_of(self, scope: Scope, column: Column, count: int, *, ignore_case: bool) -> int:
        """Cost of `count` alternative substrings."""
        words = len(self.tokens(column)) + (len(self.caseless_tokens(column)) if ignore_case else 0)
        bits = self.costs.contains + self.path(scope, column) + self.costs.member * (count - 1)
        bits += self.costs.ignore_case if ignore_case else 0.0
        bits += self.costs.prose if self._is_prose(scope, column) else 0.0
        return units(bits + count * math.log2(1 + words))

    def _is_prose(self, scope: Scope, column: Column) -> bool:
        """Whether texts of scenes with traces are what people and models wrote about the run as a whole."""
        return self.operations is not None and scope is self.root and is_freely_written(column)

    def collect(self, scope: Scope, bound: int | None) -> int:
        """Cost of a find (`bound` None) or a count over one of the collections of `scope`."""
        lists = math.log2(max(1, len(scope.children)))
        if bound is None:
            return units(self.costs.find + lists)
        return units(self.costs.count + 2 * math.log2(max(1, bound)) + lists)

    def collect_range(self, scope: Scope, least: int, most: int) -> int:
        """Cost of a count with both bounds over one of the collections of `scope`."""
        lists = math.log2(max(1, len(scope.children)))
        return units(self.costs.count + self.costs.range + 2 * math.log2(least * most) + lists)

    @property
    def negation(self) -> int:
        return units(self.costs.negation)

    @property
    def join(self) -> int:
        return units(self.costs.join)

    def literal(self, scope: Scope, literal: Literal, max_where: int) -> int:
        """Cost of a literal of `scope`.

        Raises
        ------
        OutsideGrammarError
            When the grammar, its candidate constants included, cannot say it.
        """
        atom = literal.atom
        if isinstance(atom, Operation):
            return self._operation(scope, atom, literal.negated)
        if isinstance(atom, Either):
            return self._either(scope, atom, literal.negated)
        test = None if isinstance(atom, Collect) or isinstance(atom.value, Alternatives) else atom
        unequal = literal.negated and test is not None and test.op == "eq"
        if literal.negated and not self.grammar.allows("neq" if unequal else "not"):
            raise OutsideGrammarError("negation is switched off in the grammar")
        if not self.grammar.allows(atom.op) and not unequal:
            raise OutsideGrammarError(f"operator {atom.op!r} is switched off in the grammar")
        if isinstance(atom, Collect):
            return self._collect(scope, atom, literal.negated, max_where)
        return self._test(scope, atom, literal.negated)

    def _operation(self, scope: Scope, operation: Operation, negated: bool) -> int:
        if self.operations is None or scope is not self.root:
            where = "of an element" if scope is not self.root else "without a trace in the scenes"
            raise OutsideGrammarError(f"operator {operation.op!r} {where} is not in the grammar")
        if not self.grammar.allows_operation(operation.op) or (negated and not self.grammar.allows("not")):
            raise OutsideGrammarError(f"operator {operation.op!r} is switched off in the grammar")
        price = self.operations.price(operation)
        if price is None:
            raise OutsideGrammarError(
                f"{operation.op} with {operation.text} is not a candidate read off the examples"
            )
        return price + (self.negation if negated else 0)

    def _either(self, scope: Scope, either: Either, negated: bool) -> int:
        price = None if self.disjunctions is None else self.disjunctions.price(scope, either.parts)
        if price is None or negated:
            raise OutsideGrammarError(
                "a disjunction inside a where, other than of values of one path, that is not among the "
                "candidates read off the examples is not in the grammar"
            )
        return price

    def _test(self, scope: Scope, test: PathTest, negated: bool) -> int:
        if isinstance(test.value, OtherPath):
            return self._cross_field(scope, test.op, test.path, test.value.path, negated)
        column = scope.columns.get(test.path)
        if column is None:
            raise OutsideGrammarError(
                f"path {test.path!r} is not one of the paths of {scope.name or 'the scene'}"
            )
        negation = self.negation if negated else 0
        if isinstance(test.value, Alternatives):
            return self._one_of(scope, column, test) + negation
        if test.op in ("exists", "missing"):
            if negated:
                raise OutsideGrammarError(f"not {test.op} is said as its opposite")
            if column.kind == "length":
                raise OutsideGrammarError(f"{test.op} {test.path!r}: a length is compared, not looked for")
            return self.presence(scope, column, test.op)
        if test.op == "contains" and test.ignore_case:
            if test.value not in self.caseless_tokens(column):
                raise OutsideGrammarError(
                    f"substring {test.value!r} ignoring case is not a candidate for {test.path!r}"
                )
            return self.contains_caseless(scope, column) + negation
        if test.op == "contains":
            if test.value not in self.tokens(column):
                raise OutsideGrammarError(f"substring {test.value!r} is not a candidate for {test.path!r}")
            return self.contains(scope, column) + negation
        if isinstance(test.value, Members):
            return self._eq_array(scope, column, test.value.values) + negation
        if test.op == "eq":
            key = scalar_key(test.value)
            codes = [c for c, v in enumerate(column.distinct) if key is not None and scalar_key(v) == key]
            if not codes:
                raise OutsideGrammarError(f"value {test.value!r} was not observed at {test.path!r}")
            return self.neq(scope, column, codes[0]) if negated else self.eq(scope, column, codes[0])
        if negated:
            raise OutsideGrammarError(f"not {test.op} is not in the grammar")
        if len(column.numbers) < 2:
            raise OutsideGrammarError(f"{test.path!r} has fewer than two numbers to put a bound between")
        number = test.value.value if isinstance(test.value, Bound) else test.value
        met = number <= column.numbers[-1] if test.op == "gte" else number >= column.numbers[0]
        if not met:
            raise OutsideGrammarError(f"no number observed at {test.path!r} meets {test.op} {number}")
        return self.threshold(scope, column, half_digits(number))

    def holds(self, scope: Scope, test: PathTest) -> bool:
        """Whether a test with `Alternatives` is in the grammar."""
        try:
            self.literal(scope, Literal(test), 0)
        except OutsideGrammarError:
            return False
        return True

    def _one_of(self, scope: Scope, column: Column, test: PathTest) -> int:
        chosen: Alternatives = test.value
        if self.sets is not None and test.op == "eq":
            code_of = {scalar_key(value): code for code, value in enumerate(column.distinct)}
            codes = tuple(sorted(code_of.get(scalar_key(value), -1) for value in chosen.values))
            if codes in self.sets.of_values(scope, column):
                return self.one_of(scope, column, codes)
        if self.sets is not None and test.op == "contains":
            words = self.caseless_tokens(column) if test.ignore_case else self.tokens(column)
            position_of = {word: position for position, word in enumerate(words)}
            positions = tuple(sorted(position_of.get(word, -1) for word in chosen.values))
            if positions in self.sets.of_words(scope, column, words, test.ignore_case):
                return self.contains_one_of(scope, column, len(positions), ignore_case=test.ignore_case)
        raise OutsideGrammarError(
            f"{test.op} one of {list(chosen.values)!r} at {test.path!r} is not among the candidate sets "
            "read off the examples"
        )

    def _eq_array(self, scope: Scope, column: Column, members: tuple[JSON, ...]) -> int:
        if not self.grammar.arrays:
            raise OutsideGrammarError("equality with arrays is switched off in the grammar")
        wanted = list(map(scalar_key, members))
        for array in column.arrays:
            if list(map(scalar_key, array.members)) == wanted:
                return self.eq_array(scope, column, array)
        raise OutsideGrammarError(f"the array {list(members)!r} is not a candidate for {column.path!r}")

    def _cross_field(self, scope: Scope, op: str, left: str, right: str, negated: bool) -> int:
        if not self.grammar.cross_field:
            raise OutsideGrammarError("comparing two paths is switched off in the grammar")
        pair = self.pairs(scope).get((min(left, right), max(left, right)))
        if pair is None or not (pair.equality if op == "eq" else pair.order):
            raise OutsideGrammarError(f"{left!r} and {right!r} are not candidates for {op} between two paths")
        number = units(self.costs.number) if op == "eq" and pair.numeric else 0
        return self.cross_field(scope, pair, op) + (self.negation + number if negated else 0)

    def _collect(self, scope: Scope, atom: Collect, negated: bool, max_where: int) -> int:
        child = scope.children.get(atom.collection)
        if child is None:
            raise OutsideGrammarError(
                f"{atom.collection!r} is not a collection of {scope.name or 'the scene'}"
            )
        if len(atom.where) > max_where:
            raise OutsideGrammarError(
                f"more than {max_where} conditions inside {atom.op} {atom.collection!r}"
            )
        cost = self._inside(scope, child, atom, negated, max_where)
        if atom.bound is None:
            return cost + self.collect(scope, None) + (self.negation if negated else 0)
        name, k = atom.bound
        if negated:
            raise OutsideGrammarError("not count is said by another bound")
        bounded = any(map(_has_bound, atom.where))
        if atom.most is not None:
            if not self.grammar.count_ranges or scope.depth > 0:
                raise OutsideGrammarError("a count with both bounds is not in the grammar here")
            if not 1 <= k < atom.most <= self.grammar.max_count or bounded:
                raise OutsideGrammarError(f"count from {k} to {atom.most} is not a candidate range")
            return cost + self.collect_range(scope, k, atom.most)
        if not 1 <= k <= self.grammar.max_count or (atom.where and k == 1 and name == "gte"):
            raise OutsideGrammarError(f"count {name} {k} is not a candidate bound")
        if name == "eq" and bounded:
            raise OutsideGrammarError("count eq over a numeric bound is not in the grammar")
        return cost + self.collect(scope, k)

    def _inside(self, scope: Scope, child: Scope, atom: Collect, negated: bool, max_where: int) -> int:
        """Cost of the conditions on an element; of none that is out of a bound, every one is within it."""
        denied = [part for part in atom.where if part.negated and _has_bound(part)]
        if not denied or not negated or not self.grammar.every or scope.depth > 0:
            return self.where(child, atom.where, max_where)
        if sum(map(_has_bound, atom.where)) > 1:
            raise OutsideGrammarError("a bound on every element has no other numeric bound beside it")
        kept = tuple(part._replace(negated=False) if part in denied else part for part in atom.where)
        return self.where(child, kept, max_where) + self.negation

    def where(self, scope: Scope, literals: tuple[Literal, ...], max_where: int) -> int:
        """Cost of a conjunction about one element: joining is free, repeating a path of one test too."""
        tests = [lit.atom for lit in literals if isinstance(lit.atom, PathTest)]
        paths = [test.path for test in tests if not isinstance(test.value, OtherPath)]
        repeats = len(paths) - len(set(paths))
        total = sum(self.literal(scope, lit, max_where) for lit in literals)
        return total - repeats * units(self.path_choice(scope))

    def ordered(self, scope: Scope, literal: Literal) -> Literal:
        """The literal with the conditions on each element in one order: the cheapest first, bounds last."""
        atom = literal.atom
        if not isinstance(atom, Collect):
            return literal
        inner = scope.children[atom.collection]

        parts = [self.ordered(inner, part) for part in atom.where]

        def place(part: Literal) -> tuple[int, tuple[int, int, str]]:
            return self.literal(inner, part, _ANY_NUMBER), preference(part)

        plain = sorted((part for part in parts if not _has_bound(part)), key=place)
        return literal._replace(atom=atom._replace(where=(*plain, *filter(_has_bound, parts))))

    def size(self, hypothesis: Hypothesis, max_where: int) -> int:
        literals = [lit for term in hypothesis for lit in term]
        total = sum(self.literal(self.root, lit, max_where) for lit in literals)
        return total + self.join * (len(literals) - 1)


def _has_bound(literal: Literal) -> bool:
    return isinstance(literal.atom, PathTest) and isinstance(literal.atom.value, Bound)
