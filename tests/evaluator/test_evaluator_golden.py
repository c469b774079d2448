"""The recorded behaviour of the original evaluator, case by case: pass, gap and why to the letter."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from wellformedness import can_be_written, well_formed

from evaluator import MISSING, CheckError, canonical_json, compile_check, lookup, resolve, run_check

GOLDEN = Path(__file__).parents[1] / "golden" / "autocheck"


def as_double(text: str) -> float:
    """Whole numbers as the original reads them: as doubles, which beyond 2**53 is another number."""
    number = int(text)
    return number if abs(number) <= 2**53 else float(text)


def cases(name: str) -> Iterator[dict[str, Any]]:
    with (GOLDEN / name).open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line, parse_int=as_double)


def same(ours: dict[str, Any], golden: dict[str, Any]) -> bool:
    return (
        ours["pass"] is golden["pass"]
        and ours["gap"] == float(golden["gap"])
        and ours["why"] == golden["why"]
        and ("meta" in ours) == ("meta" in golden)
        and ("meta" not in ours or canonical_json(ours["meta"]) == canonical_json(golden["meta"]))
    )


@pytest.mark.parametrize(("name", "number"), [("checks.jsonl", 5348), ("meta.jsonl", 171)])
def test_every_well_formed_case_is_judged_as_recorded_and_every_other_refused(name: str, number: int) -> None:
    seen = 0
    different: list[Any] = []
    for case in cases(name):
        seen += 1
        check, golden = case["check"], case["expect"]
        accepted = well_formed(check) and can_be_written(check)
        try:
            ours = run_check(case["scene"], check).to_dict()
        except CheckError as error:
            if accepted:
                different.append((case["id"], str(error)))
            continue
        if not accepted or "pass" not in golden or not same(ours, golden):
            different.append((case["id"], ours, golden))
    assert different == []
    assert seen == number


def test_the_gap_alone_is_the_gap_of_the_result() -> None:
    for case in cases("checks.jsonl"):
        if well_formed(case["check"]) and can_be_written(case["check"]):
            compiled = compile_check(case["check"])
            assert compiled.gap(case["scene"]) == float(case["expect"]["gap"]), case["id"]
            assert compiled.passes(case["scene"]) is case["expect"]["pass"], case["id"]


def test_every_path_leads_where_it_was_recorded_to() -> None:
    seen, different = 0, []
    for case in cases("paths.jsonl"):
        seen += 1
        scene, path, golden = case["scene"], case["path"], case["expect"]
        if "throws" in golden:
            with pytest.raises(CheckError):
                resolve(scene, path)
            with pytest.raises(CheckError):
                lookup(scene, path)
            continue
        value, found = resolve(scene, path), lookup(scene, path)
        if "undefined" in golden["value"]:
            right = value is MISSING and found.value is MISSING
        else:
            right = canonical_json(value) == canonical_json(golden["value"]["json"]) and found.value == value
        if not right or found.present is not golden["present"]:
            different.append((case["id"], value, found, golden))
    assert different == []
    assert seen == 479


def test_names_that_javascript_inherits_are_plain_keys() -> None:
    """The original reads inherited properties there; here each is as any other key that nobody has set."""
    seen = 0
    for case in cases("js_prototype.jsonl"):
        check = case["check"]
        names = {
            "constructor",
            "toString",
            "hasOwnProperty",
            "valueOf",
            "__proto__",
            "map",
            "filter",
            "indexOf",
        }
        text = json.dumps(check)
        used = next((name for name in sorted(names) if name in text), None)
        if used is None or not well_formed(check):
            continue
        seen += 1
        neutral = json.loads(text.replace(used, "neverseen"))
        scene = json.loads(json.dumps(case["scene"]).replace(f'"{used}"', '"neverseen"'))
        ours, plain = run_check(case["scene"], check), run_check(scene, neutral)
        assert (ours.passed, ours.gap) == (plain.passed, plain.gap), case["id"]
        assert ours.why == plain.why.replace("neverseen", used), case["id"]
    assert seen > 30
