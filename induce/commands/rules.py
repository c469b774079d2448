"""``induce learn`` on scenes labelled by rule: a check for each rule, written as one pack."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from evaluator import json_text, parse_pack
from induce.commands import note
from induce.export import write_atomically
from induce.scenes import LabelledScenes
from induce.summary import HeldOut, held_out_lines, result_lines, scene_lines, to_dict

if TYPE_CHECKING:
    from induce.commands.learning import Learner
    from induce.result import InductionResult


def by_rule(scenes: LabelledScenes) -> bool:
    """Whether the scenes are labelled by rule; a plain label counts before those of rules."""
    if not scenes.rule_names:
        return False
    if any(label is not None for label in scenes.labels):
        note('some lines have a "label", so the labels of rules ("labels") were ignored')
        return False
    return True


def pack_id_of(name: str) -> str:
    """The id of the pack; raises CheckError when it cannot be one."""
    pack_id = name if "@" in name else f"{name}@1.0.0"
    parse_pack({"id": pack_id, "checks": [{"id": "any", "expr": {"op": "and", "of": []}}]})
    return pack_id


def learn_by_rule(
    scenes: LabelledScenes,
    learner: Learner,
    folds_of: Callable[[str, LabelledScenes], int | str | None],
    hold_out: Callable[[str, LabelledScenes, InductionResult], HeldOut],
    pack_id: str,
    output: str | None,
    tell: Callable[[Iterable[str]], None],
) -> tuple[dict[str, Any], tuple[str, ...] | None]:
    """Learn, report and write; the report as one JSON-able object.

    Every rule has the learner's limits to itself; `folds_of` says how many folds it has, or why there are
    none. After an interrupt the rules that were not learnt are returned beside the report.
    """
    from induce.rules import LearntRules

    results: dict[str, InductionResult] = {}
    interrupted = False
    parts = {name: scenes.for_rule(name) for name in scenes.rule_names}
    for name, part in parts.items():
        tell([f"rule: {_shown(name)}"])
        tell(scene_lines(part))
        try:
            folds = folds_of(name, part)
            results[name] = learner.learn(part, folds, f"rule {_shown(name)}")
        except KeyboardInterrupt:
            if not results:
                raise
            interrupted = True
            break
        except ValueError as error:
            raise ValueError(f"rule {_shown(name)}: {error}") from None
        tell(result_lines(part, results[name], learner.time_limit, learner.kept_for(folds)))
        interrupted = results[name].stopped == "interrupted"
        if interrupted:
            break
    pack = LearntRules(results, pack_id).to_dict()
    if output is not None:
        write_atomically(output, json_text(pack) + "\n")
        tell([f"written: {output}"])
    reports = {}
    for name, result in results.items():
        held_out = HeldOut() if interrupted else hold_out(name, parts[name], result)
        tell(f"rule {_shown(name)}, {line}" for line in held_out_lines(held_out))
        reports[name] = to_dict(parts[name], result, held_out, None)
    left = tuple(_shown(name) for name in parts if name not in results)
    return {"pack": pack, "rules": reports, "written": output}, left if interrupted else None


def _shown(name: str) -> str:
    return name if name.isprintable() else json_text(name)
