"""CEL texts read as checks: the recorded cases, the dialects, faults and where they are shown."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import CheckError, compile_check, from_cel, run_check, sentence

GOLDEN = Path(__file__).parents[1] / "golden" / "autocheck" / "cel.jsonl"
# There the original takes a quoted operator for the operator: a fault of its parser.
QUOTED_OPERATOR = re.compile(r"""(["'])(==|!=|<=|>=|&&|\|\||[<>!.(),\[\]])\1""")


def cases() -> list[dict[str, Any]]:
    with GOLDEN.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_every_recorded_case_has_its_verdict_and_gap() -> None:
    different: list[Any] = []
    graded = [case for case in cases() if not QUOTED_OPERATOR.search(case["check"])]
    for case in graded:
        golden = case["expect"]
        try:
            ours = run_check(case["scene"], from_cel(case["check"]))
        except CheckError as error:
            if "throws" not in golden:
                different.append((case["id"], str(error)))
            continue
        if "throws" in golden or ours.passed is not golden["pass"]:
            different.append((case["id"], ours, golden))
        elif not golden["pass"] and golden["gap"] == 0:  # a strict bound met exactly
            assert ours.gap > 0
        elif ours.gap != float(golden["gap"]) and not (math.isnan(ours.gap) and golden["gap"] == "NaN"):
            different.append((case["id"], ours, golden))
    assert different == []
    assert len(graded) == 1172


def test_a_fault_is_told_in_the_words_of_the_original() -> None:
    """Faults found while parsing: these do not depend on the scene."""
    seen = 0
    for case in cases():
        message = case["expect"].get("throws", "")
        if not message.startswith("CEL: ") or QUOTED_OPERATOR.search(case["check"]):
            continue
        if not case["check"].strip():
            message = "CEL: empty CEL expression"
        try:
            from_cel(case["check"])
            told = None
        except CheckError as error:
            told = error.problem
        if told is not None:
            assert told.startswith(message), case["id"]
            seen += 1
    assert seen > 180


def test_a_quoted_operator_is_a_text() -> None:
    assert from_cel('x == "("') == {"op": "eq", "path": "x", "value": "("}
    assert from_cel('x.contains("!")') == {"op": "contains", "path": "x", "substring": "!"}
    with pytest.raises(CheckError, match="trailing tokens at '&&'"):
        from_cel('a "&&" b')


READ: list[tuple[str, dict[str, Any]]] = [
    ("a.b", {"op": "eq", "path": "a.b", "value": True}),
    ("['k v'][1.].x != 007", {"op": "neq", "path": "k v[1].x", "value": 7}),
    ("a <= '0x1F'", {"op": "lte", "path": "a", "value": 31}),
    ("a <= '\ufeff -2.5e1 '", {"op": "lte", "path": "a", "value": -25}),
    ("a >= ''", {"op": "gte", "path": "a", "value": 0}),
    ("a >= true", {"op": "gte", "path": "a", "value": 1}),
    ("a >= '-Infinity'", {"op": "gte", "path": "a", "value": -(10**309)}),
    ("a <= '\x1c1'", {"op": "cel.compare", "path": "a", "is": "<="}),
    (
        "a < 5",
        {
            "op": "and",
            "of": [{"op": "lte", "path": "a", "value": 5}, {"op": "neq", "path": "a", "value": 5}],
        },
    ),
    (
        "a > 5 && b",
        {
            "op": "and",
            "of": [
                {"op": "cel.compare", "path": "a", "is": ">", "value": 5},
                {"op": "eq", "path": "b", "value": True},
            ],
        },
    ),
    (
        "!(a > 5 && b)",  # there the gap of what is inside does not count
        {
            "op": "not",
            "of": {
                "op": "and",
                "of": [
                    {
                        "op": "and",
                        "of": [
                            {"op": "gte", "path": "a", "value": 5},
                            {"op": "neq", "path": "a", "value": 5},
                        ],
                    },
                    {"op": "eq", "path": "b", "value": True},
                ],
            },
        },
    ),
    ("a.size() > 2", {"op": "count", "collection": "a", "gte": 3}),
    ("a.size() < 2", {"op": "count", "collection": "a", "lte": 1}),
    ("a.size() > 2.5", {"op": "cel.size", "collection": "a", "is": ">", "value": 2.5}),
    ("a == 1.2.3", {"op": "not", "of": {"op": "and", "of": []}}),
    ("a != 1.2.3", {"op": "and", "of": []}),
    ("a.contains(1.50)", {"op": "contains", "path": "a", "substring": "1.5"}),
    (
        "a in ['x', 2]",
        {
            "op": "or",
            "of": [{"op": "eq", "path": "a", "value": "x"}, {"op": "eq", "path": "a", "value": 2}],
        },
    ),
    (
        "xs.all(x, x.ys.exists(y, x.z))",
        {
            "op": "count",
            "collection": "xs",
            "where": {
                "op": "not",
                "of": {
                    "op": "find",
                    "collection": "ys",
                    "where": {"op": "eq", "path": "x.z", "value": True},
                },
            },
            "lte": 0,
        },
    ),
]


@pytest.mark.parametrize(("text", "check"), READ)
def test_a_text_is_read_so(text: str, check: dict[str, Any]) -> None:
    assert from_cel(text) == check
    assert sentence(check)


STANDARD: list[tuple[str, dict[str, Any]]] = [
    ("a == -1.5e3", {"op": "eq", "path": "a", "value": -1500}),
    ("a != null", {"op": "neq", "path": "a", "value": None}),
    (r'a == "\n\x41\u00e9\U0001F642\101\""', {"op": "eq", "path": "a", "value": '\nAé🙂A"'}),
    ("size(a.b) >= 2", {"op": "count", "collection": "a.b", "gte": 2}),
    ("true", {"op": "and", "of": []}),
    (
        "a > 5 && b",
        {
            "op": "and",
            "of": [
                {
                    "op": "and",
                    "of": [{"op": "gte", "path": "a", "value": 5}, {"op": "neq", "path": "a", "value": 5}],
                },
                {"op": "eq", "path": "b", "value": True},
            ],
        },
    ),
]


@pytest.mark.parametrize(("text", "check"), STANDARD)
def test_standard_cel_is_read_so(text: str, check: dict[str, Any]) -> None:
    assert from_cel(text, standard=True) == check


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("xs.exists(x, y.a == 1)", 'its own element, "x", only'),
        ("xs.exists(x, x.ys.exists(y, y == 1 && x.a))", 'its own element, "y", only'),
        ("['a'] == 1", "no name for the whole scene"),
        ("xs.exists(x, [0])", "no name for the whole scene"),
        ("xs.all(x, x.bad())", "unsupported method"),
        ("a < 'm'", "expected a number"),
        ("a.size() == '1'", "expected a number"),
        ("a.contains(1)", "expected a string"),
        ("!has(a, b)", "expected"),
        (r"a == '\q'", "unknown escape"),
        (r"a == '\ud83d'", "no character"),
        ("a == 1.2.3", "trailing tokens"),
    ],
)
def test_standard_cel_refuses(text: str, problem: str) -> None:
    with pytest.raises(CheckError, match=re.escape(problem)) as refusal:
        from_cel(text, standard=True)
    assert refusal.value.problem.startswith("CEL: ")


