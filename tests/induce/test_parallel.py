"""Work side by side, whatever backend joblib uses: the same results as one after another."""

from __future__ import annotations

import random
from typing import Any

import pytest
from joblib import parallel_config
from sklearn.model_selection import GridSearchCV, cross_val_score

from induce import CheckInducer, learn_check, learn_rules, load_scenes, permutation_test
from induce.crossval import cross_validate
from induce.parallel import in_parallel
from induce.scenes import LabelledScenes


def orders(count: int) -> tuple[list[Any], list[str]]:
    draw = random.Random(count)
    scenes: list[Any] = [{"total": draw.randrange(1000), "lane": draw.choice("abc")} for _ in range(count)]
    return scenes, ["pass" if scene["total"] <= 500 else "fail" for scene in scenes]


def learn(scenes: LabelledScenes) -> dict[str, Any]:
    return learn_check(scenes.scenes, scenes.require_labels(), ids=scenes.ids).check


def test_results_come_in_the_order_of_the_work() -> None:
    expected = [divmod(n, 3) for n in range(7)]
    for jobs in (None, 1, 2, -1):
        assert in_parallel(divmod, [(n, 3) for n in range(7)], jobs) == expected
    with pytest.raises(ValueError, match="n_jobs: expected a number of workers"):
        in_parallel(divmod, [(1, 2)], 0)


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_every_backend_gives_the_same(backend: str) -> None:
    scenes, labels = orders(30)
    data = load_scenes([{"label": label, "scene": s} for s, label in zip(scenes, labels, strict=True)])
    alone = cross_validate(data, learn, 3, n_jobs=1)
    rules = {"a": labels, "b": ["pass" if scene["lane"] == "a" else "fail" for scene in scenes]}
    packs = learn_rules(scenes, rules, n_jobs=1).to_dict()
    test = permutation_test(scenes, labels, 3, work_limit=200, n_jobs=1)
    scores = cross_val_score(CheckInducer(), scenes, labels, cv=3, n_jobs=1).tolist()
    with parallel_config(backend=backend, n_jobs=2):
        assert cross_validate(data, learn, 3) == alone
        assert learn_rules(scenes, rules).to_dict() == packs
        assert permutation_test(scenes, labels, 3, work_limit=200) == test
        assert cross_val_score(CheckInducer(), scenes, labels, cv=3).tolist() == scores


def test_a_grid_search_is_the_same_side_by_side() -> None:
    scenes, labels = orders(30)
    found = [
        GridSearchCV(CheckInducer(), {"max_literals": [1, 2], "n_jobs": [None, 2]}, cv=2, n_jobs=jobs)
        .fit(scenes, labels)
        .cv_results_["mean_test_score"]
        .tolist()
        for jobs in (1, 2)
    ]
    assert found[0] == found[1]
