"""What is a scene, what is refused with which place and advice, and what `to_scene` converts."""

from __future__ import annotations

import collections
import dataclasses
import enum
import json
import re
import uuid
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

import attrs
import msgspec
import numpy as np
import pydantic
import pytest
from hypothesis import given
from test_evaluator_properties import foreign, json_values

from evaluator import (
    MISSING,
    CheckError,
    SceneError,
    canonical_json,
    compile_check,
    run_check,
    to_scene,
    validate_scene,
)

ELSEWHERE = {"op": "exists", "path": "fine"}


@dataclasses.dataclass
class Line:
    sku: str
    price: Any = 1.5


@attrs.define
class Box:
    id: int
    inside: Any = None


class Order(pydantic.BaseModel):
    placed: date
    lines: Any = None


class Numbers(pydantic.RootModel[list[int]]):
    pass


class Event(msgspec.Struct, tag="event", rename="camel"):
    tool_name: str
    note: str | msgspec.UnsetType = msgspec.UNSET


class Colour(enum.Enum):
    RED = "red"
    PAIR = (1, 2)


class Level(enum.IntEnum):
    HIGH = 3


class Kind(str, enum.Enum):  # noqa: UP042 (a text itself, unlike StrEnum in its repr)
    RACK = "rack"


Point = collections.namedtuple("Point", "x y")
Text = type("Text", (str,), {})


def cyclic() -> Any:
    value: list[Any] = []
    value.append({"me": value})
    return value


