"""Made-up runs of an agent that serves orders, sound ones and odd ones, with the world they left."""

from __future__ import annotations

import random
from typing import Any

JSON = Any
TOOLS = ["get_order", "list_orders", "pay_order", "refund_order", "ship_order", "notify_user", "search_shop"]
ORDERS = ["O-101", "O-102", "O-103"]


def call(rng: random.Random, *, odd: bool = False) -> JSON:
    name = rng.choice([*TOOLS, "get_order", "get_order"])
    args: dict[str, JSON] = {}
    if "order" in name and rng.random() < (0.8 if odd else 1.0):
        args["order_id"] = rng.choice(ORDERS)
    if name in ("pay_order", "refund_order"):
        args["amount"] = rng.choice([5, 10, 20, 20.0, 50])
    if name == "notify_user":
        args["to"] = {"user": rng.choice(["ann", "bob"])}
    step = {
        "type": "tool_call",
        "name": name,
        "args": args,
        "result": rng.choice(["ok", "O-102", None, {"id": 7}]),
    }
    if rng.random() < 0.5:
        step["status"] = rng.choice(["ok", "ok", "failed"])
    if odd and rng.random() < 0.2:
        return rng.choice(
            [17, None, {"name": "get_order"}, {"type": "llm_call", "name": "agent"}, {"type": "tool_call"}]
        )
    if odd and rng.random() < 0.2:
        step.pop(rng.choice(["args", "type", "name", "result"]))
    return step


def world(rng: random.Random, *, odd: bool = False) -> JSON:
    if odd and rng.random() < 0.3:
        return rng.choice([None, 3, {}, {"refunds": {}, "orders": []}, {"refunds": [1], "orders": []}])
    orders = [{"order_id": one, "total": rng.choice([10, 20, 40]), "customer": f"C-{one}"} for one in ORDERS]
    refunds = [
        {
            "refund_id": f"R-{rng.randrange(6)}",
            "order_id": rng.choice([*ORDERS, *ORDERS, "O-999"]) if odd else rng.choice(ORDERS),
            "amount": rng.choice([5, 10, 15.5]),
            "kind": rng.choice(["cash", "card"]),
        }
        for _ in range(rng.randrange(4))
    ]
    for refund in refunds:
        refund["customer"] = f"C-{refund['order_id']}" if rng.random() < 0.8 else "C-0"
        if odd and rng.random() < 0.2:
            refund[rng.choice(["order_id", "amount", "refund_id"])] = rng.choice([None, "x", True])
    return {"orders": orders, "refunds": refunds}


def run(rng: random.Random, *, odd: bool = False, bare: bool = False) -> JSON:
    """A scene; a bare one is the trace itself."""
    steps = [call(rng, odd=odd) for _ in range(rng.randrange(8))]
    trace: dict[str, JSON] = {
        "trace_id": f"t{rng.randrange(10**6)}",
        "steps": steps,
        "output": {"message": "done"},
    }
    trace["input"] = rng.choice(["about O-101 please", "hello", "O-103 and 10", ""])
    if rng.random() < 0.8:
        trace["schema_version"] = rng.choice([1, 2, 2])
    if odd and rng.random() < 0.15:
        trace["steps"] = rng.choice([None, "none", {}, []])
    if odd and rng.random() < 0.1:
        del trace["steps"]
    if bare:
        return trace
    return {"trace": trace, "world": world(rng, odd=odd)}
