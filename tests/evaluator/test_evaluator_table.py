"""Checks over columns: the same verdicts and gaps as the closures, bit for bit, whatever the scenes hold."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evaluator import CheckError, SceneError, compile_check, define_check
from evaluator.columns import Rows, UncoveredError
from evaluator.table import SceneTable, evaluate_many

GOLDEN = Path(__file__).parents[1] / "golden" / "autocheck"
NAMES = ["a", "b", "id", "tags", "length", "0"]
TEXTS = ["", "a", "A", "x y", "1", "null", "true", "undefined", "[object Object]", "1,2", "é🙂", "İ"]

numbers = (
    st.integers(-3, 3)
    | st.sampled_from([-0.0, 0.5, 1.5, 1e-300, 1e308, -1e308, 0.1, 0.2, 2**53, -(2**53), 1e21])
    | st.floats(allow_nan=False, allow_infinity=False)
)
beyond = st.sampled_from([2**53 + 1, -(2**53) - 1, 10**30, 10**400])
scalars = st.none() | st.booleans() | numbers | st.sampled_from(TEXTS)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=6,
)
elements = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from([1, 1.0, "1", None, True, "x"]),
        "a": scalars,
        "b": numbers,
        "tags": st.lists(st.sampled_from(["a", "1", 1, None]), max_size=3) | scalars,
        "items": st.lists(st.fixed_dictionaries({}, optional={"a": scalars, "b": numbers}), max_size=3),
    },
)
regular_scenes = st.fixed_dictionaries(
    {},
    optional={
        "a": scalars,
        "b": st.fixed_dictionaries({}, optional={"a": numbers, "c": scalars}) | scalars,
        "items": st.lists(elements | values, max_size=3) | scalars,
        "tags": st.lists(scalars, max_size=3) | st.dictionaries(st.sampled_from(["0", "1"]), scalars),
    },
)
scenes = st.lists(regular_scenes | values, max_size=5)

# fmt: off
paths = st.sampled_from([
    "", "a", "b", "b.a", "b.c", "id", "tags", "tags[0]", "tags.0", "a.0", "0", "length", "[0]", "[00]",
    "a.length", "items", "items.length", "items[0].length", "items[0]", "items[0].a", "items[1].items",
    "items[2].b", "items[999999999999999999999]", "items[0=a].1", "items[length=2]", "items[id=1]",
    "items[id=1].a", "items[id=null].b", "items[id=undefined].a", "items[a=true].id", "items[b=-0]",
    "items[b=1e+21].b", "items[tags=a,1].b", "items[a=1,2].id", "items[a=[object Object]", "items[a=x y].id",
    "items[tags has a]", "items[tags has 1].items[0].b",
])
# fmt: on
bounds = numbers | beyond
atoms = (
    st.fixed_dictionaries({"op": st.sampled_from(["eq", "neq"]), "path": paths, "value": values | beyond})
    | st.fixed_dictionaries(
        {"op": st.sampled_from(["gte", "lte", "gt", "lt"]), "path": paths, "value": bounds}
    )
    | st.fixed_dictionaries(
        {"op": st.just("contains"), "path": paths, "substring": st.sampled_from(TEXTS)},
        optional={"ci": st.booleans(), "note": values},
    )
    | st.fixed_dictionaries({"op": st.sampled_from(["exists", "missing"]), "path": paths})
)
extended = (
    st.fixed_dictionaries({"op": st.sampled_from(["eq", "neq", "lt"]), "path": paths, "value_path": paths})
    | st.fixed_dictionaries({"op": st.just("eq"), "path": paths, "value": values, "ci": st.booleans()})
    | st.fixed_dictionaries({"op": st.just("cel.compare"), "path": paths, "is": st.just("<")})
)


def compound(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    forms = {"values": st.booleans(), "absent": st.just("empty")}
    limits = {"where": inner, "eq": bounds, "gte": bounds, "lte": bounds, "note": values}
    return (
        st.fixed_dictionaries({"op": st.just("find"), "collection": paths, "where": inner})
        | st.fixed_dictionaries({"op": st.just("find"), "collection": paths, "where": inner}, optional=forms)
        | st.fixed_dictionaries({"op": st.just("count"), "collection": paths}, optional=limits)
        | st.fixed_dictionaries({"op": st.sampled_from(["and", "or"]), "of": st.lists(inner, max_size=3)})
        | st.fixed_dictionaries({"op": st.just("not"), "of": inner})
    )


checks = st.recursive(atoms | atoms | extended, compound, max_leaves=5)
many_checks = st.lists(checks, max_size=4)
foreign = st.sampled_from(
    [float("nan"), b"x", (1,), {5: 1}, frozenset(), 2**53 + 1, float("inf"), -float("inf")]
)


def closures(checks: list[Any], scenes: list[Any]) -> np.ndarray[Any, Any]:
    compiled = [compile_check(check) for check in checks]
    gaps = [[check.gap(scene) for scene in scenes] for check in compiled]
    return np.array(gaps, np.float64).reshape(len(checks), len(scenes))


def outcome(judge: Callable[[], np.ndarray[Any, Any]]) -> bytes | str:
    """The gaps a judgement gives, or the problem it finds with a scene."""
    try:
        return judge().tobytes()
    except SceneError as error:
        return error.problem


def assert_same_as_closures(checks: list[Any], scenes: list[Any]) -> None:
    expected = closures(checks, scenes)
    for given_scenes in (scenes, SceneTable(scenes)):
        table = evaluate_many(checks, given_scenes)
        assert table.gap.dtype == np.float64
        assert table.passed.dtype == np.bool_
        assert table.gap.shape == table.passed.shape == (len(checks), len(scenes))
        assert table.gap.tobytes() == expected.tobytes(), (table.gap, expected)
        assert np.array_equal(table.passed, expected == 0.0)


def assert_same_outcome(check: Any, scenes: list[Any]) -> None:
    expected = outcome(lambda: closures([check], scenes))
    assert outcome(lambda: evaluate_many([check], scenes).gap) == expected
    assert outcome(lambda: evaluate_many([check], SceneTable(scenes)).gap) == expected


@settings(max_examples=400, deadline=None)
@given(many_checks, scenes)
@example([{"op": "find", "collection": "items", "where": {"op": "or", "of": []}}], [{"items": [1]}, {}])
@example([{"op": "gte", "path": "", "value": 1e308}], [-1e308, "x", None])
@example([{"op": "eq", "path": "", "value": []}], [{}, [], "", None, {"0": 1}])
@example([{"op": "eq", "path": "", "value": [1, [True]]}], [[1, [1]], [1.0, [True]], {"0": 1, "1": [True]}])
@example(
    [{"op": "eq", "path": "items[id=1].a", "value": 2}], [{"items": [{"id": "1", "a": 2}]}, {"items": []}]
)
def test_columns_give_the_closures_gaps_bit_for_bit(checks: list[Any], scenes: list[Any]) -> None:
    assert_same_as_closures(checks, scenes)


ITEMS = [{"a": 2**53, "b": 1}, {"a": 1e-300, "id": 1}, {"a": None, "b": 2}, None, 7, {"id": "1", "a": "1"}]


@pytest.mark.parametrize(
    "check",
    [
        {"op": "eq", "path": "a", "value": 2**53 + 1},
        {"op": "gte", "path": "a", "value": 2**53 + 1},
        {"op": "lt", "path": "a", "value": 1e-300},
        {"op": "gt", "path": "a", "value": 2**53},
        {"op": "exists", "path": "items[id=undefined].b"},
        {"op": "eq", "path": "items[b=undefined]", "value": 7},
        {"op": "eq", "path": "items[0003].b", "value": 1},
        {"op": "count", "collection": "items", "eq": 2**53 + 1},
        {"op": "count", "collection": "a", "eq": -1},
        {
            "op": "or",
            "of": [{"op": "cel.compare", "path": "a", "is": "<"}, {"op": "eq", "path": "b", "value": 9}],
        },
        {"op": "eq", "path": 'items["b.c"]', "value": 1},
        {"op": "find", "collection": "items", "where": {"op": "eq", "path": 'x["b.c"]', "value": 1}},
    ],
)
def test_numbers_and_keys_at_the_edges_are_judged_as_by_the_closure(check: Any) -> None:
    scenes = [*ITEMS, {"items": ITEMS}, {"items": ITEMS[::-1]}, {"items": ITEMS[3:], "a": -1}, {"items": []}]
    for wrapped in (check, {"op": "find", "collection": "items", "where": check}):
        assert_same_as_closures([wrapped], [*scenes, {"items": scenes}, {"items": [{"x": {"b.c": 1}}]}])


@settings(max_examples=200, deadline=None)
@given(st.lists(atoms, min_size=1, max_size=6), st.lists(elements, min_size=1, max_size=6))
def test_atoms_on_elements_are_the_closures_too(atoms: list[Any], elements: list[Any]) -> None:
    scenes = [{"items": elements}, {"items": elements[::-1]}, {"items": []}, {}]
    within = [{"op": "find", "collection": "items", "where": atom} for atom in atoms]
    counted = [{"op": "count", "collection": "items", "where": atom, "gte": 2} for atom in atoms]
    assert_same_as_closures([*within, *counted, {"op": "and", "of": within}], scenes)


@settings(max_examples=200, deadline=None)
@given(checks, scenes, foreign, st.data())
def test_what_columns_do_not_cover_is_judged_or_refused_by_the_closure(
    check: Any, scenes: list[Any], odd: Any, data: st.DataObject
) -> None:
    place = data.draw(st.sampled_from(["a", "b", "items", "element", "all"]))
    held = {
        "a": {"a": odd},
        "b": {"b": {"a": odd}},
        "items": {"items": [{"a": odd}, 1]},
        "element": {"items": [odd]},
        "all": odd,
    }
    scenes = [*scenes, held[place]]
    assert_same_outcome(check, scenes)


@pytest.mark.parametrize("odd", [b"x", float("nan"), 2**60])
def test_what_a_closure_does_not_come_to_is_not_refused(odd: Any) -> None:
    ten = list(range(10))
    for inner in ({"value": ten}, {"value": {"a": 1}}, {"value": 3}, {"value": "x"}):
        either = [{"op": "eq", "path": "a", "value": 1}, {"op": "eq", "path": "b"} | inner]
        for of in (either, either[::-1]):
            for held in ([*ten[:9], odd], odd):
                assert_same_outcome({"op": "or", "of": of}, [{"a": 1, "b": held}, {"a": 1, "b": 3}])


def test_every_recorded_case_has_its_gap_beside_all_others() -> None:
    cases = [
        json.loads(line, parse_int=_as_double) for line in (GOLDEN / "checks.jsonl").open(encoding="utf-8")
    ]
    cases = [case for case in cases if _compiles(case["check"])][::3]
    table = SceneTable([case["scene"] for case in cases])
    for number, case in enumerate(cases):
        judged = evaluate_many([case["check"]], table)
        assert judged.passed[0, number] == case["expect"]["pass"], case["id"]
        assert judged.gap[0, number] == float(case["expect"]["gap"]), case["id"]


def _as_double(text: str) -> float:
    number = int(text)
    return number if abs(number) <= 2**53 else float(text)


def _compiles(check: Any) -> bool:
    try:
        compile_check(check)
    except CheckError:
        return False
    return True


def test_the_recorded_batch_has_its_sums() -> None:
    batch = json.loads((GOLDEN / "speed_batch.json").read_text(encoding="utf-8"))
    for scenes in (batch["scenes"], SceneTable(batch["scenes"])):
        table = evaluate_many(batch["checks"], scenes)
        for passed, gap, expected in zip(table.passed, table.gap, batch["expect"]["per_check"], strict=True):
            assert int(passed.sum()) == expected["pass"]
            assert sum(gap.tolist()) == expected["gap_sum"]


def test_no_checks_and_no_scenes_give_empty_matrices() -> None:
    check = {"op": "find", "collection": "a", "where": {"op": "gte", "path": "b[0].c", "value": 1}}
    assert evaluate_many([], [{}, {}]).gap.shape == (0, 2)
    assert evaluate_many([check, check], []).passed.shape == (2, 0)
    assert evaluate_many([check], SceneTable([])).gap.shape == (1, 0)
    assert len(SceneTable([{}, 1])) == 2


def test_checks_come_in_every_form_and_from_any_iterable() -> None:
    expression = {"op": "lte", "path": "n", "value": 2}
    defined = define_check("small", expression)
    forms = (form for form in (expression, defined, defined.to_dict(), compile_check(expression)))
    table = evaluate_many(forms, ({"n": n} for n in (1, 5)))
    assert table.gap.tolist() == [[0.0, 3.0]] * 4


def test_errors_say_which_check_or_scene() -> None:
    good = {"op": "exists", "path": "a"}
    with pytest.raises(CheckError) as of_check:
        evaluate_many([good, {"op": "not", "of": {"op": "exist", "path": "a"}}], [{}])
    assert of_check.value.place == "$[1].of.op"
    with pytest.raises(SceneError, match=r"^scenes\[1\]: a\.b: .*set"):
        evaluate_many([{"op": "eq", "path": "a.b", "value": 1}], [{}, {"a": {"b": set()}}])
    with pytest.raises(CheckError, match="put it into a list"):
        evaluate_many(good, [{}])
    with pytest.raises(SceneError, match="put it into a list"):
        evaluate_many([good], {"a": 1})
    with pytest.raises(SceneError, match="put it into a list"):
        SceneTable({"a": 1})


def test_columns_and_elements_can_be_asked_for_by_path() -> None:
    rows = SceneTable([{"a": {"b": 1}, "items": [{"n": 2.5}, {"n": "x"}]}, {"items": []}, {"a": 3}]).rows
    assert sorted(rows.named) == ["", "a", "a.b", "items"]
    column, jump = rows.locate("a.b")
    assert (jump, column.found, column.present().tolist()) == (None, [1], [True, False, False])
    assert np.array_equal(column.numbers(), [1.0, np.nan, np.nan], equal_nan=True)
    elements = rows.locate("items")[0].elements()
    assert (elements.size, elements.owner.tolist(), elements.lengths.tolist()) == (2, [0, 0], [2, 0, -1])
    assert elements.locate("n")[0].texts()[1].tolist() == [-1, 0]
    column, jump = rows.locate("items[n=x].n")
    assert column is elements.locate("n")[0]
    assert jump is not None
    assert (jump[0].tolist(), jump[1].tolist()) == ([0], [1])
    with pytest.raises(UncoveredError):
        SceneTable([{"a": 2**53 + 1}]).rows.locate("a")[0].numbers()


def test_objects_that_serve_as_maps_are_read_on_demand() -> None:
    scenes = [{"by_id": {f"k{number}": {"n": number}}} for number in range(300)]
    large = [{"by_id": {f"k{number}": {"n": number} for number in range(5000)}}]
    for prepared in (SceneTable(scenes), SceneTable(large)):
        assert sorted(prepared.rows.named) == ["", "by_id"]
    assert_same_as_closures([{"op": "gte", "path": "by_id.k7.n", "value": 9}], scenes)


def test_scenes_that_are_deep_or_contain_themselves_can_be_prepared() -> None:
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    looped: list[Any] = []
    looped.extend([looped] * 10)
    table = SceneTable([deep, looped, {"a": looped}])
    check = {"op": "eq", "path": "[0][1][2].length", "value": 10}
    assert evaluate_many([check], table).passed.tolist() == [[False, True, False]]


def test_scenes_that_are_not_json_can_be_prepared() -> None:
    scenes = [{"tags": {"0": 1}}, {"tags": []}, {"tags": set()}, b"x"]
    checks = [{"op": "exists", "path": "tags"}]
    assert_same_as_closures(checks, scenes[:3])
    with pytest.raises(SceneError, match=r"scenes\[3\]: tags: .*bytes"):
        evaluate_many(checks, SceneTable(scenes))


def test_deeply_nested_checks_are_judged() -> None:
    check: Any = {"op": "gte", "path": "", "value": 3}
    for depth in range(190):
        check = {"op": "not", "of": check} if depth % 2 else {"op": "and", "of": [check]}
    assert_same_as_closures([check], [1, 5, "x"])


def test_rows_of_scenes_make_columns_only_when_asked() -> None:
    rows = Rows.of_scenes([{"a": 1, "b": 2}])
    assert (list(rows.named), rows.itself.members) == ([""], {})
    rows.locate("a")
    assert (list(rows.named), list(rows.itself.members)) == (["", "a"], ["a"])


def test_numpy_is_loaded_only_when_it_is_needed() -> None:
    script = (
        "import sys, evaluator; before = 'numpy' in sys.modules; evaluator.evaluate_many;"
        "print(before, 'numpy' in sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert ran.stdout.split() == ["False", "True"]
