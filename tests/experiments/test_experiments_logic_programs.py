"""Baselines that are programs of their own: run under the limit, read in their own formats, graded as checks.

The programs are not at hand, so small ones stand in for them that answer as they do; that a rule read back as
a check means what it means to an answer set solver is tested with clingo on the exported task itself.
"""

from __future__ import annotations

import os
import random
import re
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import clingo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator import compile_check
from experiments.baselines import Baseline, fit_baselines
from experiments.baselines.logic_rules import UnreadableRuleError, Vocabulary, check_of
from experiments.config import Learner
from induce.examples import Examples
from induce.export.relations import SceneRelations, scene_relations
from induce.export.task import export_task
from induce.grammar import Grammar
from induce.scenes import LabelledScenes

Programs = Callable[[str, str], None]


def carts(count: int, seed: int = 0) -> LabelledScenes:
    """Carts that pass when some item is a red one; nested parts, tags and a field that may be absent."""
    draw = random.Random(seed)

    def item() -> dict[str, Any]:
        return {
            "colour": draw.choice(["red", "blue"]),
            "price": draw.randint(1, 6),
            "parts": [{"size": draw.randint(0, 2)} for _ in range(draw.randint(0, 2))],
            "tags": draw.choices(["new", "old"], k=draw.randint(0, 2)),
        }

    scenes = [
        {
            "items": [item() for _ in range(draw.randint(0, 3))],
            "note": draw.choice(["big box", "red box"]),
            "total": draw.randint(1, 5),
            **({"gift": draw.choice([True, None])} if draw.random() < 0.5 else {}),
        }
        for _ in range(count)
    ]
    labels = tuple(
        "pass" if any(entry["colour"] == "red" for entry in scene["items"]) else "fail" for scene in scenes
    )
    return LabelledScenes(tuple(f"c{i}" for i in range(count)), labels, tuple(scenes), (1.0,) * count)


TRAIN, TEST = carts(24), carts(12, seed=1)


def relations(scenes: LabelledScenes) -> SceneRelations:
    examples = Examples.of(scenes.scenes, scenes.require_labels(), scenes.weights, scenes.ids)
    return scene_relations(examples, Grammar(), 2, 50)


