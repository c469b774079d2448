"""Runs of a shop's support agent, labelled by a policy that they keep or break.

A run is a trace: what the customer wanted, and the tool calls in their order, each with its arguments, its
result and what the customer had said before. The agent finds the customer, looks an order up, asks and
writes; now and then it leaves one of these out, takes another order, calls twice, or a call fails. A policy
is a hidden rule over such traces: about single calls, about numbers of them, or about their order
(`trace.before`).
"""

from __future__ import annotations

import copy
import random
from typing import Any

from experiments.datasets.base import Rule
from experiments.datasets.build import Check, at_most, contains, either, eq, gte, negated, neq, none
from experiments.datasets.generator import Generator

Step = dict[str, Any]

_STEPS = "trace.steps"
_WRITES = ("cancel_order", "change_address", "refund")
_YES = ("Yes", "yes", "Oh yes", "Well, yes", "YES")
_NOT_YET = ("Hm", "I see", "Thank you", "All right then", "Wait", "Sorry")
_AND = (
    "what would that cost me?",
    "how long does that take?",
    "please do something about it.",
    "I am in a hurry.",
    "my neighbour can take it.",
    "that would be kind.",
    "tell me when it is done.",
)
_SAID = (
    "It should have been here on Monday.",
    "My name is on the order.",
    "Let me find the number.",
    "Yes, that is my address.",
    "I wrote to you last week already.",
)
_WISHES = {
    "cancel_order": ("I don't want my order any more.", "Please stop order {order}."),
    "change_address": ("I have moved; where does my order go now?", "Order {order} needs another address."),
    "refund": ("The lamp arrived broken.", "I want my money back for order {order}."),
    None: ("Where is my parcel?", "When does order {order} arrive?"),
}
_STREETS = ("Mill Lane", "Harbour Street", "Station Road", "Quarry Hill", "Eastfield")
_GOODS = ("lamp", "kettle", "chair", "rug", "clock", "shelf")
_ERRORS = ("Error: order not found", "Error: the service did not answer", "Error: not allowed")


def _write() -> Check:
    return either(*(eq("name", name) for name in _WRITES))


RULES: dict[str, Rule] = {
    "no_failed_call": Rule("no call fails", none(_STEPS, contains("result", "Error"))),
    "one_write": Rule("an order is written to at most once", at_most(1, _STEPS, _write())),
    "look_up_before_write": Rule(
        "each cancellation, change or refund follows a look-up of the same order",
        {"op": "trace.before", "collection": _STEPS, "first": eq("name", "get_order"), "then": _write()}
        | {"same": "args.order_id"},
    ),
    "customer_before_write": Rule(
        "the customer is found before anything is cancelled, changed or refunded",
        {"op": "trace.before", "collection": _STEPS, "first": eq("name", "find_customer"), "then": _write()},
    ),
    "confirmed_writes": Rule(
        "the customer says yes before each cancellation, change or refund",
        none(_STEPS, _write(), negated(contains("user_said", "yes") | {"ci": True})),
    ),
    "no_large_refund": Rule(
        "no refund is 200 or more",
        none(_STEPS, gte("args.amount", 200)),
    ),
    "cancels_what_is_still_here": Rule(
        "only orders that are still being packed are cancelled",
        none(_STEPS, eq("name", "cancel_order"), neq("result.previous_status", "packing")),
    ),
    "at_most_one_look_up": Rule(
        "at most one order is looked up",
        at_most(1, _STEPS, eq("name", "get_order")),
    ),
}


def _run(source: random.Random) -> dict[str, Any]:
    orders = [_order(source) for _ in range(source.randint(1, 3))]
    wishes = source.choices((*_WRITES, None), (3, 3, 3, 2), k=source.choice((1, 1, 2)))
    wanted = source.choice(orders)
    steps: list[Step] = []
    if source.random() < 0.8:
        steps.append(_found(source, orders))
    for wish in wishes:
        steps += _handled(source, wish, wanted, orders)
        wanted = source.choice(orders)
    for step in steps:
        if source.random() < 0.06:
            step["result"] = source.choice(_ERRORS)
    asked = source.choice(_WISHES[wishes[0]]).format(order=wanted["order_id"])
    return _traced(f"run-{source.randrange(16**6):06x}", asked, steps)


