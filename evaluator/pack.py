"""Packs: checks that belong together, under one name and version, and what they say of many scenes.

    id: yard-safety@1.2.0
    checks:
      - id: budget
        expr: {op: lte, path: total, value: 500}
        meta: {severity: warn, tags: [money]}

A pack is JSON or YAML (`.yaml`, `.yml`; needs PyYAML, the extra `yaml`). YAML is read by the core schema of
version 1.2, in which `yes`, `12:30` and `2026-01-01` are texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from evaluator.check import Check, snapshot
from evaluator.compile import compile_check
from evaluator.errors import CheckError, kind_of, nearest
from evaluator.json_read import JsonTextError, read_json
from evaluator.meta import SEVERITIES, Meta, Severity, parse_meta, require_pack_id
from evaluator.result import CheckResult


class CheckPack(Struct, frozen=True):
    """Checks under one name and version; made by `parse_pack` or `load_pack`.

    Attributes:
        id: name and version, `yard-safety@1.2.0`.
        checks: the defined checks, in order; no two have the same id.
        extra: keys of the pack that mean nothing here, as they were.
    """

    id: str
    checks: tuple[Check, ...]
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The id without the version."""
        return self.id.partition("@")[0]

    @property
    def version(self) -> str:
        """What stands behind the @ of the id."""
        return self.id.partition("@")[2]

    def to_dict(self) -> dict[str, Any]:
        """The pack on the wire; a copy."""
        wire: dict[str, Any] = {"id": self.id, "checks": [check.to_dict() for check in self.checks]}
        extra: dict[str, Any] = snapshot(self.extra)
        return wire | extra


def load_pack(path: str | PathLike[str]) -> CheckPack:
    """The pack in a file, JSON, or YAML when the name ends in `.yaml` or `.yml`.

    Raises `CheckError` naming the file, and the place in it, when it cannot be read or is no pack.
    """
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        from evaluator.scene_lines import reason  # costs start-up, and few files are missing

        problem = reason(error) if isinstance(error, OSError) else str(error)
        raise CheckError(problem, str(path)) from None
    try:
        if Path(path).suffix.lower() in (".yaml", ".yml"):
            return parse_pack(_read_yaml(data))
        return parse_pack(read_json(data))
    except JsonTextError as error:
        place = "".join(f":{number}" for number in (error.line, error.column) if number)
        raise CheckError(error.problem, f"{path}{place}") from None
    except CheckError as error:
        raise CheckError(str(error), str(path)) from None


def parse_pack(wire: object) -> CheckPack:
    """A pack on the wire, `{"id": "name@version", "checks": [...]}`, judged whole.

    Raises `CheckError` with the place of the fault, `$.checks[2].expr.of[0].op`.
    """
    if type(wire) is not dict:
        raise CheckError(f'expected a pack, an object with "id" and "checks", got {kind_of(wire)}', "$")
    pack_id = require_pack_id(_field(wire, "id", "its name and version"), "$.id")
    listed = _field(wire, "checks", "an array of defined checks")
    if type(listed) is not list or not listed:
        got = kind_of(listed) if type(listed) is not list else "an empty one"
        raise CheckError(f"expected an array of defined checks, got {got}", "$.checks")
    checks: dict[str, Check] = {}
    for index, one in enumerate(listed):
        check = _check(one, f"$.checks[{index}]")
        if check.id in checks:
            raise CheckError(f'two checks of the pack have the id "{check.id}"', f"$.checks[{index}].id")
        checks[check.id] = check
    extra = {key: value for key, value in wire.items() if key not in ("id", "checks")}
    return CheckPack(pack_id, tuple(checks.values()), snapshot(extra))


def _field(wire: dict[str, Any], name: str, expected: str) -> Any:
    if name in wire:
        return wire[name]
    meant = nearest(name, (key for key in wire if type(key) is str and key not in ("id", "checks")))
    hint = f'; is "{meant}" a misspelling of it?' if meant else ""
    raise CheckError(f'a pack needs a field "{name}" ({expected}){hint}', f"$.{name}")


def _check(wire: object, place: str) -> Check:
    if type(wire) is not dict or type(wire.get("id")) is not str or "expr" not in wire:
        got = "one without" if type(wire) is dict else kind_of(wire)
        raise CheckError(f'expected a defined check, an object with "id" and "expr", got {got}', place)
    try:
        judged = compile_check(wire).check
        parse_meta(judged.get("meta"))
    except CheckError as error:
        raise CheckError(error.problem, place + error.place.removeprefix("$")) from None
    return Check(judged["id"], judged["expr"], judged.get("meta"))


# What a pack says of scenes


