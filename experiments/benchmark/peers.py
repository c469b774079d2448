"""Other evaluators of predicates over JSON, each where its package is installed.

Each gets its best case: predicates compiled and scenes converted to its own form beforehand, so that only
evaluating is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, NamedTuple

from experiments.benchmark.predicates import Predicate

Judge = Callable[[], list[list[bool]]]
"""Evaluates every predicate on every scene: the verdicts, predicates by scenes."""


class Peer(NamedTuple):
    """An evaluator under the name of its package; `judge` imports it."""

    package: str
    judge: Callable[[Sequence[Predicate], Sequence[Any]], Judge]

    @property
    def version(self) -> str | None:
        """The installed version; None when the package is absent."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


def _common_expression_language(predicates: Sequence[Predicate], scenes: Sequence[Any]) -> Judge:
    import cel

    programs = [cel.compile(predicate.cel) for predicate in predicates]
    contexts = [cel.Context(variables={"scene": scene}) for scene in scenes]
    return lambda: [[program.execute(context) for context in contexts] for program in programs]


def _cel_python(predicates: Sequence[Predicate], scenes: Sequence[Any]) -> Judge:
    import celpy

    environment = celpy.Environment()
    programs = [environment.program(environment.compile(predicate.cel)) for predicate in predicates]
    activations = [{"scene": celpy.json_to_cel(scene)} for scene in scenes]
    return lambda: [[bool(program.evaluate(scene)) for scene in activations] for program in programs]


def _jsonschema(predicates: Sequence[Predicate], scenes: Sequence[Any]) -> Judge:
    from jsonschema import Draft202012Validator

    validators = [Draft202012Validator(predicate.schema) for predicate in predicates]
    return lambda: [[validator.is_valid(scene) for scene in scenes] for validator in validators]


PEERS: Final = (
    Peer("common-expression-language", _common_expression_language),
    Peer("cel-python", _cel_python),
    Peer("jsonschema", _jsonschema),
)
