"""Checks as typed data: one frozen struct an operator, read with `parse_check`, written with `dump_check`.

>>> check = parse_check({"op": "find", "collection": "items", "where": {"op": "exists", "path": "sku"}})
>>> match check:
...     case Find(collection=path, where=Exists(path=field)):
...         print(path, field)
items sku

These structs are also where the fields of an operator are declared, once: the JSON Schema (`schema.py`), the
typed tree and every walk over sub-checks read them from here. **A new operator, or a new opt-in field of an
old one, is declared by a class, or a field, in this module**; a test compares the declarations with what the
operators ask for. The annotation says what a field may hold:

    path: Path                                           a path; `str` is any text, `float` any finite number
    value: Any                                           any JSON value
    ci: bool | UnsetType = UNSET                         optional, as everything with the default UNSET
    mode: Literal["day", "cell"] | UnsetType = UNSET     one of these texts
    as_: ... = field(default=UNSET, name="as")           "as" on the wire, where Python's name is taken
    where: Expression; of: tuple[Expression, ...]        a sub-check; an array of them
    names: tuple[str, ...]; options: dict[str, Any]      an array of texts; any object

    names: Annotated[tuple[str, ...], Meta(min_length=1)]    a limit that JSON Schema can say

`ONE_OF` names fields of which exactly one is there; each of them then has the default UNSET. `ASKS` is JSON
Schema for what else is asked of the fields together. The assertions over traces are declared by the
signatures of their factories (`assertions/declaration.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Union, get_args, get_origin

from msgspec import UNSET, Meta, UnsetType, field
from msgspec.structs import fields

from evaluator.check import CheckData, is_defined, snapshot
from evaluator.compile import compile_check
from evaluator.equality import Way
from evaluator.errors import CheckError
from evaluator.json_read import JsonTextError, read_json
from evaluator.json_write import canonical_json
from evaluator.path import Path as Path


class _Typed(CheckData, frozen=True, eq=False, kw_only=True):
    """Equal when the JSON is: `1` equals `1.0` and differs from `true`, which Python mixes."""

    extra: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The check on the wire: the fields that are there, and the keys of `extra`; a copy.

        Raises `CheckError` when a field holds something that is not JSON.
        """
        copy: dict[str, Any] = snapshot(_wire(self))
        return copy

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Typed):
            return NotImplemented
        return canonical_json(_wire(self)) == canonical_json(_wire(other))

    def __hash__(self) -> int:
        return hash(canonical_json(_wire(self)))


class Expression(
    _Typed,
    frozen=True,
    eq=False,
    kw_only=True,
    tag_field="op",
    tag="",
    omit_defaults=True,
    repr_omit_defaults=True,
):
    """A check expression; its class says the operator.

    `extra` holds the keys that the operator does not know, as they were. A field that is absent is
    `msgspec.UNSET`.
    """

    ONE_OF: ClassVar[tuple[str, ...]] = ()
    ASKS: ClassVar[dict[str, Any]] = {}

    @property
    def op(self) -> str:
        """The operator's name."""
        return str(type(self).__struct_config__.tag)


class Eq(Expression, frozen=True, eq=False, tag="eq"):
    """The value at `path` deep-equals `value`, or what stands at `value_path`.

    With `ci` the case of texts is put aside; `as` asks for another way to be equal (see `equality`).
    """

    ONE_OF = ("value", "value_path")
    path: Path
    value: Any = UNSET
    value_path: Path | UnsetType = UNSET
    ci: bool | UnsetType = UNSET
    as_: Way | UnsetType = field(default=UNSET, name="as")


class Neq(Expression, frozen=True, eq=False, tag="neq"):
    """The value at `path` does not deep-equal `value`; passes where nothing is there.

    The opposite of `eq` with the same fields.
    """

    ONE_OF = ("value", "value_path")
    path: Path
    value: Any = UNSET
    value_path: Path | UnsetType = UNSET
    ci: bool | UnsetType = UNSET
    as_: Way | UnsetType = field(default=UNSET, name="as")


class Gte(Expression, frozen=True, eq=False, tag="gte"):
    """The value at `path` is a number of at least `value`, or what stands at `value_path`."""

    ONE_OF = ("value", "value_path")
    path: Path
    value: float | UnsetType = UNSET
    value_path: Path | UnsetType = UNSET


class Lte(Expression, frozen=True, eq=False, tag="lte"):
    """The value at `path` is a number of at most `value`, or what stands at `value_path`."""

    ONE_OF = ("value", "value_path")
    path: Path
    value: float | UnsetType = UNSET
    value_path: Path | UnsetType = UNSET


class Gt(Expression, frozen=True, eq=False, tag="gt"):
    """The value at `path` is a number above `value`, or above what stands at `value_path`."""

    ONE_OF = ("value", "value_path")
    path: Path
    value: float | UnsetType = UNSET
    value_path: Path | UnsetType = UNSET


