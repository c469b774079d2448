"""The same predicates in three languages: a check, a CEL expression and a JSON Schema.

They are of the kinds a check is made of, on the scenes of the recorded batch. CEL refuses to look at what is
not there, so its expressions ask first; a number is made a double there because cel-python does not compare
the two kinds. The benchmark compares the verdicts on every scene before it times anything.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

Schema = dict[str, Any]


class Predicate(NamedTuple):
    """One predicate of a scene; in CEL the scene is the variable `scene`."""

    check: dict[str, Any]
    cel: str
    schema: Schema


def _at(path: str, schema: Schema) -> Schema:
    """The schema of an object in which a path of names leads to what `schema` wants."""
    for name in reversed(path.split(".")):
        schema = {"type": "object", "required": [name], "properties": {name: schema}}
    return schema


_SPENT: Final = "has(scene.warehouse) && has(scene.warehouse.budget) && has(scene.warehouse.budget.spent)"
_MESSAGES: Final = "has(scene.slack) && has(scene.slack.messages)"
_MAIL: Final = "has(scene.gmail) && has(scene.gmail.messages)"
_RUN: Final = "has(scene.run) && has(scene.run.status) && has(scene.run.errors)"

PREDICATES: Final = (
    Predicate(
        {"op": "eq", "path": "run.status", "value": "ok"},
        'has(scene.run) && has(scene.run.status) && scene.run.status == "ok"',
        _at("run.status", {"const": "ok"}),
    ),
    Predicate(
        {"op": "missing", "path": "salesforce.leads"},
        "!has(scene.salesforce) || !has(scene.salesforce.leads)",
        {"not": _at("salesforce.leads", {})},
    ),
    Predicate(
        {"op": "lte", "path": "warehouse.budget.spent", "value": 44000},
        f"{_SPENT} && double(scene.warehouse.budget.spent) <= 44000.0",
        _at("warehouse.budget.spent", {"type": "number", "maximum": 44000}),
    ),
    Predicate(
        {"op": "contains", "path": "warehouse.name", "substring": "d"},
        'has(scene.warehouse) && has(scene.warehouse.name) && scene.warehouse.name.contains("d")',
        _at("warehouse.name", {"type": "string", "pattern": "d"}),
    ),
    Predicate(
        {"op": "count", "collection": "slack.messages", "gte": 2},
        f"{_MESSAGES} && size(scene.slack.messages) >= 2",
        _at("slack.messages", {"type": "array", "minItems": 2}),
    ),
    Predicate(
        {
            "op": "find",
            "collection": "slack.messages",
            "where": {"op": "eq", "path": "is_deleted", "value": True},
        },
        f"{_MESSAGES} && scene.slack.messages.exists(m, has(m.is_deleted) && m.is_deleted == true)",
        _at("slack.messages", {"type": "array", "contains": _at("is_deleted", {"const": True})}),
    ),
    Predicate(
        {
            "op": "find",
            "collection": "gmail.messages",
            "where": {
                "op": "find",
                "collection": "label_ids",
                "where": {"op": "eq", "path": "", "value": "SENT"},
            },
        },
        f'{_MAIL} && scene.gmail.messages.exists(m, m.label_ids.exists(l, l == "SENT"))',
        _at(
            "gmail.messages",
            {
                "type": "array",
                "contains": _at("label_ids", {"type": "array", "contains": {"const": "SENT"}}),
            },
        ),
    ),
    Predicate(
        {
            "op": "not",
            "of": {
                "op": "or",
                "of": [
                    {"op": "gte", "path": "run.errors", "value": 2},
                    {"op": "eq", "path": "run.status", "value": "timeout"},
                ],
            },
        },
        f'!({_RUN} && (double(scene.run.errors) >= 2.0 || scene.run.status == "timeout"))',
        {
            "not": {
                "anyOf": [
                    _at("run.errors", {"type": "number", "minimum": 2}),
                    _at("run.status", {"const": "timeout"}),
                ]
            }
        },
    ),
)
