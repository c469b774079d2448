"""Folders of finished runs, written without learning: what reports and comparisons are tested on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from evaluator import compile_check, json_text, sentence

CHECK = {
    "op": "or",
    "of": [
        {"op": "gte", "path": "total", "value": 5},
        {
            "op": "not",
            "of": {
                "op": "find",
                "collection": "items",
                "where": {
                    "op": "and",
                    "of": [
                        {"op": "eq", "path": "kind", "value": "book"},
                        {"op": "lte", "path": "price", "value": 3},
                    ],
                },
            },
        },
    ],
}
HOSTILE = (
    '</script><script>alert(1)</script><img src="https://example.com/x.png" onerror=alert(2)>'
    "'\"><style>*{display:none}</style>&amp; \u202eevil\u202c \u200f\u2066 \x00\x07\x1b[31m \xa0\x9f \u2028 "
    "\U000e0041 $\\frac{1}{2}$"
)
COUNTS = {"pass": 20, "fail": 1, "alone": 12}
HALF = f"{HOSTILE}\ud800"
"""The same with half of a surrogate pair, which a check can't hold but a scene's id can."""
SCENES = 60


def scene(number: int) -> dict[str, Any]:
    kinds = ("book", "pen", "lamp")
    items = [{"kind": kinds[(number + at) % 3], "price": (number * 3 + at) % 9} for at in range(number % 4)]
    return {"total": number * 5 % 11 - 4, "items": items, "buyer": {"name": f"buyer {number}"}}


def write_run(
    folder: Path,
    *,
    check: Mapping[str, Any] = CHECK,
    scenes: int = SCENES,
    flip: int = 9,
    digest: str = "0",
    config: Mapping[str, Any] | None = None,
    evaluation: Mapping[str, Any] | None = None,
    name: Callable[[str], str] = str,
    why: str | None = None,
    results: Mapping[str, Any] | None = None,
) -> Path:
    """A run on ``scenes`` training and as many unseen scenes, every ``flip``-th of them labelled wrongly.

    ``name`` makes ids, ``results`` are put into result.json over what is there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    compiled, truth = compile_check(dict(check)), compile_check(CHECK)
    predictions, mistakes = [], []
    tables: dict[str, dict[str, dict[str, int]]] = {}
    for split in ("train", "test"):
        tables[split] = {label: {"pass": 0, "fail": 0} for label in ("pass", "fail")}
        for number in range(scenes):
            one = scene(number + (0 if split == "train" else 1000))
            label = "pass" if truth.passes(one) != (number % flip == 0) else "fail"
            found = compiled(one)
            tables[split][label]["pass" if found.passed else "fail"] += 1
            record = {"split": split, "id": name(f"{split}-{number:04}"), "label": label}
            record |= {"pass": found.passed, "gap": found.gap}
            if found.passed != (label == "pass"):
                record["why"] = found.why if why is None else why
                mistakes.append({**record, "scene": one if why is None else {why: [why, one]}})
            predictions.append(record)
    graded = {split: _graded(table) for split, table in tables.items()}
    result = {
        "dataset": {
            "name": "shop",
            "source": "orders of a shop",
            **{
                split: {"digest": f"{split}-{digest}" * 8, **_labels(table)}
                for split, table in tables.items()
            },
            "hidden_rule": None,
        },
        "sentence": sentence(dict(check)),
        "induction": _induction(check),
        "metrics": {
            "train_accuracy": graded["train"]["accuracy"],
            "test_accuracy": graded["test"]["accuracy"],
            "size": 24.5,
            "seconds": 1.25,
            "recovered": int(not graded["test"]["misclassified"]),
        },
        **graded,
        "versions": {"check-induction": "0.1.0"},
        "coverage": [{"sentence": sentence(dict(check)), "train": COUNTS, "test": COUNTS}],
        "anytime": [
            {"seconds": 0.1, "objective": None, "lower_bound": 4.0},
            {"seconds": 0.4, "objective": 60.0, "lower_bound": 12.0},
            {"seconds": 1.25, "objective": 46.5, "lower_bound": 46.5},
        ],
        "baselines": [
            {
                "name": "tree",
                "available": True,
                "train_accuracy": 0.9,
                "test_accuracy": 0.8,
                "train_wrong": [name(f"train-{number:04}") for number in range(0, scenes, 10)],
                "test_wrong": [name(f"test-{number:04}") for number in range(0, scenes, 5)],
                "size": 5,
                "seconds": 0.2,
                "rule": "if total <= 4.5\n  then fail\nelse pass",
                "stopped": "finished",
            },
            {"name": "popper", "available": False, "reason": "popper is not on the PATH"},
        ],
        **(results or {}),
    }
    default = {"dataset": {"kind": "shop", "train": scenes}, "learner": {"engine": "asp"}, "seed": 0}
    _write(folder / "result.json", json_text(result))
    _write(folder / "check.json", json_text({"id": "induced", "expr": check}))
    _write(folder / "config.yaml", yaml.safe_dump(dict(config or default), sort_keys=False))
    _write(folder / "predictions.jsonl", "\n".join(map(json_text, predictions)))
    _write(folder / "misclassified.jsonl", "\n".join(map(json_text, mistakes)))
    _write(folder / "environment.json", json_text({"python": "3.11", "git": {"dirty": False}}))
    (folder / "evaluation.json").unlink(missing_ok=True)
    if evaluation is not None:
        _write(folder / "evaluation.json", json_text(evaluation))
    return folder


