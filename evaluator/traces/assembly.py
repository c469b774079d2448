"""From the spans of a recorded run to a trace, with a sub-trace for each agent it delegates to.

The spans of models, tools and look-ups become steps in order of their start; the span of an agent becomes an
`agent_call` step whose sub-trace holds what lies within it; all other spans are containers and leave no step.

A tool call may be recorded several times: the model's answer asks for it, a span of its own executes it, and
later messages repeat it as history. These are brought together by the call's id, or where ids are missing by
the tool's name and arguments that do not contradict. What is left over is never dropped: a call that was
asked for and not seen to be executed is a step after the model's, and one that is only in the history is a
step before the model that was told of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain
from typing import Any, Final

from msgspec import Struct, field

from evaluator.json_write import json_text
from evaluator.traces import attributes as said
from evaluator.traces.attributes import Kind, Span
from evaluator.traces.calls import UNNAMED, Turn, call_step, match_results
from evaluator.traces.conversation import UNRECORDED, output_of
from evaluator.traces.messages import Call, Item, Result, Said
from evaluator.traces.notes import Notes
from evaluator.traces.validation import DEEPEST_TRACE
from evaluator.values import MISSING, equal, quoted

_LAST_NS: Final = 253_402_300_800 * 10**9  # the year 10000, which no ISO 8601 text of Python's holds
_TEXT_KEYS: Final = ("message", "output", "answer", "content", "response", "text")
_FAR: Final = 10**9
_SILENT: Final = Notes(lambda _: None)


class _Entry(Struct, eq=False):
    """What becomes a step: a span, or a call that only messages tell of."""

    key: tuple[int, int, int]
    agent: str | None
    span: Span | None = None
    kind: Kind = ""
    turn: Turn | None = None
    run: _Run | None = None
    asked: list[Item] = field(default_factory=list)
    answered: list[Item] = field(default_factory=list)


class _Run(Struct, eq=False):
    """The run of one agent: the span it is, if any, and what lies within it."""

    owner: Span | None
    agent: str | None
    parent: _Run | None
    entries: list[_Entry] = field(default_factory=list)
    depth: int = 0


def traces_of_spans(spans: Iterable[Span], notes: Notes) -> list[dict[str, Any]]:
    """The traces of spans, in the order in which they begin in the source.

    A trace without a span of a model, a tool, a look-up or an agent is none of an agent; it is passed over.
    """
    grouped: dict[str, list[Span]] = {}
    for span in spans:
        grouped.setdefault(span.trace_id, []).append(span)
    found = []
    for name, group in grouped.items():
        trace = _assembled(name.strip() or "trace", group, notes)
        if trace is None:
            notes(
                group[0].place, f"trace {quoted(name)} holds no span of a model, tool or agent; passed over"
            )
        else:
            found.append(trace)
    return found


def _assembled(name: str, spans: list[Span], notes: Notes) -> dict[str, Any] | None:
    roots, children = _forest(spans, notes)
    root = _runs(roots, children)
    if not any(run.entries for run in _all_runs(root)) and not (
        root.owner is not None and said.kind_of_span(root.owner)
    ):
        return None
    root, outer = _unwrapped(root)
    _limit_depth(root, notes)
    calls = _Calls(notes)
    for run in _all_runs(root):
        run.entries.sort(key=lambda entry: entry.key)
        calls.gather(run)
    for run in _all_runs(root):
        calls.complete(run)
    trace = _Writer(name, notes).trace(root, outer)
    version = 2 if _has_evidence(trace) else 1
    pending = [trace]
    while pending:
        written = pending.pop()
        written["schema_version"] = version
        pending.extend(step["sub_trace"] for step in written["steps"] if "sub_trace" in step)
    return trace


def _has_evidence(trace: dict[str, Any]) -> bool:
    return any(
        (step["type"] == "tool_call" and "status" in step)
        or _has_evidence(step.get("sub_trace", {"steps": []}))
        for step in trace["steps"]
    )


# The tree of spans


def _forest(spans: list[Span], notes: Notes) -> tuple[list[Span], dict[int, list[Span]]]:
    """The spans that have no parent, and the children of each (by `id()`), in the order of the source."""
    by_id: dict[str, Span] = {}
    kept = []
    for span in spans:
        first = by_id.setdefault(span.id, span) if span.id else span
        if first is not span:
            if span.start_ns is not None and _is_copy(first, span):
                notes(span.place, f"the same span as {first.place}, sent twice; counted once")
                continue
            notes(span.place, f"its span id {quoted(span.id)} is also that of {first.place}; both are kept")
        kept.append(span)
    roots: list[Span] = []
    children: dict[int, list[Span]] = {}
    for span in kept:
        parent = by_id.get(span.parent) if span.parent else None
        if parent is None or parent is span:
            if span.parent:
                notes(span.place, f"its parent {quoted(span.parent)} is not recorded; taken as a root")
            roots.append(span)
        else:
            children.setdefault(id(parent), []).append(span)
    reached: set[int] = set()
    rooted = {id(span) for span in roots}
    for span in [*roots, *kept]:
        if id(span) not in reached and id(span) not in rooted:
            notes(span.place, "its parents form a circle; taken as a root")
            roots.append(span)
        pending = [span]
        while pending:
            at = pending.pop()
            if id(at) not in reached:
                reached.add(id(at))
                pending.extend(children.get(id(at), ()))
    return roots, children


def _is_copy(first: Span, second: Span) -> bool:
    parts = [
        [span.parent, span.name, span.start_ns, span.end_ns, span.attributes, span.status]
        for span in (first, second)
    ]
    return equal(parts[0], parts[1])


def _runs(roots: list[Span], children: dict[int, list[Span]]) -> _Run:
    """The runs of agents in a forest of spans, with their entries."""
    owner = roots[0] if len(roots) == 1 else None
    root = _Run(owner, None, None)
    seen: set[int] = set()
    key, order = 0, 0
    pending: list[tuple[Span, _Run, _Entry | None]] = [(span, root, None) for span in reversed(roots)]
    while pending:
        span, run, above = pending.pop()
        if id(span) in seen:
            continue
        seen.add(id(span))
        kind = said.kind_of_span(span)
        key, order = (span.start_ns if span.start_ns is not None else key), order + 1
        entry = _Entry((key, order, 0), None, span, kind)
        if kind == "agent":
            name = said.agent_name(span)
            if span is owner:
                run.agent = name
            else:
                entry.run = run = _Run(span, name, run)
                _above(run).entries.append(entry)
            above = None
        elif kind == "tool":
            entry.turn = Turn(said.tool_call(span), order)
            if above is not None and above.turn is not None and _is_same_call(_call(above), entry):
                _fill(_call(above), _call(entry))
            else:
                run.entries.append(entry)
                above = entry
        elif kind == "retrieval":
            run.entries.append(entry)
            above = None
        elif kind == "model":
            entry.asked, entry.answered = said.asked(span), said.answered(span)
            if above is not None and above.kind == "model":
                above.kind = ""  # a frame around the models' calls within it
            run.entries.append(entry)
            above = entry
        pending.extend((child, run, above) for child in reversed(children.get(id(span), ())))
    for run in _all_runs(root):
        for entry in run.entries:
            entry.agent = run.agent
    return root


def _above(run: _Run) -> _Run:
    assert run.parent is not None
    return run.parent


def _is_same_call(outer: Call, entry: _Entry) -> bool:
    """Whether a tool's span within another's is the same call, seen by another layer."""
    inner = _call(entry)
    if inner.id is not None and inner.id == outer.id:
        return inner.name == outer.name
    return entry.span is not None and said.is_protocol_span(entry.span) and inner.name == outer.name


def _fill(call: Call, other: Call) -> None:
    """Take from another record of the same call what this one lacks; an object tells more than a text."""
    if call.args is MISSING or (type(call.args) is str and type(other.args) is dict):
        call.args = other.args
    if call.result is MISSING:
        call.result = other.result
    call.id = other.id if call.id is None else call.id
    call.name = other.name if call.name is None else call.name
    if call.failed is None:
        call.failed, call.error = other.failed, other.error


def _all_runs(root: _Run) -> Iterator[_Run]:
    pending = [root]
    while pending:
        run = pending.pop()
        yield run
        pending.extend(entry.run for entry in reversed(run.entries) if entry.run is not None)


def _unwrapped(root: _Run) -> tuple[_Run, Span | None]:
    """The run without containers around it: where all there is is one agent's run, that is the trace."""
    outer = None
    while root.agent is None and len(root.entries) == 1 and root.entries[0].run is not None:
        outer = outer or root.owner
        root = root.entries[0].run
    root.parent = None
    return root, outer


