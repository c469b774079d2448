"""JSON going out and coming in: what is written can be read by anyone, what is read has one meaning."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from typing import Any

import pytest

from evaluator import canonical_json, json_text
from evaluator.json_read import JsonTextError, read_json


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": [1, 1.0, True, None], "a": {}}, '{"b": [1, 1, true, null], "a": {}}'),
        ({"gap": float("inf"), "low": float("-inf")}, '{"gap": "Infinity", "low": "-Infinity"}'),
        (
            [1e-7, -0.0, 0.1 + 0.2, 2**53 + 1, 10**25],
            "[1e-7, 0, 0.30000000000000004, 9007199254740993, 1" + "0" * 25 + "]",
        ),
        ([2.0**64], "[1.8446744073709552e+19]"),
        ("é🙂\ud83d\n", '"é🙂\\ud83d\\n"'),
        ((1, (2,)), "[1, [2]]"),
        ("", '""'),
    ],
)
def test_json_text_is_what_leaves_the_program(value: Any, text: str) -> None:
    assert json_text(value) == text
    assert json_text(value).encode("utf-8")
    json.loads(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [1.0, True]}, '{"a":[1,true],"b":1}'),
        ([1e21, 10**21], "[1" + "0" * 21 + ",1" + "0" * 21 + "]"),
        ([2**53 + 1, 2.0**53], "[9007199254740993,9007199254740992]"),
        ([-0.0, 1.5e-7], "[0,1.5e-7]"),
        ({"é": "🙂"}, '{"é":"🙂"}'),
    ],
)
def test_canonical_text_writes_equal_values_equally(value: Any, text: str) -> None:
    assert canonical_json(value) == text


def test_depth_is_no_limit_to_writing() -> None:
    deep: Any = []
    for _ in range(20_000):
        deep = [deep]
    assert len(json_text(deep)) == 40_002
    shared = [1]
    assert canonical_json([shared, shared]) == "[[1],[1]]"


@pytest.mark.parametrize("write", [json_text, canonical_json])
@pytest.mark.parametrize("value", [{1}, b"x", {1: 2}, [object()]])
def test_what_is_not_json_is_not_written(write: Any, value: Any) -> None:
    with pytest.raises(ValueError, match=r"JSON value|keys are strings"):
        write(value)


def test_what_contains_itself_or_has_no_canonical_form_is_not_written() -> None:
    cyclic: list[Any] = []
    cyclic.append({"again": cyclic})
    with pytest.raises(ValueError, match="contain itself"):
        json_text(cyclic)
    with pytest.raises(ValueError, match="not a JSON number"):
        canonical_json([float("nan")])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 1.0, true, null, "\\ud83d\\ude42"]}', {"a": [1, 1.0, True, None, "🙂"]}),
        ("\ufeff[1]", [1]),
        ("9007199254740993", 9007199254740993),
        ('"NaN and Infinity and 1e400"', "NaN and Infinity and 1e400"),
        ("1e300", 1e300),
        ("-0", 0),
    ],
)
def test_json_is_read_as_it_stands(text: str, value: Any) -> None:
    assert read_json(text.encode()) == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"[1,", "not JSON"),
        (b"", "not JSON"),
        (b"{'a': 1}", "not JSON"),
        (b'{"a": 1} x', "not JSON: extra data"),
        (b'{"a": [0, NaN]}', "$.a[1]: NaN is no JSON number"),
        (b'{"a": {"b c": -Infinity}}', '$.a["b c"]: a number is Infinity'),
        (b"[1e400]", "$[0]: a number is Infinity, or too large for a double"),
        (b"1" * 250 + b"e99", "$: a number is Infinity, or too large for a double"),
        (b"[" + b"9" * 400 + b".5]", "too large for a double"),
        (b"1" * 5000, "too many digits"),
        (b'["\\ud83d"]', '$[0]: the text "\\ud83d" holds half of a surrogate pair'),
        (b'{"\\ude42": 1}', "half of a surrogate pair"),
        (b'{"a": 1, "a": 2}', 'the key "a" stands twice'),
        (b'"\xff"', "not UTF-8 at byte 2 of the line; save it as UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        ("[1]".encode("utf-16"), "not UTF-8 but UTF-16, by its byte order mark; save it as UTF-8"),
        ("[1]".encode("utf-32"), "not UTF-8 but UTF-32, by its byte order mark; save it as UTF-8"),
        (gzip.compress(b"[1]", mtime=0), "compressed with gzip; unpack it first (gzip -dc < FILE)"),
        (bz2.compress(b"[1]"), "compressed with bzip2; unpack it first (bzip2 -dc < FILE)"),
        (bz2.compress(b""), "compressed with bzip2"),
        (lzma.compress(b"[1]"), "compressed with xz; unpack it first (xz -dc < FILE)"),
        (b"\x28\xb5\x2f\xfd [1]", "compressed with zstd; unpack it first (zstd -dc < FILE)"),
        (b"PK\x03\x04 [1]", "compressed with zip; unpack it first (unzip -p FILE)"),
        (b"BZh9 is text", "not JSON"),
    ],
)
def test_json_with_no_or_two_meanings_is_refused(text: bytes, problem: str) -> None:
    with pytest.raises(JsonTextError) as caught:
        read_json(text)
    assert problem in str(caught.value)


def test_a_syntax_error_has_its_line_and_column() -> None:
    with pytest.raises(JsonTextError) as caught:
        read_json(b'{\n  "op": "eq",\n  "path" "a"\n}')
    assert (caught.value.line, caught.value.column) == (3, 10)
