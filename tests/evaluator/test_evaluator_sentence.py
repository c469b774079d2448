"""A check in words: readable, exact, and never in doubt about what belongs together."""

from __future__ import annotations

import doctest
from typing import Any

import pytest

import evaluator
from evaluator import define_check, sentence, words


def eq(path: str, value: Any) -> dict[str, Any]:
    return {"op": "eq", "path": path, "value": value}


def find(collection: str, where: Any) -> dict[str, Any]:
    return {"op": "find", "collection": collection, "where": where}


def count(collection: str, where: Any = None, **bounds: float) -> dict[str, Any]:
    return {"op": "count", "collection": collection} | ({"where": where} if where else {}) | bounds


def both(*of: Any) -> dict[str, Any]:
    return {"op": "and", "of": list(of)}


def either(*of: Any) -> dict[str, Any]:
    return {"op": "or", "of": list(of)}


def no(of: Any) -> dict[str, Any]:
    return {"op": "not", "of": of}


PAYPAL = {"op": "contains", "path": "payment_method_id", "substring": "paypal"}
LOUD = {"op": "contains", "path": "", "substring": 'a "b"', "ci": True}
COSTS = {"op": "gte", "path": "price", "value": 0.1 + 0.2}


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (
            either(eq("order.status", "cancelled"), find("order.payments", PAYPAL)),
            'order.status is "cancelled", or some order.payments has payment_method_id containing "paypal"',
        ),
        (eq("a", None), "a is null"),
        (eq("a", [1, {"b": True}]), 'a is [1, {"b": true}]'),
        ({"op": "neq", "path": "a", "value": "x"}, 'a is not "x"'),
        (no({"op": "neq", "path": "a", "value": "x"}), 'a is "x"'),
        (no(no(eq("a", 1))), "a is 1"),
        (COSTS, "price is at least 0.30000000000000004"),
        (no(COSTS), "price is not at least 0.30000000000000004"),
        ({"op": "lte", "path": "n", "value": 2**53 + 1}, "n is at most 9007199254740993"),
        ({"op": "lte", "path": "n", "value": 1.1e-6}, "n is at most 0.0000011"),
        (PAYPAL, 'payment_method_id contains "paypal"'),
        (no(LOUD), 'the scene does not contain "a \\"b\\"" (ignoring case)'),
        ({"op": "missing", "path": "a.b"}, "a.b is missing"),
        (no({"op": "missing", "path": "a.b"}), "a.b is present"),
        (find("tags", eq("", "new")), 'some tags is "new"'),
        (no(find("tags", LOUD)), 'no tags is text containing "a \\"b\\"" (ignoring case)'),
        (no(find("x", no(COSTS))), "every x has price at least 0.30000000000000004"),
        (no(find("x", no(find("y", eq("k", 1))))), "every x has some y that has k equal to 1"),
        (
            no(find("x", both(eq("k", 1), no(COSTS)))),
            "no x has k equal to 1 and price not at least 0.30000000000000004",
        ),
        (find("x", {"op": "missing", "path": "cc"}), "some x has no cc"),
        (
            find("x", both(eq("k", True), no(COSTS))),
            "some x has k equal to true and price not at least 0.30000000000000004",
        ),
        (
            find("x", both(either(eq("k", 1), eq("m", 2)), eq("n", 3))),
            "some x has (k equal to 1 or m equal to 2) and n equal to 3",
        ),
        (
            find("x", either(eq("", 1), both(eq("k", 2), eq("", 3)))),
            "some x is 1 or (has k equal to 2 and is 3)",
        ),
        (
            find("orders", both(find("items", both(eq("k", 1), eq("m", 2))), eq("n", 3))),
            "some orders has (some items that has k equal to 1 and m equal to 2) and n equal to 3",
        ),
        (find("m", no(find("to", eq("", "x")))), 'some m has no to that is "x"'),
        (find("m", count("to", gte=2)), "some m has at least 2 elements in to"),
        (find("m", count("to", eq("", 1), lte=1)), "some m has at most 1 of to that is 1"),
        (count("items", gte=2), "items has at least 2 elements"),
        (count("items", eq=1), "items has exactly 1 element"),
        (count("items", eq("k", 1), eq=1), "exactly 1 of items has k equal to 1"),
        (count("items", eq("k", 1), gte=2, lte=5), "at least 2 and at most 5 of items have k equal to 1"),
        (no(count("items", eq("k", 1), gte=2)), "fewer than 2 of items have k equal to 1"),
        (no(count("items", lte=2)), "items has more than 2 elements"),
        (no(count("items", eq=2)), "items has other than 2 elements"),
        (no(count("items", gte=2, lte=5)), "items has fewer than 2 or more than 5 elements"),
        (count("items"), "items is a list"),
        (both(either(eq("a", 1), eq("b", 2)), eq("c", 3)), "(a is 1, or b is 2), and c is 3"),
        (either(both(eq("a", 1), eq("b", 2)), eq("c", 3)), "(a is 1, and b is 2), or c is 3"),
        (
            both(eq("a", 1), both(eq("b", 2), no(either(eq("c", 3), no(eq("d", 4)))))),
            "a is 1, and b is 2, and c is not 3, and d is 4",
        ),
        (both(eq("a", 1)), "a is 1"),
        (both(), "anything passes"),
        (no(both()), "nothing passes"),
        (eq("a b, or c", 1), "`a b, or c` is 1"),
        (eq("messages[labels has SENT].id", 1), "`messages[labels has SENT].id` is 1"),
        (eq("order.items[id=7].sku", "x"), 'order.items[id=7].sku is "x"'),
    ],
)
def test_a_check_reads_as_one_sentence(check: Any, words: str) -> None:
    assert sentence(check) == words
    assert sentence({"id": "named", "expr": check, "meta": 1}) == words
    assert sentence(define_check("named", check)) == words


def test_the_examples_in_the_documentation_run() -> None:
    for module in (evaluator, words):
        ran = doctest.testmod(module)
        assert ran.attempted > 0
        assert ran.failed == 0
