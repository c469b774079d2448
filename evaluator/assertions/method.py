"""The methods of the assertion language: what each is called, how it is built, and the table of all of them.

A method is a factory: keyword arguments in, a judge of traces out. Mistakes in the arguments are raised when it is
built, so that judging many traces costs little:

    def required_tools(*, tools: Names) -> Judge: ...

Its signature declares the fields of the operator `<family>.<method>` (kinds in `arguments.py`); an argument whose
annotation admits None may be left out or null. `soft` belongs to every method that has a soft option and is
not in the signature: the runner heeds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, cached_property
from importlib import import_module
from inspect import Parameter, signature
from typing import Any, Final, NamedTuple, get_type_hints

from evaluator.assertions.arguments import read_argument
from evaluator.assertions.judgement import (
    Judge,
    Judgement,
    MissingEvidenceError,
    SpecError,
    Status,
    Why,
    not_evaluated,
)
from evaluator.assertions.view import TraceView, view_of
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
"""The modules of this package that hold methods; each has a tuple `METHODS`."""


class Argument(NamedTuple):
    """A field of a method: its name, the annotation that says what it may hold, and if it must be there."""

    name: str
    holds: Any
    required: bool


class Method:
    """An assertion by its name.

    Parameters:
        name: as in the expect DSL, in snake_case.
        family: the first half of the operator's name.
        factory: makes the judge from keyword arguments.
        soft: whether the method has a soft option.
        soft_spec: whether soft is heeded by an unusable spec as well.
        one_of: groups of arguments; of each at least one is there.
    """

    def __init__(
        self,
        name: str,
        family: str,
        factory: Callable[..., Judge],
        *,
        soft: bool = True,
        soft_spec: bool = False,
    ) -> None:
        self.name = name
        self.family = family
        self.factory = factory
        self.soft = soft
        self.soft_spec = soft_spec

    @property
    def op(self) -> str:
        """The operator's name on the wire."""
        return f"{self.family}.{self.name}"

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """The arguments of the factory, in their order."""
        hints = get_type_hints(self.factory, include_extras=True)
        parameters = signature(self.factory).parameters.values()
        return tuple(
            Argument(each.name, hints[each.name], each.default is Parameter.empty) for each in parameters
        )

    def build(self, arguments: dict[str, Any], place: str = "") -> Judge:
        """The judge for these arguments; names that the method does not know are passed over.

        It answers `not_evaluated` where the trace lacks what it reads, and heeds `soft`. Raises `SpecError` when
        the arguments cannot be used.
        """
        try:
            judge = self.factory(**self._read(arguments))
            soft = self.soft and arguments.get("soft", False)
            if type(soft) is not bool:
                raise SpecError(f"soft: expected true or false, got {kind_of(soft)}", "soft")
        except SpecError as error:
            at = f"{place}.{error.field.partition('[')[0]}" if place and error.field else place
            raise SpecError(error.wrong, error.field, method=self.name, place=at) from None
        return _runner(self.name, judge, soft)

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
def methods_by_name() -> dict[str, Method]:
    """Every method by its name alone."""
    return {method.name: method for method in methods().values()}


# Running one assertion


class AssertionResult:
    """What one assertion says of one trace.

    Attributes:
        status: `pass`, `soft_fail`, `hard_fail` or `not_evaluated`.
        score: in 0…1.
        gap: 0.0 exactly when the status is `pass`.
        reason: what kind of failure it is, or why it was not evaluated; None where there is nothing to say.
    """

    __slots__ = ("_why", "gap", "reason", "score", "status")

    def __init__(self, status: Status, score: float, gap: float, why: Why, reason: str | None = None) -> None:
        self.status = status
        self.score = score
        self.gap = gap
        self.reason = reason
        self._why = why

    @property
    def why(self) -> str:
        """One line that says what was expected and what was there; built when first asked for."""
        if not isinstance(self._why, str):
            self._why = self._why()
        return self._why

    @property
    def passed(self) -> bool:
        """Whether the status is `pass`."""
        return self.status == "pass"

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON: `status`, `score`, `gap`, `why` and, where there is one, `reason`."""
        wire = {"status": self.status, "score": self.score, "gap": self.gap, "why": self.why}
        return wire if self.reason is None else wire | {"reason": self.reason}

    def __bool__(self) -> bool:
        return self.passed

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, AssertionResult) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        reason = "" if self.reason is None else f", reason={self.reason!r}"
        return f"AssertionResult({self.status!r}, score={self.score!r}, gap={self.gap!r}, why={self.why!r}{reason})"


def find_method(name: object) -> Method:
    """A method by its name, bare (`required_tools`) or with its family (`trace.required_tools`).

    Raises `CheckError` when there is none.
    """
    if type(name) is not str:
        raise CheckError(f"expected the name of a method, got {kind_of(name)}", "$.method")
    found = methods().get(name) or methods_by_name().get(name)
    if found is None:
        meant = nearest(name, [*methods_by_name(), *methods()])
        advice = f'did you mean "{meant}"?' if meant else f"the methods are {', '.join(methods_by_name())}"
        raise CheckError(f'unknown method "{name}"; {advice}', "$.method")
    return found


def evaluate_assertion(trace: Any, assertion: dict[str, Any], providers: Any = None) -> AssertionResult:
    """Evaluate one assertion, as the expect DSL writes it, on a trace.

    Parameters:
        trace: a trace, or a scene with one (`view.py`). Never changed.
        assertion: `{"method", "args"?}`; the method bare or with its family.
        providers: what semantic assertions and plugins call (`Providers`).

    An unusable spec is a failure with the reason `spec_error`. Raises `CheckError` when there is no such
    method, or the assertion is not of this form.
    """
    if type(assertion) is not dict:
        raise CheckError(f'expected an assertion, an object with a "method", got {kind_of(assertion)}', "$")
    method = find_method(assertion.get("method"))
    arguments = assertion.get("args", {})
    if type(arguments) is not dict:
        raise CheckError(f"expected an object of arguments, got {kind_of(arguments)}", "$.args")
    try:
        judge = method.build(arguments)
    except SpecError as error:
        soft = method.soft_spec and arguments.get("soft") is True
        return AssertionResult("soft_fail" if soft else "hard_fail", 0.0, 1.0, error.problem, "spec_error")
    judgement = judge(view_of(trace, providers))
    return AssertionResult(*judgement[:3], judgement.why, judgement.reason)


# Providers for checks: a check is data and carries none, so they come with the run

_PROVIDERS: ContextVar[Any] = ContextVar("providers", default=None)


@contextmanager
def providing(providers: Any) -> Iterator[None]:
    """While it lasts, checks that are evaluated here may call these providers.

    >>> with providing(None):
    ...     pass
    """
    before = _PROVIDERS.set(providers)
    try:
        yield
    finally:
        _PROVIDERS.reset(before)


def current_providers() -> Any:
    """The providers that checks may call here, or None."""
    return _PROVIDERS.get()
