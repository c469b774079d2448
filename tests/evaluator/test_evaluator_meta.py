"""Meta: known keys are judged by `define_check` and packs, everything is carried unchanged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator import CheckError, Meta, define_check, parse_meta, run_check

GOLDEN = Path(__file__).parents[1] / "golden" / "autocheck" / "meta.jsonl"
FINE = {"op": "exists", "path": "a"}
FULL = {
    "severity": "warn",
    "tags": ["money", "yard"],
    "references": [
        "Dock safety note",
        {"source": "Fire code", "url": "https://example.org/fc4", "page": 3},
        {"source": "SOP", "anchor": {"asset_id": "doc-1", "anchor": "row[3]"}},
        {"source": "SOP", "anchor": "row[3]"},
    ],
    "pack": "yard@1.2.0",
    "owner": {"deep": [1, None]},
}


def test_known_keys_are_read() -> None:
    meta = parse_meta(FULL)
    assert (meta.severity, meta.tags, meta.pack) == ("warn", ("money", "yard"), "yard@1.2.0")
    assert list(meta.references) == FULL["references"]
    assert parse_meta(None) == parse_meta({}) == Meta()
    assert Meta().severity == "error"


@pytest.mark.parametrize(
    ("word", "severity"), [("fail", "error"), ("error", "error"), ("warn", "warn"), ("info", "info")]
)
def test_severities(word: str, severity: str) -> None:
    assert parse_meta({"severity": word}).severity == severity


@pytest.mark.parametrize(
    ("meta", "place", "said"),
    [
        ({"severity": "warning"}, "$.meta.severity", 'did you mean "warn"?'),
        ({"severity": 3}, "$.meta.severity", "fail (or error), warn or info, got a number"),
        ({"severity": None}, "$.meta.severity", "got null"),
        ({"tags": "money"}, "$.meta.tags", "an array of tags, got a string"),
        ({"tags": ["a", 5]}, "$.meta.tags[1]", "a tag"),
        ({"tags": [" "]}, "$.meta.tags[0]", "an empty one"),
        ({"references": {"source": "x"}}, "$.meta.references", "an array of references"),
        ({"references": [5]}, "$.meta.references[0]", "a reference"),
        ({"references": [{"url": "u"}]}, "$.meta.references[0].source", "name of the source"),
        ({"references": [{"source": "x"}]}, "$.meta.references[0]", '"url" or an "anchor"'),
        ({"references": [{"source": "x", "url": 5}]}, "$.meta.references[0].url", "a url"),
        ({"references": [{"source": "x", "anchor": {}}]}, "$.meta.references[0].anchor.asset_id", "asset"),
        ({"references": [{"source": "x", "anchor": 1}]}, "$.meta.references[0].anchor", "an anchor"),
        ({"pack": "yard"}, "$.meta.pack", "name and version"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(meta: Any, place: str, said: str) -> None:
    for judge in (parse_meta, lambda it: define_check("x", FINE, it)):
        with pytest.raises(CheckError) as caught:
            judge(meta)
        assert caught.value.place == place
        assert said in caught.value.problem


def test_meta_is_carried_unchanged() -> None:
    assert run_check({"a": 1}, define_check("x", FINE, FULL)).to_dict()["meta"] == FULL
    odd = {"severity": "nonsense", "tags": 5}
    assert run_check({"a": 1}, {"id": "x", "expr": FINE, "meta": odd}).meta == odd


def test_every_recorded_meta_can_be_given_to_define_check() -> None:
    seen = 0
    for line in GOLDEN.read_text(encoding="utf-8").splitlines():
        check = json.loads(line)["check"]
        if "meta" in check:
            seen += 1
            assert define_check("x", FINE, check["meta"]).meta == check["meta"]
    assert seen > 100
