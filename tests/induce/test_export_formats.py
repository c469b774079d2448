"""A check exported to another form has the same verdict there: core profile, CEL, Python, answer sets."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import clingo
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evaluator import CheckError, compile_check, from_cel, run_check
from evaluator.operators import OPERATORS
from induce.export import export_check
from induce.export.core import CORE_FIELDS, OutsideCoreError, core_profile
from induce.export.las import check_rules, scene_facts
from induce.export.logic_text import asp_number, asp_string
from induce.export.python import python_source

BIG = [2**53, 2**53 + 1, -(2**63), 10**21, 10**21 + 1, 1e21, 1e23, 10**23, 5e-324, 1.7e308, 1e-7, 0.1]
TEXTS = ["", "a", "A b", "1", "1.0", "true", "null", "é🙂", "İ", "x\ny", 'q"\\', "nul\0", "1,000", "10.50"]
KEYS = ["a", "b", "id", "tags", "0", "1", "length", "", "k v", "x.y"]
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from(BIG)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(TEXTS)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=8,
)
element = st.fixed_dictionaries({}, optional=dict.fromkeys(["a", "b", "id", "tags"], values))
scenes = st.fixed_dictionaries(
    {},
    optional={"a": values | st.lists(element, max_size=3), "b": st.lists(element, max_size=3), "id": values},
)
steps = st.sampled_from(
    [
        *(".a", ".b", ".id", ".tags", ".length", ".0", "[0]", "[01]", '["x.y"]', '[""]'),
        *("[id=1]", "[a=true]", "[b=undefined]", "[id=1e+21]", "[id=1,1]", "[tags has 1]", "[tags has null]"),
    ]
)
paths = st.lists(steps, max_size=3).map("".join) | st.sampled_from(["", "a", "b", "id", "a.b", "b[0].id"])
numbers = st.integers(-3, 3) | st.sampled_from(BIG) | st.floats(allow_nan=False, allow_infinity=False)
flags = st.booleans()


def operands(value: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"value": value}) | st.fixed_dictionaries({"value_path": paths})


def atom(ops: list[str], *parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[Any]:
    return st.tuples(st.sampled_from(ops), *parts).map(
        lambda drawn: {"op": drawn[0]} | {k: v for part in drawn[1:] for k, v in part.items()}
    )


path = st.fixed_dictionaries({"path": paths})
core_atoms = (
    atom(["eq", "neq"], path, st.fixed_dictionaries({"value": values}))
    | atom(["gte", "lte"], path, st.fixed_dictionaries({"value": numbers}))
    | atom(["contains"], path, st.fixed_dictionaries({"substring": st.sampled_from(TEXTS)}))
    | atom(["exists", "missing"], path)
)
opt_in_atoms = (
    atom(["eq", "neq"], path, operands(values))
    | atom(["gte", "lte", "gt", "lt"], path, operands(numbers))
    | atom(
        ["contains"],
        path,
        st.fixed_dictionaries({"substring": st.sampled_from(TEXTS)}, optional={"ci": flags}),
    )
    | st.fixed_dictionaries(
        {"op": st.just("cel.compare"), "path": paths, "is": st.sampled_from(["<", "<=", ">", ">="])},
        optional={"value": numbers},
    )
)
folded_atoms = atom(["eq", "neq"], path, operands(values), st.just({"ci": True})) | atom(
    ["contains"],
    path,
    st.fixed_dictionaries({"substring": st.sampled_from(TEXTS), "ci": flags, "norm": flags, "word": flags}),
)
collection = st.fixed_dictionaries(
    {"collection": paths | st.sampled_from(["a", "b"])},
    optional={"values": flags, "absent": st.just("empty")},
)


def compound(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    where = st.fixed_dictionaries({"where": inner})
    counts = st.integers(-1, 3) | numbers
    bounds = st.fixed_dictionaries({}, optional={"where": inner, "eq": counts, "gte": counts, "lte": counts})
    sizes = st.fixed_dictionaries(
        {"collection": paths, "is": st.sampled_from(["==", "<", "<=", ">", ">="])},
        optional={"value": counts, "where": inner},
    )
    return (
        atom(["find"], collection, where)
        | atom(["count"], collection, bounds)
        | atom(["cel.size"], sizes)
        | st.fixed_dictionaries({"op": st.sampled_from(["and", "or"]), "of": st.lists(inner, max_size=3)})
        | st.fixed_dictionaries({"op": st.just("not"), "of": inner})
    )


checks = st.recursive(core_atoms | opt_in_atoms, compound, max_leaves=5)
folded_checks = st.recursive(folded_atoms | core_atoms, compound, max_leaves=3)


def passes(source: str) -> Any:
    """The function of an exported Python module."""
    namespace: dict[str, Any] = {}
    exec(compile(source, "<exported>", "exec"), namespace)
    return namespace["passes"]


@given(checks | folded_checks, st.lists(scenes | values, min_size=1, max_size=4))
@example({"op": "lte", "path": "a", "value": 5}, [{"a": True}, {"a": None}, {}, {"a": "5"}, {"a": 5.0}])
@example(
    {"op": "eq", "path": "a", "value": [1, {"k": 1}]}, [{"a": [True, {"k": True}]}, {"a": [1.0, {"k": 1}]}]
)
@example({"op": "exists", "path": "a[id=1e+21].b"}, [{"a": [{"id": 10**21, "b": 0}]}, {"a": [{"id": 1e21}]}])
@example({"op": "gte", "path": "a", "value": 2**53 + 1}, [{"a": 2**53}, {"a": 2.0**53}, {"a": 2**53 + 1}])
@example({"op": "eq", "path": "a.length", "value": 2}, [{"a": "🙂"}, {"a": [0, 0]}, {"a": {"length": 2}}])
def test_python_has_the_same_verdict(check: Any, some: list[Any]) -> None:
    function = passes(python_source(check))
    for scene in some:
        assert function(scene) is run_check(scene, check).passed


@given(checks, st.lists(scenes | values, min_size=1, max_size=4))
def test_the_core_profile_has_the_same_verdict(check: Any, some: list[Any]) -> None:
    core = core_or_none(check)
    if core is not None:
        assert_core(core)
        for scene in some:
            assert run_check(scene, core).passed is run_check(scene, check).passed


def golden_cases() -> Iterator[tuple[Any, Any, bool]]:
    """The recorded verdicts of the original evaluator, on checks that are well formed here."""
    golden = Path(__file__).parents[1] / "golden" / "autocheck" / "checks.jsonl"
    with golden.open(encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(
                line, parse_int=lambda text: int(text) if abs(int(text)) <= 2**53 else float(text)
            )
            with suppress(CheckError):
                compile_check(case["check"])
                yield case["check"], case["scene"], case["expect"]["pass"]


def test_exports_have_the_recorded_verdicts_of_the_original() -> None:
    """On every third case; rules, whose grounding takes long, on every thirtieth."""
    seen, wrong = 0, []
    for number, (check, scene, passed) in enumerate(golden_cases()):
        if number % 3:
            continue
        function = passes(python_source(check))
        if function(scene) is not passed:
            wrong.append(check)
        core = core_or_none(check)
        if core is not None and run_check(scene, core).passed is not passed:
            wrong.append(core)
        if number % 30 == 0 and is_finite(scene):
            program = check_rules(check) + scene_facts(check, [scene])
            if (solve(program) == {"s0"}) is not passed:
                wrong.append(program)
        seen += 1
    assert wrong == []
    assert seen > 1500


def is_finite(scene: Any) -> bool:
    return "Infinity" not in json.dumps(scene)


def core_or_none(check: Any) -> Any:
    try:
        return core_profile(check).check
    except OutsideCoreError:
        return None


def assert_core(check: Any) -> None:
    assert set(check) <= {"op", *CORE_FIELDS[check["op"]]}
    inner = check.get("of", check.get("where", []))
    for part in inner if isinstance(inner, list) else [inner]:
        assert_core(part)


@given(checks, st.lists(scenes, min_size=1, max_size=3))
@settings(max_examples=60)
@example({"op": "eq", "path": "a", "value": "nul\0"}, [{"a": "nul\0"}, {"a": "nul"}, {"a": "nul\\u0000"}])
@example({"op": "gte", "path": "a", "value": 2**31}, [{"a": 2**31 - 1}, {"a": 2**31}, {"a": -(2**31)}])
@example({"op": "neq", "path": "a", "value": 'q"\\'}, [{"a": 'q"\\'}, {"a": 'q"'}])
@example({"op": "eq", "path": "a\nb", "value": 1}, [{"a\nb": 1}, {"a": 1}])
def test_rules_have_the_same_verdict_in_clingo(check: Any, some: list[Any]) -> None:
    names = [f'"{number}\n%*' for number in range(len(some))]
    verdicts = solve(check_rules(check) + scene_facts(check, some, names))
    assert verdicts == {f"s{i}" for i, scene in enumerate(some) if run_check(scene, check).passed}


def solve(program: str) -> set[str]:
    """The scenes that pass in the one answer set."""
    told: list[str] = []
    control = clingo.Control(logger=lambda _, text: told.append(text) if "info" not in text else None)
    control.add("base", [], program)
    control.ground([("base", [])])
    models: list[set[str]] = []
    with control.solve(yield_=True) as answers:
        for model in answers:
            models.append(
                {str(atom.arguments[0]) for atom in model.symbols(atoms=True) if atom.name == "passes"}
            )
    assert not told, program
    (only,) = models
    return only


finite = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(BIG)


@given(finite, finite)
def test_terms_of_numbers_are_ordered_as_the_numbers(one: float, other: float) -> None:
    assert (asp_number(one) < asp_number(other)) is (one < other)
    assert (asp_number(one) == asp_number(other)) is (one == other)


@given(st.text(max_size=4), st.text(max_size=4))
def test_string_terms_are_one_line_and_tell_texts_apart(one: str, other: str) -> None:
    assert asp_string(one).isascii()
    assert asp_string(one).isprintable()
    assert (asp_string(one) == asp_string(other)) is (one == other)


@given(st.text())
def test_clingo_reads_string_terms_back(text: str) -> None:
    term = clingo.parse_term(asp_string(text))
    assert term.type is clingo.SymbolType.String
    assert str(term) == asp_string(text)


@pytest.mark.parametrize(
    "nest",
    [
        lambda c: {"op": "not", "of": c},
        lambda c: {"op": "and", "of": [c, c_leaf]},
        lambda c: {"op": "find", "collection": "a", "where": c},
    ],
)
def test_a_check_as_deep_as_checks_may_be_is_exported(nest: Any) -> None:
    check: Any = c_leaf
    value: Any = 0
    for _ in range(190):
        check, value = nest(check), [value]
    deep_value = {"op": "eq", "path": "v", "value": value}
    both = {"op": "or", "of": [check, deep_value]}
    function = passes(python_source(both))
    assert function({"v": value}) is True
    assert function({"v": [value]}) is run_check({"v": [value]}, check).passed
    assert check_rules(check)


c_leaf = {"op": "exists", "path": "(((((((((((((((((((((((((((((((((((((((("}


def test_numbers_beyond_what_python_reads_as_decimals() -> None:
    check = {"op": "gte", "path": "a", "value": 10**5000}
    function = passes(python_source(check))
    assert function({"a": 10**5000}) is True
    assert function({"a": 10**5000 - 1}) is False


def test_python_source_is_readable_and_alone(tmp_path: Path) -> None:
    check = {
        "id": 'big "order"',
        "expr": {
            "op": "and",
            "of": [
                {"op": "lte", "path": "order.total", "value": 500},
                {
                    "op": "find",
                    "collection": "items",
                    "where": {"op": "contains", "path": "k", "substring": "ü"},
                },
            ],
        },
    }
    text = export_check(check, "python")
    assert text.startswith(
        '# Check "big \\"order\\""\n# order.total is at most 500, and some items has k containing "ü"\n'
    )
    assert text.endswith(
        "    return (\n        at_most(at(scene, 'order', 'total'), 500)\n"
        "        and some(at(scene, 'items'), lambda it: contains(at(it, 'k'), '\\xfc'))\n    )\n"
    )
    (tmp_path / "exported.py").write_text(text, encoding="utf-8")
    code = "import exported; print(exported.passes({'order': {'total': 3}, 'items': [{'k': 'für'}]}))"
    command = [sys.executable, "-S", "-c", code]  # -S: without site-packages
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (ran.stdout, ran.stderr) == ("True\n", "")


def test_python_carries_only_the_helpers_it_needs() -> None:
    text = python_source({"op": "exists", "path": "a"})
    assert [line.split("(")[0] for line in text.splitlines() if line.startswith("def ")] == [
        "def at",
        "def passes",
    ]
    assert "import re" not in text


def test_core_names_every_part_it_cannot_say() -> None:
    check = {
        "id": "x",
        "expr": {
            "op": "and",
            "of": [
                {"op": "eq", "path": "a", "value": "X", "ci": True},
                {"op": "find", "collection": "b", "where": {"op": "eq", "path": "c", "value_path": "d"}},
                {"op": "eq", "path": 'm["p95.latency"]', "value": 1},
                {"op": "find", "collection": "b", "values": True, "where": {"op": "exists", "path": ""}},
                {"op": "eq", "path": "n", "value": [2**53 + 1]},
                {"op": "cel.unsupported", "problem": "?"},
            ],
        },
    }
    with pytest.raises(OutsideCoreError) as caught:
        export_check(check, "core")
    assert [place for place, _ in caught.value.problems] == [
        "$.expr.of[0].ci",
        "$.expr.of[1].where.value_path",
        "$.expr.of[2].path",
        "$.expr.of[3].values",
        "$.expr.of[4].value[0]",
        "$.expr.of[5].op",
    ]
    assert "\n" not in str(caught.value)
    with pytest.raises(
        OutsideCoreError, match=r"^\$\.as: the core profile cannot say this: its \"eq\" has no"
    ):
        core_profile({"op": "eq", "path": "a", "value": 1, "as": "cell"})


def test_core_lowers_what_it_can_and_says_so() -> None:
    check = {
        "id": "x",
        "expr": {"op": "not", "of": {"op": "gt", "path": "a", "value": 5, "note": "kept"}},
        "meta": {"tags": ["t"]},
    }
    core = core_profile(check)
    assert core.check == {
        "id": "x",
        "expr": {
            "op": "not",
            "of": {
                "op": "and",
                "of": [{"op": "gte", "path": "a", "value": 5}, {"op": "neq", "path": "a", "value": 5}],
                "note": "kept",
            },
        },
        "meta": {"tags": ["t"]},
    }
    assert core.lowered == ('$.expr.of: "gt" is said as gte and neq: the same verdict, the gap may differ',)
    assert json.loads(export_check(check, "core")) == core.check
    empty = core_profile({"op": "count", "collection": "a", "absent": "empty", "lte": 2})
    assert empty.check["of"][1] == {"op": "missing", "path": "a"}
    assert core_profile({"op": "eq", "path": "a", "value": 5, "ci": True}).check == {
        "op": "eq",
        "path": "a",
        "value": 5,
    }


def test_every_operator_has_a_place_in_the_core_profile_or_none() -> None:
    """A new operator shows here: it is core, is lowered, or is refused by name."""
    leaf = {"op": "exists", "path": "a"}
    fields = {"path": "a", "value": 1, "substring": "x", "pattern": "x", "collection": "a", "is": "<="}
    checks = {op: {"op": op, **fields, "problem": "?", "where": leaf, "of": leaf} for op in OPERATORS}
    checks |= {op: {"op": op, "of": [leaf]} for op in ("and", "or")}
    assert [op for op, check in checks.items() if core_or_none(check) is None] == [
        "matches",
        "cel.unsupported",
    ]


@pytest.mark.parametrize("fmt", ["python", "las", "cel"])
def test_what_a_format_cannot_say_is_named_with_its_place(fmt: str) -> None:
    check = {"op": "not", "of": {"op": "eq", "path": "a", "value": 1, "as": "cell"}}
    with pytest.raises(CheckError) as caught:
        export_check(check, fmt)
    assert caught.value.place == "$.of.as"


def test_cel_reads_back() -> None:
    check = {"op": "find", "collection": "items", "where": {"op": "gte", "path": "price", "value": 20}}
    assert export_check(check, "cel") == "items.exists(x, x.price >= 20)\n"
    assert from_cel(export_check(check, "cel")) == check


def test_rules_read_as_rules() -> None:
    check = {
        "op": "count",
        "collection": "items",
        "where": {"op": "lte", "path": "n", "value": 2.5},
        "gte": 2,
    }
    assert [line for line in check_rules(check).splitlines() if not line.startswith("%")] == [
        "",
        "passes(X) :- scene(X), t1(X).",
        'd2(E) :- scene(X), element(X,"items",E).',
        't3(X) :- d2(X), at(X,"n",number(K)), K <= "pc401.25".  % 2.5',
        't4(X) :- scene(X), elements(X,"items").',
        't1(X) :- scene(X), t4(X), N = #count { E : element(X,"items",E), t3(E) }, N >= 2.',
    ]
