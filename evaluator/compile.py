"""Compiling a check: judged whole, once, and turned into closures that are run on many scenes."""

from __future__ import annotations

import marshal
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from evaluator.check import MAX_NESTING, Check, CheckData, carried, is_defined, snapshot
from evaluator.errors import CheckError, SceneError, kind_of, nearest
from evaluator.fields import Fields
from evaluator.fresh_stack import on_fresh_stack
from evaluator.node import Node
from evaluator.operators import OPERATORS
from evaluator.result import CheckResult
from evaluator.scene import validate_scene
from evaluator.values import MISSING, compact

_REMEMBERED_BYTES = 16_384
_TOO_DEEP = "the check is nested too deeply for what is left of Python's call stack"


class CompiledCheck:
    """A check ready to run: `compiled(scene)` gives a `CheckResult`.

    With `compiled(scene, anchors=True)` the result of a failure also points at its place.

    Attributes:
        check: the check it was made from, as plain JSON: a bare expression, or `{"id", "expr", "meta"?}`.
        meta: what results carry, or None.
        gap: function from a scene to the gap alone, 0.0 exactly when the check passes; builds no text.
    """

    __slots__ = ("_decide", "_judge", "_locate", "check", "gap", "meta")

    gap: Callable[[Any], float]

    def __init__(self, check: dict[str, Any], node: Node, meta: Any = None) -> None:
        self.check = check
        self.meta = meta
        self.gap, self._judge, self._locate, self._decide = node

    def __call__(self, scene: Any, *, anchors: bool = False) -> CheckResult:
        try:
            result = self._judged(scene, anchors)
        except RecursionError:
            try:
                result = on_fresh_stack(lambda: self._judged(scene, anchors))
            except RecursionError:
                raise CheckError(_TOO_DEEP, "$") from None
        if self.meta is not None:
            result.carry(self.meta)
        return result

    def _judged(self, scene: Any, anchors: bool) -> CheckResult:
        result = self._judge(scene)
        if anchors and not result.passed:
            result.anchor = self._anchor(scene)
        return result

    def _anchor(self, scene: Any) -> dict[str, str] | None:
        from evaluator.anchor import anchor_at  # costs start-up, and few ask for anchors

        return anchor_at(self._locate(scene, False))

    @property
    def three_valued(self) -> bool:
        """Whether it may be not evaluated: some part is an assertion over a trace."""
        return self._decide is not None

    def is_evaluated(self, result: CheckResult) -> bool:
        """Whether a result of this check says that it holds or that it does not."""
        return self._decide is None or result.meta["status"] != "not_evaluated"

    def decide(self, scene: Any) -> float | None:
        """The gap, or None where the check is not evaluated."""
        return self.gap(scene) if self._decide is None else self._decide(scene)

    def passes(self, scene: Any) -> bool:
        """Whether the scene satisfies the check."""
        return self.gap(scene) == 0.0

    def __repr__(self) -> str:
        return f"CompiledCheck({self.check!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return compile_check, (self.check,)


def compile_check(check: object) -> CompiledCheck:
    """Compile a check: a bare expression, a defined one, a `Check`, or a typed one (`parse_check`).

    The whole check is judged, also parts that no scene would reach. What is compiled is a copy: changing
    `check` afterwards changes nothing.

    Raises:
        CheckError: the check is not well formed; `place` says where.
    """
    if isinstance(check, CompiledCheck):
        return check
    copied = snapshot(_wire(check))
    expr, place, meta = copied, "$", None
    if is_defined(copied):
        expr, place, meta = copied["expr"], "$.expr", carried(copied.get("meta"))
    try:
        return CompiledCheck(copied, on_fresh_stack(lambda: _whole(_compile(expr, place, 0))), meta)
    except RecursionError:
        raise CheckError(_TOO_DEEP, "$") from None


def _whole(node: Node) -> Node:
    if node.decide is None:
        return node
    from evaluator.assertions.operators import afresh  # loaded already: there is an assertion

    return afresh(node)


def _wire(check: object) -> object:
    """A check given as a Python object as it is on the wire; anything else as it is."""
    if not isinstance(check, CheckData):
        return check
    if not isinstance(check, Check):
        return check.to_dict()
    wire = {"id": check.id, "expr": check.expr}
    return wire if check.meta is None else wire | {"meta": check.meta}


def _compile(check: Any, place: str, depth: int) -> Node:
    if type(check) is not dict:
        raise CheckError(f'expected a check, an object with an "op", got {kind_of(check)}', place)
    if depth > MAX_NESTING:
        raise CheckError(f"checks are nested more than {MAX_NESTING} deep", "$")
    op = check.get("op")
    if type(op) is not str:
        raise _unknown_operator(check, place)
    operator = OPERATORS.get(op) or _extension(op)
    if operator is None:
        raise _unknown_operator(check, place)
    return operator(Fields(check, op, place, depth, _compile))


def _extension(op: str) -> Callable[[Fields], Node] | None:
    """An operator beyond the core; all have a dot in their names."""
    if "." not in op:
        return None
    from evaluator.assertions.operators import EXTENSIONS  # not at the top: few checks need them

    return EXTENSIONS.get(op)


