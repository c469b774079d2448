"""The typed form of assertions: a struct for each method, made from the signature of its factory.

The structs are subclasses of `Expression` like those that `expression.py` writes out, so that the JSON
Schema, typed checks and every walk over checks find them there.
"""

from __future__ import annotations

from functools import cache
from inspect import getdoc
from typing import Any, Union

from msgspec import UNSET, UnsetType, defstruct

from evaluator.assertions.method import Method, methods
from evaluator.expression import Expression


@cache
def declare_all() -> tuple[type[Expression], ...]:
    """The struct of every method, in the order of the table of methods; made once."""
    return tuple(map(_declare, methods().values()))


def _declare(method: Method) -> type[Expression]:
    required = [(each.wire, each.holds) for each in method.arguments if each.required]
    optional = [(each.wire, each.holds) for each in method.arguments if not each.required]
    if method.soft:
        optional.append(("soft", bool))
    made: Any = defstruct(
        "".join(word.capitalize() for word in (method.family + "_" + method.name).split("_")),
        [*required, *((name, Union[holds, UnsetType], UNSET) for name, holds in optional)],  # noqa: UP007
        bases=(Expression,),
        namespace={"__doc__": getdoc(method.factory), "ASKS": method.asks},
        module=__name__,
        frozen=True,
        eq=False,
        tag=method.op,
    )
    declared: type[Expression] = made
    return declared
