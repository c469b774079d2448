"""Several rules over the same scenes: one check each, together a pack.

A labelled line may name its rules, ``{"labels": {"budget": "fail", "shipping": "pass"}, "scene": {…}}``; a
rule that a scene says nothing of is learnt without that scene.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluator import CheckPack, parse_pack
from induce.grammar import Grammar
from induce.learn import learn_check
from induce.parallel import in_parallel
from induce.result import InductionResult

JSON = Any
DEFAULT_PACK = "induced@1.0.0"


@dataclass(frozen=True)
class LearntRules:
    """What was learnt: a result for each rule, by name, in the order of the names."""

    results: Mapping[str, InductionResult]
    pack_id: str = DEFAULT_PACK

    @property
    def pack(self) -> CheckPack:
        """The checks, each with its rule's name as id, for `evaluator.run_pack`."""
        return parse_pack(self.to_dict())

    def to_dict(self) -> dict[str, JSON]:
        """The pack on the wire."""
        return {
            "id": self.pack_id,
            "checks": [result.to_check(id=name) for name, result in self.results.items()],
        }


def learn_rules(
    scenes: Sequence[JSON],
    labels_by_rule: Mapping[str, Sequence[JSON]],
    grammar: Grammar | dict[str, JSON] | None = None,
    *,
    ids: Sequence[str] | None = None,
    sample_weight: Sequence[float] | None = None,
    pack_id: str = DEFAULT_PACK,
    n_jobs: int | None = None,
    **options: Any,
) -> LearntRules:
    """Learn a check for each of several rules.

    Parameters
    ----------
    scenes : sequence of JSON trees, (n,)
    labels_by_rule : mapping from the name of a rule to a sequence of labels, (n,)
        None where the rule does not speak of the scene.
    grammar, ids, sample_weight
        As for `learn_check`.
    pack_id : str
        ``name@version`` of the pack.
    n_jobs : int, optional
        Rules to learn at a time, through joblib (see `induce.parallel`). The result does not depend on it, as
        long as no clock bites.
    **options
        Further options of `learn_check`; limits hold for each rule.

    Returns
    -------
    LearntRules

    Raises
    ------
    ValueError
        As `learn_check` does, with the rule's name before it; when there is no rule, or the pack's id is not
        ``name@version``.
    KeyboardInterrupt
        When the user interrupts.
    """
    if not labels_by_rule:
        raise ValueError("no rules; expected labels by the name of a rule")
    names = [str(index) for index in range(len(scenes))] if ids is None else list(ids)
    weights = [1.0] * len(scenes) if sample_weight is None else list(sample_weight)
    tasks = []
    for rule in sorted(labels_by_rule):
        labels = list(labels_by_rule[rule])
        if len(labels) != len(scenes):
            raise ValueError(
                f"rule {rule}: expected a label for each of the {len(scenes)} scenes, got {len(labels)}"
            )
        spoken = [index for index, label in enumerate(labels) if label is not None]
        about = {
            "scenes": [scenes[index] for index in spoken],
            "labels": [labels[index] for index in spoken],
            "ids": [names[index] for index in spoken],
            "sample_weight": [weights[index] for index in spoken],
        }
        tasks.append((rule, {"grammar": grammar, **about, **options}))
    results = in_parallel(_learn_rule, tasks, n_jobs)
    learnt = LearntRules(dict(zip(sorted(labels_by_rule), results, strict=True)), pack_id)
    parse_pack(learnt.to_dict())
    return learnt


def _learn_rule(rule: str, task: dict[str, Any]) -> InductionResult:
    try:
        result = learn_check(**task)
    except ValueError as error:
        raise ValueError(f"rule {rule}: {error}") from error
    if result.stopped == "interrupted":
        raise KeyboardInterrupt
    return result
