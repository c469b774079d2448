"""Paths: what parses, and where each kind of segment leads."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from wellformedness import is_path

from evaluator import MISSING, CheckError, Lookup, SceneError, lookup, resolve
from evaluator.path import Has, Index, Keyed, Property, parse_path

SCENE: dict[str, Any] = {
    "a": {"b": {"c": 1, "n": None}},
    "list": [{"id": 7, "tags": ["x y", 1, None]}, None, {"id": "8"}, "text", [5], {"id": 1.0, "ok": True}],
    "emoji": "é🙂!",
    "constructor": 3,
    "": {"": "empty"},
}


@pytest.mark.parametrize(
    ("path", "segments"),
    [
        ("", ()),
        ("...", ()),
        (".a..b.", (Property("a"), Property("b"))),
        ("a[0]b", (Property("a"), Index("0"), Property("b"))),
        ("a[id=x=y]", (Property("a"), Keyed("id", "x=y"))),
        ("[ a b = c ]", (Keyed("a b", "c"),)),
        ("[t has a has b]", (Has("t", "a has b"),)),
        ("[a=1 has 2]", (Has("a=1", "2"),)),
        ("[t has  ]", (Has("t", ""),)),
        ("[id=  ]", (Keyed("id", ""),)),
        ("[t\ufeffhas\u00a0v]", (Has("t", "v"),)),
        (" a b ", (Property(" a b "),)),
        ('a["p95.latency"]', (Property("a"), Property("p95.latency"))),
        ('[""]["x]"].y', (Property(""), Property("x]"), Property("y"))),
        (r'["a\u002eb\"\n[0]"]', (Property('a.b"\n[0]'),)),
        ('["a"=1]', (Keyed('"a"', "1"),)),
        ('[id="a"]', (Keyed("id", '"a"'),)),
        ('["a=b"]', (Keyed('"a', 'b"'),)),
    ],
)
def test_a_path_parses_into_its_segments(path: str, segments: tuple[Any, ...]) -> None:
    assert parse_path(path) == segments


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("a[0", "unclosed [ in path: a[0"),
        ("a]", "unparseable path segment at 1"),
        ("🙂]", "unparseable path segment at 2"),
        ("[]", "[]"),
        ("[-1]", "[-1]"),
        ("[x]", "[x]"),
        ("[ 0 ]", "[ 0 ]"),
        ("[id=]", "[id=]"),
        ("[=1]", "[=1]"),
        ("[٣]", "[٣]"),
        ('["c"]', "a key that can stand bare is not quoted: .c"),
        ("['c.d']", "['c.d']"),
        ('["a.b]', '["a.b]'),
        (r'["a.\x"]', "invalid bracket"),
        ('["a.b" ]', '["a.b" ]'),
        ("[id=a\n]", "[id=a\n]"),
        ("[t has a\u2028]", "[t has"),
        ("[t\u0085has\u0085v]", "invalid bracket segment"),
    ],
)
def test_a_path_that_does_not_parse_is_refused_whatever_the_scene(path: str, problem: str) -> None:
    with pytest.raises(CheckError) as caught:
        resolve(None, path)
    assert problem in str(caught.value)


@pytest.mark.parametrize("path", [None, 5, b"a", ["a"]])
def test_a_path_is_a_string(path: Any) -> None:
    with pytest.raises(CheckError, match="a path is a string"):
        lookup({}, path)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("", SCENE),
        ("a.b.c", 1),
        ("a.b.n", None),
        ("a.b.n.x", MISSING),
        ("a.x.y.z", MISSING),
        ("list.length", 6),
        ("list.2.id", "8"),
        ("list.02", MISSING),
        ("list[02].id", "8"),
        ("list[99999999999999999999999]", MISSING),
        ("list[id=7].tags[0]", "x y"),
        ("list[id=1]", SCENE["list"][5]),
        ("list[id=1.0]", MISSING),
        ("list[ok=true].id", 1.0),
        ("list[length=4]", "text"),
        ("list[nope=undefined].id", 7),
        ("list[tags has x y].id", 7),
        ("list[tags has null].id", 7),
        ("list[tags=x y,1,].id", 7),
        ("a[0]", MISSING),
        ("emoji.length", 4),
        ("emoji.1", "\ud83d"),
        ("emoji.9", MISSING),
        ("emoji[0]", MISSING),
        ("constructor", 3),
        ("a.constructor", MISSING),
        ("a.toString", MISSING),
        ("list.map", MISSING),
    ],
)
def test_a_path_leads_to_a_value_or_to_nothing(path: str, value: Any) -> None:
    found = lookup(SCENE, path)
    assert found == Lookup(value is not MISSING, value)
    assert resolve(SCENE, path) == found.value


def test_the_whole_of_an_absent_scene_is_not_present() -> None:
    assert lookup(MISSING, "") == Lookup(False, MISSING)
    assert lookup(None, "") == Lookup(True, None)


@pytest.mark.parametrize("foreign", [{1, 2}, b"x", (1,), object(), 1j])
def test_a_path_through_what_is_not_json_says_so(foreign: Any) -> None:
    for path in ("a.b", "a.b.c.d", "a[0]", "a[x=1]", "a[x has 1]"):
        with pytest.raises(SceneError) as caught:
            resolve({"a": foreign}, path)
        assert caught.value.place == path
        assert type(foreign).__name__ in str(caught.value)


def test_a_path_of_many_segments_is_no_trouble() -> None:
    deep: Any = 1
    for _ in range(20_000):
        deep = {"a": deep}
    assert resolve(deep, "a." * 20_000) == 1
    with pytest.raises(CheckError, match="unclosed"):
        parse_path("a[0]" * 20_000 + "[")
    assert parse_path("[a has" + " " * 50_000 + "]") == (Has("a", ""),)
    assert parse_path('["."]' * 100_000) == (Property("."),) * 100_000
    for hostile in ('["' * 50_000, '["=1]' * 50_000, r'["\=1]' * 50_000, '["' + "\\" * 100_001):
        with suppress(CheckError):
            parse_path(hostile)


PIECES = [
    "a",
    "b c",
    ".",
    "[",
    "]",
    "=",
    "0",
    "12",
    " ",
    " has ",
    "has",
    "\n",
    "\u00a0",
    "\ufeff",
    "\u0085",
    "🙂",
    "-",
    '"',
    '["',
    '"]',
    "\\",
]


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join) | st.text(max_size=12))
@example('["[".="]')  # no quoted key stands inside another bracket
def test_exactly_the_paths_of_the_grammar_parse(path: str) -> None:
    try:
        parse_path(path)
        parsed = True
    except CheckError:
        parsed = False
    assert parsed is is_path(path)
