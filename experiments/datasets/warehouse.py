"""Warehouse scenes: a seeded world with a budget, placements and safety flags, labelled by a hidden rule.

The generator makes a warehouse plan the way a planner would write it down: nested costs, aisles with a
climate, placements with a kind, a model, a position and a load, safety equipment, and around them the
fields that every real record has and no rule asks for (names, revisions, dates). One of the named rules of
:data:`RULES`, a check in the core language, decides the label of every plan; the learner sees plans and
labels only.

Both labels are equally frequent: plans are drawn until each class is full. Everything follows from the seed
and the rule's name through :class:`random.Random`, so a seed means the same scenes on every platform.
"""

from __future__ import annotations

import random
from typing import Any

from experiments.datasets.base import Rule
from experiments.datasets.generator import Generator
from induce.scenes import LabelledScenes

_CLIMATES = ("ambient", "ambient", "cold", "dry")
_KINDS = ("rack", "rack", "rack", "robot", "robot", "forklift", "conveyor", "station")
_MODELS = {
    "rack": ("PR-4", "PR-6", "CL-2"),
    "robot": ("KV-20", "KV-35", "Tugger"),
    "forklift": ("E16", "E20", "R14"),
    "conveyor": ("BX-100", "BX-250"),
    "station": ("Pack", "Scan", "Charge"),
}
_LOADS = {
    "rack": (200, 900),
    "robot": (50, 400),
    "forklift": (0, 1600),
    "conveyor": (0, 150),
    "station": (0, 50),
}
_TAGS = ("leased", "new", "fragile", "spare", "shared", "audited")
_SITES = ("Northgate", "Harbour", "Mill Lane", "Eastfield", "Quarry", "Station Road")
_PLANNERS = ("amara", "björn", "chloe", "deniz", "emeka", "farah")


RULES: dict[str, Rule] = {
    "within_budget": Rule(
        "the planned total stays within 60000",
        {"op": "lte", "path": "warehouse.costs.total", "value": 60000},
    ),
    "no_forklift_in_cold_zone": Rule(
        "no forklift is placed in a cold zone",
        {
            "op": "not",
            "of": {
                "op": "find",
                "collection": "warehouse.placements",
                "where": {
                    "op": "and",
                    "of": [
                        {"op": "eq", "path": "kind", "value": "forklift"},
                        {"op": "eq", "path": "zone", "value": "cold"},
                    ],
                },
            },
        },
    ),
    "two_heavy_robots": Rule(
        "at least two robots carry 250 or more",
        {
            "op": "count",
            "collection": "warehouse.placements",
            "where": {
                "op": "and",
                "of": [
                    {"op": "eq", "path": "kind", "value": "robot"},
                    {"op": "gte", "path": "load", "value": 250},
                ],
            },
            "gte": 2,
        },
    ),
    "cold_or_small": Rule(
        "the hall is cooled, or at most 30 wide",
        {
            "op": "or",
            "of": [
                {"op": "eq", "path": "warehouse.climate", "value": "cold"},
                {"op": "lte", "path": "warehouse.dimensions.width", "value": 30},
            ],
        },
    ),
    "inspected": Rule(
        "an inspection of the safety equipment is on record",
        {"op": "exists", "path": "warehouse.safety.inspection"},
    ),
    "sprinklers_and_cheap_labour": Rule(
        "there are sprinklers, and labour costs at most 18000",
        {
            "op": "and",
            "of": [
                {"op": "eq", "path": "warehouse.safety.sprinklers", "value": True},
                {"op": "lte", "path": "warehouse.costs.labour.total", "value": 18000},
            ],
        },
    ),
    "exits_or_cooled_with_sprinklers": Rule(
        "there are at least five exits, or the hall is cooled and has sprinklers",
        {
            "op": "or",
            "of": [
                {"op": "gte", "path": "warehouse.safety.exits", "value": 5},
                {
                    "op": "and",
                    "of": [
                        {"op": "eq", "path": "warehouse.climate", "value": "cold"},
                        {"op": "eq", "path": "warehouse.safety.sprinklers", "value": True},
                    ],
                },
            ],
        },
    ),
    "cheap_labour_and_warm_forklifts": Rule(
        "no forklift is placed in a cold zone, and labour costs at most 18000",
        {
            "op": "and",
            "of": [
                {
                    "op": "not",
                    "of": {
                        "op": "find",
                        "collection": "warehouse.placements",
                        "where": {
                            "op": "and",
                            "of": [
                                {"op": "eq", "path": "kind", "value": "forklift"},
                                {"op": "eq", "path": "zone", "value": "cold"},
                            ],
                        },
                    },
                },
                {"op": "lte", "path": "warehouse.costs.labour.total", "value": 18000},
            ],
        },
    ),
    "heavy_with_sprinklers_or_small_and_inspected": Rule(
        "a load of 1000 or more and sprinklers, or at most 30 wide and an inspection on record",
        {
            "op": "or",
            "of": [
                {
                    "op": "and",
                    "of": [
                        {
                            "op": "find",
                            "collection": "warehouse.placements",
                            "where": {"op": "gte", "path": "load", "value": 1000},
                        },
                        {"op": "eq", "path": "warehouse.safety.sprinklers", "value": True},
                    ],
                },
                {
                    "op": "and",
                    "of": [
                        {"op": "lte", "path": "warehouse.dimensions.width", "value": 30},
                        {"op": "exists", "path": "warehouse.safety.inspection"},
                    ],
                },
            ],
        },
    ),
    "cooled_or_heavy_or_small": Rule(
        "cooled with sprinklers, or a load of 1000 or more and five exits, or at most 30 wide and inspected",
        {
            "op": "or",
            "of": [
                {
                    "op": "and",
                    "of": [
                        {"op": "eq", "path": "warehouse.climate", "value": "cold"},
                        {"op": "eq", "path": "warehouse.safety.sprinklers", "value": True},
                    ],
                },
                {
                    "op": "and",
                    "of": [
                        {
                            "op": "find",
                            "collection": "warehouse.placements",
                            "where": {"op": "gte", "path": "load", "value": 1000},
                        },
                        {"op": "gte", "path": "warehouse.safety.exits", "value": 5},
                    ],
                },
                {
                    "op": "and",
                    "of": [
                        {"op": "lte", "path": "warehouse.dimensions.width", "value": 30},
                        {"op": "exists", "path": "warehouse.safety.inspection"},
                    ],
                },
            ],
        },
    ),
}


