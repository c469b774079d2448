"""Worlds of AutomationBench in one shape: the joins, and that it is pure, idempotent and total."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator import normalise_world

CORPUS = Path(__file__).parents[3] / "shared" / "automationbench"

APPS = {
    "calendly": ["event_types", "scheduled_events", "invitees"],
    "docusign": ["templates", "envelopes"],
    "gmail": ["messages", "drafts", "labels"],
    "google_sheets": ["spreadsheets", "worksheets", "rows"],
    "hubspot": ["contacts", "deals"],
    "intercom": ["contacts", "notes"],
    "linkedin": ["profiles", "connections", "invitations", "messages"],
    "mailchimp": ["audiences", "subscribers"],
    "salesforce": ["cases", "contacts"],
    "slack": ["channels", "dms", "messages"],
    "twitter": ["users", "follows"],
    "zoom": ["meetings", "webinars", "registrants"],
}
FIELDS = [
    "id",
    "name",
    "email",
    "title",
    "to",
    "cc",
    "body",
    "body_plain",
    "from",
    "from_",
    "label_ids",
    "labels",
    "message_id",
    "message",
    "is_draft",
    "channel",
    "channel_id",
    "channel_type",
    "member_ids",
    "user",
    "user_id",
    "is_im",
    "subscribers",
    "invitees",
    "list_id",
    "event_type_id",
    "uuid",
    "uri",
    "event",
    "event_id",
    "event_uri",
    "template_id",
    "envelope_id",
    "meeting_id",
    "topic",
    "profile_url",
    "profile_id",
    "recipient_id",
    "recipient_names",
    "properties",
    "lifecyclestage",
    "lifecycle_stage",
    "stage",
    "stage_name",
    "StageName",
    "Id",
    "target_user_id",
    "username",
    "parent_id",
    "contact_id",
    "spreadsheet_id",
    "worksheet_id",
    "worksheets",
    "rows",
    "row_id",
    "cells",
    "worksheet_title",
    "worksheet_index",
]

SCALARS = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.sampled_from("abA#")
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=12,
)
RECORDS = st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=6)
COLLECTIONS = st.lists(RECORDS | VALUES, max_size=4) | VALUES
WORLDS = st.fixed_dictionaries(
    {},
    optional={
        app: st.fixed_dictionaries({}, optional=dict.fromkeys(names, COLLECTIONS)) | VALUES
        for app, names in APPS.items()
    },
)


@settings(max_examples=400)
@given(WORLDS | VALUES)
def test_any_json_is_normalised_once_and_left_alone(world: Any) -> None:
    before = copy.deepcopy(world)
    once = normalise_world(world)
    assert world == before
    kept = copy.deepcopy(once)
    assert normalise_world(once) == kept
    assert once == kept
    json.dumps(once)


def corpus_worlds() -> list[Any]:
    if not CORPUS.is_dir():
        pytest.skip("the corpus of AutomationBench is not here")
    tasks = (CORPUS / "tasks.jsonl").read_text(encoding="utf-8").splitlines()
    cases = (CORPUS / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["initial_state"] for line in tasks] + [
        json.loads(line)["world"] for line in cases
    ]


def test_every_world_of_the_corpus() -> None:
    worlds = corpus_worlds()
    rows = 0
    for world in worlds:
        before = json.dumps(world)
        once = normalise_world(world)
        assert json.dumps(world) == before
        assert normalise_world(once) == once
        for row in once.get("google_sheets", {}).get("rows", []):
            rows += 1
            assert isinstance(row["cells"], dict)
            assert isinstance(row["row_id"], str)
            assert isinstance(row["worksheet_title"], str)
            assert isinstance(row["worksheet_index"], int)
    assert len(worlds) > 800
    assert rows > 3_000


def test_nested_and_flat_sheets_are_one_shape() -> None:
    cells = {"Name": "Acme", "id": "c1"}
    nested = {
        "spreadsheets": [
            {
                "spreadsheet_id": "ss1",
                "title": "Deals",
                "worksheets": [
                    {"id": "w0", "title": "Old", "rows": []},
                    {"worksheet_id": "w1", "title": "New", "rows": [{"row_id": 2, "cells": cells}]},
                    {"id": "w2", "title": "Plain", "rows": [{"row_id": "r3", **cells}]},
                ],
            }
        ]
    }
    rows = normalise_world({"google_sheets": nested})["google_sheets"]["rows"]
    place = {"spreadsheet_id": "ss1", "cells": cells}
    assert rows == [
        {**place, "row_id": "2", "worksheet_id": "w1", "worksheet_title": "New", "worksheet_index": 1},
        {**place, "row_id": "r3", "worksheet_id": "w2", "worksheet_title": "Plain", "worksheet_index": 2},
    ]
    flat = {
        "worksheets": [
            {"id": f"w{i}", "spreadsheet_id": "ss1", "title": t} for i, t in enumerate(["Old", "New"])
        ],
        "rows": [{"spreadsheet_id": "ss1", "worksheet_id": "w1", "row_id": 2, "cells": cells}],
    }
    assert normalise_world({"google_sheets": flat})["google_sheets"]["rows"] == rows[:1]


def test_a_row_may_name_its_worksheet_by_title() -> None:
    app = {
        "worksheets": [{"id": "w1", "spreadsheet_id": "ss1", "title": "New"}],
        "rows": [{"spreadsheet_id": "ss1", "worksheet_id": "New", "row_id": 1, "cells": {}}],
    }
    assert normalise_world({"google_sheets": app})["google_sheets"]["rows"][0]["worksheet_title"] == "New"


def test_mail() -> None:
    app = {
        "labels": [{"id": "L1", "name": "Urgent"}],
        "messages": [{"id": "m1", "from": "a@x", "to": "b@x, c@x", "body": "hi", "labels": ["SENT", "L1"]}],
        "drafts": [{"id": "d1", "message_id": "m2", "message": {"to": ["d@x"], "subject": "s"}}],
    }
    sent, draft = normalise_world({"gmail": app})["gmail"]["messages"]
    assert (sent["from_"], sent["to"], sent["cc"], sent["bcc"]) == ("a@x", ["b@x", "c@x"], [], [])
    assert (sent["body_plain"], sent["label_ids"], sent["label_names"]) == (
        "hi",
        ["SENT", "L1"],
        ["SENT", "Urgent"],
    )
    assert (sent["is_draft"], draft["is_draft"], draft["id"], draft["to"]) == (False, True, "m2", ["d@x"])


def test_channels_and_direct_messages() -> None:
    app = {
        "channels": [
            {"id": "C1", "name": "#sales"},
            {"id": "D1", "name": "dm", "channel_type": "dm", "member_ids": ["U1", "U2"]},
        ],
        "messages": [{"channel_id": name} for name in ("C1", "D1", "U9", "general")],
    }
    messages = normalise_world({"slack": app})["slack"]["messages"]
    assert [message["channel_name"] for message in messages] == ["sales", "dm", "U9", "general"]
    assert [message["dm_user_ids"] for message in messages] == [[], ["U1", "U2"], ["U9"], ["general"]]


def test_what_stands_inside_its_owner_is_moved_out() -> None:
    world = {
        "mailchimp": {"audiences": [{"id": "a1", "subscribers": [{"email": "x@x"}]}]},
        "calendly": {
            "scheduled_events": [
                {
                    "uri": "https://c/e/e1",
                    "name": "Demo",
                    "start_time": "2026-01-02",
                    "invitees": [{"email": "x@x"}],
                },
                {"uuid": "u2", "event_type_id": "t1"},
            ],
            "event_types": [{"id": "t1", "name": "Call"}],
            "invitees": [{"event_id": "u2", "email": "y@x"}, {"event_uri": "e1", "email": "z@x"}],
        },
    }
    there = normalise_world(world)
    assert there["mailchimp"]["subscribers"] == [{"email": "x@x", "list_id": "a1"}]
    names = {one["email"]: one.get("event_name") for one in there["calendly"]["invitees"]}
    assert names == {"x@x": "Demo", "y@x": "Call", "z@x": "Demo"}


def test_names_of_relatives_are_put_on_the_record() -> None:
    world = {
        "docusign": {
            "templates": [{"template_id": "t1", "name": "NDA"}],
            "envelopes": [{"template_id": "t1"}, {"template_id": "t9"}],
        },
        "zoom": {"meetings": [{"id": 7, "topic": "Demo"}], "registrants": [{"meeting_id": "7"}]},
        "twitter": {"users": [{"id": "u1", "username": "ann"}], "follows": [{"target_user_id": "u1"}]},
        "intercom": {"contacts": [{"id": "c1", "email": "a@x"}], "notes": [{"contact_id": "c1"}]},
        "linkedin": {
            "profiles": [{"id": "p1", "public_profile_url": "https://linkedin.com/in/ann/", "email": "a@x"}],
            "invitations": [{"recipient_profile_url": "http://www.linkedin.com/in/Ann"}],
            "messages": [{"recipient_ids": ["p1", "p2"]}],
        },
    }
    there = normalise_world(world)
    assert [one.get("template_name") for one in there["docusign"]["envelopes"]] == ["NDA", None]
    assert there["zoom"]["registrants"][0]["meeting_topic"] == "Demo"
    assert there["twitter"]["follows"][0]["followed_username"] == "ann"
    assert there["intercom"]["notes"][0]["contact_email"] == "a@x"
    invited = there["linkedin"]["invitations"][0]["recipient_names"]
    assert invited[1:] == ["p1", "https://linkedin.com/in/ann/", "a@x"]
    assert "p2" in there["linkedin"]["messages"][0]["recipient_names"]


def test_fields_under_other_names() -> None:
    world = {
        "hubspot": {
            "contacts": [{"lifecyclestage": "lead", "properties": {"tier": "gold", "id": "x"}, "id": "h1"}]
        },
        "salesforce": {"cases": [{"AccountId": "a1", "Subject": "s", "stage": "Won"}], "count": 3},
    }
    there = normalise_world(world)
    contact, case = there["hubspot"]["contacts"][0], there["salesforce"]["cases"][0]
    assert (contact["lifecycle_stage"], contact["tier"], contact["id"]) == ("lead", "gold", "h1")
    assert (case["account_id"], case["account"], case["subject"], case["stage_name"]) == (
        "a1",
        "a1",
        "s",
        "Won",
    )
    assert there["salesforce"]["count"] == 3