TASK = relations(TRAIN)
NAMES = {relation.path: relation for relation in TASK.relations if relation.kind == "value"}
RED = next(term for term, value in NAMES["items.colour"].constants if value == "red")
ITEMS, COLOUR = TASK.links[0].name, NAMES["items.colour"].name
RULE = f"pass(V0) :- has_{ITEMS}(V0, V1), {COLOUR}(V1, {RED})."
POPPER_RULE = f"pass(V0):- has_{ITEMS}(V0,V1),{COLOUR}_{RED}(V1)."


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """``programs(name, source)`` puts a Python program on the PATH, which holds nothing else."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def put(name: str, source: str) -> None:
        path = folder / name
        path.write_text(f"#!{sys.executable}\n{textwrap.dedent(source)}")
        path.chmod(0o755)

    return put


def fitted(name: str, **changed: Any) -> Baseline:
    (found,) = fit_baselines(TRAIN, TEST, (name,), **{"time_limit": 30.0, "seed": 0} | changed)
    return found


def says(*lines: str, to: str = "stdout", code: int = 0) -> str:
    text = "\n".join(lines)
    return f"import sys\nprint({text!r}, file=sys.{to})\nsys.exit({code})\n"


# What stands in for a program that is not there


@pytest.mark.usefixtures("programs")
def test_programs_that_are_not_there_are_absent() -> None:
    found = fit_baselines(TRAIN, TEST, ("popper", "fastlas", "ilasp"), time_limit=30.0, seed=0)
    assert [baseline.reason for baseline in found] == [
        "no popper-ilp, popper or popper.py on the PATH",
        "no FastLAS or fastlas on the PATH",
        "no ILASP or ilasp on the PATH",
    ]
    assert not any(baseline.available for baseline in found)


# What they print

GOOD = [
    ("popper", "popper-ilp", ["12:00:01 Num. pos examples: 9", "********** SOLUTION **********",
      "Precision:1.00 Recall:1.00 TP:9 FN:0 TN:9 FP:0 Size:3", POPPER_RULE, "*" * 30]),
    ("popper", "popper.py", [POPPER_RULE, "% TP: 10, FN: 0, TN: 10, FP: 0"]),
    ("popper", "popper", [POPPER_RULE.replace("V0", "A").replace("V1", "B").removesuffix(".")]),
    ("fastlas", "FastLAS", [RULE, ""]),
    ("fastlas", "FastLAS", [RULE.replace(":- ", ":- scene(V0), "), "", "c-------",
      "pass(V0) :- scene(V0).", "", "c-------"]),
    ("ilasp", "ILASP", [RULE.replace("V1", "V2").replace("V0", "V1").replace("), ", "); "), "", "%" * 80,
      "%% Pre-processing                          : 0.008s", "%% Total : 1.2s", "%" * 80]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "command", "lines"), GOOD)
def test_a_learnt_rule_is_graded_and_said_in_the_paths_of_the_scenes(
    programs: Programs, name: str, command: str, lines: list[str]
) -> None:
    programs(command, says(*lines))
    found = fitted(name)
    assert (found.available, found.reason, found.stopped) == (True, None, "finished")
    assert (found.train_accuracy, found.test_accuracy) == (1.0, 1.0)
    assert found.size == 2
    assert found.rule == 'some items has colour equal to "red"'
    assert found.seconds is not None


def test_the_task_the_time_and_the_limits_are_handed_on(programs: Programs) -> None:
    programs(
        "popper-ilp",
        """
        import os, sys
        from pathlib import Path
        *options, folder = sys.argv[1:]
        assert options[0] == "--timeout" and 1 <= int(options[1]) <= 30, options
        files = sorted(path.name for path in Path(folder).iterdir() if path.suffix == ".pl")
        assert files == ["bias.pl", "bk.pl", "exs.pl"], files
        assert "max_clauses(2)." in Path(folder, "bias.pl").read_text()
        assert "max_vars(4)." in Path(folder, "bias.pl").read_text()
        print("NO SOLUTION")
        """,
    )
    programs(
        "ILASP",
        """
        import sys
        from pathlib import Path
        version, longest, file = sys.argv[1:]
        assert (version, longest) == ("--version=4", "-ml=4"), sys.argv
        assert "#modeh(pass(var(scene)))." in Path(file).read_text()
        assert "contains" not in Path(file).read_text() and "word" not in Path(file).read_text()
        print("UNSATISFIABLE")
        """,
    )
    limits = Learner(max_terms=2, max_literals=3, max_where=1)
    grammar = {"operators": ["eq", "find", "gte"]}
    assert fitted("ilasp", learner=limits, grammar=grammar).reason == "it found no rule"
    popper = fitted("popper", learner=limits, grammar=grammar)
    assert popper.reason is not None
    assert popper.reason.startswith("it failed with exit code 1: AssertionError: ['--noisy'")


def test_popper_is_asked_again_with_noise_where_it_finds_nothing(programs: Programs) -> None:
    programs("popper", f"import sys\nprint({POPPER_RULE!r} if '--noisy' in sys.argv else 'NO SOLUTION')")
    found = fitted("popper")
    assert (found.reason, found.test_accuracy) == ("learnt with --noisy", 1.0)


def test_of_several_solutions_of_popper_the_last_counts(programs: Programs) -> None:
    wrong = f"pass(V0):- has_{ITEMS}(V0,V1),not_{COLOUR}_{RED}(V1)."
    lines = ["12:00:01 New best hypothesis:", f"12:00:01 {wrong}", "12:00:02 New best hypothesis:"]
    programs("popper", says(*lines, f"12:00:02 {POPPER_RULE}", "********************", to="stderr"))
    assert fitted("popper").test_accuracy == 1.0


def test_no_rules_at_all_mean_that_every_scene_fails(programs: Programs) -> None:
    programs("FastLAS", says("", "", "c-------"))
    found = fitted("fastlas")
    assert found.size == 0
    assert found.train_accuracy == TRAIN.labels.count("fail") / len(TRAIN)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (says("UNSATISFIABLE", ""), "it found no rule"),
        (says("oops", "file not found", to="stderr", code=2), "it failed with exit code 2: file not found"),
        (says(code=7), "it failed with exit code 7"),
        (says("Segmentation violation"), "its output was not understood: 'Segmentation violation'"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "it failed with exit code -11"),
    ],
)
def test_what_goes_wrong_is_a_reason_and_no_error(programs: Programs, source: str, reason: str) -> None:
    programs("FastLAS", source)
    found = fitted("fastlas")
    assert (found.available, found.reason, found.rule) == (True, reason, None)
    assert found.test_accuracy is None


def test_a_rule_that_is_no_check_is_reported_as_it_stands(programs: Programs) -> None:
    rule = "pass(V0) :- shape(V0, round)."
    programs("FastLAS", says(rule))
    found = fitted("fastlas")
    assert (found.available, found.rule) == (True, rule)
    assert found.reason == "its rule could not be read back: shape(V0,round) is no test of the task"
    assert found.train_accuracy is None


def test_a_program_that_cannot_be_run_is_absent(programs: Programs, tmp_path: Path) -> None:
    programs("FastLAS", "")
    (tmp_path / "bin" / "FastLAS").write_text("#!/no/such/interpreter\n")
    found = fitted("fastlas")
    assert not found.available
    assert found.reason is not None
    assert "can't be run" in found.reason


def test_a_program_and_what_it_started_are_ended_with_the_time(programs: Programs, tmp_path: Path) -> None:
    programs(
        "FastLAS",
        f"""
        import subprocess, sys, time
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        open({str(tmp_path / "pid")!r}, "w").write(str(child.pid))
        time.sleep(600)
        """,
    )
    found = fitted("fastlas", time_limit=2.0)
    assert found == Baseline("fastlas", True, "no rule within 2 s", seconds=2.0, stopped="time")
    pid = int((tmp_path / "pid").read_text())
    for _ in range(100):
        if _gone(pid):
            return
        time.sleep(0.05)
    pytest.fail("what the program had started goes on")


def _gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z"


def test_what_popper_had_found_when_its_time_was_up_counts(programs: Programs) -> None:
    lines = f"print('New best hypothesis:\\n{POPPER_RULE}', flush=True)"
    programs("popper", f"import time\n{lines}\ntime.sleep(600)")
    found = fitted("popper", time_limit=2.0)
    assert (found.stopped, found.test_accuracy) == ("time", 1.0)


def test_one_class_is_no_task(programs: Programs) -> None:
    programs("FastLAS", says("UNSATISFIABLE"))
    passing = TRAIN.subset(i for i, label in enumerate(TRAIN.labels) if label == "pass")
    (found,) = fit_baselines(passing, TEST, ("fastlas",), time_limit=5.0, seed=0)
    assert found.reason is not None
    assert found.reason.startswith("the scenes are no task for it: ")


# Rules as checks, against an answer set solver


class LasTask:
    """An exported ``task.las``: its background, and each scene's facts."""

    def __init__(self, folder: Path) -> None:
        (path,) = export_task(TRAIN.scenes, TRAIN.require_labels(), None, "las", folder)
        text = path.read_text()
        lines = [line for line in text.splitlines() if not line.startswith(("%", "#"))]
        self.background = "\n".join(
            line for line in lines if ":-" in line or line.startswith(("size_of", "gte_of", "lte_of"))
        )
        found = re.findall(r"#pos\(ex(\d+)@?\d*, .*?, \{\n(.*?)\n\}\)\.", text, re.S)
        self.contexts = [context for _, context in sorted(found, key=lambda one: int(one[0]))]

    def verdicts(self, rules: list[str]) -> list[bool]:
        """Which scenes pass by these rules."""
        answers = []
        for number, context in enumerate(self.contexts):
            control = clingo.Control(["--warn=none"])
            control.add("base", [], "\n".join([self.background, context, *rules]))
            control.ground([("base", [])])
            with control.solve(yield_=True) as models:
                model = next(iter(models))
                shown = {str(symbol) for symbol in model.symbols(atoms=True)}
            answers.append(f"pass(s{number})" in shown)
        return answers


