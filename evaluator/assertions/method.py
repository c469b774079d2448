"""The methods of the assertion language: what each is called, how it is built, and the table of all of them.

A method is a factory: keyword arguments in, a judge of traces out. Mistakes in the arguments are raised when
it is built, so that judging many traces costs little:

    def required_tools(*, tools: Names) -> Judge: ...

Its signature declares the fields of the operator `<family>.<method>` (kinds in `arguments.py`). A default of
None stands for "not given" and is no value on the wire. `soft` belongs to every method that has a soft option
and is not in the signature: the runner heeds it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from importlib import import_module
from inspect import Parameter, signature
from types import NoneType
from typing import Any, Final, NamedTuple, Union, get_args, get_type_hints

from evaluator.assertions.arguments import read_argument
from evaluator.assertions.judgement import (
    Judge,
    Judgement,
    MissingEvidenceError,
    SpecError,
    not_evaluated,
)
from evaluator.assertions.view import TraceView
from evaluator.errors import CheckError, kind_of, nearest

FAMILIES: Final = (
    "schema",
    "constraint",
    "trace",
    "behaviour",
    "effect",
    "content",
    "semantic",
    "trace_tree",
    "plugin",
)
"""The modules of this package that hold methods; each lists them in a tuple `METHODS`."""


_WIRE: Final = {"op": "operator"}


class Argument(NamedTuple):
    """A field of a method: its name, what it holds when it is given, and whether it must be."""

    name: str
    holds: Any
    required: bool

    @property
    def wire(self) -> str:
        """The name of the field in a check, where `op` is taken."""
        return _WIRE.get(self.name, self.name)


class Method:
    """An assertion by its name.

    Parameters:
        name: as in the expect DSL, in snake_case.
        family: the first half of the operator's name.
        factory: makes the judge from keyword arguments; its docstring says what the method asserts.
        soft: whether the method has a soft option.
        soft_spec: whether soft is heeded by an unusable spec as well.
        asks: what the factory asks of the arguments beyond its signature, as JSON Schema.
    """

    def __init__(
        self,
        name: str,
        family: str,
        factory: Callable[..., Judge],
        *,
        soft: bool = True,
        soft_spec: bool = False,
        asks: dict[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.family = family
        self.factory = factory
        self.soft = soft
        self.soft_spec = soft_spec
        self.asks = asks or {}

    @property
    def op(self) -> str:
        """The operator's name on the wire."""
        return f"{self.family}.{self.name}"

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """The arguments of the factory, in their order."""
        hints = get_type_hints(self.factory, include_extras=True)
        found = []
        for each in signature(self.factory).parameters.values():
            holds = hints[each.name]
            if each.default is None and holds is not Any:
                members = tuple(member for member in get_args(holds) if member is not NoneType)
                holds = Union[members]  # noqa: UP007 (built at run time)
            found.append(Argument(each.name, holds, each.default is Parameter.empty))
        return tuple(found)

    def build(self, arguments: dict[str, Any], place: str = "") -> Judge:
        """The judge for these arguments; names that the method does not know are passed over.

        It answers `not_evaluated` where the trace lacks what it reads, and heeds `soft`. Raises `SpecError`
        when the arguments cannot be used.
        """
        try:
            judge = self.factory(**self._read(arguments))
            soft = self.soft and arguments.get("soft", False)
            if type(soft) is not bool:
                raise SpecError(f"soft: expected true or false, got {kind_of(soft)}", "soft")
        except SpecError as error:
            field = error.field.partition("[")[0]
            at = f"{place}.{_WIRE.get(field, field)}" if place and field else place
            raise SpecError(error.wrong, error.field, method=self.name, place=at) from None
        return _runner(self.name, judge, soft)

    def check(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The check on the wire that asserts this; not a copy, and not judged."""
        return {"op": self.op, **{_WIRE.get(name, name): value for name, value in arguments.items()}}

    def _read(self, arguments: dict[str, Any]) -> dict[str, Any]:
        read = {}
        for argument in self.arguments:
            if argument.name in arguments:
                read[argument.name] = read_argument(argument.name, arguments[argument.name], argument.holds)
            elif argument.required:
                raise SpecError(f'the argument "{argument.name}" is missing', argument.name)
        return read


def _runner(name: str, judge: Judge, soft: bool) -> Judge:
    def run(view: TraceView) -> Judgement:
        try:
            judgement = judge(view)
        except MissingEvidenceError as error:
            return not_evaluated(name, error.which)
        if soft and judgement.status == "hard_fail" and judgement.soft_heeded:
            return judgement._replace(status="soft_fail")
        return judgement

    return run


@cache
def methods() -> dict[str, Method]:
    """Every method by its operator's name, `<family>.<method>`, in the order of the families."""
    return {
        method.op: method
        for family in FAMILIES
        for method in import_module(f"evaluator.assertions.{family}").METHODS
    }


@cache
def _by_name() -> dict[str, Method]:
    return {method.name: method for method in methods().values()}


def find_method(name: object) -> Method:
    """A method by its name, bare (`required_tools`) or with its family (`trace.required_tools`).

    Raises `CheckError` when there is none.
    """
    if type(name) is not str:
        raise CheckError(f"expected the name of a method, got {kind_of(name)}", "$.method")
    found = methods().get(name) or _by_name().get(name)
    if found is None:
        meant = nearest(name, [*_by_name(), *methods()])
        advice = f'did you mean "{meant}"?' if meant else f"the methods are {', '.join(_by_name())}"
        raise CheckError(f'unknown method "{name}"; {advice}', "$.method")
    return found
