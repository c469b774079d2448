"""Assertions of AutomationBench as checks of this language, for worlds that `normalise_world` has shaped."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from evaluator.check import snapshot
from evaluator.errors import CheckError, kind_of
from evaluator.translate.automationbench.clauses import NEVER, no
from evaluator.translate.automationbench.parameters import MissingParameterError, Parameters
from evaluator.translate.automationbench.types import TYPES, Confidence


class Translation(Struct, frozen=True):
    """What an assertion says, as a check.

    Attributes:
        check: the check, in the language with its opt-in flags; to be run on a normalised world.
        approximate: whether the check may differ from the grader's verdict for a reason that is known.
        needs: those reasons, one sentence each.
        confidence: how well the rule is known: `source`, `port`, `usage` or `choice`.
        family: the rule family, such as `Mail` or `Row`.
        negated: whether the type is a guard, that something is not so.
    """

    check: dict[str, Any]
    approximate: bool
    needs: tuple[str, ...]
    confidence: Confidence
    family: str
    negated: bool


def translate_automationbench(assertion: dict[str, Any], initial: Any = None) -> Translation | None:
    """The check that an AutomationBench assertion stands for; None when its type has no rule here.

    Parameters:
        assertion: the assertion of a task, `{"type": …, …}`.
        initial: the starting world of the task, as it is or normalised; needed by the types that ask
            whether a row was changed.

    Without a parameter that its type needs, an assertion is false, as it is to the grader: the check then
    never holds, also that of a guard. Raises `CheckError` with the key when the assertion is no object or
    a parameter is of a kind that nothing can be made of.

    >>> translate_automationbench({"type": "gmail_message_is_read", "message_id": "m1"}).check["collection"]
    'gmail.messages'
    """
    if type(assertion) is not dict:
        raise CheckError(f"an assertion is an object with a type, got {kind_of(assertion)}", "$")
    name = assertion.get("type")
    known = TYPES.get(name) if type(name) is str else None
    if known is None:
        return None
    parameters = Parameters(snapshot(assertion), initial)
    try:
        positive = known.build(parameters)
        check = no(positive) if known.negated else positive
    except MissingParameterError as missing:
        asked = " or ".join(f'"{one}"' for one in missing.names)
        parameters.note(f"there is no {asked}, without which the verdict is false")
        check = dict(NEVER)
    for key in parameters.unread():
        parameters.note(f'"{key}" is not looked at')
    if known.guessed:
        parameters.note("no rule of the grader is known; the name and the parameters of the type say this")
    needs = tuple(parameters.notes)
    return Translation(snapshot(check), bool(needs), needs, known.confidence, known.family, known.negated)


class Coverage(Struct, frozen=True):
    """How much of some tasks is translated.

    Attributes:
        types: the number of assertion types that occur, and `types_translated` of them.
        assertions: the number of assertions, and `translated` of them.
        by_family, by_confidence: types and assertions translated, by the name of the group.
        untranslated: the number of assertions of each type that has no rule, most frequent first.
    """

    types: int
    types_translated: int
    assertions: int
    translated: int
    by_family: dict[str, tuple[int, int]]
    by_confidence: dict[str, tuple[int, int]]
    untranslated: dict[str, int]

    @property
    def share(self) -> float:
        """The share of the assertions that is translated; 1 of none."""
        return self.translated / self.assertions if self.assertions else 1.0


def coverage(tasks: Iterable[dict[str, Any]]) -> Coverage:
    """How much of the assertions of the tasks is translated."""
    counts: dict[str, int] = {}
    for task in tasks:
        for assertion in task.get("assertions", ()):
            name = str(assertion.get("type"))
            counts[name] = counts.get(name, 0) + 1
    known = {name: number for name, number in counts.items() if name in TYPES}
    unknown = sorted(counts.keys() - known.keys(), key=lambda name: (-counts[name], name))
    return Coverage(
        types=len(counts),
        types_translated=len(known),
        assertions=sum(counts.values()),
        translated=sum(known.values()),
        by_family=_grouped(known, {name: TYPES[name].family for name in known}),
        by_confidence=_grouped(known, {name: TYPES[name].confidence for name in known}),
        untranslated={name: counts[name] for name in unknown},
    )


def _grouped(counts: dict[str, int], groups: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Types and assertions of each group, the largest group first."""
    totals: dict[str, tuple[int, int]] = {}
    for name, number in counts.items():
        types, assertions = totals.get(groups[name], (0, 0))
        totals[groups[name]] = types + 1, assertions + number
    return dict(sorted(totals.items(), key=lambda item: (-item[1][1], item[0])))
