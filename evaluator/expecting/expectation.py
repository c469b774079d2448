"""The expect DSL: say what is demanded of a run, one method after the other, then evaluate it.

    expect(trace).required_tools(["search", "pay"]).cost_under(0.1).evaluate()

Methods collect and look at nothing; `inspect` runs what was collected, `evaluate` runs it and lets it decide.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from evaluator.check import is_defined
from evaluator.compile import compile_check
from evaluator.conversion import to_scene
from evaluator.expecting.assertion import CHECK, Assertion
from evaluator.expecting.chain import Chain, read_snapshot
from evaluator.expecting.collecting import given
from evaluator.expecting.enforcing import enforce
from evaluator.expecting.judging import judge_assertion
from evaluator.expecting.lowering import check_of
from evaluator.expecting.output_methods import ContentMethods, SchemaMethods, SemanticMethods
from evaluator.expecting.policy import Choices, NotEvaluated, policy_of
from evaluator.expecting.result import AgentResult
from evaluator.expecting.run_methods import BehaviourMethods, ConstraintMethods, TraceMethods
from evaluator.expecting.session import session_providers
from evaluator.expecting.tree_methods import PluginMethods, TreeMethods
from evaluator.expecting.world import World
from evaluator.expecting.world_methods import WorldMethods
from evaluator.meta import parse_meta
from evaluator.providers import Providers
from evaluator.values import MISSING

_OF_SCENE: Final[Any] = MISSING


class Expectation(
    SchemaMethods,
    ConstraintMethods,
    TraceMethods,
    BehaviourMethods,
    ContentMethods,
    SemanticMethods,
    TreeMethods,
    PluginMethods,
):
    """A chain of assertions over one run. Made by `expect`."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain

    def world(self, snapshot: World | Mapping[str, Any] | None = _OF_SCENE) -> WorldExpectation:
        """The same chain with effect contracts on a snapshot of the world.

        Parameters:
            snapshot: a `World`, or an object of resources with arrays of records; copied now. None is
                evidence that is missing. Without it the world of the scene is meant.

        Raises `SceneError` when it is not JSON.
        """
        if snapshot is _OF_SCENE:
            _, size = read_snapshot(None if self._chain.world is MISSING else self._chain.world)
            return WorldExpectation(self._chain, _OF_SCENE, size)
        copied, size = read_snapshot(snapshot)
        if self._chain.world is MISSING:
            self._chain.world = copied
            return WorldExpectation(self._chain, _OF_SCENE, size)
        return WorldExpectation(self._chain, copied, size)

    def check(self, check: object, *, soft: bool | None = None) -> Self:
        """The scene passes a check of the check language.

        Parameters:
            check: what `run_check` takes; its paths start at the scene (`trace.steps`, `world.refunds`).
            soft: by default as the check's own severity says: a `warn` or `info` is soft.

        Raises `CheckError` when the check is not well formed.
        """
        wire = compile_check(check).check
        if soft is None:
            soft = is_defined(wire) and parse_meta(wire.get("meta")).severity != "error"
        return self._add(CHECK, {"check": wire}, soft=soft)

    def before(
        self,
        first: Mapping[str, Any],
        then: Mapping[str, Any],
        *,
        same: str | Sequence[str] | None = None,
        collection: str = "trace.steps",
        soft: bool = False,
    ) -> Self:
        """Every step that passes the check `then` has an earlier one that passes `first`.

        With `same`, a path or several, the two have equal values there: each change of a reservation follows
        a look-up of the same reservation. Raises `CheckError` when a check is not well formed.
        """
        ordered = {"op": "trace.before", "collection": collection, "first": first, "then": then}
        return self.check(to_scene(ordered | given({"same": same})), soft=soft)

    def inspect(
        self,
        *,
        strict: bool | None = None,
        soft_limit: int | None = None,
        not_evaluated: NotEvaluated | None = None,
    ) -> AgentResult:
        """Run what was collected and return the results, whatever they are.

        Parameters:
            strict: whether an assertion that was not evaluated makes the outcome "fail" instead of "skip".
            soft_limit: how many soft failures this chain may have; more make the outcome "fail".
            not_evaluated: what `enforce` does about the outcome "skip"; "block" is the same as strict.

        What is not said here is decided by the options of the test run and the environment (`policy.py`).

        Raises:
            BudgetExceededError: the session's budget does not cover a judge or embedding.
            HistoryError: the score history cannot be read or written.
            ValueError: an option is none that there is.
        """
        chain = self._chain
        policy = policy_of(Choices(strict, soft_limit, not_evaluated))
        providers = session_providers() if chain.providers is None else chain.providers
        submitted, scene = list(chain.assertions), chain.scene
        results = tuple(judge_assertion(assertion, scene, providers) for assertion in submitted)
        chain.submitted = len(submitted)
        return AgentResult(chain.trace, results, chain.world, policy)

    def evaluate(
        self,
        *,
        strict: bool | None = None,
        soft_limit: int | None = None,
        not_evaluated: NotEvaluated | None = None,
    ) -> AgentResult:
        """Run what was collected and enforce it: `inspect`, then `enforce`, which says what is raised."""
        __tracebackhide__ = True
        return enforce(self.inspect(strict=strict, soft_limit=soft_limit, not_evaluated=not_evaluated))

    async def inspect_async(
        self,
        *,
        strict: bool | None = None,
        soft_limit: int | None = None,
        not_evaluated: NotEvaluated | None = None,
    ) -> AgentResult:
        """`inspect` in a thread, so that a judge that takes its time does not stop the event loop."""
        return await asyncio.to_thread(
            self.inspect, strict=strict, soft_limit=soft_limit, not_evaluated=not_evaluated
        )

    async def evaluate_async(
        self,
        *,
        strict: bool | None = None,
        soft_limit: int | None = None,
        not_evaluated: NotEvaluated | None = None,
    ) -> AgentResult:
        """`evaluate` with its running part in a thread."""
        __tracebackhide__ = True
        return enforce(
            await self.inspect_async(strict=strict, soft_limit=soft_limit, not_evaluated=not_evaluated)
        )

    @property
    def assertions(self) -> list[Assertion]:
        """What was collected so far; a copy."""
        return [
            Assertion(copy["id"], copy["method"], copy["args"])
            for copy in (assertion.to_dict() for assertion in self._chain.assertions)
        ]

    @property
    def trace(self) -> dict[str, Any]:
        """The trace that the assertions are about."""
        return self._chain.trace

    @property
    def scene(self) -> dict[str, Any]:
        """The run as a scene, on which `to_check()` gives the verdict of this chain."""
        return self._chain.scene

    @property
    def evaluated(self) -> bool:
        """Whether everything collected so far was run; adding an assertion makes it false again."""
        return self._chain.evaluated

    def to_check(self, id: str | None = None, meta: Any = None) -> dict[str, Any]:  # noqa: A002
        """The chain as one check of the check language, on the wire.

        A single assertion is its operator, several are an `and`. On `scene` the check passes exactly when
        every assertion passes (`AgentResult.passed`); on other scenes the effect contracts look at the world
        there. With an id it is a defined check.
        """
        return check_of(self._chain.assertions, id, meta)

    def _add(
        self,
        method: str,
        arguments: Mapping[str, Any],
        optional: Mapping[str, Any] | None = None,
        *,
        soft: bool = False,
    ) -> Self:
        self._chain.add(method, {**arguments, **given(optional), **({"soft": True} if soft else {})})
        return self

    def __repr__(self) -> str:
        methods = ", ".join(assertion.method for assertion in self._chain.assertions)
        return f"<{type(self).__name__} of {methods or 'nothing yet'}, made at {self._chain.origin}>"