def _unknown_operator(check: dict[str, Any], place: str) -> CheckError:
    op = check.get("op")
    known = ", ".join(OPERATORS)
    if type(op) is str:
        meant = nearest(op, _names() if "." in op else OPERATORS)
        advice = f'did you mean "{meant}"?' if meant else f"the operators are {known}"
        return CheckError(f"unknown operator {compact(op)}; {advice}", f"{place}.op")
    if "op" in check:
        problem = f"expected the name of an operator, got {kind_of(op)}; the operators are {known}"
        return CheckError(problem, f"{place}.op")
    if "expr" in check and place == "$":
        name, expr = check.get("id"), check["expr"]
        if type(name) is not str:
            return CheckError(f'a defined check has an "id", a string, got {kind_of(name)}', "$.id")
        return CheckError(f'expected a check, an object with an "op", got {kind_of(expr)}', "$.expr")
    if "expr" in check:
        return CheckError('a defined check stands at the top only; put its "expr" here instead', place)
    meant = nearest("op", check)
    advice = f'is "{meant}" a misspelling of it?' if meant else f"the operators are {known}"
    return CheckError(f'a check needs a field "op"; {advice}', f"{place}.op")


def _names() -> list[str]:
    from evaluator.assertions.operators import EXTENSIONS

    return [*OPERATORS, *EXTENSIONS]


def run_check(scene: object, check: object, *, anchors: bool = False) -> CheckResult:
    """Evaluate a check on a scene.

    Parameters:
        scene: any JSON tree of Python's own types (None, bool, int, float, str, list, dict). Never changed.
        check: a bare expression, a defined check `{"id", "expr", "meta"?}`, a `Check`, a typed one
            (`parse_check`), or a `CompiledCheck`. Checks given as data are compiled once and remembered by
            their content.
        anchors: whether the result of a failure points at its place: `result.anchor` is then
            `{"asset_id", "anchor"?}`, the first segment of the path to what decided and, if it has more, the
            last. Of a `find` that is the nearest element, of `count`, `and` and `or` the deciding part.

    Raises:
        CheckError: the check is not well formed.
        SceneError: the scene holds something that is not JSON, wherever it is; `place` says where. (A
            compiled check that is called looks only where it leads, see `validate_scene`.)
    """
    try:
        if scene is not MISSING:
            validate_scene(scene, infinite=True)
        if isinstance(check, CompiledCheck):
            return check(scene, anchors=anchors)
        wire = _wire(check)
        compiled = remembered(wire)
    except (CheckError, SceneError) as error:
        if _looks_like_check(scene) and not _looks_like_check(check):
            hint = "the first argument looks like a check; the order is run_check(scene, check)"
            raise CheckError(f"{error.problem}; {hint}", error.place) from None
        raise
    result = compiled(scene, anchors=anchors)
    if compiled.meta is not None and isinstance(wire, dict):
        own = wire["meta"]  # the caller's own: remembered checks share nothing that can change
        if compiled.three_valued:
            result.carry(own)
        else:
            result.meta = own
    return result


def _looks_like_check(value: object) -> bool:
    """Whether a value has an operator of its own, or that of a defined check."""
    if type(value) is dict and type(value.get("expr")) is dict:
        value = value["expr"]
    return isinstance(value, CheckData | CompiledCheck) or (
        type(value) is dict and type(value.get("op")) is str
    )


def remembered(check: Any) -> CompiledCheck:
    """The compiled form of a check given as data.

    The key is its marshalled bytes: unlike comparison in Python they tell 1 from 1.0 and from True, and
    only plain JSON types and a few others, which `compile_check` refuses, can be written.
    """
    try:
        key = marshal.dumps(check)
    except ValueError:  # not plain data: compiling says what is wrong with it
        return compile_check(check)
    if len(key) > _REMEMBERED_BYTES:
        return compile_check(check)
    return _compile_marshalled(key)


@lru_cache(maxsize=512)
def _compile_marshalled(key: bytes) -> CompiledCheck:
    return compile_check(marshal.loads(key))


def define_check(id: str, expr: dict[str, Any], meta: Any = None) -> Check:  # noqa: A002 (the wire's own word)
    """A check with a name and, if wanted, meta (references, severity, tags, pack) that results carry.

    Raises `CheckError` when the expression is not well formed, the meta is not JSON, or its known keys do not
    hold what they should (see `parse_meta`).
    """
    if type(id) is not str:
        raise CheckError(f"a defined check's id is a string, got {kind_of(id)}", "$.id")
    if type(expr) is not dict:
        raise CheckError(f'expected a check, an object with an "op", got {kind_of(expr)}', "$.expr")
    wire = compile_check(Check(id, expr, meta)).check
    if type(meta) is dict:
        from evaluator.meta import parse_meta  # not at the top: evaluation needs none of it

        parse_meta(wire["meta"])
    return Check(id, wire["expr"], wire.get("meta"))
