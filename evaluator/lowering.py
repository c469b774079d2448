"""Saying assertions over traces in core operators, where those say the same.

`lower` keeps the verdict on every scene that holds a valid trace at the path given (steps are objects with
names, the message is a text, without an İ where its case does not count) and, if it asks of the world, a
world of records that are objects. What is not evaluated does not pass, and neither does its negation: a
negated assertion is lowered to what shows its failure, never to the mere absence of a pass. Gaps may differ.
Assertions that core operators cannot say (order, groups, trees, schemas, judges) are refused, all of them
named at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import ceil, floor
from typing import Any, Final, NamedTuple

from evaluator.check import is_defined, snapshot
from evaluator.compile import compile_check
from evaluator.errors import CheckError
from evaluator.expression import sub_checks
from evaluator.path import Property, Segment, format_path, parse_path

Wire = dict[str, Any]

_NEVER: Final[Wire] = {"op": "or", "of": []}


class _Said(NamedTuple):
    """An assertion in core operators: what passes where it passes, and what passes where it fails."""

    passes: Wire
    fails: Wire


class _UnsayableError(Exception):
    """Core operators cannot say it; the text says why."""


def lower(check: object, *, trace: str = "trace") -> Wire:
    """The check without assertions over traces, or `CheckError` naming those that core operators cannot say.

    Parameters:
        check: anything `compile_check` takes; an id, meta and unknown keys stay.
        trace: the path to the trace in the scenes; "" where the scene is the trace.

    >>> lower({"op": "trace.required_tools", "tools": ["pay"]})
    {'op': 'find', 'collection': 'trace.steps', 'where': {'op': 'eq', 'path': 'name', 'value': 'pay'}}
    """
    wire = compile_check(check).check
    lowering = _Lowering(parse_path(trace))
    if is_defined(wire):
        lowered: Wire = wire | {"expr": lowering.passes(wire["expr"], "$.expr")}
    else:
        lowered = lowering.passes(wire, "$")
    if lowering.problems:
        told = "; ".join(f"{place}: {problem}" for place, problem in lowering.problems)
        place = lowering.problems[0][0] if len(lowering.problems) == 1 else "$"
        raise CheckError(f"core operators cannot say this: {told}", place)
    copy: Wire = snapshot(lowered)
    return copy


class _Lowering:
    """One walk over a check; collects what cannot be said."""

    def __init__(self, trace: tuple[Segment, ...]) -> None:
        self.trace = trace
        self.problems: list[tuple[str, str]] = []

    def passes(self, check: Wire, place: str) -> Wire:
        """What passes where the check passes."""
        op = check["op"]
        if not _has_assertion(check):
            return check
        if op == "not":
            return self.fails(check["of"], f"{place}.of")
        if op in ("and", "or"):
            return check | {
                "of": [self.passes(part, f"{place}.of[{at}]") for at, part in enumerate(check["of"])]
            }
        if op == "find":
            return check | {"where": self.passes(check["where"], f"{place}.where")}
        return self._assertion(check, place).passes

    def fails(self, check: Wire, place: str) -> Wire:
        """What passes where the check fails and is evaluated."""
        op = check["op"]
        if not _has_assertion(check):
            return _not(check)
        if op == "not":
            return self.passes(check["of"], f"{place}.of")
        if op in ("and", "or"):
            parts = [self.fails(part, f"{place}.of[{at}]") for at, part in enumerate(check["of"])]
            return {"op": "or" if op == "and" else "and", "of": parts}
        if op == "find":
            return _not(check | {"where": _not(self.fails(check["where"], f"{place}.where"))})
        return self._assertion(check, place).fails

    def _assertion(self, check: Wire, place: str) -> _Said:
        op = check["op"]
        say = _SAYABLE.get(op)
        try:
            if say is None:
                raise _UnsayableError(f'they have nothing for "{op}"')
            return say(check, self)
        except _UnsayableError as problem:
            self.problems.append((f"{place}.op", str(problem)))
        except CheckError as error:  # a name that no path can hold
            self.problems.append((f"{place}.op", error.problem))
        return _Said(_NEVER, _NEVER)

    def path(self, *segments: Segment) -> str:
        """A path into the trace."""
        return format_path((*self.trace, *segments))

    def count(self, where: Wire | None, **bounds: float) -> Wire:
        """How many steps there may be; steps that are absent are none."""
        given = {} if where is None else {"where": where}
        steps = self.path(Property("steps"))
        return {"op": "count", "collection": steps, **given, **bounds, "absent": "empty"}

    def some(self, where: Wire) -> Wire:
        """Some step is such that."""
        return {"op": "find", "collection": self.path(Property("steps")), "where": where}


def _has_assertion(check: Wire) -> bool:
    if "." in check["op"] and not check["op"].startswith("cel."):
        return True
    return any(_has_assertion(inner) for _, inner in sub_checks(check))


# Pieces


def _not(check: Wire) -> Wire:
    return {"op": "not", "of": check}


def _and(*parts: Wire) -> Wire:
    return parts[0] if len(parts) == 1 else {"op": "and", "of": list(parts)}


def _or(*parts: Wire) -> Wire:
    return parts[0] if len(parts) == 1 else {"op": "or", "of": list(parts)}


def _eq(path: str, value: Any) -> Wire:
    return {"op": "eq", "path": path, "value": value}


def _named(names: Any) -> Wire:
    return _or(*(_eq("name", name) for name in dict.fromkeys(names)))


def _call(name: str) -> Wire:
    return _and(_eq("type", "tool_call"), _eq("name", name))


def _surely(passes: Wire) -> _Said:
    """An assertion that is evaluated on every trace."""
    return _Said(passes, _not(passes))


def _bounds(operator: str, value: float) -> dict[str, float]:
    """The bounds of a count that stands to a number as the operator says."""
    if operator == "eq":
        return {"eq": value}
    if operator in ("lte", "lt"):
        return {"lte": value if operator == "lte" else ceil(value) - 1}
    return {"gte": value if operator == "gte" else floor(value) + 1}


def _require_absent(check: Wire, *names: str) -> None:
    for name in names:
        if name in check:
            raise _UnsayableError(f'they cannot say "{name}" of "{check["op"]}"')


def _keys(path: str) -> tuple[Property, ...]:
    """A dot path, which goes through objects only, as segments that do the same."""
    keys = path.split(".")
    if any(not key or key == "length" or key.isdigit() for key in keys):
        raise _UnsayableError(f'the dot path "{path}" may mean something else to them')
    return tuple(map(Property, keys))


def _require_scalar(value: Any) -> None:
    if type(value) is dict or type(value) is list:
        raise _UnsayableError("arrays and objects may be equal in other ways to them")


# The families


def _required_tools(check: Wire, to: _Lowering) -> _Said:
    return _surely(_and(*(to.some(_eq("name", name)) for name in dict.fromkeys(check["tools"]))))


def _forbidden_tools(check: Wire, to: _Lowering) -> _Said:
    return _surely(to.count(_named(check["tools"]), lte=0))


def _no_tool_loops(check: Wire, to: _Lowering) -> _Said:
    return _surely(to.count(_eq("name", check["tool"]), lte=check.get("max_repetitions", 1)))


def _run_of_tools(check: Wire, to: _Lowering) -> _Said:
    if len(check["tools"]) > 1:
        raise _UnsayableError("they know no order")
    return _required_tools(check, to)


def _under(metric: str, argument: str) -> Callable[[Wire, _Lowering], _Said]:
    return lambda check, to: _measured(to, metric, {"lte": check[argument]})


def _tokens_between(check: Wire, to: _Lowering) -> _Said:
    return _measured(to, "total_tokens", {"gte": check["min_tokens"], "lte": check["max_tokens"]})


def _measured(to: _Lowering, metric: str, bounds: dict[str, float]) -> _Said:
    path = to.path(Property("metadata"), Property(metric))
    holds = _and(*({"op": operator, "path": path, "value": bound} for operator, bound in bounds.items()))
    is_number = _or({"op": "gte", "path": path, "value": 0}, {"op": "lte", "path": path, "value": 0})
    return _Said(holds, _and(is_number, _not(holds)))


def _step_count(check: Wire, to: _Lowering) -> _Said:
    return _surely(to.count(None, **_bounds(check["operator"], check["value"])))


def _tool_call_count(check: Wire, to: _Lowering) -> _Said:
    return _surely(to.count(_eq("type", "tool_call"), **_bounds(check["operator"], check["value"])))


def _constraint(check: Wire, to: _Lowering) -> _Said:
    field, operator = check["field"], check["operator"]
    between = operator == "between"
    ends: dict[str, float] = {"gte": check["min"], "lte": check["max"]} if between else {}
    if field.startswith("metadata."):
        bounds = ends or {operator: check["value"]}
        return _measured(to, field.removeprefix("metadata."), bounds)
    typed = field.removeprefix("steps[?type=='").removesuffix("'].length") if "[" in field else None
    where = None if typed is None else _eq("type", typed)
    return _surely(to.count(where, **(ends or _bounds(operator, check["value"]))))


def _tool_cardinality(check: Wire, to: _Lowering) -> _Said:
    _require_absent(check, "per")
    bounds = {"lte": check.get("at_most"), "gte": check.get("at_least")}
    given = {name: bound for name, bound in bounds.items() if bound is not None}
    return _surely(to.count(_call(check["tool"]), **given))


def _trajectory(check: Wire, to: _Lowering) -> _Said:
    mode = check.get("mode", "strict")
    wanted: Counter[str] = Counter(check["tools"])
    if mode == "strict" and check["tools"]:
        raise _UnsayableError("they know no order")
    bound = {"subset": "lte", "superset": "gte"}.get(mode, "eq")
    parts = [to.count(_call(name), **{bound: number}) for name, number in wanted.items()]
    if mode != "superset":
        others = _eq("type", "tool_call")
        parts.append(to.count(_and(others, _not(_named(wanted))) if wanted else others, lte=0))
    return _surely({"op": "and", "of": parts})


def _tool_arg_satisfies(check: Wire, to: _Lowering) -> _Said:
    path, operator, value = (
        format_path((Property("args"), *_keys(check["arg"]))),
        check["operator"],
        check["value"],
    )
    for member in value if operator in ("in", "not_in") else [value]:
        _require_scalar(member)
    if operator in ("in", "not_in"):
        holds: Wire = {"op": "or", "of": [_eq(path, member) for member in value]}
    elif operator in ("eq", "ne"):
        holds = _eq(path, value)
    else:
        holds = {"op": operator, "path": path, "value": value}
    if operator in ("ne", "not_in"):
        holds = _not(holds)
    present = {"op": "exists", "path": path}
    call = _call(check["tool"])
    return _Said(
        to.count(_and(call, _not(_and(present, holds))), lte=0),
        to.some(_and(call, present, _not(holds))),
    )


def _world_count(check: Wire, _to: _Lowering) -> _Said:
    _require_absent(check, "snapshot")
    where = check.get("where") or {}
    for value in where.values():
        _require_scalar(value)
    wanted = [_eq(format_path((Property(name),)), value) for name, value in where.items()]
    bounds = {"eq": check.get("equals"), "lte": check.get("at_most"), "gte": check.get("at_least")}
    holds: Wire = {
        "op": "count",
        "collection": format_path((Property("world"), Property(check["resource"]))),
        **({"where": _and(*wanted)} if wanted else {}),
        **{name: bound for name, bound in bounds.items() if bound is not None},
    }
    known = _and({"op": "exists", "path": "world"}, {"op": "neq", "path": "world", "value": None})
    return _Said(holds, _and(known, _not(holds)))


def _contains(path: str, value: str, check: Wire) -> Wire:
    case_sensitive = check.get("case_sensitive", False)
    if not case_sensitive and not value.isascii():
        raise _UnsayableError("they lower letters beyond ASCII in another way")
    return {"op": "contains", "path": path, "substring": value} | ({} if case_sensitive else {"ci": True})


def _message(to: _Lowering) -> str:
    return to.path(Property("output"), Property("message"))


def _is_text(to: _Lowering) -> Wire:
    """The message is there and a text."""
    return {"op": "contains", "path": _message(to), "substring": ""}


def _output_contains(check: Wire, to: _Lowering) -> _Said:
    return _surely(_contains(_message(to), check["value"], check))


def _output_not_contains(check: Wire, to: _Lowering) -> _Said:
    return _surely(_and(_is_text(to), _not(_contains(_message(to), check["value"], check))))


def _output_matches_regex(check: Wire, to: _Lowering) -> _Said:
    return _surely({"op": "matches", "path": _message(to), "pattern": check["pattern"]})


def _keywords(joint: str) -> Callable[[Wire, _Lowering], _Said]:
    def say(check: Wire, to: _Lowering) -> _Said:
        parts = [_contains(_message(to), keyword, check) for keyword in check["keywords"]]
        return _surely({"op": joint, "of": parts} if parts or joint == "or" else _is_text(to))

    return say


def _output_forbids(check: Wire, to: _Lowering) -> _Said:
    found = [_contains(_message(to), term, {}) for term in check["terms"]]
    return _surely(_and(_is_text(to), *map(_not, found)))


def _content_contains(check: Wire, to: _Lowering) -> _Said:
    if check["target"] != "output.message":
        raise _UnsayableError(f'they search texts alone, and "{check["target"]}" may be another value')
    return _output_contains(check, to)


_SAYABLE: Final[dict[str, Callable[[Wire, _Lowering], _Said]]] = {
    "trace.required_tools": _required_tools,
    "trace.forbidden_tools": _forbidden_tools,
    "trace.no_tool_loops": _no_tool_loops,
    "trace.tools_called_in_order": _run_of_tools,
    "trace.tools_called_exactly": _run_of_tools,
    "constraint.cost_under": _under("cost_usd", "max_cost"),
    "constraint.latency_under": _under("latency_ms", "max_ms"),
    "constraint.tokens_under": _under("total_tokens", "max_tokens"),
    "constraint.tokens_between": _tokens_between,
    "constraint.step_count": _step_count,
    "constraint.tool_call_count": _tool_call_count,
    "constraint.constraint": _constraint,
    "behaviour.tool_cardinality": _tool_cardinality,
    "behaviour.trajectory": _trajectory,
    "behaviour.tool_arg_satisfies": _tool_arg_satisfies,
    "effect.world_count": _world_count,
    "content.output_contains": _output_contains,
    "content.output_not_contains": _output_not_contains,
    "content.output_matches_regex": _output_matches_regex,
    "content.output_has_all_keywords": _keywords("and"),
    "content.output_has_any_keyword": _keywords("or"),
    "content.output_forbids": _output_forbids,
    "content.content_contains": _content_contains,
}