def _limit_depth(root: _Run, notes: Notes) -> None:
    """Move what lies deeper than sub-traces may into the deepest that is allowed."""
    for run in list(_all_runs(root)):
        if run is not root:
            run.depth = _above(run).depth + 1
    for run in list(_all_runs(root)):
        if run.depth == DEEPEST_TRACE:
            below = [inner for inner in _all_runs(run) if inner is not run]
            for inner in below:
                assert inner.owner is not None
                problem = f"agent {quoted(inner.agent or '')} lies more than {DEEPEST_TRACE} agents deep"
                notes(
                    inner.owner.place,
                    f"{problem}; its steps are kept in the trace of {quoted(run.agent or '')}",
                )
            moved = [entry for inner in below for entry in inner.entries]
            run.entries = [entry for entry in [*run.entries, *moved] if entry.run is None]


# Calls that messages tell of


class _Pool:
    """Calls to find one among: by id, else where one of the two has no id by name and arguments."""

    def __init__(self) -> None:
        self._by_id: dict[str, list[_Entry]] = {}
        self._by_name: dict[str | None, list[_Entry]] = {}
        self._by_args: dict[tuple[str | None, str], list[_Entry]] = {}

    def add(self, entry: _Entry) -> None:
        """Add the call of an entry."""
        assert entry.turn is not None
        call = entry.turn.call
        if call.id is not None:
            self._by_id.setdefault(call.id, []).append(entry)
        self._by_name.setdefault(call.name, []).append(entry)
        self._by_args.setdefault((call.name, _digest(call.args)), []).append(entry)

    def find(self, call: Call, used: set[int], after: tuple[int, int, int] | None = None) -> _Entry | None:
        """The entry that is this call, if it is not `used` and, found by name, is later than `after`."""
        for entry in self._by_id.get(call.id, ()) if call.id is not None else ():
            if id(entry) not in used and call.name in (None, _call(entry).name):
                return entry
        same = self._by_args.get((call.name, _digest(call.args)), ())
        for entry in chain(same, self._by_name.get(call.name, ())):
            if (
                id(entry) not in used
                and (call.id is None or _call(entry).id is None)
                and (after is None or entry.key > after)
                and _agree(_call(entry).args, call.args)
            ):
                return entry
        return None


