"""Which action first? The gap of a check as the heuristic of a search through predicted scenes.

The search is best-first in the order of A* (Hart, Nilsson and Raphael 1968): of the scenes reached so far,
the one with the least steps + gap is looked into next. A gap is a distance in the check's own units and not a
number of steps, so it guides but does not bound: a plan that passes is given up only for a shorter one, and
the search goes on until nothing can improve on what it has or the node limit is reached. What it says is then
exact within the depth (`complete`), or the best of what was seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from math import inf
from typing import Any, NamedTuple

from msgspec import Struct

from evaluator.compile import compile_check
from evaluator.json_write import canonical_json
from evaluator.world_model import ImpossibleActionError, WorldModel, copied_scene, predict, world_model


class RankedAction(Struct, frozen=True):
    """An action, and the best that can come of taking it first.

    Attributes:
        action: the action, as it was given.
        gap: the least gap reached within the depth; infinite when the action is impossible.
        plan: the actions that lead there, this one first; empty when it is impossible.
        scene: the scene predicted at the end of the plan; None when it is impossible.
        complete: whether nothing within the depth can be better, in gap or, at the same gap, in steps. False
            when the node limit stopped the search before that was sure.
        impossible: why the action cannot be taken; None when it can.
    """

    action: Any
    gap: float
    plan: tuple[Any, ...]
    scene: Any
    complete: bool = True
    impossible: str | None = None

    @property
    def passed(self) -> bool:
        """Whether the plan makes the check pass."""
        return self.gap == 0.0


def rank_actions(
    scene: object,
    actions: Sequence[Any],
    check: object,
    model: str | WorldModel | None = None,
    *,
    depth: int = 3,
    node_limit: int = 1_000,
) -> tuple[RankedAction, ...]:
    """The actions from best to worst, by what a world model says can come of each.

    Parameters:
        scene: the scene now. Never changed, whatever the model does.
        actions: what can be done, at every step the same.
        check: what is wanted, as `compile_check` takes it.
        model: the world model, as `predict` takes it. Each scene and action is asked for once.
        depth: how many actions a plan has at most.
        node_limit: how many predictions may be made at most; at least one for each action.

    Better is: the smaller gap; then the shorter plan; then the place in `actions`. Impossible actions come
    last. The same arguments give the same ranking.

    Raises:
        CheckError: the check is not well formed.
        SceneError: the scene, or one that the model returned, is no scene.
        ValueError: the depth or the limit is too small, or there is no such model.
    """
    _require_whole("depth", depth, 1)
    _require_whole("node_limit", node_limit, max(1, len(actions)))
    search = _Search(compile_check(check).gap, tuple(actions), world_model(model), node_limit)
    start = copied_scene(scene)
    steps = search.successors(_State(start, canonical_json(start), 0.0)) or []
    firsts = [search.first(index, step, depth) for index, step in enumerate(steps)]
    search.run(firsts, depth)
    ranked = sorted(firsts, key=lambda one: (one.impossible is not None, one.gap, len(one.plan), one.index))
    return tuple(one.ranked(search.actions) for one in ranked)


class _State(NamedTuple):
    """A predicted scene, the text that identifies it, and its gap."""

    scene: Any
    key: str
    gap: float


_Step = _State | str
"""What an action leads to: a state, or why it cannot be taken."""


class _First:
    """The best known outcome of one action taken first."""

    def __init__(self, index: int, step: _Step) -> None:
        self.index = index
        self.impossible = step if isinstance(step, str) else None
        self.gap = inf if isinstance(step, str) else step.gap
        self.scene = None if isinstance(step, str) else step.scene
        self.plan: tuple[int, ...] = () if isinstance(step, str) else (index,)
        self.complete = True
        self.steps_to: dict[str, int] = {}

    def can_improve(self, steps: int) -> bool:
        """Whether a plan of so many steps may be better than the best one."""
        return self.gap != 0.0 or steps < len(self.plan)

    def reach(self, state: _State, plan: tuple[int, ...]) -> bool:
        """Take note of a state; false when it was reached before in as few steps."""
        if self.steps_to.get(state.key, len(plan) + 1) <= len(plan):
            return False
        self.steps_to[state.key] = len(plan)
        if (state.gap, len(plan)) < (self.gap, len(self.plan)):
            self.gap, self.scene, self.plan = state.gap, state.scene, plan
        return True

    def ranked(self, actions: tuple[Any, ...]) -> RankedAction:
        plan = tuple(actions[index] for index in self.plan)
        scene = None if self.scene is None else copied_scene(self.scene)
        return RankedAction(actions[self.index], self.gap, plan, scene, self.complete, self.impossible)


class _Node(NamedTuple):
    """A state on the frontier; ordered by steps + gap, then by gap, then by age, which no two share."""

    estimate: float
    gap: float
    age: int
    first: _First
    state: _State
    plan: tuple[int, ...]

    def is_worthwhile(self) -> bool:
        """Whether a step from here may improve the outcome, and no shorter way here is known."""
        steps = len(self.plan)
        return self.first.can_improve(steps + 1) and self.first.steps_to[self.state.key] == steps


class _Search:
    """The frontier of a search and what has been predicted so far."""

    def __init__(self, gap_of: Any, actions: tuple[Any, ...], model: WorldModel, node_limit: int) -> None:
        self.actions = actions
        self._gap_of = gap_of
        self._model = model
        self._left = node_limit
        self._known: dict[str, list[_Step]] = {}
        self._frontier: list[_Node] = []
        self._pushed = 0

    def first(self, index: int, step: _Step, depth: int) -> _First:
        """The action at an index as a first one, and its state on the frontier."""
        first = _First(index, step)
        if not isinstance(step, str):
            first.steps_to[step.key] = 1
            self._push(first, step, first.plan, depth)
        return first

    def run(self, firsts: list[_First], depth: int) -> None:
        """Look into the frontier until nothing on it can improve an outcome or the limit is reached."""
        while self._frontier:
            node = self._frontier[0]
            steps = self.successors(node.state) if node.is_worthwhile() else []
            if steps is None:
                break
            heappop(self._frontier)
            for index, step in enumerate(steps):
                plan = (*node.plan, index)
                if not isinstance(step, str) and node.first.reach(step, plan):
                    self._push(node.first, step, plan, depth)
        unsettled = {node.first.index for node in self._frontier if node.is_worthwhile()}
        for first in firsts:
            first.complete = first.index not in unsettled

    def successors(self, state: _State) -> list[_Step] | None:
        """What each action leads to from a state; None when that needs more predictions than are left."""
        if state.key not in self._known:
            if self._left < len(self.actions):
                return None
            self._left -= len(self.actions)
            self._known[state.key] = [self._step(state, action) for action in self.actions]
        return self._known[state.key]

    def _step(self, state: _State, action: Any) -> _Step:
        try:
            scene = predict(state.scene, action, self._model)
        except ImpossibleActionError as error:
            return str(error) or "the world model says that it cannot be taken"
        return _State(scene, canonical_json(scene), self._gap_of(scene))

    def _push(self, first: _First, state: _State, plan: tuple[int, ...], depth: int) -> None:
        if len(plan) < depth and first.can_improve(len(plan) + 1):
            self._pushed += 1
            node = _Node(len(plan) + state.gap, state.gap, self._pushed, first, state, plan)
            heappush(self._frontier, node)


def _require_whole(name: str, value: object, least: int) -> None:
    if type(value) is not int or value < least:
        raise ValueError(f"{name} is a whole number of at least {least}, got {value!r:.60}")
