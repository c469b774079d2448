"""Descent on the gap: from a starting world to one that completes the task, by edits that the gap chooses."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from test_evaluator_cli import run, write

from evaluator import ImpossibleActionError, descend, grade
from evaluator.translate.automationbench.descent import Edit, edit_world

CORPUS = Path(__file__).parents[3] / "shared" / "automationbench"

POST = {"type": "slack_message_exists", "channel_name": "sales", "text_contains": ["won", "$5,000"]}
MAIL = {"type": "gmail_message_sent_to_with_body_contains", "to": "ana@x.example.com", "body_contains": "won"}


def task(*assertions: dict[str, Any], **start: Any) -> dict[str, Any]:
    return {"task": "sales.deal", "initial_state": start, "assertions": list(assertions)}


def test_a_task_is_completed_and_its_end_is_graded_as_any_other() -> None:
    one = task(POST, MAIL, {**MAIL, "type": "gmail_message_not_sent_to", "to": "bo@x.example.com"})
    before = copy.deepcopy(one)
    way = descend(one)
    assert one == before
    assert way.grading.completed
    assert grade(one, way.world).completed
    assert (way.gaps[0], way.gaps[-1], len(way.edits)) == (2.0, 0.0, 2)
    json.dumps(way.to_dict())


def test_the_gap_chooses_among_edits() -> None:
    """A new row would do as well, but there is to be one row only: the one there is edited."""
    place = {"spreadsheet_id": "ss1", "worksheet_id": "w1"}
    row = {**place, "row_id": 1, "cells": {"Name": "Acme"}}
    one = task(
        {"type": "google_sheets_row_exists", **place, "column": "Status", "value": "paid"},
        {"type": "google_sheets_row_count", **place, "count": 1},
        google_sheets={"rows": [row]},
    )
    way = descend(one)
    assert way.grading.completed
    assert [row["cells"] for row in way.world["google_sheets"]["rows"]] == [
        {"Name": "Acme", "Status": "paid"}
    ]


def test_a_guard_is_met_by_the_smallest_part() -> None:
    """The tag is taken off and put on; no ticket is removed or takes another's place."""
    tickets = [{"id": "t1", "tags": ["vip"]}, {"id": "t2", "tags": []}]
    one = task(
        {"type": "zendesk_ticket_has_tag", "ticket_id": "t2", "tag": "vip"},
        {"type": "zendesk_ticket_not_has_tag", "ticket_id": "t1", "tag": "vip"},
        zendesk={"tickets": tickets},
    )
    way = descend(one)
    assert way.grading.completed
    assert [ticket["tags"] for ticket in way.world["zendesk"]["tickets"]] == [[], ["vip"]]


def test_a_plateau_of_empty_collections_is_left() -> None:
    """The first mail shows how far the second is: the gap grows, and falls again."""
    mails = [
        {**MAIL, "to": f"p{number}@x.example.com", "body_contains": f"deal {number}"} for number in range(4)
    ]
    way = descend(task(*mails))
    assert way.grading.completed
    assert max(way.gaps) > way.gaps[0]


def test_assertions_at_odds_end_the_descent() -> None:
    never = {**MAIL, "type": "gmail_message_not_sent_to_with_body_contains"}
    way = descend(task(MAIL, never))
    assert not way.grading.completed
    assert (way.gaps, way.edits) == ((1.0,), ())


def test_the_same_task_gives_the_same_way() -> None:
    one = task(POST, MAIL)
    assert json.dumps(descend(one).to_dict()) == json.dumps(descend(one).to_dict())


def test_edits() -> None:
    world = {"app": {"rows": [{"id": 1}, {"id": 2}, {"id": 3}]}}

    def edited(edit: Edit) -> Any:
        return edit_world(copy.deepcopy(world), edit)["app"]

    rows = ("app", "rows")
    assert edited(Edit("remove", ((*rows, 0), (*rows, 2))))["rows"] == [{"id": 2}]
    assert edited(Edit("set", ((*rows, 1, "tag"),), "x"))["rows"][1] == {"id": 2, "tag": "x"}
    assert edited(Edit("add", (("app", "new", "list"),), 7))["new"] == {"list": [7]}
    for edit in (
        Edit("set", ((*rows, 9, "id"),), 1),
        Edit("add", ((*rows, 0, "id", "deep"),), 1),
        Edit("remove", (("app", "nothing"),)),
        Edit("set", (("app", "rows", 0, "id", "deep"),), 1),
    ):
        with pytest.raises(ImpossibleActionError):
            edited(edit)


def test_many_removals_of_one_list_keep_their_places() -> None:
    world = {"app": {"rows": list(range(30))}}
    edit = Edit("remove", tuple(("app", "rows", at) for at in range(3, 25)))
    assert edit_world(world, edit)["app"]["rows"] == [0, 1, 2, *range(25, 30)]


def test_the_command(tmp_path: Path) -> None:
    never = {**MAIL, "type": "gmail_message_not_sent_to_with_body_contains"}
    tasks = [task(POST, MAIL), {**task(MAIL, never), "task": "hr.odd"}]
    write(tmp_path / "tasks.jsonl", "".join(json.dumps(one) + "\n" for one in tasks))
    ran = run("automationbench", tmp_path / "tasks.jsonl", "--descend")
    assert (ran.returncode, ran.stderr) == (1, b"2 tasks: 1 completed by descent on the gap\n")
    assert ran.stdout.decode().splitlines() == [
        "task        assertions  gap at start  edits  gap at end  outcome",
        "sales.deal           2             2      2           0  completed",
        f"hr.odd               2             1      0           1  fails {MAIL['type']}",
    ]
    ran = run("automationbench", tmp_path / "tasks.jsonl", "--descend", "--json", "--domain", "sales")
    assert ran.returncode == 0
    (way,) = json.loads(ran.stdout)["tasks"]
    assert (way["task"], way["gaps"], way["completed"]) == ("sales.deal", [2, 1, 0], True)


@pytest.mark.parametrize("domain", ["finance", "hr", "marketing", "operations", "sales", "support"])
def test_tasks_of_the_corpus_are_completed(domain: str) -> None:
    if not CORPUS.is_dir():
        pytest.skip("the corpus of AutomationBench is not here")
    ran = run("automationbench", CORPUS / "tasks.jsonl", "--descend", "--json", "--domain", domain, "-n", "5")
    told = json.loads(ran.stdout)
    assert told["total"] == 5
    assert told["completed"] >= 4