class Lt(Expression, frozen=True, eq=False, tag="lt"):
    """The value at `path` is a number below `value`, or below what stands at `value_path`."""

    ONE_OF = ("value", "value_path")
    path: Path
    value: float | UnsetType = UNSET
    value_path: Path | UnsetType = UNSET


class Contains(Expression, frozen=True, eq=False, tag="contains"):
    """The value at `path` is a string with `substring` in it; with `ci` both are lower-cased first.

    With `norm` numbers are written alike first; with `word` it must not start inside a word nor end in a
    number.
    """

    path: Path
    substring: str
    ci: bool | UnsetType = UNSET
    norm: bool | UnsetType = UNSET
    word: bool | UnsetType = UNSET


class Matches(Expression, frozen=True, eq=False, tag="matches"):
    """The value at `path` is a string in which the regular expression `pattern` (RE2's) is found."""

    path: Path
    pattern: str


class Exists(Expression, frozen=True, eq=False, tag="exists"):
    """Something, be it null, is at `path`."""

    path: Path


class Missing(Expression, frozen=True, eq=False, tag="missing"):
    """Nothing, not even null, is at `path`."""

    path: Path


class Find(Expression, frozen=True, eq=False, tag="find"):
    """Some element of the array at `collection` passes `where`, whose paths start at the element.

    With `values` an object is a collection too, of its values; `absent` lets a missing one count as empty.
    """

    collection: Path
    where: Expression
    values: bool | UnsetType = UNSET
    absent: Literal["empty"] | UnsetType = UNSET


class Count(Expression, frozen=True, eq=False, tag="count"):
    """The number of elements of the array at `collection` that pass `where` keeps every bound given.

    `values` and `absent` are as in `find`.
    """

    collection: Path
    where: Expression | UnsetType = UNSET
    eq: float | UnsetType = UNSET
    gte: float | UnsetType = UNSET
    lte: float | UnsetType = UNSET
    values: bool | UnsetType = UNSET
    absent: Literal["empty"] | UnsetType = UNSET


class And(Expression, frozen=True, eq=False, tag="and"):
    """Every check of `of` passes; the gap is the sum of theirs."""

    of: tuple[Expression, ...]


class Or(Expression, frozen=True, eq=False, tag="or"):
    """Some check of `of` passes; the gap is the smallest of theirs, infinite when there is none."""

    of: tuple[Expression, ...]


class Not(Expression, frozen=True, eq=False, tag="not"):
    """The check `of` fails; the gap is 0 or 1."""

    of: Expression


class TraceBefore(Expression, frozen=True, eq=False, tag="trace.before"):
    """Every element of `collection` that passes `then` has an earlier one that passes `first`.

    With `same`, a path or several, the two have equal values there.
    """

    collection: Path
    first: Expression
    then: Expression
    same: Path | Annotated[tuple[Path, ...], Meta(min_length=1)] | UnsetType = UNSET


class CelCompare(Expression, frozen=True, eq=False, tag="cel.compare"):
    """The number at `path` stands to `value` as `is` says; without one nothing compares."""

    path: Path
    is_: Literal["<", "<=", ">", ">="] = field(name="is")
    value: float | UnsetType = UNSET


class CelSize(Expression, frozen=True, eq=False, tag="cel.size"):
    """The number of elements at `collection` that pass `where` stands to `value` as `is` says."""

    collection: Path
    is_: Literal["==", "<", "<=", ">", ">="] = field(name="is")
    where: Expression | UnsetType = UNSET
    value: float | UnsetType = UNSET


class CelUnsupported(Expression, frozen=True, eq=False, tag="cel.unsupported"):
    """A body of a CEL text that means nothing: `CheckError` with `problem` once it is evaluated."""

    problem: str


class Definition(_Typed, frozen=True, eq=False):
    """A defined check: an expression with a name and, if any, meta that its results carry."""

    id: str
    expr: Expression
    meta: Any = UNSET


# What the structs declare


class Field(NamedTuple):
    """A field of an operator: its name on the wire and in the struct, what it holds, if it must be there."""

    name: str
    attribute: str
    holds: Any
    required: bool

    @property
    def holds_check(self) -> bool:
        """Whether it is a sub-check."""
        return self.holds is Expression

    @property
    def holds_checks(self) -> bool:
        """Whether it is an array of sub-checks."""
        return bool(self.holds == tuple[Expression, ...])


@cache
def declared() -> dict[str, type[Expression]]:
    """The struct of every operator, by the operator's name."""
    from evaluator.assertions.declaration import declare_all  # not at the top: it declares with what is here

    declare_all()
    found: dict[str, type[Expression]] = {}
    pending = [Expression]
    while pending:
        kind = pending.pop(0)
        pending.extend(kind.__subclasses__())
        if kind.__struct_config__.tag:
            found[str(kind.__struct_config__.tag)] = kind
    return found


