"""Small traces and worlds for the tests of assertions, and ways to judge them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from evaluator.assertions.judgement import Judgement, SpecError
from evaluator.assertions.method import Method
from evaluator.assertions.view import view_of
from evaluator.providers import Providers

TYPES = ("tool_call", "tool_call", "tool_call", "llm_call", "retrieval")


def step(name: str, args: Any = None, kind: str = "tool_call", **fields: Any) -> dict[str, Any]:
    """A step; without the key `args` when they are None."""
    made = {"type": kind, "name": name, **fields}
    return made if args is None else made | {"args": args}


def trace(*steps: dict[str, Any], message: str = "done", **fields: Any) -> dict[str, Any]:
    """A trace of these steps."""
    return {"trace_id": "t-1", "steps": list(steps), "output": {"message": message}, **fields}


def calls(*names: str) -> dict[str, Any]:
    """A trace of tool calls without arguments."""
    return trace(*(step(name) for name in names))


def judged(
    methods: Sequence[Method], method: str, scene: Any, providers: Providers | None = None, **arguments: Any
) -> Judgement:
    """What a method of a family says of a scene."""
    found = next(each for each in methods if each.name == method)
    return found.build(arguments)(view_of(scene, providers))


def is_unusable(methods: Sequence[Method], method: str, **arguments: Any) -> bool:
    """Whether the arguments are refused when the assertion is built."""
    found = next(each for each in methods if each.name == method)
    try:
        found.build(arguments)
    except SpecError as error:
        return error.problem.startswith(f"{method}: spec: ")
    return False


NAMES = st.sampled_from(["a", "b", "c", "d"])
NAME_LISTS = st.lists(NAMES, max_size=7)

SCALARS = st.one_of(
    st.none(), st.booleans(), st.sampled_from([0, 1, 2, 3, 1.0, 2.5, -1]), st.sampled_from(["", "1", "a"])
)
VALUES = st.one_of(
    SCALARS, st.lists(SCALARS, max_size=2), st.dictionaries(st.sampled_from(["k", "0"]), SCALARS, max_size=2)
)


@st.composite
def runs(draw: st.DrawFn, max_steps: int = 9) -> dict[str, Any]:
    """Traces of steps of several types and few names."""
    names = draw(st.lists(st.tuples(NAMES, st.sampled_from(TYPES)), max_size=max_steps))
    return trace(*(step(name, kind=kind) for name, kind in names))


def called(run: dict[str, Any]) -> list[str]:
    """The names of the calls of a trace."""
    return [each["name"] for each in run["steps"] if each["type"] == "tool_call"]


def json_equal(left: Any, right: Any) -> bool:
    """Equality of JSON values, by the definition and not by the code under test."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left == right
    if type(left) is not type(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(json_equal(x, y) for x, y in zip(left, right, strict=True))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(json_equal(left[key], right[key]) for key in left)
    return bool(left == right)