def full_evaluation(text: str = "total is at least 4") -> dict[str, Any]:
    """An evaluation.json with every part; ``text`` is what its checks and edits say."""
    check = {"op": "gte", "path": "total", "value": 4}
    verdict = {"check": check, "objective": 47.0, "distance": 0.5, "sentence": text}
    return {
        "cross_validation": {
            "folds": 5,
            "right": 54,
            "total": 60,
            "accuracy": 0.9,
            "wrong": ["train-0001"],
            "rules": [{"check": check, "sentence": text, "folds": 3}],
        },
        "permutation": {"p_value": 0.0476, "objective": 46.5, "rounds": 20, "hits": 0, "cut_by_clock": 1},
        "learning_curve": [
            {
                "scenes": scenes,
                "train_accuracy": 1.0,
                "test_accuracy": accuracy,
                "size": 12.5,
                "objective": 12.5,
                "optimal": True,
                "check": check,
                "sentence": text,
            }
            for scenes, accuracy in ((10, 0.7), (20, 0.8), (60, 0.9))
        ],
        "alternatives": [
            {
                **verdict,
                "differs": 3,
                "of": 400,
                "example": {
                    "id": text,
                    "source": text,
                    "edits": [text],
                    "scene": {"total": 4, text: text},
                    "pass": True,
                },
            }
        ],
        "next_scenes": [
            {
                "id": text,
                "label": None,
                "scene": {"total": 4, text: text},
                "question": {
                    "gain": 0.9,
                    "passing": 0.4,
                    "source": text,
                    "edits": [text],
                    "if": {"pass": verdict, "fail": None},
                },
            }
        ],
    }


def write_hostile(folder: Path) -> Path:
    """A run in which every text that can be is hostile."""
    check = {"op": "eq", "path": "buyer.name", "value": HOSTILE}
    rules = [
        {
            "name": HALF,
            "available": True,
            "train_accuracy": 1,
            "test_accuracy": 1,
            "rule": HALF,
            "reason": HALF,
        },
        {"name": HALF, "available": False, "reason": HALF},
    ]
    write_run(
        folder,
        check=check,
        name=lambda text: f"{text} {HALF}",
        why=HALF,
        config={
            "dataset": {"kind": HOSTILE, "rule": HOSTILE},
            "learner": {"engine": HOSTILE},
            HOSTILE: HOSTILE,
        },
        evaluation=full_evaluation(HALF),
        results={
            "baselines": rules,
            "versions": {HALF: HALF},
            "coverage": [{"sentence": HALF, "train": COUNTS, "test": COUNTS}],
        },
    )
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    result["dataset"] |= {"name": HALF, "source": HALF, "hidden_rule": {"says": HALF}}
    result["induction"] |= {
        "engine": HALF,
        "stopped": HALF,
        "contradictions": [[HALF]],
        "unusable_keys": [HALF],
    }
    _write(folder / "result.json", json_text(result))
    _write(folder / "environment.json", json_text({HALF: {HALF: HALF}}))
    return folder


def write_sweep(folder: Path, runs: int = 4) -> Path:
    """A sweep over learners and seeds with its table, and a run of it that has failed."""
    for number in range(runs):
        engine, seed = ("asp", "enumerate")[number % 2], number // 2
        check = CHECK if engine == "asp" else {"op": "gte", "path": "total", "value": 5}
        config = {
            "dataset": {"kind": "shop", "train": SCENES, "seed": seed},
            "learner": {"engine": engine},
            "seed": seed,
            "table": {"title": "engines", "values": {"test_accuracy": "accuracy on unseen scenes"}},
        }
        write_run(folder / str(number), check=check, config=config, digest=str(seed))
    table = {
        "title": "engines",
        "rows": {"key": "learner.engine", "values": ["asp", "enumerate"], "rule_size": None},
        "columns": {"key": "seed", "values": ["0", "1"]},
        "runs": runs,
        "means": {"test_accuracy": [[0.9, 0.8], [0.7, None], [0.8, 0.8]]},
    }
    _write(folder / "table.json", json_text(table))
    (folder / "99").mkdir()
    failure = {"status": "failed", "sentence": "dataset.path: orders.jsonl does not exist"}
    _write(folder / "99/unfinished.json", json_text(failure))
    return folder


def _graded(table: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    right = table["pass"]["pass"] + table["fail"]["fail"]
    wrong = table["pass"]["fail"] + table["fail"]["pass"]
    return {"accuracy": right / (right + wrong), "misclassified": wrong, "confusion": table}


def _labels(table: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    return {label: sum(row.values()) for label, row in table.items()}


def _induction(check: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "check": check,
        "objective": 46.5,
        "size": 24.5,
        "penalty": 22.0,
        "constant": 60.0,
        "lower_bound": 40.0,
        "optimal": False,
        "stopped": "time",
        "engine": "asp",
        "seconds": 1.25,
        "atoms": 120,
        "nodes": 3400,
        "misclassified": [],
        "counts": {"pass": 1, "fail": 1},
        "contradictions": [],
        "unusable_keys": [],
        "alternatives": [check, {"op": "gte", "path": "total", "value": 6}],
        "grammar_hash": "a" * 64,
        "data_hash": "b" * 64,
        "random_state": 0,
        "vacuous": None,
    }


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