@pytest.fixture(scope="module")
def las_task(tmp_path_factory: pytest.TempPathFactory) -> LasTask:
    return LasTask(tmp_path_factory.mktemp("las"))


@st.composite
def rules(draw: st.DrawFn) -> str:
    """A rule within the modes of the task; some elements by links, some by their type alone."""
    types = {"V0": "scene"}
    body = ["scene(V0)"]
    for number in range(1, draw(st.integers(1, 4))):
        link = draw(st.sampled_from(TASK.links))
        owners = [variable for variable, rows in types.items() if rows == link.owner]
        variable = f"V{number}"
        types[variable] = link.name
        body.append(f"{link.name}({variable})")
        if owners and draw(st.integers(0, 3)):
            body.append(f"has_{link.name}({draw(st.sampled_from(owners))}, {variable})")
    for variable, rows in list(types.items()):
        here = [relation for relation in TASK.relations if relation.rows == rows]
        for relation in draw(st.lists(st.sampled_from(here), max_size=2)):
            denied = draw(st.sampled_from(["", "not "]))
            match relation.kind:
                case "present":
                    name, terms = draw(st.sampled_from(["", "no_"])) + relation.name, [""]
                case "rank":
                    ranks = [term for term, _ in relation.constants]
                    op = draw(st.sampled_from(["gte_", "lte_"]))
                    name, terms = op + relation.name, ranks[1:] if op == "gte_" else ranks[:-1]
                case _:
                    name, terms = relation.name, [term for term, _ in relation.constants]
            term = draw(st.sampled_from(terms))
            body.append(f"{denied}{name}({variable}{', ' * bool(term)}{term})")
        counted = [link for link in TASK.links if link.owner == rows and link.most > 1]
        if counted and not draw(st.integers(0, 3)):
            link = draw(st.sampled_from(counted))
            body.append(f"many_{link.name}({variable}, {draw(st.integers(2, link.most))})")
    return f"pass(V0) :- {', '.join(draw(st.permutations(body)))}."