def _order(source: random.Random) -> dict[str, Any]:
    return {
        "order_id": f"S{source.randrange(1000, 10000)}",
        "status": source.choice(("packing", "packing", "shipped", "delivered")),
        "items": [
            {"name": source.choice(_GOODS), "price": source.randrange(15, 160, 5)}
            for _ in range(source.randint(1, 3))
        ],
        "address": _address(source),
    }


def _address(source: random.Random) -> str:
    return f"{source.randint(1, 90)} {source.choice(_STREETS)}"


def _step(source: random.Random, name: str, args: dict[str, Any], result: Any, said: str = "") -> Step:
    said = said or source.choice(_SAID)
    return {"type": "tool_call", "name": name, "args": args, "result": result, "user_said": said}


def _found(source: random.Random, orders: list[dict[str, Any]]) -> Step:
    found = {
        "customer_id": f"c{source.randrange(100, 1000)}",
        "orders": [order["order_id"] for order in orders],
        "regular": source.random() < 0.4,
    }
    return _step(source, "find_customer", {"phone": f"555-{source.randrange(1000, 10000)}"}, found)


def _handled(
    source: random.Random, wish: str | None, wanted: dict[str, Any], orders: list[dict[str, Any]]
) -> list[Step]:
    steps: list[Step] = []
    looked_at = wanted if source.random() < 0.85 else source.choice(orders)
    if source.random() < 0.85:
        steps.append(_step(source, "get_order", {"order_id": looked_at["order_id"]}, looked_at))
    if source.random() < 0.3:
        parcel = {"place": source.choice(_STREETS), "days": source.randint(0, 6)}
        tracked = _step(source, "track_parcel", {"order_id": wanted["order_id"]}, parcel)
        steps.insert(source.randint(0, len(steps)), tracked)
    if wish is not None:
        steps.append(_written(source, wish, wanted))
    return steps


def _written(source: random.Random, name: str, order: dict[str, Any]) -> Step:
    args: dict[str, Any] = {"order_id": order["order_id"]}
    result: dict[str, Any] = {"order_id": order["order_id"], "previous_status": order["status"]}
    if name == "refund":
        args["amount"] = result["refunded"] = source.randrange(20, 360, 5)
    elif name == "change_address":
        args["address"] = result["address"] = _address(source)
    else:
        result["status"] = "cancelled"
    return _step(source, name, args, result, _answer(source, _YES if source.random() < 0.8 else _NOT_YET))


def _answer(source: random.Random, opening: tuple[str, ...]) -> str:
    return f"{source.choice(opening)}, {source.choice(_AND)}"


def _changed(source: random.Random, scene: dict[str, Any]) -> dict[str, Any]:
    """The run with a call left out, moved, repeated, failing or about another order, or an answer changed."""
    trace = copy.deepcopy(scene["trace"])
    steps: list[Step] = trace["steps"]
    if not steps:
        return scene
    place = source.randrange(len(steps))
    step, what = steps[place], source.choice(("drop", "move", "repeat", "fail", "order", "said", "value"))
    if what == "drop" and len(steps) > 1:
        del steps[place]
    elif what == "move":
        steps.insert(source.randrange(len(steps)), steps.pop(place))
    elif what == "repeat" and len(steps) < 8:
        steps.insert(source.randint(place, len(steps)), copy.deepcopy(step))
    elif what == "fail":
        step["result"] = source.choice(_ERRORS)
    elif what == "order" and "order_id" in step["args"]:
        step["args"]["order_id"] = _order(source)["order_id"]
    elif what == "said" and step["name"] in _WRITES:
        step["user_said"] = _answer(source, _NOT_YET)
    elif what == "value" and step["name"] in _WRITES:
        steps[place] = _written(source, step["name"], _order(source) | {"order_id": step["args"]["order_id"]})
    return _traced(f"run-{source.randrange(16**6):06x}", trace["input"], steps)


def _traced(name: str, asked: str, steps: list[Step]) -> dict[str, Any]:
    done = [step["name"].replace("_", " ") for step in steps if step["name"] in _WRITES]
    message = f"That is done: {', '.join(done)}." if done else "Is there anything else?"
    return {
        "trace": {
            "trace_id": name,
            "agent_id": "shop-agent",
            "input": asked,
            "steps": steps,
            "output": {"message": message},
            "metadata": {"tool_calls": len(steps)},
        }
    }


TRACES = Generator("traces", "agent runs", RULES, _run, _changed)
