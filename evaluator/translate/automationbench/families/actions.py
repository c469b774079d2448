"""Action logs: an action was taken with these parameters (Jira, Asana, Monday, Notion, Airtable, …)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from evaluator.translate.automationbench.clauses import (
    Clause,
    alike,
    at,
    either,
    equal_as,
    every,
    some,
    within,
)
from evaluator.translate.automationbench.parameters import Parameters, is_number, texts_of

_CONTAINS: Final = "_contains"


def action(app: str, records: str | None = None) -> Callable[[Parameters], Clause]:
    """An action under the key has every parameter asked for.

    Where the app keeps what was made instead of a log (`records`, a collection of the app), a record with
    these values will do.
    """

    def family(parameters: Parameters) -> Clause:
        parameters.require("action_key")
        key = parameters.text("action_key") or ""
        params = parameters.object("params")
        if any(type(value) is dict for value in params.values()):
            parameters.note("texts in nested objects are compared as wholes; the grader may look for parts")
        logged = some(at(app, "actions", key), every(_asked(params, ("params",), "$.params")))
        if records is None:
            return logged
        parameters.note(f"the grader reads a log or {app}.{records}; either will do here")
        return either([logged, some(at(app, records), every(_asked(params, (), "$.params")))])

    return family


def made(app: str, key: str, texts: tuple[str, ...], keyed: str) -> Callable[[Parameters], Clause]:
    """An action of that key with the texts of the assertion and every key of its object `keyed`."""

    def family(parameters: Parameters) -> Clause:
        told: dict[str, Any] = {name: parameters.text(name) for name in texts if parameters.has(name)}
        if parameters.has(keyed):
            told[keyed] = parameters.object(keyed)
        return some(at(app, "actions", key), every(_asked(told, ("params",), "$")))

    return family


def _asked(params: dict[str, Any], inside: tuple[str, ...], place: str) -> Iterator[Clause]:
    """What is asked of the parameters that stand inside the keys."""
    for key, value in params.items():
        if type(value) is dict:
            yield from _asked(value, (*inside, key), f"{place}.{key}")
        elif key.endswith(_CONTAINS) and len(key) > len(_CONTAINS):
            path = at(*inside, key.removesuffix(_CONTAINS))
            for text in texts_of(value, f"{place}.{key}"):
                yield within(path, text)
        elif is_number(value):
            yield either([alike(at(*inside, key), value), equal_as("number", at(*inside, key), value)])
        else:
            yield alike(at(*inside, key), value)