@settings(max_examples=40, deadline=None)
@given(st.lists(rules(), max_size=3))
def test_a_check_means_what_the_rules_mean(las_task: LasTask, program: list[str]) -> None:
    check, size = check_of(program, Vocabulary(TASK))
    passes = compile_check(check).passes
    assert [passes(scene) for scene in TASK.examples.scenes] == las_task.verdicts(program), check
    types = {"scene", *(link.name for link in TASK.links)}
    literals = [literal for rule in program for literal in re.findall(r"(\w+)\(", rule.partition(":-")[2])]
    assert size == len([literal for literal in literals if literal not in types])


def test_an_element_reached_by_two_ways_has_one_owner(las_task: LasTask) -> None:
    parts, size = TASK.links[1].name, NAMES["items.parts.size"]
    links = f"has_{ITEMS}(V0, V1), has_{ITEMS}(V0, V2), has_{parts}(V1, V3), has_{parts}(V2, V3)"
    tests = f"{COLOUR}(V1, {RED}), not {size.name}(V3, {size.constants[0][0]})"
    program = [f"pass(V0) :- {links}, {tests}."]
    check, _ = check_of(program, Vocabulary(TASK))
    passes = compile_check(check).passes
    assert [passes(scene) for scene in TASK.examples.scenes] == las_task.verdicts(program)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("fail(V0) :- scene(V0).", "is no rule for pass"),
        ("not pass(V0).", "is no rule for pass"),
        ("pass(V0, V1).", "is no rule for pass"),
        ("pass(V0) :- V0 != V1.", "'V0 != V1' is no list of literals"),
        (f"pass(V0) :- not has_{ITEMS}(V0, V1).", "has no counterpart in a check"),
        (f"pass(V0) :- {ITEMS}(V0).", "V0 is both of scene and of"),
        ("pass(V0) :- scene(V1).", "V1 is a scene beside V0"),
        ("pass(V0) :- value99(V0, v1).", "value99(V0,v1) is no test of the task"),
        (f"pass(V0) :- has_{ITEMS}(V0, V1), {COLOUR}(V1, v999).", "is no test of the task"),
    ],
)
def test_what_is_no_check_is_refused(rule: str, message: str) -> None:
    with pytest.raises(UnreadableRuleError) as caught:
        check_of([rule], Vocabulary(TASK))
    assert message in str(caught.value)
