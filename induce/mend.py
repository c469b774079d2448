"""Repair: the smallest change to a given check that fits the labelled scenes.

Changes have a length in bits, as checks have, and scenes that stay wrong cost what the noise model
charges. The sum is searched best first from the check as it is, and from the check with one part dropped;
changes are kept that put more scenes right than wrong. What is found is good among those tried; that nothing
smaller exists is not proved.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluator import canonical_json, compile_check
from induce.examples import Examples
from induce.grammar import UNIT, Grammar, units
from induce.hypothesis_space import HypothesisSpace
from induce.moves import Change, Changes, Moves, changed, together, told
from induce.objective import Objective
from induce.parts import Check, Place, expression_of, terms
from induce.proposers.proposer import Proposer
from induce.shortest import literals_within
from induce.trust import rule_bits

JSON = Any
LITERAL_BITS = 20
"""The dearest literals about a scene that may join."""
PATIENCE = 12
"""Checks expanded without an improvement after which the search ends."""


@dataclass(frozen=True)
class CheckEdit:
    """One change of a check.

    `path` is the place in the check as it was given, `before` what stood there and `after` what stands there
    now: None where a literal joins (`kind` "and" or "or") or a part goes ("drop"). The other kinds are
    "change", of a field, and "negate". `text` says it in words.
    """

    path: str
    kind: str
    before: JSON
    after: JSON
    text: str


@dataclass(frozen=True)
class Repair:
    """A repaired check.

    Attributes
    ----------
    check : dict
        The bare check after the edits.
    edits : tuple of CheckEdit
        Empty when nothing better was found, or nothing was wrong.
    wrong_before, wrong_after : tuple of str
        Ids of the scenes graded against their label.
    before, after : Objective or None
        None where the grammar cannot say the check.
    edit_bits : float
        Bits for the edits.
    nodes : int
        Checks that were tried.
    stopped : {"done", "nodes"}
        Whether the search ended by itself or at the node limit.
    """

    check: Check
    edits: tuple[CheckEdit, ...]
    wrong_before: tuple[str, ...]
    wrong_after: tuple[str, ...]
    before: Objective | None
    after: Objective | None
    edit_bits: float
    nodes: int
    stopped: str

    def to_dict(self) -> dict[str, JSON]:
        return {
            "check": self.check,
            "edits": [
                {"path": e.path, "kind": e.kind, "from": e.before, "to": e.after, "text": e.text}
                for e in self.edits
            ],
            "wrong_before": list(self.wrong_before),
            "wrong_after": list(self.wrong_after),
            "objective_before": None if self.before is None else self.before._asdict(),
            "objective_after": None if self.after is None else self.after._asdict(),
            "edit_bits": self.edit_bits,
            "nodes": self.nodes,
            "stopped": self.stopped,
        }


def repair(
    check: object,
    scenes: Sequence[JSON],
    labels: Sequence[JSON],
    grammar: Grammar | dict[str, JSON] | None = None,
    *,
    ids: Sequence[str] | None = None,
    sample_weight: Sequence[float] | None = None,
    penalty: float | str = "auto",
    max_where: int = 2,
    max_edits: int = 5,
    node_limit: int = 20_000,
) -> Repair:
    """The smallest change found to a check that fits labelled scenes.

    Bounds move, constants and operators change, parts of an and or or are dropped, and literals join: any of
    the grammar at the top and in its alternatives, tests of one path inside find and count.

    Parameters
    ----------
    check : dict
        A check, bare or defined; it may lie outside the grammar.
    scenes, labels, ids, sample_weight, grammar, penalty
        As for `learn_check`.
    max_where : int
        Conditions inside a find or count that joins.
    max_edits : int
        The most edits.
    node_limit : int
        The most checks to try; equal inputs give equal repairs.

    Raises
    ------
    ValueError
        As `learn_check` does.
    """
    for name, value in (("max_where", max_where), ("max_edits", max_edits), ("node_limit", node_limit)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name}: expected a whole number, at least 1, got {value!r}")
    language = Grammar.of(grammar)
    expression = expression_of(check)
    examples = Examples.of(scenes, labels, sample_weight, ids)
    search = _Search(expression, examples, language, penalty, max_where, max_edits, node_limit)
    best = search.run()
    repaired = changed(expression, best.changes)
    edits = tuple(
        CheckEdit(path, change.kind, before, after, text)
        for change in best.changes
        for path, before, after, text in [told(expression, change)]
    )
    return Repair(
        check=repaired,
        edits=edits,
        wrong_before=search.named(search.start.wrong),
        wrong_after=search.named(search.wrong(repaired)),
        before=rule_bits(expression, scenes, labels, language, sample_weight, penalty=penalty)[0],
        after=rule_bits(repaired, scenes, labels, language, sample_weight, penalty=penalty)[0],
        edit_bits=sum(change.cost for change in best.changes) / UNIT,
        nodes=search.nodes,
        stopped="nodes" if search.nodes >= node_limit else "done",
    )


@dataclass(frozen=True)
class _State:
    total: int
    text: str
    changes: Changes
    wrong: tuple[int, ...]

    def __lt__(self, other: _State) -> bool:
        return (self.total, len(self.changes), self.text) < (other.total, len(other.changes), other.text)


class _Search:
    """Best-first search over sets of changes."""

    def __init__(
        self,
        check: Check,
        examples: Examples,
        grammar: Grammar,
        penalty: float | str,
        max_where: int,
        max_edits: int,
        node_limit: int,
    ) -> None:
        self.check, self.examples = check, examples
        self.max_edits, self.node_limit = max_edits, node_limit
        space = HypothesisSpace.of(examples, grammar, penalty, 1, 1, max_where, 2)
        self.noise = space.noise
        proposer = Proposer(space.root, space.cost, space.passes, space.penalties, max_where, math.inf)
        pool = literals_within(proposer, units(LITERAL_BITS))
        self.moves = Moves(space.root, space.cost, pool, space.passes)
        self.local = self.moves.about(check)
        self.nodes = 0
        self.seen: set[str] = set()
        self.start = self.best = self._state(check, (), self.wrong(check))

    def run(self) -> _State:
        queue: list[_State] = []
        for state in self._first() if self.start.wrong else ():
            heapq.heappush(queue, state)
        since = 0
        while queue and since < PATIENCE and self.nodes < self.node_limit:
            state, best = heapq.heappop(queue), self.best
            if state.wrong and len(state.changes) < self.max_edits:
                for following in self._following(state, [*self.local, *self._joining(state)]):
                    heapq.heappush(queue, following)
            since = since + 1 if self.best is best else 0
        return self.best

    def _first(self) -> Iterator[_State]:
        """The states one change from the check, and one more from the check with a part dropped."""
        yield from self._following(self.start, [*self.local, *self._joining(self.start)])
        for change in self.local:
            if change.kind == "drop":
                made = changed(self.check, (change,))
                dropped = self._state(made, (change,), self.wrong(made))
                yield dropped
                yield from self._following(dropped, self.local)

    def _following(self, state: _State, changes: Sequence[Change]) -> Iterator[_State]:
        """The states one change further that put some wrong scene right and more right than wrong.

        Changes that cost more than the best state are left out.
        """
        for change in changes:
            if self.nodes >= self.node_limit:
                return
            joint = together(state.changes, change)
            if joint is None or sum(one.cost for one in joint) >= self.best.total:
                continue
            made = changed(self.check, joint)
            text = canonical_json(made)
            if text in self.seen:
                continue
            self.seen.add(text)
            self.nodes += 1
            wrong = self._improved(made, state.wrong)
            if wrong is not None:
                following = self._state(made, joint, wrong)
                self.best = min(self.best, following)
                yield following

    def _improved(self, check: Check, before: tuple[int, ...]) -> tuple[int, ...] | None:
        """The examples that are wrong now; None when they weigh no less than before."""
        passes = compile_check(check).passes
        scenes, labels, weights = self.examples.scenes, self.examples.passing, self.examples.weights
        still = [i for i in before if passes(scenes[i]) is not labels[i]]
        room = math.fsum(weights[i] for i in before) - math.fsum(weights[i] for i in still)
        if room <= 0:
            return None
        known = frozenset(before)
        for i, scene in enumerate(scenes):
            if i not in known and passes(scene) is not labels[i]:
                room -= weights[i]
                if room <= 0:
                    return None
                still.append(i)
        return tuple(sorted(still))

    def _joining(self, state: _State) -> list[Change]:
        """Literals that tighten the check or one alternative, or add an alternative."""
        labels = self.examples.labels
        wrong = np.zeros(len(labels), np.bool_)
        wrong[list(state.wrong)] = True
        found: list[Change] = []
        alternatives: list[Place] = [place for place, _ in terms(self.check)]
        if (wrong & ~labels).any():
            places = list(dict.fromkeys([(), *alternatives]))
            found += self.moves.joining(places, "and", wrong & ~labels, ~wrong & labels)
        if (wrong & labels).any():
            found += self.moves.joining([()], "or", wrong & labels, ~wrong & ~labels)
        return found

    def wrong(self, check: Check) -> tuple[int, ...]:
        """The examples that the standard evaluator grades against their label."""
        passes = compile_check(check).passes
        pairs = enumerate(zip(self.examples.scenes, self.examples.passing, strict=True))
        return tuple(i for i, (scene, label) in pairs if passes(scene) is not label)

    def named(self, wrong: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(sorted(name for i in wrong for name in self.examples.ids[i]))

    def _state(self, check: Check, changes: Changes, wrong: tuple[int, ...]) -> _State:
        errors = math.fsum(self.examples.weights[i] for i in wrong)
        total = sum(change.cost for change in changes) + self.noise.cost(errors)
        return _State(total, canonical_json(check), changes, wrong)