def fields_of(op: str) -> tuple[Field, ...]:
    """The fields an operator declares, in their order."""
    return _declared_fields(declared()[op])


@cache
def _declared_fields(kind: type[_Typed]) -> tuple[Field, ...]:
    found = []
    for info in fields(kind):
        if info.name != "extra":
            members = get_args(info.type) if get_origin(info.type) in (Union, UnionType) else (info.type,)
            kept = [member for member in members if member is not UnsetType]
            holds = kept[0] if len(kept) == 1 else Union[tuple(kept)]  # noqa: UP007 (built at run time)
            found.append(Field(info.encode_name, info.name, holds, info.default is not UNSET))
    return tuple(found)


def sub_checks(check: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The checks directly inside one on the wire, each with its place below it: `.where`, `.of[1]`."""
    for entry in fields_of(check["op"]):
        if entry.name not in check:
            continue
        if entry.holds_check:
            yield f".{entry.name}", check[entry.name]
        elif entry.holds_checks:
            for index, part in enumerate(check[entry.name]):
                yield f".{entry.name}[{index}]", part


# Reading and writing


def parse_check(source: object) -> Expression | Definition:
    """A check as typed data.

    Parameters:
        source: the check on the wire, its JSON text (`str` or `bytes`), or anything `compile_check` takes.

    Returns an `Expression`, or a `Definition` for a defined check. Keys that the language does not know are
    kept in `extra`, so that `dump_check` gives them back.

    Raises `CheckError` as `compile_check` does, with the place of the fault in `place`.
    """
    wire = dump_check(source)
    if not is_defined(wire):
        return _expression(wire)
    extra = {key: value for key, value in wire.items() if key not in ("id", "expr", "meta")}
    return Definition(wire["id"], _expression(wire["expr"]), wire.get("meta", UNSET), extra=extra)


def dump_check(check: object) -> dict[str, Any]:
    """The check on the wire, as plain JSON: `dump_check(parse_check(wire)) == wire`.

    Takes what `parse_check` gives or takes; raises `CheckError` when it is not
    well formed.
    """
    source = _read(check) if isinstance(check, str | bytes) else check
    copy: dict[str, Any] = snapshot(compile_check(source).check)
    return copy


def check_hash(check: object) -> str:
    """SHA-256 of a check's canonical JSON text (`canonical_json` of its wire form), in hexadecimal digits.

    The same for checks that differ in the order of keys or in how a number is written; an id, meta and
    unknown keys count. Takes what `parse_check` takes; raises `CheckError` when the check is not well formed.
    """
    return sha256(canonical_json(dump_check(check)).encode()).hexdigest()


def _read(text: str | bytes) -> Any:
    try:
        return read_json(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
    except JsonTextError as error:
        at = f" (line {error.line}, column {error.column})" if error.column else ""
        raise CheckError(f"the text of a check is {error.problem}{at}", "$") from None


def _expression(wire: dict[str, Any]) -> Expression:
    kind = declared()[wire["op"]]
    values: dict[str, Any] = {}
    known = {"op"}
    for entry in fields_of(wire["op"]):
        known.add(entry.name)
        if entry.name in wire:
            values[entry.attribute] = _typed(wire[entry.name], entry)
    return kind(**values, extra={key: value for key, value in wire.items() if key not in known})


def _typed(value: Any, entry: Field) -> Any:
    if entry.holds_check:
        return _expression(value)
    if entry.holds_checks:
        return tuple(_expression(part) for part in value)
    return _frozen(value, entry.holds)


def _frozen(value: Any, holds: Any) -> Any:
    """An array as a tuple where the annotation says so, the arrays in it as well."""
    if type(value) is not list:
        return value
    origin, members = get_origin(holds), get_args(holds)
    if origin is Annotated:
        return _frozen(value, members[0])
    if origin is Union or origin is UnionType:
        frozen = (_frozen(value, member) for member in members)
        return next((array for array in frozen if type(array) is tuple), value)
    if origin is not tuple:
        return value
    return tuple(_frozen(member, members[0]) for member in value)


def _wire(value: Any) -> Any:
    """A typed check, or what one of its fields holds, as plain JSON; values are not copied."""
    if isinstance(value, tuple):
        return [_wire(member) for member in value]
    if not isinstance(value, _Typed):
        return value
    wire: dict[str, Any] = {"op": value.op} if isinstance(value, Expression) else {}
    for entry in _declared_fields(type(value)):
        member = getattr(value, entry.attribute)
        if member is not UNSET:
            wire[entry.name] = _wire(member)
    return wire | {key: member for key, member in value.extra.items() if key not in wire}
