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
    """
    if not labels_by_rule:
        raise ValueError("no rules; expected labels by the name of a rule")
    names = [str(index) for index in range(len(scenes))] if ids is None else list(ids)
    weights = [1.0] * len(scenes) if sample_weight is None else list(sample_weight)
    results = {}
    for rule in sorted(labels_by_rule):
        labels = list(labels_by_rule[rule])
        if len(labels) != len(scenes):
            raise ValueError(
                f"rule {rule}: expected a label for each of the {len(scenes)} scenes, got {len(labels)}"
            )
        spoken = [index for index, label in enumerate(labels) if label is not None]
        try:
            results[rule] = learn_check(
                [scenes[index] for index in spoken],
                [labels[index] for index in spoken],
                grammar,
                ids=[names[index] for index in spoken],
                sample_weight=[weights[index] for index in spoken],
                **options,
            )
        except ValueError as error:
            raise ValueError(f"rule {rule}: {error}") from error
    learnt = LearntRules(results, pack_id)
    parse_pack(learnt.to_dict())
    return learnt
