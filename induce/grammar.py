"""The language bias: which checks the learner may say, and what each part of one costs.

ILASP writes this as mode declarations; here it is one frozen value. Size limits (terms,
literals, conjuncts, nesting) are arguments of the learner, since they are what people vary.
"""

from __future__ import annotations

import difflib
import fnmatch
import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

OPERATORS = ("eq", "neq", "gte", "lte", "contains", "exists", "missing", "find", "count", "not")
OPERATIONS = (
    "trace.before",
    "trace.tools_called_in_order",
    "trace.distinct",
    "trace.grounded",
    "trace.no_duplicate_tools",
    "behaviour.trajectory_partial_order",
    "behaviour.tool_cardinality",
    "behaviour.no_tool_cycles",
    "behaviour.max_tool_failure_streak",
    "effect.world_unique",
    "effect.world_sum",
    "effect.world_matches",
)
"""Operators over traces and worlds, which scenes that hold a trace are asked."""
UNIT = 16
"""Costs are whole numbers of 1/16 bit, so that Python's sums and the solver's agree."""


class Costs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bits charged for the parts of a check (a description length).

    The values were measured on labelled scenes with known rules; random re-weighting changes
    little, so they are meant to be left alone.
    """

    path: float = 0.75
    """Times log2 of the number of paths in scope."""
    level: float = 0.5
    index: float = 6.0
    keyed: float = 4.0
    eq: float = 2.0
    number: float = 3.0
    identifier: float = 6.0
    once: float = 2.0
    threshold: float = 2.0
    digit: float = 3.0
    identifier_threshold: float = 4.0
    exists: float = 6.0
    missing: float = 7.0
    contains: float = 2.0
    member: float = 1.0
    """For each further value of a set, on top of its choice."""
    ignore_case: float = 2.0
    array: float = 5.0
    length: float = 4.0
    having: float = 2.0
    """On top of `keyed`."""
    cross_field: float = 4.0
    range: float = 2.0
    negation: float = 3.0
    find: float = 3.0
    count: float = 5.0
    join: float = 2.0
    """For each literal after the first, whether joined by and or by or."""
    order: float = 4.0
    """Of ``trace.before``, the commonest rule about traces."""
    correlated: float = 2.0
    """For each path whose values must be the same, on top of its choice."""
    prose: float = 6.0
    """Of words in what was written about a run as a whole: they tell the case, not the conduct."""
    operation: float = 8.0
    """Of any other operator over traces and worlds."""


class Grammar(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Operators, paths, constants and costs that a learnt check may use.

    Forms beyond one constant at one plain path have switches. Each costs what it takes to name it, two to
    seven bits more than the plain form. Measured on 24 sets with known rules, three draws of 10 + 10 scenes
    each: 46 rules come back with all of them and 43 without; where the rule needs none of them no draw
    changes. So all are on.

    Parameters
    ----------
    operators : tuple of str
        Operators that may appear; ``and`` and ``or`` always may. Dropping ``not`` leaves
        monotone checks only. Those over traces (`OPERATIONS`) may be given by patterns, as by
        default: ``trace.*``, ``behaviour.*``, ``effect.*``.
    include, exclude : tuple of str
        Glob patterns over dotted paths, collections joined by a dot
        (``order.items.price``); a path is used when some ``include`` pattern and no
        ``exclude`` pattern matches it.
    index_paths : bool
        Whether first elements (``a[0].x``) may be addressed.
    keyed_paths : bool
        Whether keyed look-ups (``a[kind=card].x``) may be addressed.
    having_paths : bool
        Whether look-ups by a member (``a[tags has gift].x``) may be addressed.
    lengths : bool
        Whether lengths (``a.length``) may be compared: of texts that are written freely, and of arrays that
        are longer than `max_count` or nested too deep for a ``count``.
    arrays : bool
        Whether ``eq`` and ``neq`` may compare with a whole array, of few scalars, observed at the path.
    ignore_case : bool
        Whether ``contains`` may put case aside, for words that occur in several cases.
    cross_field : bool
        Whether ``eq``, ``neq``, ``gte`` and ``lte`` may compare two paths of one scope (``value_path``):
        texts that share values, numbers whose ranges overlap.
    count_ranges : bool
        Whether a ``count`` about a scene may have both bounds, ``gte`` and ``lte``.
    every : bool
        Whether a scene may ask for a bound on every element: ``not find`` of those for which it is not so,
        such as have no number there.
    max_count : int
        The largest bound of a ``count``.
    max_tokens : int
        The most substrings per path that ``contains`` may try.
    max_set : int
        The most values, or substrings, in a set (one of these on one path); 1 for no sets. Classes of tools
        (see `induce.tool_sets`) may be larger.
    max_pairs : int
        The most pairs of paths per scope that may be compared, the likeliest first.
    max_disjunctions : int
        The most disjunctions of tests of two paths, per collection of the scenes, that may stand in a
        ``where``, the most telling first; 0 for none.
    costs : Costs
        Bits charged for each part.
    """

    operators: tuple[str, ...] = (*OPERATORS, "trace.*", "behaviour.*", "effect.*")
    include: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()
    index_paths: bool = True
    keyed_paths: bool = True
    having_paths: bool = True
    lengths: bool = True
    arrays: bool = True
    ignore_case: bool = True
    cross_field: bool = True
    count_ranges: bool = True
    every: bool = True
    max_count: int = 8
    max_tokens: int = 400
    max_set: int = 5
    max_pairs: int = 100
    max_disjunctions: int = 24
    costs: Costs = Costs()

    @classmethod
    def of(cls, source: Grammar | Mapping[str, Any] | None) -> Grammar:
        """The grammar that `source` describes.

        Raises
        ------
        ValueError
            In one sentence, when a key, an operator or a value is not usable.
        """
        if source is None:
            return cls()
        if isinstance(source, cls):
            grammar = source
        else:
            if not isinstance(source, Mapping):
                raise ValueError(f"grammar: expected a Grammar or a mapping, got {type(source).__name__}")
            _known_keys("grammar", source, cls)
            if isinstance(source.get("costs"), Mapping):
                _known_keys("grammar.costs", source["costs"], Costs)
            try:
                grammar = msgspec.convert(dict(source), cls)
            except msgspec.ValidationError as error:
                raise ValueError(f"grammar: {error}") from None
        grammar.validate()
        return grammar

    def validate(self) -> None:
        """Raise ValueError in one sentence when nothing could be learnt with this grammar."""
        for name in self.operators:
            if name not in OPERATORS and not fnmatch.filter(OPERATIONS, name):
                known = (*OPERATORS, *OPERATIONS)
                near = difflib.get_close_matches(str(name), known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise ValueError(f"grammar.operators: {name!r} is not one of {', '.join(known)}{hint}")
        if not set(self.operators) - {"not"}:
            raise ValueError("grammar.operators: at least one operator besides 'not' is needed")
        if not self.include:
            raise ValueError("grammar.include: at least one pattern is needed, '*' for every path")
        for name, least, most in (
            ("max_count", 1, 1000),
            ("max_tokens", 0, 100_000),
            ("max_set", 1, 16),
            ("max_pairs", 0, 10_000),
            ("max_disjunctions", 0, 1_000),
        ):
            if not least <= getattr(self, name) <= most:
                raise ValueError(f"grammar.{name}: expected {least} to {most}, got {getattr(self, name)}")
        for name in Costs.__struct_fields__:
            cost = getattr(self.costs, name)
            if not 0 <= cost <= 1000:
                raise ValueError(f"grammar.costs.{name}: expected 0 to 1000 bits, got {cost}")

    def allows(self, operator: str) -> bool:
        return operator in self.operators

    def allows_operation(self, operator: str) -> bool:
        """Whether an operator over traces may appear."""
        return any(fnmatch.fnmatchcase(operator, pattern) for pattern in self.operators)

    @property
    def operations(self) -> bool:
        """Whether any operator over traces may appear."""
        return any(map(self.allows_operation, OPERATIONS))

    def allows_path(self, path: str) -> bool:
        def matches(pattern: str) -> bool:
            return fnmatch.fnmatchcase(path, pattern)

        return any(map(matches, self.include)) and not any(map(matches, self.exclude))

    def to_dict(self) -> dict[str, Any]:
        built: dict[str, Any] = msgspec.to_builtins(self)
        return built

    def digest(self) -> str:
        """SHA-256 of the grammar, hexadecimal."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()


def _known_keys(place: str, source: Mapping[str, Any], struct: type[msgspec.Struct]) -> None:
    for key in source:
        if key not in struct.__struct_fields__:
            near = difflib.get_close_matches(str(key), struct.__struct_fields__, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"{place}: unknown key {key!r}{hint}")


def units(bits: float) -> int:
    """Bits as whole cost units."""
    return round(bits * UNIT)


def bits(cost: int) -> float:
    """Cost units as bits."""
    return cost / UNIT
