"""Near-best checks, where they differ, and which scene to label next."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from evaluator import canonical_json, compile_check, run_check
from induce import (
    CheckInducer,
    OutsideGrammarError,
    Rival,
    alternatives,
    ask_loop,
    learn_check,
    near_best,
    next_scenes,
    objective_of,
)
from induce.plausible import plausible_scenes
from induce.query import most_telling, vote_shares

JSON = Any
RED = {"op": "eq", "path": "colour", "value": "red"}
BOX = {"op": "eq", "path": "shape", "value": "box"}


def orders(count: int, seed: str) -> list[JSON]:
    rng = random.Random(seed)
    return [
        {
            "status": rng.choice(["open", "paid", "sent"]),
            "total": rng.randrange(1, 100) * 10,
            "gift": rng.random() < 0.5,
            "items": [
                {"kind": rng.choice(["book", "lamp", "pen"]), "price": rng.randrange(1, 40) * 5}
                for _ in range(rng.randrange(1, 4))
            ],
        }
        for _ in range(count)
    ]


def labelled(rule: JSON, each: int, seed: str) -> tuple[list[JSON], list[str], list[JSON]]:
    """So many passing and failing scenes, and the rest of 300 as a pool."""
    made = orders(300, seed)
    passing = [s for s in made if run_check(s, rule).passed][:each]
    failing = [s for s in made if not run_check(s, rule).passed][:each]
    chosen = passing + failing
    return chosen, ["pass"] * each + ["fail"] * each, [s for s in made if s not in chosen]


def twins() -> tuple[list[JSON], list[str]]:
    """Scenes of which colour and shape are equally good explanations."""
    return [
        {"colour": "red", "shape": "box", "size": 1},
        {"colour": "red", "shape": "box", "size": 2},
        {"colour": "blue", "shape": "ball", "size": 1},
        {"colour": "blue", "shape": "ball", "size": 2},
    ], ["pass", "pass", "fail", "fail"]


def rivals_of(scenes: list[JSON], labels: list[str], **options: Any) -> tuple[Rival, ...]:
    return near_best(scenes, labels, learn_check(scenes, labels).check, **options)


def test_rivals_are_right_and_priced_as_the_objective_prices_them() -> None:
    rule = {
        "op": "find",
        "collection": "items",
        "where": {
            "op": "and",
            "of": [
                {"op": "eq", "path": "kind", "value": "lamp"},
                {"op": "gte", "path": "price", "value": 50},
            ],
        },
    }
    scenes, labels, _ = labelled(rule, 8, "rivals")
    result = learn_check(scenes, labels)
    rivals = near_best(scenes, labels, result.check, within=10.0)
    assert rivals[0] == Rival(result.check, result.objective, 0.0)
    assert len(rivals) > 10
    assert len({canonical_json(rival.check) for rival in rivals}) == len(rivals)
    for rival in rivals:
        assert [run_check(s, rival.check).passed for s in scenes] == [label == "pass" for label in labels]
        assert rival.objective == objective_of(rival.check, scenes, labels).total
        assert rival.distance == rival.objective - result.objective
    assert [rival.distance for rival in rivals] == sorted(rival.distance for rival in rivals)


def test_both_of_two_equal_explanations_are_there() -> None:
    checks = [rival.check for rival in rivals_of(*twins()) if rival.distance == 0]
    assert RED in checks
    assert BOX in checks


def test_a_distance_of_none_keeps_ties_alone() -> None:
    rivals = rivals_of(*twins(), within=0.0)
    assert {rival.distance for rival in rivals} == {0.0}
    assert len(rivals) >= 2


def test_rivals_of_a_noisy_set_may_err_only_where_the_learnt_check_does() -> None:
    rule = {"op": "lte", "path": "total", "value": 500}
    scenes, labels, _ = labelled(rule, 12, "noise")
    labels[3] = "fail"
    result = learn_check(scenes, labels, penalty=8.0)
    assert result.misclassified == ("3",)
    rivals = near_best(scenes, labels, result.check, within=8.0, penalty=8.0)
    assert len(rivals) > 1
    for rival in rivals:
        assert rival.objective == objective_of(rival.check, scenes, labels, penalty=8.0).total
        wrong = [
            i
            for i, (s, label) in enumerate(zip(scenes, labels, strict=True))
            if run_check(s, rival.check).passed != (label == "pass")
        ]
        assert wrong in ([], [3])


def test_a_check_outside_the_grammar_has_no_rivals() -> None:
    scenes, labels = twins()
    with pytest.raises(OutsideGrammarError, match="not observed"):
        near_best(scenes, labels, {"op": "eq", "path": "colour", "value": "green"})
    with pytest.raises(ValueError, match="within: expected bits"):
        near_best(scenes, labels, RED, within=-1)


def test_votes_halve_for_each_bit() -> None:
    rivals = [Rival(RED, 7.0, 0.0), Rival(BOX, 8.0, 1.0), Rival(BOX, 9.0, 2.0)]
    assert vote_shares(rivals).tolist() == pytest.approx([4 / 7, 2 / 7, 1 / 7])


def test_a_batch_is_chosen_for_the_entropy_of_all_its_votes() -> None:
    votes = np.array(
        [
            [True, True, True, True],
            [True, True, False, True],
            [False, False, True, True],
            [False, False, False, True],
        ]
    )
    shares = np.full(4, 0.25)
    assert most_telling(votes, shares, 4) == [(0, 1.0), (2, 1.0)]  # 1 says what 0 said, 3 says nothing
    [(scene, gain)] = most_telling(votes, np.array([0.7, 0.1, 0.1, 0.1]), 1)
    assert scene == 0
    assert gain == pytest.approx(-0.8 * np.log2(0.8) - 0.2 * np.log2(0.2))


def test_the_pool_scene_that_splits_the_rivals_is_asked() -> None:
    scenes, labels = twins()
    pool = [
        scenes[0],
        {"colour": "red", "shape": "box", "size": 9},
        {"colour": "red", "shape": "ball", "size": 1},
    ]
    questions = next_scenes(rivals_of(scenes, labels), scenes, 3, pool=pool, pool_ids=["a", "b", "c"])
    assert questions[0].id == "c"
    assert "a" not in [question.id for question in questions]  # its label is known
    first = questions[0]
    assert (first.source, first.edits) == (None, ())
    assert 0.9 < first.gain <= 1
    assert first.if_pass is not None
    assert first.if_fail is not None
    assert run_check(first.scene, first.if_pass.check).passed
    assert not run_check(first.scene, first.if_fail.check).passed
    assert {canonical_json(first.if_pass.check), canonical_json(first.if_fail.check)} == {
        canonical_json(RED),
        canonical_json(BOX),
    }


def test_nothing_is_asked_where_the_rivals_agree() -> None:
    scenes, labels = twins()
    assert next_scenes(rivals_of(scenes, labels), scenes, pool=[scenes[1]]) == ()
    assert next_scenes([Rival(RED, 7.0, 0.0)], scenes, pool=[{"colour": "red"}]) == ()


def test_where_all_agree_the_least_known_scene_can_be_asked() -> None:
    scenes, _ = twins()
    pool = [{"colour": "red", "shape": "box", "size": 9}, {"colour": "red", "shape": "cone", "hue": 3}]
    rivals = [Rival(RED, 7.0, 0.0)]
    [question] = next_scenes(rivals, scenes, 3, pool=pool, explore=True)
    assert (question.scene, question.gain, question.passing) == (pool[1], 0.0, 1.0)
    assert (question.if_pass, question.if_fail) == (rivals[0], None)
    assert question.to_dict()["question"]["if"]["fail"] is None


def test_without_a_pool_edits_keep_the_shape_of_the_scenes() -> None:
    rule = {
        "op": "or",
        "of": [{"op": "eq", "path": "status", "value": "paid"}, {"op": "gte", "path": "total", "value": 800}],
    }
    scenes, labels, _ = labelled(rule, 8, "edits")
    rivals = rivals_of(scenes, labels, within=10.0)
    questions = next_scenes(rivals, scenes, 4, ids=[f"s{i}" for i in range(16)])
    assert len(questions) == 4
    known = {canonical_json(scene) for scene in scenes}
    for question in questions:
        assert question.source in [f"s{i}" for i in range(16)]
        assert question.edits
        assert canonical_json(question.scene) not in known
        scene = question.scene
        assert list(scene) == ["status", "total", "gift", "items"]
        assert scene["status"] in ("open", "paid", "sent")
        assert (type(scene["total"]), type(scene["gift"])) == (int, bool)
        assert all(list(item) == ["kind", "price"] for item in scene["items"])
    assert len({question.id for question in questions}) == 4


def test_an_edit_never_leaves_what_was_seen() -> None:
    scenes = [{"wheels": 2, "roof": "flat"}, {"wheels": 3, "roof": "open"}, {"wheels": 3, "roof": "flat"}]
    beyond = Rival({"op": "gte", "path": "wheels", "value": 11}, 5.0, 0.0)
    between = Rival({"op": "gte", "path": "wheels", "value": 2.5}, 5.0, 0.0)
    unseen = Rival({"op": "eq", "path": "roof", "value": "jagged"}, 5.0, 0.0)
    assert plausible_scenes([beyond, between, unseen], scenes) == []
    seen = plausible_scenes([Rival({"op": "gte", "path": "wheels", "value": 3}, 5.0, 0.0)], scenes)
    assert [(one.source, one.edits, one.scene) for one in seen] == [
        ("1", ("wheels: 3 → 2",), {"wheels": 2, "roof": "open"})
    ]


def test_alternatives_differ_from_the_best_and_from_each_other() -> None:
    rule = {"op": "lte", "path": "total", "value": 500}
    scenes, labels, pool = labelled(rule, 4, "alternatives")
    result = learn_check(scenes, labels)
    rivals = near_best(scenes, labels, result.check)
    found = alternatives(rivals, scenes, 3, within=12.0, pool=pool)
    assert len(found) == 3
    for one in found:
        assert 0 <= one.distance <= 12
        assert 0 < one.differs <= one.of
        assert run_check(one.example.scene, one.check).passed is one.passes
        assert run_check(one.example.scene, result.check).passed is not one.passes
    patterns = [tuple(compile_check(one.check).passes(scene) for scene in pool) for one in found]
    assert len(set(patterns)) == len(found)


def test_alternatives_stay_within_their_distance() -> None:
    scenes, labels = twins()
    rivals = rivals_of(scenes, labels)
    assert {one.distance for one in alternatives(rivals, scenes, 5, within=0.0)} == {0.0}
    with pytest.raises(ValueError, match="k: expected"):
        alternatives(rivals, scenes, 0)
    with pytest.raises(ValueError, match="rivals: at least one"):
        alternatives([], scenes)


RULES: dict[str, JSON] = {
    "bound": {"op": "lte", "path": "total", "value": 430},
    "element": {
        "op": "find",
        "collection": "items",
        "where": {
            "op": "and",
            "of": [
                {"op": "eq", "path": "kind", "value": "lamp"},
                {"op": "gte", "path": "price", "value": 100},
            ],
        },
    },
}


def accuracy(check: JSON, rule: JSON) -> float:
    return float(
        np.mean([run_check(s, check).passed == run_check(s, rule).passed for s in orders(400, "unseen")])
    )


def test_five_asked_labels_recover_more_than_ten_random_ones() -> None:
    asked, at_random = [], []
    for name, rule in RULES.items():
        scenes, labels, pool = labelled(rule, 4, name)
        loop = ask_loop(scenes, labels, compile_check(rule).passes, 5, pool)
        assert len(loop.questions) <= 5
        asked.append(accuracy(loop.result.check, rule))
        drawn = random.Random(name).sample(pool, 10)
        more = ["pass" if run_check(s, rule).passed else "fail" for s in drawn]
        at_random.append(accuracy(learn_check([*scenes, *drawn], [*labels, *more]).check, rule))
    assert np.mean(asked) >= np.mean(at_random)
    assert min(asked) > 0.9


def test_a_loop_of_edits_settles_a_bound() -> None:
    rule = {"op": "lte", "path": "total", "value": 430}
    scenes, labels, _ = labelled(rule, 3, "loop")
    loop = ask_loop(scenes, labels, lambda s: run_check(s, rule).passed, 8, within=10.0)
    assert loop.scenes[:6] == tuple(scenes)
    assert loop.scenes[6:] == tuple(question.scene for question in loop.questions)
    assert loop.answers == tuple(run_check(question.scene, rule).passed for question in loop.questions)
    assert loop.labels[6:] == tuple("pass" if answer else "fail" for answer in loop.answers)
    assert loop.result.misclassified == ()
    assert accuracy(loop.result.check, rule) > accuracy(learn_check(scenes, labels).check, rule)


def test_no_questions_is_plain_learning() -> None:
    scenes, labels = twins()

    def refuse(scene: JSON) -> bool:
        raise AssertionError(f"nothing is to be asked, got {scene}")

    loop = ask_loop(scenes, labels, refuse, 0)
    assert (loop.questions, loop.labels) == ((), tuple(labels))
    assert loop.result.check == learn_check(scenes, labels).check


def test_bad_questions_are_refused_in_one_sentence() -> None:
    scenes, labels = twins()
    rivals = rivals_of(scenes, labels)
    with pytest.raises(ValueError, match="k: expected a whole number of scenes"):
        next_scenes(rivals, scenes, 0)
    with pytest.raises(ValueError, match="rivals: at least one"):
        next_scenes([], scenes)
    with pytest.raises(ValueError, match="pool_ids: expected one for each of the 4 scenes, got 1"):
        next_scenes(rivals, scenes, pool=scenes, pool_ids=["a"])
    with pytest.raises(ValueError, match="queries: expected"):
        ask_loop(scenes, labels, bool, -1)
    with pytest.raises(ValueError, match="unknown label 'maybe'"):
        ask_loop(scenes, labels, lambda _: "maybe", 1)


def test_the_estimator_offers_both() -> None:
    scenes, labels = twins()
    inducer = CheckInducer().fit(scenes, labels)
    others = inducer.alternatives(3)
    assert canonical_json(others[0].check) in (canonical_json(RED), canonical_json(BOX))
    assert others[0].check != inducer.check_
    pool = [{"colour": "red", "shape": "ball", "size": 1}]
    assert [question.scene for question in inducer.next_scenes(2, pool)] == pool
    assert inducer.next_scenes(1)[0].source in ("0", "1", "2", "3")
