"""Select terms of a pool with clingo.

The program is ``select.lp``; facts are ids of terms and scenes and whole numbers only. Optimisation
is core-guided (``usc``), which proves such selections in hundredths to tenths of a second. The
solver runs in one thread with a fixed seed and is asked asynchronously, so that a deadline holds;
a limit on conflicts bounds its work where no clock does.

clingo's integers are 32 bits wide and wrap silently. Costs are divided by their greatest common
divisor first, and where a sum of them could still leave the range, nothing is asked.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from importlib.resources import files
from math import gcd
from typing import Any

import numpy as np

from induce.search.bits import WORD, Bools, Words, unpack
from induce.search.limits import Limits
from induce.search.table import Side, Table
from induce.search.term_pool import Members, covers, sizes

LARGEST = (1 << 31) - 1
MODELS = 1_000
FACTS = 400_000
LEAST_SECONDS = 1.0
EAR = 0.1
CONFLICTS_PER_NODE = 10


@dataclass(frozen=True)
class Selected:
    """Selections of least cost within the bound; ``complete`` when the solver listed all of them."""

    selections: tuple[tuple[Members, ...], ...]
    complete: bool


@dataclass(frozen=True)
class _Facts:
    text: str
    divisor: int


def select_terms(
    table: Table,
    pool: Sequence[Members],
    limits: Limits,
    *,
    least: int,
    most: int,
    budget: int,
    conflicts: int,
) -> Selected | None:
    """The cheapest selections of ``least`` to ``most`` terms with sizes and penalties within the budget.

    None when the solver can't be asked: sums out of range, too many facts, or too little time. It
    gives up after so many ``conflicts``.
    """
    remaining = limits.remaining()
    if remaining is not None and remaining < LEAST_SECONDS:
        return None
    facts = _facts(table, pool, most, budget)
    if facts is None:
        return None
    import clingo

    control = clingo.Control(
        [
            f"--const=least={least}",
            f"--const=most={most}",
            "--opt-strategy=usc",
            "--seed=1",
            "--parallel-mode=1",
        ]
    )
    settings: Any = control.configuration.solve
    settings.opt_mode = f"optN,{budget // facts.divisor}"
    settings.models = str(MODELS)
    settings.solve_limit = str(conflicts)
    control.add("base", [], files("induce.search").joinpath("select.lp").read_text(encoding="utf-8"))
    control.add("base", [], facts.text)
    control.ground([("base", [])])
    limits.check()
    cost: list[int] = []
    found: list[tuple[Members, ...]] = []

    def on_model(model: Any) -> None:
        if not cost or model.cost != cost:
            found.clear()
            cost[:] = model.cost
        chosen = sorted(symbol.arguments[0].number for symbol in model.symbols(shown=True))
        terms = tuple(pool[at] for at in chosen)
        if terms not in found:
            found.append(terms)

    with control.solve(on_model=on_model, async_=True) as handle:
        finished = _wait(handle, None if remaining is None else 0.9 * remaining)
        if not finished:
            handle.cancel()
        result = handle.get()
    met = int(control.statistics["solving"]["solvers"]["conflicts"])
    limits.spend(1 + met // CONFLICTS_PER_NODE)
    return Selected(tuple(found), bool(finished and result.exhausted))


def _wait(handle: Any, seconds: float | None) -> bool:
    """Whether the solver came to its end in that time; an interrupt is heard between short waits."""
    end = math.inf if seconds is None else time.monotonic() + seconds
    while not (finished := handle.wait(min(EAR, max(0.0, end - time.monotonic())))):
        if time.monotonic() >= end:
            break
    return bool(finished)


def _facts(table: Table, pool: Sequence[Members], most: int, budget: int) -> _Facts | None:
    passed, failed = covers(table, pool)
    pass_weight, fail_weight = (
        np.minimum(side.bit_weights(), max(0, budget) + 1) for side in (table.passing, table.failing)
    )
    size = sizes(table, pool).tolist()
    values = [*size, *map(int, pass_weight), *map(int, fail_weight)]
    divisor = reduce(gcd, values) or 1
    sums = sum(sorted(size)[-most:]) + int(pass_weight.sum()) + int(fail_weight.sum())
    covered = [
        np.argwhere(_rows(side, bits)) for side, bits in ((table.passing, passed), (table.failing, failed))
    ]
    if max(sums, sum(size)) // divisor > LARGEST or sum(map(len, covered)) > FACTS:
        return None
    lines = [f"term({at},{value // divisor})." for at, value in enumerate(size)]
    for name, weights in (("pass", pass_weight), ("fail", fail_weight)):
        lines += [f"{name}({bit},{int(weights[bit]) // divisor})." for bit in np.flatnonzero(weights)]
    for name, pairs in zip(("covers", "wrong"), covered, strict=True):
        lines += [f"{name}({term},{bit})." for term, bit in pairs.tolist()]
    return _Facts("\n".join(lines), divisor)


def _rows(side: Side, bits: Words) -> Bools:
    """Coverage as bool[m, 64 W]."""
    return unpack(np.ascontiguousarray(bits.T), len(side.used) * WORD)
