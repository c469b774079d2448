"""A chain as one check of the check language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluator.assertions.method import find_method
from evaluator.check import is_defined
from evaluator.expecting.assertion import CHECK, Assertion


def check_of(assertions: Sequence[Assertion], name: str | None, meta: Any) -> dict[str, Any]:
    """One check on the wire: the operator of a single assertion, else an `and`; with a name a defined one."""
    parts = [_part(assertion) for assertion in assertions]
    expr = parts[0] if len(parts) == 1 else {"op": "and", "of": parts}
    if name is None:
        return expr
    return {"id": name, "expr": expr} if meta is None else {"id": name, "expr": expr, "meta": meta}


def _part(assertion: Assertion) -> dict[str, Any]:
    wire: dict[str, Any] = assertion.to_dict()["args"]
    if assertion.method == CHECK:
        check: dict[str, Any] = wire["check"]
        return check["expr"] if is_defined(check) else check
    method = find_method(assertion.method)
    names = {argument.name: argument.wire for argument in method.arguments}
    return {"op": method.op} | {names.get(name, name): value for name, value in wire.items()}
