"""The objective: size of the hypothesis in bits plus penalties of misclassified scenes.

This is ILASP's objective (Law, Russo and Broda 2018) with a description length for the size.
`objective_of` gives it for any check, so that a claim of optimality can be tested from
outside: whatever `learn_check` proves optimal, no check of the grammar scores lower here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from evaluator import compile_check
from induce.costs import DescriptionLength, OutsideGrammarError
from induce.disjunctions import description_length
from induce.examples import Examples
from induce.grammar import OPERATIONS, OPERATORS, Grammar, bits
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
)
from induce.noise import NoiseModel
from induce.profile import Scope, profile

JSON = Any
OPT_IN_FORMS = ("norm", "word", "as", "values", "absent")
"""Fields with which an operator says more than the learner does."""
_OPPOSITE = {"exists": "missing", "missing": "exists"}
Terms = list[tuple[Literal, ...]]


class Objective(NamedTuple):
    """Bits: ``total`` is ``size`` + ``penalty``."""

    total: float
    size: float
    penalty: float


def objective_of(
    check: JSON,
    scenes: Sequence[JSON],
    labels: Sequence[JSON],
    grammar: Grammar | dict[str, JSON] | None = None,
    sample_weight: Sequence[float] | None = None,
    *,
    max_terms: int | None = None,
    max_literals: int = 4,
    max_where: int = 3,
    max_nesting: int = 2,
    penalty: float | str = "auto",
) -> Objective:
    """The objective of `check` on labelled scenes, as `learn_check` counts it.

    Parameters
    ----------
    check : dict
        A check on the wire, bare or defined. Nested and/or/not is brought to the learner's
        form (an or of ands of literals) by flattening, De Morgan and distribution.
    scenes, labels, sample_weight : sequences of equal length
    grammar, max_terms, max_literals, max_where, max_nesting, penalty
        As for `learn_check`.

    Raises
    ------
    CheckError
        When the check is malformed.
    ValueError
        When it lies outside the grammar, candidate constants included; the message says why.
    """
    compiled = compile_check(check)
    examples = Examples.of(scenes, labels, sample_weight)
    language = Grammar.of(grammar)
    root = profile(examples.scenes, language, max_nesting)
    cost = description_length(root, language, examples)
    hypothesis = parse_hypothesis(check, default_terms(max_terms), max_literals, cost)
    size = cost.size(hypothesis, max_where)
    errors = error_weight(map(compiled.passes, examples.scenes), examples)
    charged = NoiseModel.of(penalty, examples.weight).cost(errors)
    return Objective(bits(size + charged), bits(size), bits(charged))


def default_terms(max_terms: int | None) -> int:
    """The most terms where none is given."""
    return 4 if max_terms is None else max_terms


def error_weight(verdicts: Iterable[bool], examples: Examples) -> float:
    """Weight of the examples whose verdict, in their order, goes against their label."""
    graded = zip(verdicts, examples.passing, examples.weights, strict=True)
    return math.fsum(weight for verdict, passing, weight in graded if verdict is not passing)


def parse_hypothesis(check: JSON, max_terms: int, max_literals: int, cost: DescriptionLength) -> Hypothesis:
    """A well-formed check as an or of ands of literals.

    An or of values, or of substrings, of one path is one literal where the grammar holds that set.

    Raises
    ------
    OutsideGrammarError
        When it has none within the limits.
    """
    body = check["expr"] if isinstance(check, dict) and "op" not in check and "expr" in check else check
    terms = _disjunction(body, False, max_terms, max_literals, cost)
    if not terms or not all(terms):
        raise OutsideGrammarError("a check that is constant is not in the grammar")
    return tuple(terms)


def _disjunction(
    check: dict[str, JSON], negate: bool, max_terms: int, max_literals: int, cost: DescriptionLength
) -> Terms:
    op = check["op"]
    if op == "not":
        return _disjunction(check["of"], not negate, max_terms, max_literals, cost)
    if op not in ("and", "or"):
        return [(_literal(check, negate, cost.root, cost),)]
    chosen = _alternatives(check)
    if chosen is not None and cost.holds(cost.root, chosen):
        return [(Literal(chosen, negate),)]
    parts = [_disjunction(part, negate, max_terms, max_literals, cost) for part in check["of"]]
    if (op == "or") is not negate:
        terms = [term for part in parts for term in part]
    else:
        terms = [()]
        for part in parts:
            terms = [(*left, *right) for left in terms for right in part]
            if len(terms) > 1000:
                break
    if len(terms) > max_terms:
        raise OutsideGrammarError(f"more than {max_terms} terms")
    if any(len(term) > max_literals for term in terms):
        raise OutsideGrammarError(f"more than {max_literals} literals in one term")
    return terms


def _alternatives(check: dict[str, JSON]) -> PathTest | None:
    """The test that an or of equalities, or of substrings, of one path is."""
    if check["op"] != "or" or len(check["of"]) < 2:
        return None
    if not all(part["op"] in ("eq", "contains") for part in check["of"]):
        return None
    tests = [_path_test(part) for part in check["of"]]
    if any(test._replace(value=None) != tests[0]._replace(value=None) for test in tests):
        return None
    return tests[0]._replace(value=Alternatives(tuple(test.value for test in tests)))


def _literal(check: dict[str, JSON], negate: bool, scope: Scope | None, cost: DescriptionLength) -> Literal:
    op = check["op"]
    if op in OPERATIONS:
        fields = {name: value for name, value in check.items() if name != "op"}
        return Literal(Operation.of(op, fields), negate)
    if op not in ("find", "count"):
        test = _path_test(check)
        if op in ("exists", "missing"):
            return Literal(test._replace(op=_OPPOSITE[op]) if negate else test)
        return Literal(test, (op == "neq") is not negate)
    _require_learnt_form(check)
    inner = None if scope is None else scope.children.get(check["collection"])
    where = _conjuncts(check["where"], False, inner, cost) if "where" in check else ()
    if op == "find":
        return Literal(Collect("find", check["collection"], where), negate)
    return _count(check, where, negate)


def _require_learnt_form(check: dict[str, JSON]) -> None:
    op = check["op"]
    if op not in OPERATORS:
        raise OutsideGrammarError(f"operator {op!r} is not in the grammar")
    for name in OPT_IN_FORMS:
        if check.get(name):
            raise OutsideGrammarError(f"{op} with {name!r} is not in the grammar")


def _path_test(check: dict[str, JSON]) -> PathTest:
    """The test of one path, without its negation."""
    op = check["op"]
    _require_learnt_form(check)
    if check.get("ci") and op != "contains":
        raise OutsideGrammarError(f"{op} with 'ci' is not in the grammar")
    if op in ("eq", "neq"):
        return PathTest("eq", check["path"], _constant(check))
    if op in ("exists", "missing"):
        return PathTest(op, check["path"])
    if op in ("gte", "lte"):
        other = "value_path" in check
        bound = OtherPath(check["value_path"]) if other else Bound.exactly(check["value"])
        return PathTest(op, check["path"], bound)
    folded = bool(check.get("ci"))
    substring = check["substring"].lower() if folded else check["substring"]
    return PathTest("contains", check["path"], substring, folded)


def _constant(check: dict[str, JSON]) -> JSON:
    """What an equality compares with."""
    if "value_path" in check:
        return OtherPath(check["value_path"])
    value = check["value"]
    return Members(tuple(value)) if isinstance(value, list) else value


def _count(check: dict[str, JSON], where: tuple[Literal, ...], negate: bool) -> Literal:
    bounds = {name: check[name] for name in ("eq", "gte", "lte") if name in check}
    if not bounds or any(bound != int(bound) for bound in bounds.values()):
        raise OutsideGrammarError("a count has a whole bound in the grammar")
    if bounds.keys() == {"gte", "lte"} and bounds["gte"] != bounds["lte"]:
        least, most = int(bounds["gte"]), int(bounds["lte"])
        return Literal(Collect("count", check["collection"], where, ("gte", least), most), negate)
    if len(set(bounds.values())) > 1 or bounds.keys() > {"eq"}:
        raise OutsideGrammarError("a count has one bound or a range in the grammar")
    name, k = "eq" if len(bounds) > 1 else next(iter(bounds)), int(next(iter(bounds.values())))
    if where and (name, k) == ("gte", 1):
        return Literal(Collect("find", check["collection"], where), negate)
    return Literal(Collect("count", check["collection"], where, (name, k)), negate)


def _conjuncts(
    check: dict[str, JSON], negate: bool, scope: Scope | None, cost: DescriptionLength
) -> tuple[Literal, ...]:
    op = check["op"]
    if op == "not":
        return _conjuncts(check["of"], not negate, scope, cost)
    if op in ("and", "or"):
        chosen = _alternatives(check)
        if chosen is not None and (not negate or (scope is not None and cost.holds(scope, chosen))):
            return (Literal(chosen, negate),)
        if (op == "or") is not negate:
            return (_either(check, negate, scope, cost),)
        return tuple(literal for part in check["of"] for literal in _conjuncts(part, negate, scope, cost))
    return (_literal(check, negate, scope, cost),)


def _either(check: dict[str, JSON], negate: bool, scope: Scope | None, cost: DescriptionLength) -> Literal:
    """A disjunction about one element, each part of which is one literal."""
    parts: list[Literal] = []
    for part in check["of"]:
        said = _conjuncts(part, negate, scope, cost)
        if len(said) != 1:
            raise OutsideGrammarError("an and inside an or inside a where is not in the grammar")
        parts += said[0].atom.parts if isinstance(said[0].atom, Either) and not said[0].negated else said
    return parts[0] if len(parts) == 1 else Literal(Either(tuple(parts)))