class WorldExpectation(Expectation, WorldMethods):
    """A chain with a snapshot of the world at hand; all other methods chain on as before."""

    def __init__(self, chain: Chain, snapshot: Any, size: int) -> None:
        super().__init__(chain)
        self._snapshot = snapshot
        self._size = size

    def _contract(
        self, method: str, arguments: Mapping[str, Any], optional: Mapping[str, Any] | None = None
    ) -> Self:
        self._chain.count_snapshot(self._size)
        snapshot = {} if self._snapshot is _OF_SCENE else {"snapshot": self._snapshot}
        return self._add(method, {**arguments, **given(optional), **snapshot})


def expect(run: object, *, providers: Providers | None = None, scope: str | None = None) -> Expectation:
    """Begin a chain of assertions over one run of an agent.

    Parameters:
        run: a trace; a scene `{"trace", "world"?}`; a `TraceBuilder`; an `AgentResult`, to go on with its
            run; or an object that `to_scene` turns into one of these. What recorded runs often lack, the
            trace's id and its output, may be absent.
        providers: what semantic assertions and plugins call; by default those of the session.
        scope: what the stable ids of the assertions are made from, beside each one's spec. By default the
            test that runs, under the pytest plugin; nothing outside one.

    Raises `SceneError` when it is no trace, or beyond the limits of one (`validate_trace`).

    >>> ran = {"steps": [{"type": "tool_call", "name": "search"}], "output": {"message": "ok"}}
    >>> expect(ran).required_tools(["search"]).output_contains("OK").evaluate().passed
    True
    """
    return Expectation(Chain(run, providers, scope))