REFUSED: list[tuple[Any, str]] = [
    ({1, 2}, "found a Python set; a set has no order"),
    (frozenset(), "found a Python frozenset; a set has no order"),
    (b"x", "found a Python bytes; decode it"),
    (bytearray(b"x"), "decode it"),
    (float("nan"), "found NaN; use None, or leave the key out"),
    (Decimal("1.5"), "use float(...) for a number, or str(...) for text"),
    (1j, "found a Python complex"),
    (timedelta(1), "total_seconds"),
    (Point(1, 2), "._asdict() for an object, or list(...) for an array"),
    (iter([1]), "found a Python list_iterator"),
    (object(), "found a Python object"),
    (Line, "found a Python type"),
    (np.complex64(1), "found a Python complex64"),
    (np.float64("nan"), "found a Python float64"),
    (np.datetime64("NaT"), "found a Python datetime64"),
    (np.timedelta64(1, "s"), "found a Python timedelta64"),
    (np.bytes_(b"x"), "decode it"),
    (np.ma.masked, "found a Python MaskedConstant"),
]
CONVERTED: list[tuple[Any, Any]] = [
    ((1, (2, [3])), [1, [2, [3]]]),
    (collections.deque([1]), [1]),
    (range(3), [0, 1, 2]),
    (collections.OrderedDict(a=(1,)), {"a": [1]}),
    (collections.Counter("aab"), {"a": 2, "b": 1}),
    ({Kind.RACK: 1, Text("t"): 2}, {"rack": 1, "t": 2}),
    (Line("x", Line("y", None)), {"sku": "x", "price": {"sku": "y", "price": None}}),
    (Box(1, (Box(2),)), {"id": 1, "inside": [{"id": 2, "inside": None}]}),
    (
        Order(placed=date(2026, 1, 2), lines=[Line("x")]),
        {"placed": "2026-01-02", "lines": [{"sku": "x", "price": 1.5}]},
    ),
    (Numbers([1, 2]), [1, 2]),
    (Event("search"), {"type": "event", "toolName": "search"}),
    (Event("search", "n"), {"type": "event", "toolName": "search", "note": "n"}),
    (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05+00:00"),
    (time(1, 2), "01:02:00"),
    (uuid.UUID(int=7), "00000000-0000-0000-0000-000000000007"),
    (PurePosixPath("a/b"), "a/b"),
    (Colour.RED, "red"),
    (Colour.PAIR, [1, 2]),
    (Level.HIGH, 3),
    (Kind.RACK, "rack"),
    (Text("t"), "t"),
    (np.float64(0.1), 0.1),
    (np.float32(0.5), 0.5),
    (np.longdouble(1), 1.0),
    (np.int64(2**60), 2**60),
    (np.bool_(True), True),
    (np.str_("x"), "x"),
    (np.datetime64("2026-01-02T03:04:05.123456789"), "2026-01-02T03:04:05.123456789"),
    (np.arange(6).reshape(2, 3), [[0, 1, 2], [3, 4, 5]]),
    (np.array(5), 5),
    (np.array([1, "a", None, (2,)], dtype=object), [1, "a", None, [2]]),
    (np.array(["2026-01-02"], dtype="datetime64[ns]"), ["2026-01-02T00:00:00.000000000"]),
]


@pytest.mark.parametrize(("bad", "said"), REFUSED)
def test_what_is_no_json_is_refused_with_its_path_and_what_to_do(bad: Any, said: str) -> None:
    scene = {"fine": 1, "orders": [{}, {"k v": bad}]}
    for use in (
        validate_scene,
        lambda it: run_check(it, ELSEWHERE),
        lambda it: run_check(it, compile_check(ELSEWHERE)),
    ):
        with pytest.raises(SceneError, match=re.escape(said)) as caught:
            use(scene)
        assert caught.value.place == '$.orders[1]["k v"]'
    with pytest.raises(SceneError) as caught:
        to_scene(scene)
    assert caught.value.place == '$.orders[1]["k v"]'


@pytest.mark.parametrize(("obj", "scene"), CONVERTED)
def test_one_obvious_meaning_is_converted_and_named_in_the_refusal(obj: Any, scene: Any) -> None:
    converted = to_scene({"a": [obj]})
    assert json.dumps(converted) == json.dumps({"a": [scene]})
    validate_scene(converted)
    with pytest.raises(SceneError, match=r"to_scene converts it|keys are strings") as caught:
        run_check({"a": [obj], "fine": 1}, ELSEWHERE)
    assert caught.value.place == "$.a[0]"


@pytest.mark.parametrize("infinite", [float("inf"), float("-inf")])
def test_infinite_numbers_are_no_json_yet_run_check_takes_them_as_the_original_does(infinite: float) -> None:
    for use in (validate_scene, to_scene):
        with pytest.raises(SceneError, match="infinite"):
            use({"a": infinite})
    assert run_check({"a": infinite}, {"op": "gte", "path": "a", "value": 1}).passed is (infinite > 0)


@pytest.mark.parametrize("key", [1, None, 1.5, True, (1,), Colour.PAIR, b"x"])
def test_keys_are_text(key: Any) -> None:
    for use in (validate_scene, to_scene):
        with pytest.raises(SceneError, match="keys are strings") as caught:
            use({"a": [{key: 1}]})
        assert caught.value.place == "$.a[0]"


def test_what_contains_itself_is_refused_where_it_comes_back() -> None:
    line = Line("x")
    line.price = {"in": [line]}
    model = Order(placed=date(2026, 1, 2))
    model.lines = [model]
    for use in (validate_scene, to_scene, lambda it: run_check(it, ELSEWHERE)):
        with pytest.raises(SceneError, match="contains itself") as caught:
            use({"a": cyclic()})
        assert caught.value.place == "$.a[0].me"
    with pytest.raises(SceneError, match="this Line contains itself") as caught:
        to_scene([line])
    assert caught.value.place == "$[0].price.in[0]"
    with pytest.raises(SceneError, match="Order"):
        to_scene([model])


def test_what_stands_in_several_places_is_no_cycle() -> None:
    shared: Any = {"a": 1}
    for _ in range(60):  # 2**60 places
        shared = [shared, shared]
    validate_scene(shared)
    assert run_check(shared, {"op": "count", "collection": "", "eq": 2}).passed
    converted = to_scene((shared,))
    assert converted[0][0] is converted[0][1]


def test_depth_is_no_limit() -> None:
    deep: Any = {"leaf": {1}}
    for _ in range(5_000):
        deep = [deep]
    for use in (validate_scene, to_scene):
        with pytest.raises(SceneError) as caught:
            use(deep)
        assert caught.value.place == "$" + "[0]" * 5_000 + ".leaf"


def test_a_scene_that_is_absent_is_none_to_refuse() -> None:
    assert not run_check(MISSING, {"op": "exists", "path": ""}).passed


def test_a_compiled_check_looks_only_where_it_leads() -> None:
    assert compile_check(ELSEWHERE)({"fine": 1, "other": {1}}).passed


@given(json_values)
def test_plain_json_is_a_scene_and_converts_to_itself(value: Any) -> None:
    validate_scene(value)
    assert repr(to_scene(value)) == repr(value)


@given(foreign)
def test_only_scene_errors_leave_and_what_is_converted_is_a_scene(obj: Any) -> None:
    try:
        scene = to_scene(obj)
    except SceneError as error:
        refusal = str(error)
    else:
        refusal = ""
    if refusal:
        assert refusal.startswith("$")
        return
    validate_scene(scene)
    assert canonical_json(to_scene(scene)) == canonical_json(scene)


@given(foreign, json_values)
def test_run_check_refuses_exactly_what_is_no_scene(obj: Any, other: Any) -> None:
    try:
        validate_scene([obj, other], infinite=True)
    except SceneError as error:
        with pytest.raises(SceneError, match=re.escape(error.place)):
            run_check([obj, other], ELSEWHERE)
        return
    try:
        run_check([obj, other], ELSEWHERE)
    except CheckError:
        pytest.fail("the check is well formed")
