"""What holds for every check and every scene: the contracts that fuzzing may try to break."""

from __future__ import annotations

import copy
import json
import pickle
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from wellformedness import FIELDS, well_formed

from evaluator import (
    CheckError,
    CompiledCheck,
    SceneError,
    canonical_json,
    compile_check,
    run_check,
    sentence,
)

KEYS = ["a", "b", "id", "tags", "0", "length", "constructor", "", "é🙂", "k v"]
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "a", "x", "X y", "1", "true", "é🙂", "İ"])
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)
steps = st.sampled_from(
    [".a", ".b", ".id", ".tags", ".length", ".0", "[0]", "[1]", "[id=1]", "[a=x]", "[tags has a]"]
)
paths = st.lists(steps, max_size=3).map("".join) | st.sampled_from(["", "constructor", "é🙂", "k v"])
numbers = st.integers(-3, 3) | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
atoms = (
    st.fixed_dictionaries({"op": st.sampled_from(["eq", "neq"]), "path": paths, "value": json_values})
    | st.fixed_dictionaries({"op": st.sampled_from(["gte", "lte"]), "path": paths, "value": numbers})
    | st.fixed_dictionaries(
        {"op": st.just("contains"), "path": paths, "substring": st.sampled_from(["", "a", "X", "🙂", "i̇"])},
        optional={"ci": st.booleans()},
    )
    | st.fixed_dictionaries({"op": st.sampled_from(["exists", "missing"]), "path": paths})
)


def compound(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    bounds = {"where": inner, "eq": numbers, "gte": numbers, "lte": numbers, "note": json_values}
    return (
        st.fixed_dictionaries({"op": st.just("find"), "collection": paths, "where": inner})
        | st.fixed_dictionaries({"op": st.just("count"), "collection": paths}, optional=bounds)
        | st.fixed_dictionaries({"op": st.sampled_from(["and", "or"]), "of": st.lists(inner, max_size=3)})
        | st.fixed_dictionaries({"op": st.just("not"), "of": inner})
    )


checks = st.recursive(atoms, compound, max_leaves=6)
foreign = st.recursive(
    scalars
    | st.binary(max_size=2)
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=2)
    | st.sampled_from([*FIELDS, "path", "of", (), frozenset(), object(), int, 1j, float("nan")]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(
            st.sampled_from(
                ["op", "path", "value", "of", "where", "collection", "substring", "eq", "id", "expr", 5, None]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=10,
)


@given(checks, json_values)
def test_a_gap_is_never_negative_and_zero_exactly_when_the_check_passes(check: Any, scene: Any) -> None:
    compiled = compile_check(check)
    result = compiled(scene)
    assert result.gap >= 0
    assert (result.gap == 0) is result.passed is bool(result)
    assert compiled.gap(scene) == result.gap
    assert compiled.passes(scene) is result.passed
    assert run_check(scene, check) == result


@given(checks, json_values)
def test_neither_scene_nor_check_is_changed(check: Any, scene: Any) -> None:
    before = pickle.dumps((scene, check)), copy.deepcopy((scene, check))
    run_check(scene, check).to_dict()
    sentence(check)
    assert pickle.dumps(before[1]) == pickle.dumps((scene, check))
    assert repr(before[1]) == repr((scene, check))


@given(checks, json_values)
def test_negation_flips_the_verdict_and_costs_one(check: Any, scene: Any) -> None:
    plain = run_check(scene, check)
    negated = run_check(scene, {"op": "not", "of": check})
    assert negated.passed is not plain.passed
    assert negated.gap in (0, 1)
    assert plain.passed is run_check(scene, {"op": "not", "of": {"op": "not", "of": check}}).passed


@given(checks, checks, json_values)
def test_and_sums_and_or_takes_the_least(one: Any, other: Any, scene: Any) -> None:
    first, second = run_check(scene, one), run_check(scene, other)
    both = run_check(scene, {"op": "and", "of": [one, other]})
    either = run_check(scene, {"op": "or", "of": [one, other]})
    assert both.gap == 0.0 + first.gap + second.gap
    assert either.gap == min(first.gap, second.gap)


@given(checks, json_values)
def test_a_result_says_the_same_when_asked_later_or_elsewhere(check: Any, scene: Any) -> None:
    result = run_check(scene, check)
    carried = pickle.loads(pickle.dumps(result))
    elsewhere = pickle.loads(pickle.dumps(compile_check(check)))
    assert carried == result == elsewhere(scene)
    assert result.why
    assert result.why.encode("utf-16", "surrogatepass")


@given(checks, json_values)
def test_the_same_json_read_again_is_judged_the_same(check: Any, scene: Any) -> None:
    again = run_check(json.loads(json.dumps(scene)), json.loads(json.dumps(check)))
    assert again == run_check(scene, check)


@given(foreign)
def test_any_object_compiles_or_is_refused_with_its_place(check: Any) -> None:
    try:
        compiled = compile_check(check)
    except CheckError as error:
        refusal = error
    else:
        assert isinstance(compiled, CompiledCheck)
        assert well_formed(check)
        return
    assert refusal.place.startswith("$")
    assert str(refusal).startswith(f"{refusal.place}: ")


@given(checks, st.data())
def test_a_check_with_one_thing_changed_is_accepted_exactly_when_well_formed(
    check: Any, data: st.DataObject
) -> None:
    check = copy.deepcopy(check)
    node = check
    while True:
        inner = [part for part in (node.get("of"), node.get("where")) if part]
        inner = [part for one in inner for part in (one if isinstance(one, list) else [one])]
        if not inner or data.draw(st.booleans()):
            break
        node = data.draw(st.sampled_from(inner))
    name = data.draw(st.sampled_from(sorted(node)))
    if data.draw(st.booleans()):
        del node[name]
    else:
        node[name] = data.draw(json_values | checks)
    try:
        compile_check(check)
        accepted = True
    except CheckError:
        accepted = False
    assert accepted is well_formed(check)


@given(checks, foreign)
def test_only_scene_errors_leave_for_a_scene_that_is_not_json(check: Any, scene: Any) -> None:
    compiled = compile_check(check)
    for use in (compiled.gap, lambda it: compiled(it).to_dict()):
        with suppress(SceneError):
            use(scene)


@given(json_values, json_values)
def test_canonical_text_is_equal_exactly_when_the_values_are(one: Any, other: Any) -> None:
    arrays = {"op": "eq", "path": "", "value": [other]}
    both = (
        run_check([one], arrays).passed
        and run_check([other], {"op": "eq", "path": "", "value": [one]}).passed
    )
    assert (canonical_json(one) == canonical_json(other)) is both
    assert canonical_json(json.loads(canonical_json(one))) == canonical_json(one)
