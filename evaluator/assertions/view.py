"""A trace as the assertions read it: steps, names, calls and the tree, found once and kept.

What is the trace of a scene: in an object with a key `trace`, what stands there; otherwise the scene itself.
The world is what stands under the scene's key `world`.

Real traces lack fields that the specification asks for, and are read as far as they go: absent steps are
none, a step that is no object counts as one without fields. What is there but of another form (`steps` that
is no array) is missing evidence for the assertions that read it.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from evaluator.assertions.judgement import Judgement, MissingEvidenceError
from evaluator.values import MISSING

if TYPE_CHECKING:
    from evaluator.assertions.grounding import Said
    from evaluator.providers import Providers

Step = dict[str, Any]


class Call(NamedTuple):
    """A `tool_call` step: its number among the calls and its position among all steps, both from 0."""

    number: int
    position: int
    name: str
    step: Step


class Run(NamedTuple):
    """A trace of the tree with its depth (the root's is 0) and the run that delegated to it."""

    view: TraceView
    depth: int
    parent: Run | None


class TraceView:
    """A trace with what assertions ask of it, each found when first asked for.

    Attributes:
        trace: the trace, as it is; `MISSING` where there is none.
        world: the snapshot of the world that came with the trace; `MISSING` where there is none.
        providers: what semantic assertions and plugins may call (`Providers`), or None.
        judgements: what assertions of a check that is being evaluated judged so far.
        scene: what paths of the check language start from: the scene that the trace is of, or the trace.

    Ask before the trace is changed: what was found once is not looked for again.
    """

    def __init__(self, trace: Any, world: Any = MISSING, providers: Providers | None = None) -> None:
        self.trace = trace
        self.world = world
        self.providers = providers
        self.scene = trace
        self.judgements: dict[object, Judgement] = {}

    def release(self) -> None:
        """Forget what refers back to the view, so that it is freed at once, not by collecting garbage."""
        self.judgements.clear()
        self.__dict__.pop("tree", None)

    @cached_property
    def root(self) -> dict[str, Any]:
        """The trace, which is an object; raises `MissingEvidenceError` when it is not."""
        if type(self.trace) is not dict:
            raise MissingEvidenceError("trace")
        return self.trace

    @cached_property
    def steps(self) -> list[Step]:
        """The steps of this trace, in their order."""
        steps = self.root.get("steps")
        if steps is None:
            return []
        if type(steps) is not list:
            raise MissingEvidenceError("steps")
        if set(map(type, steps)) <= {dict}:
            return steps
        return [step if type(step) is dict else {} for step in steps]

    @cached_property
    def names(self) -> list[str]:
        """The name of each step, whatever its type; "" for a step without one."""
        return [name if type(name := step.get("name")) is str else "" for step in self.steps]

    @cached_property
    def calls(self) -> list[Call]:
        """The `tool_call` steps, in their order."""
        found: list[Call] = []
        for position, (name, step) in enumerate(zip(self.names, self.steps, strict=True)):
            if step.get("type") == "tool_call":
                found.append(Call(len(found), position, name, step))
        return found

    @cached_property
    def call_names(self) -> list[str]:
        """The names of the `tool_call` steps, in their order."""
        named = zip(self.names, self.steps, strict=True)
        return [name for name, step in named if step.get("type") == "tool_call"]

    @cached_property
    def call_counts(self) -> Counter[str]:
        """How often each tool was called."""
        return Counter(self.call_names)

    @cached_property
    def calls_by_name(self) -> dict[str, list[Call]]:
        """The calls of each tool, in their order."""
        found: dict[str, list[Call]] = {}
        for call in self.calls:
            found.setdefault(call.name, []).append(call)
        return found

    @cached_property
    def call_failures(self) -> list[bool | None]:
        """Whether each call failed; None where the trace holds no evidence."""
        version = self.root.get("schema_version")
        if (type(version) is not int and type(version) is not float) or version < 2:
            return [None] * len(self.calls)
        return [_failure(call.step) for call in self.calls]

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """The trace's metadata; empty where there are none."""
        metadata = self.root.get("metadata")
        return metadata if type(metadata) is dict else {}

    @cached_property
    def output(self) -> Any:
        """The trace's output, `MISSING` where there is none."""
        return self.root.get("output", MISSING)

    @cached_property
    def agent_id(self) -> str:
        """Whose run it is; "" where that is not said."""
        return _text(self.root.get("agent_id"))

    @cached_property
    def said(self) -> Said:
        """What the input and the results say, for values to be grounded in."""
        from evaluator.assertions.grounding import Said  # not at the top: it reads views

        sources = [(-1, self.root["input"])] if "input" in self.root else []
        for position, step in enumerate(self.steps):
            if "result" in step and step.get("type") != "llm_call":
                sources.append((position, step["result"]))
        return Said(sources)

    @cached_property
    def tree(self) -> list[Run]:
        """Every trace of the tree: the root, then the sub-traces of `agent_call` steps, depth first."""
        found: list[Run] = []
        pending = [Run(self, 0, None)]
        while pending:
            run = pending.pop()
            found.append(run)
            delegated = [
                Run(TraceView(step["sub_trace"]), run.depth + 1, run)
                for step in run.view.steps
                if step.get("type") == "agent_call" and type(step.get("sub_trace")) is dict
            ]
            pending.extend(reversed(delegated))
        return found

    @cached_property
    def steps_by_agent(self) -> dict[str, list[Step]]:
        """The steps of the whole tree by the `agent_id` that they bear themselves."""
        found: dict[str, list[Step]] = {}
        for run in self.tree:
            for step in run.view.steps:
                agent_id = step.get("agent_id")
                if type(agent_id) is str:
                    found.setdefault(agent_id, []).append(step)
        return found


def view_of(scene: Any, providers: Providers | None = None) -> TraceView:
    """The trace of a scene, with the world beside it."""
    if type(scene) is not dict:
        return TraceView(scene, MISSING, providers)
    view = TraceView(scene.get("trace", scene), scene.get("world", MISSING), providers)
    view.scene = scene
    return view


def _failure(step: Step) -> bool | None:
    """Whether a step's error or status says that it failed; None when there is neither."""
    if step.get("error") is not None:
        return True
    if "status" in step:
        return bool(step["status"] != "ok")
    return False if "error" in step else None


def _text(value: Any) -> str:
    return value if type(value) is str else ""
