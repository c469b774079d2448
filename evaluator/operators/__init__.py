"""The operators of the check language, one module a family; `OPERATORS` finds each by its name.

The fields of an operator, for the JSON Schema and typed checks, are declared in `evaluator.expression`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from evaluator.fields import Fields
from evaluator.node import Node
from evaluator.operators.cel import cel_compare, cel_size, cel_unsupported
from evaluator.operators.collection import count, find
from evaluator.operators.comparison import eq, gt, gte, lt, lte, neq
from evaluator.operators.logic import and_, not_, or_
from evaluator.operators.presence import exists, missing
from evaluator.operators.text import contains, matches

OPERATORS: Final[dict[str, Callable[[Fields], Node]]] = {
    "eq": eq,
    "neq": neq,
    "gte": gte,
    "lte": lte,
    "gt": gt,
    "lt": lt,
    "contains": contains,
    "matches": matches,
    "exists": exists,
    "missing": missing,
    "find": find,
    "count": count,
    "and": and_,
    "or": or_,
    "not": not_,
    "cel.compare": cel_compare,
    "cel.size": cel_size,
    "cel.unsupported": cel_unsupported,
}
