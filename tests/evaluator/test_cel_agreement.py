"""Agreement with another CEL engine, the Rust one, on what both languages say of scenes that have the names.

There a missing name or a value of another type is an error, so the scenes here have every name, of one type.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import from_cel, run_check, sentence, to_cel

cel = pytest.importorskip("cel")

texts = st.sampled_from(["", "a", "ab", "é🙂", 'q"\\', "a\nb", "(", "10"])
integers = st.integers(-3, 3)
doubles = st.integers(-8, 8).map(lambda eighths: eighths / 4)
items = st.fixed_dictionaries(
    {"kind": texts, "n": integers, "ok": st.booleans(), "tags": st.lists(texts, max_size=3)}
)
scenes = st.fixed_dictionaries(
    {
        "s": texts,
        "n": integers,
        "d": doubles,
        "on": st.booleans(),
        "xs": st.lists(items, max_size=3),
        "deep": st.fixed_dictionaries({"n": integers, "k v": texts}),
    },
    optional={"more": integers},
)


def atoms(of_text: list[str], of_number: list[str], of_flag: list[str], arrays: list[str]) -> Any:
    path = st.sampled_from
    size = st.fixed_dictionaries({}, optional={"gte": st.integers(-1, 3), "lte": st.integers(0, 3)})
    return (
        st.builds(
            lambda op, path, value: {"op": op, "path": path, "value": value},
            st.sampled_from(["eq", "neq"]),
            path(of_text),
            texts,
        )
        | st.builds(
            lambda op, path, value: {"op": op, "path": path, "value": value},
            st.sampled_from(["eq", "neq", "gte", "lte"]),
            path(of_number),
            integers | doubles,
        )
        | st.builds(
            lambda path, value: {"op": "eq", "path": path, "value": value}, path(of_flag), st.booleans()
        )
        | st.builds(
            lambda path, text: {"op": "contains", "path": path, "substring": text}, path(of_text), texts
        )
        | st.builds(lambda path, bounds: {"op": "count", "collection": path, **bounds}, path(arrays), size)
    )


def joined(inner: Any) -> Any:
    return st.builds(lambda of: {"op": "not", "of": of}, inner) | st.builds(
        lambda op, of: {"op": op, "of": of}, st.sampled_from(["and", "or"]), st.lists(inner, max_size=3)
    )


def over(collection: str, where: Any) -> Any:
    bounds = st.dictionaries(st.sampled_from(["eq", "gte", "lte"]), st.integers(0, 2), max_size=2)
    return where.map(lambda check: {"op": "find", "collection": collection, "where": check}) | st.builds(
        lambda check, bound: {"op": "count", "collection": collection, "where": check, **bound}, where, bounds
    )


of_tag = st.recursive(
    texts.map(lambda text: {"op": "eq", "path": "", "value": text})
    | texts.map(lambda text: {"op": "contains", "path": "", "substring": text}),
    joined,
    max_leaves=3,
)
of_item = st.recursive(atoms(["kind"], ["n"], ["ok"], ["tags"]) | over("tags", of_tag), joined, max_leaves=4)
checks = st.recursive(
    atoms(["s", "deep.k v"], ["n", "d", "deep.n"], ["on"], ["xs"])
    | over("xs", of_item)
    | st.sampled_from(["deep.n", "deep.gone", "xs[0]", "xs[2]"]).flatmap(
        lambda path: st.sampled_from([{"op": "exists", "path": path}, {"op": "missing", "path": path}])
    ),
    joined,
    max_leaves=6,
)


@given(checks, scenes)
def test_a_check_written_as_standard_cel_is_judged_alike_there(check: Any, scene: Any) -> None:
    text = to_cel(check, standard=True)
    assert cel.evaluate(text, scene) is run_check(scene, check).passed, text


@pytest.mark.parametrize(
    "text",
    [
        "deep.n >= 1 && !(s == 'a') || on",
        "xs.exists(x, x.kind == 'ab' && x.n < 2)",
        "xs.all(x, x.ok || x.n >= 0)",
        "xs.filter(x, x.tags.size() > 1).size() == 1",
        "deep['k v'].contains('a')",
        "has(deep.n) && !has(deep.gone)",
        "s in ['a', 'ab']",
        "xs.exists(x, x.tags.exists(t, t in ['a', '(']))",
        "d < 1.5 && n > 0",
    ],
)
@given(scene=scenes)
def test_a_text_of_both_dialects_is_judged_alike_there(text: str, scene: Any) -> None:
    there = cel.evaluate(text, scene)
    for standard in (False, True):
        check = from_cel(text, standard=standard)
        assert run_check(scene, check).passed is there
        assert sentence(check)