def test_starts_ends_and_patterns_need_an_operator_that_says_them() -> None:
    pytest.importorskip("re2")
    for text, passing, failing in [
        ("s.startsWith('a.b')", "a.bc", "axbc"),
        ("s.endsWith('é$')", "xé$", "é$\n"),
        ("s.matches('^[0-9]+$')", "123", "12a"),
    ]:
        check = from_cel(text, standard=True)
        assert run_check({"s": passing}, check).passed
        assert not run_check({"s": failing}, check).passed
        with pytest.raises(CheckError, match="unsupported method"):
            from_cel(text)


SHOWN = [
    (
        "active && || off",
        "CEL: unexpected token '||' at line 1, column 11\n  active && || off\n            ^",
    ),
    (
        "['名前é🙂\u0301'] == = 1",
        "CEL: unexpected character '=' at line 1, column 14\n  ['名前é🙂\u0301'] == = 1\n" + " " * 17 + "^",
    ),
    ("a ==\n\t'x", "CEL: unterminated string at line 2, column 2\n   'x\n   ^"),
    (
        "a == 1 && " * 20 + "b == ?",
        "CEL: unexpected character '?' at line 1, column 206\n  ..."
        + ("a == 1 && " * 20 + "b == ")[-48:]
        + "?\n"
        + " " * 53
        + "^",
    ),
]


@pytest.mark.parametrize(("text", "message"), SHOWN)
def test_the_caret_stands_below_the_place(text: str, message: str) -> None:
    with pytest.raises(CheckError) as refusal:
        from_cel(text)
    assert str(refusal.value) == message


def test_a_body_at_fault_is_met_only_where_there_is_an_element() -> None:
    for text in ("active || xs.exists(x, x.bad())", "xs.exists(x, x.bad()) || active"):
        check = from_cel(text)
        assert run_check({"active": True, "xs": []}, check).passed
        assert run_check({"active": False, "xs": []}, check).gap == 1
        for active in (True, False):  # both sides of || are evaluated
            with pytest.raises(CheckError, match=r"^CEL: unsupported method '\.bad\(\)'"):
                run_check({"active": active, "xs": [1]}, check)
    check = from_cel("xs.size() != 2")
    assert run_check({"xs": "text"}, check).gap == 1
    with pytest.raises(CheckError, match="unsupported size comparison '!='"):
        run_check({"xs": []}, check)


