"""Strict JSON: what is refused, and that the judge names the place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from induce.scenes.jsontext import MAX_NESTING, JsonError, find_fault, find_foreign, json_path, parse_json

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
)


@pytest.mark.parametrize(
    ("text", "path", "offset", "message"),
    [
        ("", "$", 0, "not JSON, expected a value but found the end of the text"),
        ('{"a": 1,}', "$", 8, 'not JSON, expected a key in double quotes but found "}"'),
        ('{"a": [1, 2 3]}', "$.a[1]", 12, 'not JSON, expected a comma or ] but found "3"'),
        ("{'a': 1}", "$", 1, 'not JSON, expected a key in double quotes or } but found "\'"'),
        ('{"a" 1}', "$", 5, 'not JSON, expected a colon after the key "a" but found "1"'),
        ('{"a": 01}', "$.a", 6, 'not JSON, expected a value but found "01"'),
        ('{"a": "x', "$.a", 6, "not JSON, the text that starts here has no closing double quote"),
        ('["\x01"]', "$[0]", 2, "not JSON, the text has a raw control character; write \\u0001"),
        (
            '{"a": "C:\\dir"}',
            "$.a",
            9,
            "not JSON, the text has an escape that JSON does not know; write \\\\ for a backslash",
        ),
        ("1 2", "$", 2, 'not JSON, expected nothing after the value but found "2"'),
        ('{"a": {"b": NaN}}', "$.a.b", 12, "NaN is not JSON; leave the key out or write null"),
        ('{"a": [Infinity]}', "$.a[0]", 7, "Infinity is not JSON; write a number or leave the key out"),
        ("[[], -Infinity]", "$[1]", 5, "-Infinity is not JSON; write a number or leave the key out"),
        ('{"a b": 1e400}', '$["a b"]', 8, "the number 1e400 is beyond the range of a double"),
        ("-1e400", "$", 0, "the number -1e400 is beyond the range of a double"),
        ('{"a": True}', "$.a", 6, "True is Python, JSON writes true"),
        ('{"a": "\\ud800"}', "$.a", 6, 'the text "\\ud800" holds a lone surrogate, which is no character'),
        (
            '{"a": "\\udc00\\ud800"}',
            "$.a",
            6,
            'the text "\\udc00\\ud800" holds a lone surrogate, which is no character',
        ),
        (
            '{"a": {"\\udc00": 1}}',
            "$.a",
            7,
            'the key "\\udc00" holds a lone surrogate, which is no character',
        ),
        ('{"a": {"k": 1, "k": 1}}', "$.a", 15, 'the key "k" is given twice in one object'),
        ('{"a": {"k": 1, "\\u006b": 2}}', "$.a", 15, 'the key "k" is given twice in one object'),
        ('{"a": ' + "9" * 5000 + "}", "$.a", 6, "a whole number of 5,000 digits is too long to read"),
    ],
)
def test_names_place_and_fault(text: str, path: str, offset: int, message: str) -> None:
    with pytest.raises(JsonError) as caught:
        parse_json(text)
    assert (caught.value.path, caught.value.offset, caught.value.message) == (path, offset, message)


def test_nesting_has_a_limit_but_no_recursion() -> None:
    for depth in (MAX_NESTING + 1, 5_000, 200_000):
        for text in ("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth, "[" * depth):
            with pytest.raises(JsonError, match=f"nested deeper than {MAX_NESTING} levels") as caught:
                parse_json(text)
            assert len(str(caught.value)) < 200
    depth = MAX_NESTING
    assert parse_json("[" * depth + "]" * depth)
    assert parse_json("[" + "[]," * 1_000 + "{}]")[-1] == {}


def test_accepts_what_json_allows() -> None:
    text = (
        '{"big": 123456789012345678901234567890, "e": "\\ud83d\\ude00", "\\\\ud800": "\\\\ud800", "f": -0.0}'
    )
    assert parse_json(text) == json.loads(text)
    assert parse_json(" \r\n\t[1E5, -1e-400, 0.1]\n") == [1e5, 0.0, 0.1]


@given(TREES)
def test_round_trip(value: Any) -> None:
    try:
        text = json.dumps(value, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value)
        with pytest.raises(JsonError, match="lone surrogate"):
            parse_json(text)
        assert find_foreign(value) is not None
    else:
        assert json.dumps(parse_json(text), ensure_ascii=False) == text
        assert find_fault(text) is None
        assert find_foreign(value) is None


@given(TREES, st.data())
def test_judge_and_parser_agree_on_damaged_texts(value: Any, data: st.DataObject) -> None:
    """A fault is always placed: the parser refuses exactly the texts that the judge refuses."""
    text = json.dumps(value, ensure_ascii=data.draw(st.booleans()))
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 2))
    added = data.draw(
        st.sampled_from([*'"\\,:[]{}-+.eE0N \t\n\x00', "\\u", "\\ud800", "1e999", "NaN", "nul", "\u00a0"])
    )
    damaged = text[:at] + added + text[at + cut :]
    fault = find_fault(damaged)
    if fault is None:
        assert json.dumps(parse_json(damaged)) == json.dumps(json.loads(damaged))
    else:
        with pytest.raises(JsonError) as caught:
            parse_json(damaged)
        assert str(caught.value) == str(fault)
        assert fault.offset is not None
        assert 0 <= fault.offset <= len(damaged)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": (1, 2)}, "$.a: a value of type tuple is not JSON; convert it first"),
        ({"a": [{1, 2}]}, "$.a[0]: a value of type set is not JSON; convert it first"),
        ({"a": {"b": float("nan")}}, "$.a.b: NaN is not JSON; leave the key out or write null"),
        ([float("-inf")], "$[0]: an infinite number is not JSON; leave the key out or write null"),
        ({1: 2}, "$: the key 1 is not text, as keys of JSON objects are"),
        ({"k": {"\ud800": 1}}, '$.k: the key "\\ud800" holds a lone surrogate, which is no character'),
        (["\ud800"], '$[0]: the text "\\ud800" holds a lone surrogate, which is no character'),
        ([10**4300], "$[0]: a whole number of more than 4,300 digits is too long"),
    ],
)
def test_python_values_that_are_no_json(value: object, message: str) -> None:
    assert str(find_foreign(value)) == message


def test_cyclic_values_are_too_deep() -> None:
    loop: list[object] = []
    loop.append({"again": loop})
    assert f"nested deeper than {MAX_NESTING} levels" in str(find_foreign(loop))


def test_json_path_quotes_what_is_no_name() -> None:
    assert json_path(("items", 2, "p95.latency", "", "größe")) == '$.items[2]["p95.latency"][""].größe'
