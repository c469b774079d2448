"""`SceneEncoder`: which columns scenes give, what stands in them, and models over them."""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from induce import SceneEncoder

JSON = Any
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
scenes = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2) | st.just("a"), inner, max_size=3)
    ),
    max_leaves=10,
)


def columns(encoder: SceneEncoder, some: list[JSON]) -> dict[str, list[float]]:
    return dict(zip(encoder.get_feature_names_out(), encoder.transform(some).T.tolist(), strict=True))


def test_columns_of_paths_and_elements() -> None:
    some = [
        {"total": 10, "paid": True, "who": "ann", "items": [{"kind": "a", "n": 1}, {"kind": "b", "n": 2.5}]},
        {"total": 20, "paid": False, "who": "bob", "items": [{"kind": "a"}], "note": None},
        {"total": None, "paid": True, "who": "cid", "items": [{"kind": "b", "n": 7}], "note": "x"},
        {"total": 40, "paid": False, "who": "dee"},
    ]
    encoder = SceneEncoder().fit(some)
    assert columns(encoder, some) == {
        "items present": [1, 1, 1, 0],
        "length(items)": [2, 1, 1, 0],
        'count(items[].kind = "a")': [1, 1, 0, 0],
        'count(items[].kind = "b")': [1, 0, 1, 0],
        "min(items[].n)": [1, 0, 7, 0],
        "max(items[].n)": [2.5, 0, 7, 0],
        "note present": [0, 1, 1, 0],
        "paid = false": [0, 1, 0, 1],
        "paid = true": [1, 0, 1, 0],
        "total": [10, 20, 0, 40],
        "total is number": [1, 1, 0, 1],
    }
    later = [{"total": 1, "new": 5, "paid": "yes", "items": [{"kind": "z", "n": -1}]}, [], "text"]
    found = columns(encoder, later)
    assert found["total"] == [1, 0, 0]
    assert found["length(items)"] == [1, 0, 0]
    assert found["paid = true"] == [0, 0, 0]
    assert found["min(items[].n)"] == [-1, 0, 0]


def test_parameters_decide_which_columns() -> None:
    some = [{"k": k, "xs": [[n]]} for n, k in enumerate("aabbc")]
    assert 'k = "c"' in SceneEncoder(min_count=1).fit(some).get_feature_names_out()
    assert SceneEncoder(max_values=1).fit(some).get_feature_names_out().tolist()[:1] == ['k = "a"']
    assert "max(xs[][])" in SceneEncoder().fit(some).get_feature_names_out()
    assert "max(xs[][])" not in SceneEncoder(max_nesting=1).fit(some).get_feature_names_out()
    nothing = SceneEncoder(fill=math.nan).fit([{"n": 1}, {}])
    assert math.isnan(nothing.transform([{}])[0][0])
    for wrong in ({"min_count": 0}, {"max_values": -1}, {"max_nesting": 1.5}, {"fill": "0"}):
        with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter of SceneEncoder must be"):
            SceneEncoder(**wrong).fit(some)


def test_json_keeps_its_meaning() -> None:
    some: list[JSON] = [
        {"v": True},
        {"v": 1},
        {"v": 1.0},
        {"v": True},
        {"v": None},
        {"v": "1"},
        {"v": None},
        {},
    ]
    found = columns(SceneEncoder().fit(some), some)
    assert found == {
        "v": [0, 1, 1, 0, 0, 0, 0, 0],
        "v is number": [0, 1, 1, 0, 0, 0, 0, 0],
        "v present": [1, 1, 1, 1, 1, 1, 1, 0],
        "v = null": [0, 0, 0, 0, 1, 0, 1, 0],
        "v = true": [1, 0, 0, 1, 0, 0, 0, 0],
    }


def test_numbers_beyond_doubles_are_the_largest() -> None:
    table = SceneEncoder().fit([{"n": 10**400}, {"n": -(10**400)}]).transform([{"n": 10**400}, {"n": 2**60}])
    assert table.tolist() == [[np.finfo(float).max], [2.0**60]]


def test_names_are_unique_and_keys_are_quoted() -> None:
    some = [{"a.b": 1, "a": {"b": 2}, 'k = "x"': 3, "k": "x", "": 4}, {"k": "x"}, {"k": "y"}]
    names = SceneEncoder().fit(some).get_feature_names_out().tolist()
    assert len(names) == len(set(names))
    assert {'["a.b"]', "a.b", 'k = "x"', 'k = "x" #2', '[""]'} <= set(names)


@given(st.lists(scenes, min_size=1, max_size=5), st.lists(scenes, max_size=3), st.randoms())
def test_any_scenes_give_a_finite_table_in_one_order(
    some: list[JSON], later: list[JSON], rng: random.Random
) -> None:
    encoder = SceneEncoder(min_count=1).fit(some)
    names = encoder.get_feature_names_out()
    assert len(set(names)) == len(names)
    table = encoder.transform(some + later)
    assert table.shape == (len(some + later), len(names))
    assert np.isfinite(table).all()
    shuffled = rng.sample(some, len(some))
    again = SceneEncoder(min_count=1).fit(shuffled)
    assert again.get_feature_names_out().tolist() == names.tolist()
    assert np.array_equal(again.transform(some + later), table)


def test_the_order_of_columns_does_not_depend_on_hashes() -> None:
    code = (
        "from induce import SceneEncoder;"
        "print(SceneEncoder().fit([{c: d} for c in 'hgfeabcd' for d in ['x', 'y', 1, None] * 2])"
        ".get_feature_names_out().tolist())"
    )
    root = str(Path(__file__).resolve().parents[2])
    ran = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": root, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert ran[0] == ran[1]


def orders(count: int = 80) -> tuple[list[JSON], list[str]]:
    rng = random.Random("encoder")
    some = [
        {
            "total": rng.randrange(1000),
            "lane": rng.choice("ab"),
            "items": [{"kind": rng.choice(["robot", "rack"])} for _ in range(rng.randrange(3))],
        }
        for _ in range(count)
    ]
    passing = [
        scene["total"] <= 500 and any(item["kind"] == "robot" for item in scene["items"]) for scene in some
    ]
    return some, ["pass" if verdict else "fail" for verdict in passing]


@pytest.mark.parametrize(
    "model",
    [DecisionTreeClassifier(random_state=0), make_pipeline(StandardScaler(), LogisticRegression())],
    ids=["tree", "linear"],
)
def test_models_over_the_table(model: Any) -> None:
    some, labels = orders()
    pipeline = make_pipeline(SceneEncoder(), model)
    assert cross_val_score(pipeline, some, labels, cv=4).mean() > 0.85
    search = GridSearchCV(
        pipeline, {"sceneencoder__min_count": [1, 2], "sceneencoder__max_values": [0, 20]}, cv=2
    )
    assert search.fit(some, labels).best_params_["sceneencoder__max_values"] == 20
    assert pipeline.fit(some, labels).predict([{}, {"total": "?"}]).tolist() == ["fail", "fail"]


def test_a_tree_speaks_of_the_columns() -> None:
    some, labels = orders()
    pipeline = make_pipeline(SceneEncoder(), DecisionTreeClassifier(max_depth=2, random_state=0)).fit(
        some, labels
    )
    names = pipeline[:-1].get_feature_names_out()
    used = {names[index] for index in pipeline[-1].tree_.feature if index >= 0}
    assert used == {"total", 'count(items[].kind = "robot")'}
    frame = SceneEncoder().set_output(transform="pandas").fit_transform(some)
    assert list(frame.columns) == names.tolist()


def test_no_scenes_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"^no scenes: at least one is needed to find the columns$"):
        SceneEncoder().fit([])