class _Calls:
    """All calls of a trace, to find out whether one that a message tells of is known already."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._known = _Pool()

    def gather(self, run: _Run) -> None:
        """Bring what models asked for and what was executed together; the rest are steps of their own."""
        executed = _Pool()
        used: set[int] = set()
        added: list[_Entry] = []
        for entry in run.entries:
            if entry.kind == "tool":
                executed.add(entry)
        for entry in run.entries:
            for number, call in enumerate(
                said.calls_in(entry.answered) if entry.kind == "model" else (), start=1
            ):
                found = executed.find(call, used, entry.key)
                if found is None:
                    key = (entry.key[0], entry.key[1], number)
                    added.append(_Entry(key, entry.agent, kind="tool", turn=Turn(call, number)))
                else:
                    used.add(id(found))
                    _fill(_call(found), call)
        run.entries = sorted([*run.entries, *added], key=lambda entry: entry.key)
        for entry in run.entries:
            if entry.turn is not None:
                self._known.add(entry)

    def complete(self, run: _Run) -> None:
        """Add the calls that only histories tell of, and take results from them."""
        added: list[_Entry] = []
        for entry in run.entries:
            added += self._history(entry.asked, entry.key, entry.agent, -1)
            if entry.kind == "":  # a frame around other models' calls
                added += self._history(entry.answered, entry.key, entry.agent, 1)
        if run.owner is not None and said.kind_of_span(run.owner) in ("agent", ""):
            first, last = (run.entries[at].key if run.entries else (0, 0, 0) for at in (0, -1))
            added += self._history(said.asked(run.owner), first, run.agent, -1)
            added += self._history(said.answered(run.owner), last, run.agent, 1)
        run.entries = sorted([*run.entries, *added], key=lambda entry: entry.key)

    def _history(
        self, items: list[Item], key: tuple[int, int, int], agent: str | None, side: int
    ) -> list[_Entry]:
        """The calls in a list of messages that are not known yet; `side` says where they go."""
        turns = [Turn(item, number) for number, item in enumerate(items) if type(item) is Call]
        results = [(number, item) for number, item in enumerate(items) if type(item) is Result]
        match_results(turns, results, _SILENT)
        used: set[int] = set()
        added: list[_Entry] = []
        for turn in turns:
            known = self._known.find(turn.call, used)
            if known is None:
                at = (key[0], key[1], side * _FAR + len(added))
                known = _Entry(at, agent, kind="tool", turn=turn)
                self._known.add(known)
                added.append(known)
                where = "before" if side < 0 else "after"
                problem = f"the call of {quoted(turn.call.name or UNNAMED)} stands only in messages"
                self._notes(turn.call.place, f"{problem}; kept {where} the steps of the span")
            else:
                _fill(_call(known), turn.call)
            used.add(id(known))
        return added


def _call(entry: _Entry) -> Call:
    assert entry.turn is not None
    return entry.turn.call


def _digest(args: Any) -> str:
    """A text that is the same for the same arguments, to find them by."""
    return "" if args is MISSING else json_text(args, compact=True)


def _agree(left: Any, right: Any) -> bool:
    """Whether two records of arguments may be of the same call: objects agree in the keys that both have."""
    if type(left) is dict and type(right) is dict:
        return all(equal(left[key], right[key]) for key in left if key in right)
    return type(left) is not type(right) or left is MISSING or equal(left, right)


# Writing


class _Writer:
    """Writes a run and those within it as a trace."""

    def __init__(self, name: str, notes: Notes) -> None:
        self._name = name
        self._notes = notes
        self._taken = {name}

    def trace(self, run: _Run, outer: Span | None, parent: str | None = None) -> dict[str, Any]:
        """The trace of a run; `outer` is a container around it, asked for what its own span does not say."""
        name = self._name if parent is None else self._free(run)
        trace: dict[str, Any] = {"schema_version": 1, "trace_id": name}
        trace |= {} if run.agent is None else {"agent_id": run.agent}
        heard: str | None = None
        steps: list[dict[str, Any]] = []
        for entry in run.entries:
            heard = said.last_text(entry.asked, "user") or heard
            step = self._step(entry, name)
            if step is not None:
                steps.append(
                    step | ({"user_said": heard} if heard and entry.kind in ("model", "tool") else {})
                )
        owners = [span for span in (run.owner, outer) if span is not None]
        models = [entry for entry in run.entries if entry.kind == "model" and entry.span is not None]
        given = _input(owners, models)
        trace |= {} if given is None else {"input": given}
        trace |= {"steps": steps, "output": _output(owners, models)}
        if trace["output"] == UNRECORDED:
            place = owners[0].place if owners else f"trace {quoted(name)}"
            self._notes(place, "no output is recorded")
        metadata = _metadata(run, owners)
        trace |= {"metadata": metadata} if metadata else {}
        return trace | ({} if parent is None else {"parent_trace_id": parent})

    def _free(self, run: _Run) -> str:
        assert run.owner is not None
        wanted = name = f"{self._name}/{run.owner.id or run.agent}"
        turn = 1
        while name in self._taken:
            turn += 1
            name = f"{wanted}~{turn}"
        self._taken.add(name)
        return name

    def _step(self, entry: _Entry, name: str) -> dict[str, Any] | None:
        span, step = entry.span, None
        if entry.turn is not None:
            executed = span is not None and span.end_ns is not None
            step = call_step(entry.turn, self._notes, ended=executed)
        elif span is None or entry.kind == "":
            return None
        elif entry.run is not None:
            sub = self.trace(entry.run, None, name)
            step = {"type": "agent_call", "name": entry.run.agent or "agent"}
            step |= {"args": sub["input"]} if "input" in sub else {}
            step |= {} if sub["output"] == UNRECORDED else {"result": sub["output"]}
            step["sub_trace"] = sub
        elif entry.kind == "model":
            step = {"type": "llm_call", "name": said.model_name(span) or span.name.strip() or "model"}
            text = said.last_text(entry.answered, "assistant")
            step |= {} if text is None else {"result": {"message": text}}
        else:
            step = {"type": "retrieval", "name": span.name.strip() or "retrieval"}
            query, documents = said.query_of(span), said.documents_of(span)
            step |= {} if query is MISSING else {"args": query}
            step |= {} if documents is MISSING else {"result": documents}
        return _with_span(step, span, entry.agent)


def _with_span(step: dict[str, Any], span: Span | None, agent: str | None) -> dict[str, Any]:
    """The step with what its span says of time and failure."""
    step |= {} if agent is None else {"agent_id": agent}
    if span is None:
        return step
    if step["type"] != "tool_call" and said.failed(span):
        step |= {"status": "error", "error": said.error_of(span)}
    if span.start_ns is not None:
        step["started_at_ms"] = span.start_ns // 10**6
    if span.end_ns is not None:
        step["ended_at_ms"] = span.end_ns // 10**6
    metadata = {"span_id": span.id} if span.id else {}
    if metadata or "metadata" in step:
        step["metadata"] = metadata | step.get("metadata", {})
    return step


def _input(owners: list[Span], models: list[_Entry]) -> Any:
    """What the run was asked: what its span says, or else what the first model was told."""
    for span in owners:
        told = said.asked(span)
        if told:
            return _told(told)
        value = said.input_of(span)
        if value is not MISSING:
            return {"message": value} if type(value) is str else value
    for entry in models:
        if entry.asked:
            return _told(entry.asked)
    return None


def _told(items: list[Item]) -> Any:
    texts = {
        role: [item.text for item in items if type(item) is Said and item.role == role]
        for role in ("user", "system")
    }
    asked = {"message": texts["user"][0]} if texts["user"] else {}
    return asked | ({"system": "\n".join(texts["system"])} if texts["system"] else {}) or None


def _output(owners: list[Span], models: list[_Entry]) -> dict[str, Any]:
    """What the run answered: what its span says, or else the last thing a model said."""
    output: dict[str, Any] = {}
    for span in owners:
        text = said.last_text(said.answered(span), "assistant")
        value = said.output_value(span)
        if text is not None:
            output = output_of(text)
        elif type(value) is str:
            output = output_of(value)
        elif value is not MISSING:
            fields = value if type(value) is dict else {}
            text = next((fields[key] for key in _TEXT_KEYS if type(fields.get(key)) is str), None)
            output = ({} if text is None else {"message": text}) | {"structured": value}
        if output:
            break
    if not output:
        texts = [
            text for entry in models if (text := said.last_text(entry.answered, "assistant")) is not None
        ]
        output = output_of(texts[-1]) if texts else {}
    if owners and said.failed(owners[0]):
        output["error"] = said.error_of(owners[0])
    return output or dict(UNRECORDED)


def _metadata(run: _Run, owners: list[Span]) -> dict[str, Any]:
    """What the run cost, without the runs within it, and when it was."""
    models = [entry.span for entry in run.entries if entry.kind == "model" and entry.span is not None]
    frames = [entry.span for entry in run.entries if entry.kind == "" and entry.span is not None]
    metadata: dict[str, Any] = {}
    for metric, measure in (("total_tokens", said.tokens), ("cost_usd", said.cost)):
        for spans in (models, frames, owners[:1]):
            amounts = [amount for span in spans if (amount := measure(span)) is not None]
            if amounts:
                metadata[metric] = sum(amounts)
                break
    whole = owners or [entry.span for entry in run.entries if entry.span is not None]
    starts = [span.start_ns for span in whole if span.start_ns is not None]
    ends = [span.end_ns for span in whole if span.end_ns is not None]
    if starts and ends:
        metadata["latency_ms"] = max(0, max(ends) - min(starts)) // 10**6
    names = [name for span in [*models, *frames] if (name := said.model_name(span)) is not None]
    if names:
        metadata["model"] = names[0]
    if starts and 0 <= min(starts) < _LAST_NS:
        moment = datetime.fromtimestamp(min(starts) // 10**6 / 1000, UTC)
        metadata["timestamp"] = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return metadata
