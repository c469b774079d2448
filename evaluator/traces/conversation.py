"""Traces from chat messages, as agents keep them: OpenAI-style and Anthropic-style.

Each message of the assistant is an `llm_call` step, followed by a `tool_call` step for each call in it, with
the result that answers it. `input` is the first thing the user said (`message`, with the instructions under
`system`), `output.message` the last thing the assistant said, and `user_said` of a step the last thing the
user said before it.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, Final

from evaluator.conversion import to_scene
from evaluator.errors import SceneError, kind_of
from evaluator.json_write import json_text
from evaluator.traces.builder import content_id
from evaluator.traces.calls import Turn, call_step, match_results
from evaluator.traces.messages import Call, Item, Result, Said, is_part, read_message, result_value, role_of
from evaluator.traces.notes import Notes, OnWarning

UNRECORDED: Final = {"recorded": False}
"""The output of a run of which none was recorded. Without `message`, no check of the text passes on it."""


def trace_from_openai(
    messages: object,
    *,
    trace_id: str | None = None,
    agent_id: str | None = None,
    model_calls: bool = True,
    on_warning: OnWarning | None = None,
) -> dict[str, Any]:
    """The trace of a conversation in OpenAI's style.

    Chat completions and items of Responses are read, calls in `tool_calls` (several in one message, in
    their order) and in the older `function_call`; results are matched by `tool_call_id` or `call_id`.
    Arguments that are the text of a JSON object become that object, others stay text. Results that are the
    text of a JSON object or array become that. No call is dropped: one without id, with the id of another, or
    without a result is kept, and a result without a call counts as a call that was not recorded.

    Parameters:
        messages: a list of messages or items (also the objects of OpenAI's client), or the body of a request
            or response: an object with "messages", "input", "output" or "choices".
        trace_id: by default made from the messages.
        agent_id: whose run it is.
        model_calls: whether messages of the assistant are steps; without, only the calls of tools are.
        on_warning: is told what was odd, one sentence that names the message; by default a
            `TraceImportWarning` is issued for each.

    Raises:
        SceneError: there are no messages, or what is given is not JSON.
    """
    return read_conversation(
        messages,
        Notes(on_warning),
        "$",
        trace_id=trace_id,
        agent_id=agent_id,
        model_calls=model_calls,
        silence_is_success=False,
    )


def trace_from_anthropic(
    messages: object,
    *,
    system: object = None,
    trace_id: str | None = None,
    agent_id: str | None = None,
    model_calls: bool = True,
    on_warning: OnWarning | None = None,
) -> dict[str, Any]:
    """The trace of a conversation in Anthropic's style: content blocks `tool_use` and `tool_result`.

    A result failed if its `is_error` is true, and succeeded otherwise; so the trace is of version 2, with
    evidence which calls failed. All else is as `trace_from_openai` says.

    Parameters:
        messages: a list of messages, or the body of a request with "messages" and "system".
        system: the instructions, a text or text blocks.
    """
    return read_conversation(
        messages,
        Notes(on_warning),
        "$",
        system=system,
        trace_id=trace_id,
        agent_id=agent_id,
        model_calls=model_calls,
        silence_is_success=True,
    )


def read_conversation(
    source: object,
    notes: Notes,
    place: str,
    *,
    system: object = None,
    trace_id: str | None = None,
    agent_id: str | None = None,
    model_calls: bool = True,
    silence_is_success: bool = False,
) -> dict[str, Any]:
    """The trace of one conversation; `place` stands before the paths in warnings and errors.

    With `silence_is_success`, a result that does not say that the call failed is evidence that it did not.
    """
    body = _plain(source, place)
    messages = _messages(body, place)
    if not messages:
        raise SceneError("no messages; expected at least one", place)
    fields: dict[str, Any] = body if type(body) is dict else {}
    if system is None:
        system = fields.get("system", fields.get("instructions"))
    log = _Log(notes, silence_is_success, _model(fields))
    for number, (message, at) in enumerate(messages):
        log.read(message, number, at)
    instructions = [] if system is None else [_instructions(_plain(system, place))]
    instructions += [said.text for _, said in log.said if said.role == "system"]
    asked = [said.text for _, said in log.said if said.role == "user"]
    answers = [said.text for _, said in log.said if said.role == "assistant"]
    if not answers:
        notes(place, "the assistant never says anything; the output counts as not recorded")
    steps = log.steps(model_calls=model_calls)
    trace: dict[str, Any] = {"schema_version": 2 if any("status" in step for step in steps) else 1}
    trace["trace_id"] = content_id([message for message, _ in messages]) if trace_id is None else trace_id
    trace |= {} if agent_id is None else {"agent_id": agent_id}
    given = {"message": asked[0]} if asked else {}
    given |= {"system": "\n".join(instructions)} if instructions else {}
    trace |= {"input": given} if given else {}
    trace |= {"steps": steps, "output": output_of(answers[-1]) if answers else dict(UNRECORDED)}
    metadata = _metadata(fields)
    return trace | ({"metadata": metadata} if metadata else {})


class _Log:
    """What is read of a conversation, message by message."""

    def __init__(self, notes: Notes, silence_is_success: bool, model: str | None) -> None:
        self.said: list[tuple[int, Said]] = []
        self._notes = notes
        self._silence_is_success = silence_is_success
        self._model = model
        self._answers: list[tuple[int, dict[str, Any]]] = []
        self._turns: list[Turn] = []
        self._results: list[tuple[int, Result]] = []
        self._within_answer = False

    def read(self, message: Any, number: int, place: str) -> None:
        """Read one message; a run of items of Responses is one answer of the model."""
        role = role_of(message)
        items = read_message(message, place)
        if not items and not role:
            self._notes(
                place, f"expected a message, an object with a role, got {kind_of(message)}; passed over"
            )
        part = is_part(message)
        if role == "assistant":
            if not (part and self._within_answer):
                name = _model(message) or self._model or role
                self._answers.append((number, {"type": "llm_call", "name": name}))
            self._answer(items)
        self._within_answer = role == "assistant" and part
        for item in items:
            if type(item) is Call:
                self._turns.append(Turn(item, number))
            elif type(item) is Result:
                if self._silence_is_success and item.failed is None:
                    item.failed = False
                self._results.append((number, item))
            elif type(item) is Said:
                self.said.append((number, item))

    def _answer(self, items: list[Item]) -> None:
        step = self._answers[-1][1]
        texts = [item.text for item in items if type(item) is Said]
        before = [step["result"]["message"]] if "result" in step else []
        if texts:
            step["result"] = {"message": "\n".join(before + texts)}

    def steps(self, *, model_calls: bool) -> list[dict[str, Any]]:
        """The steps in their order, each call with its result and with what the user had said before."""
        match_results(self._turns, self._results, self._notes)
        made = list(self._answers) if model_calls else []
        made += [(turn.number, call_step(turn, self._notes)) for turn in self._turns]
        made.sort(key=lambda numbered: numbered[0])
        heard: dict[int, str] = {}
        for number, said in self.said:
            if said.role == "user":
                heard[number] = f"{heard[number]}\n{said.text}" if number in heard else said.text
        numbers = list(heard)
        for number, step in made:
            at = bisect_right(numbers, number)
            if at:
                step["user_said"] = heard[numbers[at - 1]]
        return [step for _, step in made]


def output_of(text: str) -> dict[str, Any]:
    """The output of a run that ended with a text; a JSON object or array in it is `structured` as well."""
    value = result_value(text)
    return {"message": text} | ({} if type(value) is str else {"structured": value})


def _messages(body: Any, place: str) -> list[tuple[Any, str]]:
    """The messages in a list, or in the body of a request or response, each with its JSON path."""
    if type(body) is list:
        return _placed(body, place)
    if type(body) is dict:
        if type(body.get("messages")) is list:
            return _placed(body["messages"], f"{place}.messages") + _chosen(body, place)
        if type(body.get("choices")) is list:
            return _chosen(body, place)
        given, made = body.get("input"), body.get("output")
        if type(given) is list or type(made) is list:
            asked = [(given, f"{place}.input")] if type(given) is str else _placed(given, f"{place}.input")
            return asked + _placed(made, f"{place}.output")
        if "role" in body or is_part(body):
            return [(body, place)]
    expected = 'a list of messages, or an object with "messages", "choices", "input" or "output"'
    raise SceneError(f"expected {expected}, got {kind_of(body)}", place)


def _placed(messages: Any, place: str) -> list[tuple[Any, str]]:
    found = messages if type(messages) is list else []
    return [(message, f"{place}[{index}]") for index, message in enumerate(found)]


def _chosen(body: dict[str, Any], place: str) -> list[tuple[Any, str]]:
    """The messages a model answered with."""
    found = _placed(body.get("choices"), f"{place}.choices")
    return [
        (choice["message"], f"{at}.message") if type(choice) is dict and "message" in choice else (choice, at)
        for choice, at in found
    ]


def _instructions(system: Any) -> str:
    text = result_value(system)
    return text if type(text) is str else json_text(text)


def _model(message: Any) -> str | None:
    model = message.get("model") if type(message) is dict else None
    return model if type(model) is str and model.strip() else None


def _metadata(body: dict[str, Any]) -> dict[str, Any]:
    usage = body.get("usage")
    total: Any = usage.get("total_tokens") if type(usage) is dict else None
    if total is None and type(usage) is dict:
        parts = [usage.get(key) for key in ("input_tokens", "output_tokens")]
        total = (
            sum(part for part in parts if type(part) is int) if all(type(p) is int for p in parts) else None
        )
    model = _model(body)
    return ({"total_tokens": total} if type(total) is int else {}) | ({"model": model} if model else {})


def _plain(source: object, place: str) -> Any:
    try:
        return to_scene(source)
    except SceneError as error:
        raise SceneError(error.problem, place + error.place.removeprefix("$")) from None
