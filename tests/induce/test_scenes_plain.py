"""Many scenes at once are judged and written as one by one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import canonical_json
from induce import learn_check
from induce.scenes.jsontext import find_foreign
from induce.scenes.plain import BATCH, all_plain, canonical_text

numbers = st.integers() | st.floats() | st.sampled_from([1e22, 1e-7, 1.0, -0.0, 12.0, 5e-324, 2**70])
texts = st.text() | st.sampled_from(["\ud800", "1.0", "1.5e-3,", ":2.0}", "e+"])
foreign = st.builds(lambda: 10**4300) | st.tuples(st.integers()) | st.binary(max_size=2)
leaves = st.none() | st.booleans() | numbers | texts | foreign
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner) | st.dictionaries(texts, inner) | st.dictionaries(st.integers(), inner, max_size=1)
    ),
    max_leaves=20,
)


@given(st.lists(values, max_size=4))
def test_judged_and_written_as_one_by_one(scenes: list[Any]) -> None:
    plain = [find_foreign(scene) is None for scene in scenes]
    assert all_plain(scenes) == all(plain)
    for scene, fine in zip(scenes, plain, strict=True):
        if fine:
            assert canonical_text(scene) == canonical_json(scene)


def test_depth_and_place_do_not_matter() -> None:
    for levels in (199, 200, 201):
        nested: Any = 0
        for _ in range(levels):
            nested = [nested]
        assert all_plain([nested]) == (find_foreign(nested) is None) == (levels <= 200)
    assert not all_plain([{}] * (3 * BATCH) + [{"a": (1,)}])


def test_keys_that_lie_too_deep_are_named() -> None:
    def scene(good: bool) -> Any:
        deep: Any = {"good": good}
        for _ in range(12):
            deep = {"k": deep}
        return {**deep, "ok": good}

    scenes = [scene(n % 2 == 0) for n in range(12)]
    result = learn_check(scenes, ["pass", "fail"] * 6)
    assert result.check == {"op": "eq", "path": "ok", "value": True}
    assert result.unusable_keys == ("k." * 12 + "good",)
    with pytest.raises(ValueError, match="no candidate literal tells"):
        learn_check([{"k": scene["k"]} for scene in scenes], ["pass", "fail"] * 6)
