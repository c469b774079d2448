"""The files that a finished run leaves, read back and checked: what reports and comparisons are made from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from evaluator import json_text
from experiments.report.shapes import Evaluation, Result, SweepTable

Split = Literal["train", "test"]
RESULT, CONFIG = "result.json", "config.yaml"
FILES = (
    RESULT,
    "check.json",
    CONFIG,
    "predictions.jsonl",
    "misclassified.jsonl",
    "evaluation.json",
    "environment.json",
)
"""What a run's folder may hold; the first is what makes it one."""
_T = TypeVar("_T")


class ReportError(ValueError):
    """A run can't be reported or compared; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """The verdict on one scene; ``gap`` is the distance to passing, which may be infinite."""

    split: Split
    id: str
    label: Literal["pass", "fail"]
    passed: bool
    gap: float

    @property
    def right(self) -> bool:
        return self.passed == (self.label == "pass")


@dataclass(frozen=True, slots=True)
class Mistake:
    """A misclassified scene: the verdict, the evaluator's reason for it, and the scene."""

    prediction: Prediction
    why: str
    scene: Any


@dataclass(frozen=True, slots=True)
class RunFiles:
    """A finished run. ``check_text`` is check.json as it is; files that a run need not leave are None."""

    name: str
    result: Result
    check_text: str
    config: Mapping[str, Any]
    predictions: tuple[Prediction, ...] | None
    mistakes: tuple[Mistake, ...]
    evaluation: Evaluation | None
    environment: Mapping[str, Any] | None


def read_run(folder: Path, *, name: str | None = None, brief: bool = False) -> RunFiles:
    """The run whose files lie in ``folder``; ``brief`` leaves out what is said of single scenes.

    Raises :class:`ReportError` where it is no finished run or its files are damaged.
    """
    if not (folder / RESULT).is_file():
        raise ReportError(f"{folder}: not a finished run, it has no {RESULT}")
    result = _convert(_json(folder / RESULT), Result, folder / RESULT)
    config = _config(folder / CONFIG)
    check = folder / "check.json"
    predictions = None if brief else _predictions(folder / "predictions.jsonl")
    evaluation, environment = _optional(folder / "evaluation.json"), _optional(folder / "environment.json")
    return RunFiles(
        name=name or title_of(config) or folder.resolve().name,
        result=result,
        check_text=_text(check) if check.is_file() else json_text(result.induction.check),
        config=config,
        predictions=predictions,
        mistakes=() if brief else tuple(_mistakes(folder / "misclassified.jsonl")),
        evaluation=None
        if evaluation is None
        else _convert(evaluation, Evaluation, folder / "evaluation.json"),
        environment=environment if isinstance(environment, dict) else None,
    )


def read_predictions(folder: Path) -> tuple[Prediction, ...]:
    """The verdicts of a run on its scenes. Raises :class:`ReportError` where they are missing or damaged."""
    found = _predictions(folder / "predictions.jsonl")
    if found is None:
        raise ReportError(
            f"{folder}: has no predictions.jsonl (older versions wrote none); run the experiment again"
        )
    return found


def read_table(path: Path) -> SweepTable:
    """The table of a sweep."""
    return _convert(_json(path), SweepTable, path)


def title_of(config: Mapping[str, Any]) -> str | None:
    """A run's name from its configuration: what was learnt, by what, with which seed."""
    dataset, learner = config.get("dataset"), config.get("learner")
    if not isinstance(dataset, dict) or not isinstance(learner, dict):
        return None
    given = (dataset.get(key) for key in ("rule", "task", "path", "train", "name", "table", "kind"))
    what = next((value for value in given if isinstance(value, str)), "run")
    stem = Path(what).stem if "/" in what or what.endswith((".jsonl", ".parquet")) else what
    return f"{stem}, {learner.get('engine', 'auto')}, seed {config.get('seed', 0)}"


def amount(value: Any) -> float:
    """A number of a result as a float; what lies beyond all doubles is infinite."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _json(path: Path) -> Any:
    try:
        return json.loads(_text(path))
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ReportError(f"{path}: not JSON ({reason})") from None


def _optional(path: Path) -> Any:
    return _json(path) if path.is_file() else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ReportError(f"{path}: not UTF-8") from None
    except OSError as error:
        raise ReportError(f"{path}: {(error.strerror or 'unreadable').lower()}") from None


def _convert(value: Any, kind: type[_T], path: Path) -> _T:
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, OverflowError) as error:
        raise ReportError(f"{path}: {_lower(str(error))}") from None


def _config(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    import yaml  # as Hydra does

    try:
        tree = yaml.load(_text(path), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError:
        raise ReportError(f"{path}: not YAML") from None
    # Dates, as YAML alone has them, and keys that are numbers become texts.
    return json.loads(json.dumps(tree, default=str)) if isinstance(tree, dict) else {}


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(_text(path).split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError):
                raise ReportError(f"{path}, line {number}: not JSON") from None


def _predictions(path: Path) -> tuple[Prediction, ...] | None:
    if not path.is_file():
        return None
    return tuple(_prediction(record, path, number) for number, record in _lines(path))


def _prediction(record: Any, path: Path, number: int) -> Prediction:
    try:
        split, label, passed = record["split"], record["label"], record["pass"]
        gap = amount(record["gap"])
        if split in ("train", "test") and label in ("pass", "fail") and isinstance(passed, bool):
            return Prediction(split, str(record["id"]), label, passed, gap)
    except (KeyError, TypeError, ValueError):
        pass
    raise ReportError(f"{path}, line {number}: expected split, id, label, pass and gap of a scene")


def _mistakes(path: Path) -> Iterator[Mistake]:
    if path.is_file():
        for number, record in _lines(path):
            prediction = _prediction(record, path, number)
            yield Mistake(prediction, str(record.get("why", "")), record.get("scene"))


def _lower(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"