class Tally(Struct):
    """How often checks passed and failed; counts of single verdicts, one check on one scene.

    `failed` counts what was `not_evaluated` as well: an assertion over a trace that lacks the evidence.
    `worst` is the failure with the largest gap, the first of them: the scene's id, the gap and why.
    """

    checks: int = 0
    passed: int = 0
    failed: int = 0
    not_evaluated: int = 0
    failing_checks: int = 0
    worst: tuple[str | int | float, float, str] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The tally on the wire."""
        wire: dict[str, Any] = {"pass": self.passed, "fail": self.failed}
        if self.not_evaluated:
            wire["not_evaluated"] = self.not_evaluated
        if self.worst is not None:
            wire["worst"] = dict(zip(("id", "gap", "why"), self.worst, strict=True))
        return wire


class PackReport(Struct, frozen=True):
    """A pack's verdicts rolled up: `by_check` (by id), `by_tag` and `by_severity` (what occurs)."""

    pack: CheckPack
    scenes: int
    by_check: dict[str, Tally]
    by_tag: dict[str, Tally]
    by_severity: dict[Severity, Tally]

    def fails(self, fail_on: Severity = "error") -> bool:
        """Whether a check at least as grave as `fail_on` failed on some scene."""
        grave = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
        return any(self.by_severity[severity].failed for severity in grave if severity in self.by_severity)

    def to_dict(self) -> dict[str, Any]:
        """The report on the wire; infinite gaps are `float("inf")`, "Infinity" in `json_text`."""
        return {
            "pack": self.pack.id,
            "scenes": self.scenes,
            "checks": [self._check(check) for check in self.pack.checks],
            "tags": {tag: _group(tally) for tag, tally in self.by_tag.items()},
            "severities": {severity: _group(tally) for severity, tally in self.by_severity.items()},
        }

    def _check(self, check: Check) -> dict[str, Any]:
        meta = parse_meta(check.meta)
        about = {"id": check.id, "severity": meta.severity, "tags": list(meta.tags)}
        return about | self.by_check[check.id].to_dict()


def _group(tally: Tally) -> dict[str, Any]:
    return {"checks": tally.checks, "failing_checks": tally.failing_checks} | tally.to_dict()


class PackRun:
    """A pack at work: feed it scenes one by one, then ask for the `report`. Keeps no scene."""

    def __init__(self, pack: CheckPack) -> None:
        self.pack = pack
        self._scenes = 0
        self._compiled = [
            (check.id, compile_check(check), parse_meta(check.meta), Tally(checks=1)) for check in pack.checks
        ]

    def judge(self, scene: object, scene_id: str | int | float) -> Iterator[tuple[str, Meta, CheckResult]]:
        """The results of all checks on a scene, as (check id, meta, result), counted as they are taken.

        Raises `SceneError` for what `compile_check` says.
        """
        self._scenes += 1
        for name, compiled, meta, tally in self._compiled:
            result = compiled(scene)
            if result.passed:
                tally.passed += 1
            else:
                tally.failed += 1
                tally.not_evaluated += not compiled.is_evaluated(result)
                if tally.worst is None or result.gap > tally.worst[1]:
                    tally.worst = scene_id, result.gap, result.why
            yield name, meta, result

    def report(self) -> PackReport:
        """What the scenes so far gave."""
        by_tag: dict[str, Tally] = {}
        by_severity: dict[Severity, Tally] = {}
        for _, _, meta, tally in self._compiled:
            _add(tally, by_severity.setdefault(meta.severity, Tally()))
            for tag in dict.fromkeys(meta.tags):
                _add(tally, by_tag.setdefault(tag, Tally()))
        ordered = {severity: by_severity[severity] for severity in SEVERITIES if severity in by_severity}
        by_check = {name: tally for name, _, _, tally in self._compiled}
        return PackReport(self.pack, self._scenes, by_check, by_tag, ordered)


def run_pack(pack: CheckPack, scenes: Iterable[object]) -> PackReport:
    """Run every check of a pack on every scene. Scenes are named by their number, from 1, in the report.

    Raises `SceneError` when a scene holds something that is not JSON where a check looks.
    """
    run = PackRun(pack)
    for number, scene in enumerate(scenes, start=1):
        for _ in run.judge(scene, number):
            pass
    return run.report()


def _add(one: Tally, total: Tally) -> None:
    total.checks += one.checks
    total.passed += one.passed
    total.failed += one.failed
    total.not_evaluated += one.not_evaluated
    total.failing_checks += one.failed > 0
    if one.worst is not None and (total.worst is None or one.worst[1] > total.worst[1]):
        total.worst = one.worst


def _read_yaml(data: bytes) -> Any:
    try:
        from evaluator.yaml_read import read_yaml
    except ModuleNotFoundError as error:
        if error.name != "yaml":
            raise
        problem = "reading YAML needs PyYAML; install it (the extra yaml), or write the pack as JSON"
        raise CheckError(problem) from None
    return read_yaml(data)