@pytest.mark.parametrize(
    ("check", "place"),
    [
        ({"op": "cel.compare", "path": "a", "is": "=", "value": 1}, "$.is"),
        ({"op": "cel.compare", "path": "a", "value": 1}, "$.is"),
        ({"op": "cel.compare", "path": "a", "is": "<", "value": "1"}, "$.value"),
        ({"op": "cel.compare", "path": "a[", "is": "<", "value": 1}, "$.path"),
        ({"op": "cel.size", "collection": "a", "is": "!=", "value": 1}, "$.is"),
        ({"op": "cel.size", "collection": "a", "is": "==", "value": 1, "where": {"op": "x"}}, "$.where.op"),
        ({"op": "cel.unsupported"}, "$.problem"),
    ],
)
def test_the_operators_of_cel_are_judged_when_compiled(check: dict[str, Any], place: str) -> None:
    with pytest.raises(CheckError) as refusal:
        compile_check(check)
    assert refusal.value.place == place


def test_the_operators_of_cel_say_what_they_saw() -> None:
    below = {"op": "cel.compare", "path": "n", "is": "<", "value": 5}
    assert run_check({"n": 4.5}, below).why == "n = 4.5 < 5"
    assert run_check({"n": 7}, below).to_dict() == {"pass": False, "gap": 2, "why": "n: expected < 5, got 7"}
    assert run_check({"n": "7"}, below).why == 'n: expected number < 5, got "7"'
    at_the_bound = run_check({"n": 5}, below)
    assert 0 < at_the_bound.gap < 1e-300
    size = {
        "op": "cel.size",
        "collection": "xs",
        "is": ">",
        "value": 2.5,
        "where": {"op": "exists", "path": ""},
    }
    assert run_check({"xs": [1, 2]}, size).to_dict() == {
        "pass": False,
        "gap": 1.5,
        "why": "xs: count=2, expected > 2.5",
    }
    assert compile_check(size).gap({"xs": [1, 2, 3]}) == 0
    assert run_check({"xs": {}}, size).why == "xs: not an array"


PARTS = [
    *"ax.()[]!<, \\-é",
    "==",
    "&&",
    "||",
    "in",
    "1",
    ".5",
    "'s'",
    "true",
    "has(",
    ".size()",
    ".exists(x, ",
]
PARTS += [".all(x, ", ".filter(x, ", ".contains("]


@given(
    st.lists(st.sampled_from(PARTS), max_size=14).map(" ".join)
    | st.text(st.characters(exclude_categories=()), max_size=20),
    st.booleans(),
)
def test_any_text_gives_a_check_or_is_refused_as_cel(text: str, standard: bool) -> None:
    problem = "CEL: "
    try:
        compile_check(from_cel(text, standard=standard))
    except CheckError as refusal:
        problem = refusal.problem
    assert problem.startswith("CEL: ")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5_000 + "a" + ")" * 5_000,
        "a[" * 100_000,
        "xs.exists(x, " * 3_000 + "x" + ")" * 3_000,
        "a && " * 30_000 + "a",
        "!" * 100_000 + "a",
    ],
)
def test_texts_nested_too_deeply_or_too_long_are_refused(text: str) -> None:
    with pytest.raises(CheckError, match=r"^CEL: "):
        from_cel(text)


def test_long_flat_texts_are_read() -> None:
    path = ".".join(["a"] * 20_000)
    assert from_cel(path)["path"] == path
    assert len(from_cel(" || ".join(["a == 1"] * 10_000))["of"]) == 10_000


def test_only_texts_are_read() -> None:
    with pytest.raises(CheckError, match="CEL: an expression is a string, got null"):
        from_cel(None)  # type: ignore[arg-type]


def deep(frames: int, text: str) -> Any:
    """`from_cel` called that many frames further down."""
    return from_cel(text) if frames == 0 else deep(frames - 1, text)


@pytest.mark.parametrize("opening", ["(", "!(", "xs.exists(x, "])
def test_the_limit_of_nesting_is_stated_and_does_not_depend_on_the_stack(opening: str) -> None:
    per_level = 2 if opening == "!(" else 1
    most = 100 // per_level
    fits, too_deep = (opening * levels + "a" + ")" * levels for levels in (most, most + 1))
    assert from_cel(fits) == deep(800, fits)
    for read in (from_cel, lambda text: deep(800, text)):
        with pytest.raises(CheckError, match="nested deeper than 100 levels"):
            read(too_deep)
