"""Learning tasks for other learners: they parse, mean what the scenes say, and lose no string or number."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import clingo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator import canonical_json, run_check
from induce import Grammar, export_task
from induce.examples import Examples
from induce.export.relations import Relation, SceneRelations, scene_relations

TEXTS = ['q"\\', "nul\0%*", "a\nb\u2028", "é🙂'", "", "pass"]
NUMBERS = [2**31, 2**31 - 1, 2**80 + 1, 2**80, -0.0, 5e-324]
HARD = [  # every text and number twice, in scenes that differ
    {
        "t": TEXTS[i],
        "n": NUMBERS[i],
        "kind": ["a", None, True, 1, "a", False][(i + shift) % 6],
        "w": ["red hat", "red cap", "blue hat"][(i + 2 * shift) % 3],
        "items": [
            {"k": "xyz"[(i + k) % 3], "n": [-(2**63), 2**53 + 1, 1.5][k]} for k in range((i + shift) % 4)
        ],
        "shift": shift,
    }
    for shift in (0, 1)
    for i in range(6)
]
for _scene in HARD[::5]:
    del _scene["n"]
LABELS = ["pass", "fail", "pass"] * 4

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
scenes = st.fixed_dictionaries(
    {},
    optional={
        "a": scalars,
        "größe": st.integers(2**31 - 2, 2**31 + 2) | st.sampled_from([1e300, 0.5]),
        "o": st.fixed_dictionaries({}, optional={"b": scalars}),
        "xs": st.lists(
            st.fixed_dictionaries({}, optional={"k": st.sampled_from("pqr"), "n": scalars}), max_size=3
        ),
    },
)


def las_text(tmp_path: Path, *args: Any, **kwargs: Any) -> str:
    (path,) = export_task(*args, format="las", out_dir=tmp_path, **kwargs)
    assert path == tmp_path / "task.las"
    return path.read_text(encoding="utf-8")


def program_of(text: str) -> tuple[str, list[str]]:
    """What of a task clingo reads: the background, and the context of each example."""
    contexts = re.findall(
        r"^#pos\(ex\d+(?:@\d+)?, \{[^{}]*\}, \{[^{}]*\}, \{\n(.*?)^\}\)\.$", text, re.M | re.S
    )
    text = re.sub(r"^#pos\(.*?^\}\)\.$", "", text, flags=re.M | re.S)
    return re.sub(r"^#(?:modeh|modeb|constant|maxv)\(.*\)\.$", "", text, flags=re.M), contexts


def answer(*parts: str) -> set[str]:
    """The atoms of the one answer set."""
    errors: list[str] = []
    control = clingo.Control(logger=lambda _, text: errors.append(text) if "info" not in text else None)
    control.add("base", [], "\n".join(parts))
    control.ground([("base", [])])
    with control.solve(yield_=True) as models:
        (atoms,) = [set(map(str, model.symbols(atoms=True))) for model in models]
    assert not errors
    return atoms


def as_check(kind: str, path: str, constant: Any) -> dict[str, Any]:
    match kind:
        case "value":
            return {"op": "eq", "path": path, "value": constant}
        case "gte" | "lte":
            return {"op": kind, "path": path, "value": constant}
        case "word":
            return {"op": "contains", "path": path, "substring": constant}
    return {"op": "exists" if kind == "present" else "missing", "path": path}


def atoms_of(relation: Relation) -> Iterator[tuple[str, str, Any]]:
    """The tests that a relation gives: the pattern of the atom, the kind of check, its constant."""
    name = relation.name
    for term, constant in relation.constants:
        if relation.kind == "rank":
            for op in ("gte", "lte"):
                yield f"{op}_{name}({{row}},{term})", op, constant
        else:
            yield f"{name}({{row}},{term})", relation.kind, constant
    if relation.kind == "present":
        yield f"{name}({{row}})", "present", None
        yield f"no_{name}({{row}})", "missing", None


def relations_of(some: list[Any], labels: list[str]) -> SceneRelations:
    return scene_relations(Examples.of(some, labels), Grammar(), 2, 50)


@given(st.lists(scenes, min_size=2, max_size=6, unique_by=canonical_json))
@settings(max_examples=40)
def test_every_test_of_a_task_means_what_the_check_means(some: list[Any]) -> None:
    labels = ["pass"] + ["fail"] * (len(some) - 1)
    check_tests_mean_checks(some, labels)


def check_tests_mean_checks(some: list[Any], labels: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        text = las_text(Path(folder), some, labels)
    task = relations_of(some, labels)
    background, contexts = program_of(text)
    asked = 0
    for number, (scene, context) in enumerate(zip(task.examples.scenes, contexts, strict=True)):
        atoms = answer(background, context)
        for relation in (relation for relation in task.relations if relation.rows == "scene"):
            for pattern, kind, constant in atoms_of(relation):
                term = pattern.rpartition(",")[2].rstrip(")")
                if kind in ("gte", "lte") and f"#constant({kind}_of_{relation.name},{term})" not in text:
                    continue  # a bound that every number there keeps
                check = as_check(kind, relation.path, constant)
                assert (pattern.format(row=f"s{number}") in atoms) is run_check(scene, check).passed, check
                asked += 1
    assert asked or not task.relations


def test_strings_and_numbers_survive_the_trip(tmp_path: Path) -> None:
    check_tests_mean_checks(HARD, LABELS)
    text = las_text(tmp_path, HARD, LABELS, ids=[f'"{n}"\n#pos' for n in range(12)])
    assert text.isascii()
    said = [
        json.loads(meaning) for meaning in re.findall(r"^%\s+\w+ = (.*)$", text, re.M) if meaning[0] != "s"
    ]
    for value in [*TEXTS, *NUMBERS, -(2**63), 2**53 + 1, 1.5]:
        assert any(canonical_json(value) == canonical_json(one) for one in said)
    for line in text.splitlines():
        if not line.startswith("%"):
            assert '"' not in line
            assert all(int(number) < 1000 for number in re.findall(r"(?<![\w])\d+", line))


def test_a_rule_over_the_relations_grades_scenes_as_its_check_does(tmp_path: Path) -> None:
    """What another learner would answer can be read back: links lead to elements, constants to values."""
    text = las_text(tmp_path, HARD, LABELS)
    task = relations_of(HARD, LABELS)
    (link,) = task.links
    (kinds,) = [
        one
        for one in task.relations
        if one.rows == link.name and one.kind == "value" and "k" in one.path and one.path.endswith("k")
    ]
    (term,) = [term for term, value in kinds.constants if value == "x"]
    rule = f"pass(X) :- has_{link.name}(X,E), {kinds.name}(E,{term})."
    check = {"op": "find", "collection": "items", "where": {"op": "eq", "path": "k", "value": "x"}}
    background, contexts = program_of(text)
    for number, (scene, context) in enumerate(zip(task.examples.scenes, contexts, strict=True)):
        assert (f"pass(s{number})" in answer(background, context, rule)) is run_check(scene, check).passed
    many = f"pass(X) :- many_{link.name}(X,2)."
    assert [f"pass(s{i})" in answer(background, context, many) for i, context in enumerate(contexts)] == [
        len(scene["items"]) >= 2 for scene in task.examples.scenes
    ]


def test_examples_say_label_and_penalty(tmp_path: Path) -> None:
    some, labels, weights = [{"a": n} for n in range(4)], ["pass", "fail", "fail", "pass"], [1, 2.5, 0, 1]
    text = las_text(tmp_path, some, labels, sample_weight=weights, penalty=4)
    assert re.findall(r"^#pos\((.*), \{$", text, re.M) == [
        "ex0@4, {pass(s0)}, {}",
        "ex1@4, {pass(s1)}, {}",
        "ex2@10, {}, {pass(s2)}",
    ]
    assert "#pos(ex0, {pass(s0)}, {}, {" in las_text(tmp_path, some, labels, penalty=None)
    with pytest.raises(ValueError, match=r"^sample_weight: the penalties sum to more than 32 bits hold"):
        las_text(tmp_path, some, labels, sample_weight=[1e9, 1e9, 1, 1])


def test_the_grammar_decides_what_may_be_said(tmp_path: Path) -> None:
    text = las_text(tmp_path, HARD, LABELS, {"operators": ["gte", "find"], "exclude": ["items.k"]})
    modes = re.findall(r"^#modeb\((\w+?)\d*_", text, re.M)
    assert set(modes) == {"has", "gte"}
    assert "items.k" not in text
    assert text.count(", (positive)).") == len(modes)
    assert "(positive)" not in las_text(tmp_path, HARD, LABELS)


def test_constants_that_memorise_are_left_out(tmp_path: Path) -> None:
    some = [
        {"order_id": 1000 + n, "price": n * n, "kind": "ab"[n % 2], "once": f"word {n}"} for n in range(30)
    ]
    labels = ["pass" if scene["price"] < 200 else "fail" for scene in some]
    text = las_text(tmp_path, some, labels, max_constants=7)
    declared = re.findall(r"^#constant\((\w+?)\d*_(\w+),(\w+)\)\.$", text, re.M)
    assert {(kind, path) for kind, path, _ in declared} == {
        ("value", "kind"),
        ("word", "once"),
        ("gte", "of_rank2_price"),
        ("lte", "of_rank2_price"),
    }
    assert [term for kind, _, term in declared if kind == "lte"] == ["0", "5", "10", "14", "19", "24"]
    assert 'the ordinal of the number at "price"; 23 more are left out' in text
    assert "  14 = 196\n" in text


TOKEN = re.compile(r"\s+|%[^\n]*\n|[a-z]\w*|[A-Z]\w*|\d+|:-|\\\+|=<|>=|[(),.]")


def clauses(text: str) -> list[list[str]]:
    """The clauses of a Prolog text of plain names, numbers and variables, each as its tokens."""
    found: list[list[str]] = [[]]
    at = 0
    while at < len(text):
        token = TOKEN.match(text, at)
        assert token is not None, text[at : at + 40]
        at = token.end()
        if token[0] == ".":
            found.append([])
        elif not token[0].isspace() and not token[0].startswith("%"):
            found[-1].append(token[0])
    assert found.pop() == []
    return found


def popper(tmp_path: Path, *args: Any, **kwargs: Any) -> dict[str, str]:
    paths = export_task(*args, format="popper", out_dir=tmp_path, **kwargs)
    assert [path.name for path in paths] == ["exs.pl", "bk.pl", "bias.pl"]
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


def test_poppers_files_are_prolog_and_its_bias_is_declared_in_full(tmp_path: Path) -> None:
    texts = popper(tmp_path, HARD, LABELS, max_terms=2, max_literals=3, max_where=2)
    assert texts["bk.pl"].isascii()
    heads = {clause[0] for clause in clauses(texts["bk.pl"])}
    bias = answer(texts["bias.pl"])
    assert {
        "max_clauses(2)",
        "max_vars(4)",
        "max_body(5)",
        "head_pred(pass,1)",
        "type(pass,(scene,))",
    } <= bias
    declared = {
        m[1]: int(m[2]) for m in (re.fullmatch(r"body_pred\((\w+),(\d)\)", atom) for atom in bias) if m
    }
    assert declared.keys() <= heads
    for name, arity in declared.items():
        (types,) = [atom for atom in bias if atom.startswith(f"type({name},")]
        (directions,) = [atom for atom in bias if atom.startswith(f"direction({name},")]
        for told in (types, directions):
            assert len([part for part in told[:-2].rpartition("(")[2].split(",") if part]) == arity
    examples = clauses(texts["exs.pl"])
    assert [clause[0] for clause in examples] == ["pos"] * 8 + ["neg"] * 4
    assert all(clause[1:4] == ["(", "pass", "("] for clause in examples)


def test_clauses_of_a_predicate_stand_together(tmp_path: Path) -> None:
    names = [clause[0] for clause in clauses(popper(tmp_path, HARD, LABELS)["bk.pl"])]
    runs = [name for index, name in enumerate(names) if index == 0 or names[index - 1] != name]
    assert len(runs) == len(set(runs))


def test_poppers_tests_are_those_of_the_answer_set_task(tmp_path: Path) -> None:
    background = popper(tmp_path, HARD, LABELS)["bk.pl"]
    sized = re.sub(
        r"findall\(E,(\w+\(X,E\)),L\), length\(L,N\), N >= (\d+)", r"in(X), #count{E:\1} >= \2", background
    )
    atoms = answer(sized.replace("\\+", "not").replace("=<", "<=") + "\nin(X) :- scene(X).")
    task = relations_of(HARD, LABELS)
    for relation in (relation for relation in task.relations if relation.rows == "scene"):
        for pattern, kind, constant in atoms_of(relation):
            term = pattern.rpartition(",")[2].rstrip(")")
            name = pattern.partition("(")[0] + (f"_{term}" if relation.constants else "")
            if f"\n{name}(" not in background:
                assert kind in ("gte", "lte")
                continue
            for number, scene in enumerate(task.examples.scenes):
                passed = run_check(scene, as_check(kind, relation.path, constant)).passed
                assert (f"{name}(s{number})" in atoms) is passed
                if kind == "value":
                    assert (f"not_{name}(s{number})" in atoms) is not passed


@pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog is not installed")
def test_swi_prolog_loads_the_files(tmp_path: Path) -> None:
    popper(tmp_path, HARD, LABELS)
    for name in ("bk.pl", "exs.pl"):
        ran = subprocess.run(
            ["swipl", "-q", "-g", "halt", "-t", "halt", name],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_neither_order_nor_repetition_changes_a_task(tmp_path: Path) -> None:
    order = [3, 0, 5, 1, 4, 2, 11, 9, 7, 6, 8, 10]
    ids = [f"i{n}" for n in range(12)]
    one = las_text(tmp_path, HARD, LABELS, ids=ids)
    other = las_text(
        tmp_path, [HARD[i] for i in order], [LABELS[i] for i in order], ids=[ids[i] for i in order]
    )
    assert one == other


def test_unusable_arguments(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^unknown task format 'aleph'; there are las, popper$"):
        export_task(HARD, LABELS, format="aleph", out_dir=tmp_path)
    with pytest.raises(ValueError, match=r"^penalty: expected a whole number of literals"):
        export_task(HARD, LABELS, out_dir=tmp_path, penalty=0)
    with pytest.raises(ValueError, match=r"^max_constants: expected a whole number, at least 2, got 1$"):
        export_task(HARD, LABELS, out_dir=tmp_path, max_constants=1)
    with pytest.raises(ValueError, match=r"^all scenes are labelled pass"):
        export_task(HARD, ["pass"] * 12, out_dir=tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match=r"file: is no folder; name one, it is made when absent$"):
        export_task(HARD, LABELS, out_dir=tmp_path / "file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