def generate(rule: str, part: str, size: int, *, noise: float = 0.0, seed: int = 0) -> LabelledScenes:
    """``size`` plans labelled by the named rule; see :meth:`Generator.scenes`."""
    return WAREHOUSE.scenes(rule, part, size, noise=noise, seed=seed)


def _plan(source: random.Random) -> dict[str, Any]:
    width, depth = source.randint(18, 60), source.randint(20, 80)
    aisles = [_aisle(source) for _ in range(source.randint(2, 5))]
    placements = [_placement(source, width, depth, aisles) for _ in range(source.randint(5, 11))]
    costs = _costs(source, placements)
    return {
        "warehouse": {
            "site": source.choice(_SITES),
            "climate": source.choice(_CLIMATES),
            "dimensions": {"width": width, "depth": depth, "height": source.choice((6, 8, 9.5, 12))},
            "aisles": aisles,
            "placements": placements,
            "costs": costs,
            "safety": _safety(source),
        },
        "budget": {
            "limit": source.randrange(45000, 90001, 2500),
            "currency": "EUR",
            "contingency": source.choice((0.05, 0.08, 0.1)),
        },
        "revision": source.randint(1, 9),
        "planner": source.choice(_PLANNERS),
        "planned_for": _date(source, 2026),
    }


def _aisle(source: random.Random) -> dict[str, Any]:
    return {
        "id": f"A-{source.randrange(1000, 10000)}",
        "zone": source.choice(_CLIMATES),
        "width": source.choice((2.2, 2.6, 2.8, 3.2, 3.6, 4)),
        "one_way": source.random() < 0.3,
    }


def _placement(source: random.Random, width: int, depth: int, aisles: list[dict[str, Any]]) -> dict[str, Any]:
    kind = source.choice(_KINDS)
    lightest, heaviest = _LOADS[kind]
    aisle = source.choice(aisles)
    return {
        "id": f"P-{source.randrange(10000, 100000)}",
        "kind": kind,
        "model": source.choice(_MODELS[kind]),
        "aisle": aisle["id"],
        "zone": aisle["zone"],
        "position": {"x": source.randrange(0, width, 5), "y": source.randrange(0, depth, 5)},
        "load": source.randrange(lightest, heaviest + 1, 50),
        "tags": [tag for tag in _TAGS if source.random() < 0.2],
    }


def _costs(source: random.Random, placements: list[dict[str, Any]]) -> dict[str, Any]:
    hours, rate = source.randrange(300, 901, 10), source.randrange(24, 37)
    machines = sum(1 for placed in placements if placed["kind"] in ("robot", "forklift"))
    equipment = {
        "purchase": machines * source.randrange(1500, 4001, 100),
        "maintenance": source.randrange(500, 4001, 50),
    }
    energy = {"heating": source.randrange(2000, 15001, 100), "lighting": source.randrange(800, 5001, 50)}
    rent = source.randrange(8000, 30001, 500)
    labour = {"hours": hours, "rate": rate, "total": hours * rate}
    total = labour["total"] + sum(equipment.values()) + sum(energy.values()) + rent
    return {"labour": labour, "equipment": equipment, "energy": energy, "rent": rent, "total": total}


def _safety(source: random.Random) -> dict[str, Any]:
    safety: dict[str, Any] = {
        "sprinklers": source.random() < 0.6,
        "emergency_lighting": source.random() < 0.7,
        "exits": source.randint(1, 6),
        "extinguishers": source.randint(4, 30),
    }
    if source.random() < 0.5:
        safety["inspection"] = {"by": source.choice(_PLANNERS), "on": _date(source, 2025)}
    if source.random() < 0.5:
        safety["drill"] = {"on": _date(source, 2025)}
    return safety


def _date(source: random.Random, year: int) -> str:
    return f"{year}-{source.randint(1, 12):02}-{source.randint(1, 28):02}"


WAREHOUSE = Generator("warehouse", "plans", RULES, _plan)
