"""The worlds of AutomationBench in one shape, with the joins its assertions ask for.

A task seeds nested, hand-written records; the end state of a run is the flat dump of a typed model. Checks
are written for one shape, the flat one, and follow no references; so records are moved, fields get the names
of the typed model, and what an assertion says of a record's relatives is put on the record itself:

google_sheets  flat `worksheets` (`id`, `spreadsheet_id`, `title`) and flat `rows` (`spreadsheet_id`,
               `worksheet_id`, `worksheet_title`, `worksheet_index` from 0 within the spreadsheet, `row_id` as
               text, `cells`)
gmail          messages with `from_`, `body_plain`, `label_ids`, lists `to`, `cc`, `bcc`; `label_names`;
               `is_draft`, also true where an entry of `drafts` names the message
slack          messages with `channel_id`, `user_id`, `channel_name` (without #; an unknown id is its name)
               and `dm_user_ids`, the members of the direct conversation the message stands in
mailchimp      `subscribers` with `list_id`, out of `audiences`
calendly       `invitees` out of `scheduled_events`, with `event_id`, `event_name`, `event_start_time`
               and `event_status`; events with `id` and a `name`
docusign       envelopes and templates with `id`; envelopes with `template_name`
zoom           registrants with `meeting_topic`, of the meeting or webinar
linkedin       invitations and messages with `recipient_names`: every id, address and URL of the recipient
hubspot        properties also on the record; `lifecyclestage` and `lifecycle_stage` both
salesforce     every field also in snake case, and under its alias (`stage`, `stage_name`, …)
twitter        follows with `followed_username`
intercom       notes with `contact_id` and `contact_email`
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from evaluator.values import number_text

Record = dict[str, Any]

_LINKEDIN_RECIPIENT = (
    "recipient_profile_url",
    "recipient_public_profile_url",
    "recipient_profile_id",
    "recipient_id",
    "recipient_ids",
    "recipient_email",
    "recipient",
    "recipients",
    "invitee_profile_url",
    "invitee_id",
    "invitee_email",
    "profile_url",
    "public_profile_url",
    "profile_id",
    "email",
)
_LINKEDIN_NAMES = ("id", "profile_id", "profile_url", "public_profile_url", "email")
_SALESFORCE_ALIASES = (
    ("stage", "stage_name"),
    ("account", "account_id"),
    ("contact", "contact_id"),
    ("owner", "owner_id"),
)
_ROW_KEYS = ("id", "spreadsheet_id", "worksheet_id", "worksheet_title", "worksheet_index", "row_id")
_MESSAGE_KEYS = ("message", "to", "subject", "body", "body_plain")
_EVENT_IDS = ("id", "uuid", "uri")
_FOLLOWED = ("followed_id", "followed_user_id", "following_id", "target_id", "target_user_id", "user_id")
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def normalise_world(world: Any) -> Any:
    """The world in the shape that translated checks are written for.

    The world given is never changed; what needs no change is shared with it. Normalising twice is normalising
    once. Any JSON value is accepted: what is not of the expected kind is left as it stands.
    """
    if not isinstance(world, dict):
        return world
    return {
        app: _APPS[app](records) if app in _APPS and isinstance(records, dict) else records
        for app, records in world.items()
    }


# Google Sheets


def _google_sheets(app: Record) -> Record:
    books: list[Any] = []
    sheets, rows = _list(app, "worksheets"), _list(app, "rows")
    for book in _list(app, "spreadsheets"):
        if isinstance(book, dict):
            book = _filled(book, id="spreadsheet_id")
            for sheet in _records(book, "worksheets"):
                sheet = _filled(sheet, id="worksheet_id")
                rows += [_nested_row(row, book.get("id"), sheet.get("id")) for row in _records(sheet, "rows")]
                sheets.append({**_without(sheet, "rows"), "spreadsheet_id": book.get("id")})
            book = _without(book, "worksheets")
        books.append(book)
    sheets = [_filled(sheet, id="worksheet_id") if isinstance(sheet, dict) else sheet for sheet in sheets]
    places = _worksheet_places(sheet for sheet in sheets if isinstance(sheet, dict))
    rows = [_flat_row(row, places) if isinstance(row, dict) else row for row in rows]
    return _set_lists(app, spreadsheets=books, worksheets=sheets, rows=rows)


def _nested_row(row: Record, book_id: Any, sheet_id: Any) -> Record:
    """A row as a worksheet holds it; columns may stand beside `row_id`, among them one named `id`."""
    place = {"spreadsheet_id": book_id, "worksheet_id": sheet_id}
    if isinstance(row.get("cells"), dict):
        return {**row, **place}
    known = {"row_id": row["row_id"]} if "row_id" in row else {}
    return {**known, **place, "cells": _without(row, "row_id")}


_Places = dict[tuple[str | None, str], tuple[Any, int]]


def _worksheet_places(sheets: Iterable[Record]) -> _Places:
    """Title and position of each worksheet, by its spreadsheet and its id or, failing that, title."""
    by_id: _Places = {}
    by_title: _Places = {}
    seen: dict[str | None, int] = {}
    for sheet in sheets:
        book = _name(sheet.get("spreadsheet_id"))
        place = (sheet.get("title"), seen.get(book, 0))
        seen[book] = place[1] + 1
        for found, name in ((by_id, _name(sheet.get("id"))), (by_title, _name(sheet.get("title")))):
            if name is not None:
                found.setdefault((book, name), place)
    return by_title | by_id


def _flat_row(row: Record, places: _Places) -> Record:
    if not isinstance(row.get("cells"), dict):
        kept = {key: row[key] for key in _ROW_KEYS if key in row}
        row = {**kept, "cells": _without(row, *_ROW_KEYS)}
    sheet = _name(row.get("worksheet_id"))
    place = None if sheet is None else places.get((_name(row.get("spreadsheet_id")), sheet))
    if place is not None:
        row = {**row, "worksheet_title": place[0], "worksheet_index": place[1]}
    row_id = _name(row.get("row_id"))
    return row if row_id is None else {**row, "row_id": row_id}


# Mail and chat


def _gmail(app: Record) -> Record:
    messages, drafts = _list(app, "messages"), _list(app, "drafts")
    known = {_name(message.get("id")) for message in messages if isinstance(message, dict)}
    drafts = [_filled(draft, message_id="id") if isinstance(draft, dict) else draft for draft in drafts]
    drafted: set[str] = set()
    for draft in drafts:
        name = _name(draft.get("message_id")) if isinstance(draft, dict) else None
        if name is None:
            continue
        drafted.add(name)
        if name not in known and any(key in draft for key in _MESSAGE_KEYS):
            known.add(name)
            messages.append(_message_of_draft(draft))
    labels = {
        name: label["name"]
        for label in _records(app, "labels")
        if (name := _name(label.get("id"))) is not None and isinstance(label.get("name"), str)
    }
    messages = [_mail(one, drafted, labels) if isinstance(one, dict) else one for one in messages]
    return _set_lists(app, messages=messages, drafts=drafts)


def _message_of_draft(draft: Record) -> Record:
    inner = draft.get("message")
    fields = inner if isinstance(inner, dict) else _without(draft, "message")
    return {**_without(fields, "message_id"), "id": draft["message_id"]}


def _mail(message: Record, drafted: set[str], labels: dict[str, str]) -> Record:
    message = _filled(message, from_="from", body_plain="body", label_ids="labels")
    marks = message.get("label_ids")
    marks = marks if isinstance(marks, list) else [marks] if isinstance(marks, str) else []
    names = [name for mark in marks if (name := _name(mark)) is not None]
    is_draft = message.get("is_draft") is True or "DRAFT" in names or _name(message.get("id")) in drafted
    return {
        **message,
        **{key: _addresses(message.get(key)) for key in ("to", "cc", "bcc")},
        "label_ids": marks,
        "label_names": [labels.get(name, name) for name in names],
        "is_draft": is_draft,
    }


def _addresses(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [address for part in value.split(",") if (address := part.strip())]
    return value if isinstance(value, list) else []


def _slack(app: Record) -> Record:
    names: dict[str, str] = {}
    members: dict[str, list[str]] = {}
    for kind in ("channels", "dms"):
        for channel in _records(app, kind):
            name = _name(channel.get("id"))
            if name is None:
                continue
            called = channel.get("name")
            names[name] = called if isinstance(called, str) else name
            if kind == "dms" or channel.get("channel_type") in ("dm", "im") or channel.get("is_im") is True:
                people = [*_list(channel, "member_ids"), *_list(channel, "members")]
                members[name] = _names([*people, channel.get("user_id"), channel.get("user")])

    def joined(message: Record) -> Record:
        message = _filled(message, channel_id="channel", user_id="user")
        channel = _name(message.get("channel_id"))
        if channel is None:
            return message
        called = names.get(channel, channel).removeprefix("#")
        direct = members.get(channel, [] if channel in names else [channel])
        return {**message, "channel_name": called, "dm_user_ids": direct}

    return _with_each(app, "messages", joined)


# Audiences, meetings, envelopes


def _mailchimp(app: Record) -> Record:
    audiences, moved = _taken_out(_list(app, "audiences"), "subscribers", "list_id", ("id", "list_id"))
    return _set_lists(app, audiences=audiences, subscribers=[*_list(app, "subscribers"), *moved])


def _calendly(app: Record) -> Record:
    kinds = _Named(_records(app, "event_types"), _EVENT_IDS)

    def named(event: Record) -> Record:
        event = _filled(_filled(event, id="uuid"), id="uri")
        kind = kinds.of(event, "event_type_id", "event_type")
        return event if kind is None else {**_about(kind, "name"), **event}

    app = _with_each(app, "scheduled_events", named)
    events, moved = _taken_out(_list(app, "scheduled_events"), "invitees", "event_id", ("id",))
    app = _set_lists(app, scheduled_events=events, invitees=[*_list(app, "invitees"), *moved])
    known = _Named(_records(app, "scheduled_events"), _EVENT_IDS)

    def joined(invitee: Record) -> Record:
        invitee = _filled(_filled(invitee, event_id="event_uri"), event_id="event")
        event = known.of(invitee, "event_id")
        told = {} if event is None else _about(event, "name", "start_time", "status")
        return {**invitee, **{f"event_{key}": value for key, value in told.items()}}

    return _with_each(app, "invitees", joined)


def _docusign(app: Record) -> Record:
    app = _with_each(app, "templates", lambda template: _filled(template, id="template_id"))
    templates = _Named(_records(app, "templates"), ("id", "template_id"))

    def joined(envelope: Record) -> Record:
        envelope = _filled(envelope, id="envelope_id")
        template = templates.of(envelope, "template_id")
        if template is None or "name" not in template:
            return envelope
        return {**envelope, "template_name": template["name"]}

    return _with_each(app, "envelopes", joined)


def _zoom(app: Record) -> Record:
    meetings = _Named([*_records(app, "meetings"), *_records(app, "webinars")], ("id", "uuid"))

    def joined(registrant: Record) -> Record:
        meeting = meetings.of(registrant, "meeting_id", "webinar_id")
        if meeting is None or "topic" not in meeting:
            return registrant
        return {**registrant, "meeting_topic": meeting["topic"]}

    return _with_each(app, "registrants", joined)


# People and customers


def _linkedin(app: Record) -> Record:
    people = [*_records(app, "profiles"), *_records(app, "connections")]
    names = [_names(person.get(key) for key in _LINKEDIN_NAMES) for person in people]
    known: dict[str, list[str]] = {}
    for of_one in names:
        for name in of_one:
            known.setdefault(_url_key(name), of_one)

    def joined(sent: Record) -> Record:
        given: list[Any] = []
        for key in _LINKEDIN_RECIPIENT:
            value = sent.get(key)
            given += value if isinstance(value, list) else [value]
        told = _names(given)
        found = [name for one in told for name in known.get(_url_key(one), [])]
        return {**sent, "recipient_names": _names([*told, *found, *_list(sent, "recipient_names")])}

    return _with_each(_with_each(app, "invitations", joined), "messages", joined)


def _url_key(name: str) -> str:
    """The same text for all spellings of one profile's URL."""
    return name.lower().removeprefix("https://").removeprefix("http://").removeprefix("www.").rstrip("/")


def _hubspot(app: Record) -> Record:
    def lifted(record: Record) -> Record:
        properties = record.get("properties")
        record = {**properties, **record} if isinstance(properties, dict) else record
        return _filled(record, lifecycle_stage="lifecyclestage", lifecyclestage="lifecycle_stage")

    return {name: _each(records, lifted) for name, records in app.items()}


def _salesforce(app: Record) -> Record:
    return {name: _each(records, _spelled) for name, records in app.items()}


def _spelled(record: Record) -> Record:
    snake = {key: _WORD_START.sub("_", key).lower() for key in record}
    record = {**record, **{name: record[key] for key, name in snake.items() if name not in record}}
    for one, other in _SALESFORCE_ALIASES:
        record = _filled(record, **{one: other, other: one})
    return record


def _twitter(app: Record) -> Record:
    users = _Named(_records(app, "users"), ("id", "username"))

    def joined(follow: Record) -> Record:
        user = users.of(follow, *_FOLLOWED)
        if user is None or "username" not in user:
            return follow
        return {**follow, "followed_username": user["username"]}

    return _with_each(app, "follows", joined)


def _intercom(app: Record) -> Record:
    contacts = _Named(_records(app, "contacts"), ("id", "email"))

    def joined(note: Record) -> Record:
        note = _filled(note, contact_id="parent_id")
        contact = contacts.of(note, "contact_id")
        return (
            note if contact is None or "email" not in contact else {**note, "contact_email": contact["email"]}
        )

    return _with_each(app, "notes", joined)


_APPS: dict[str, Callable[[Record], Record]] = {
    "calendly": _calendly,
    "docusign": _docusign,
    "gmail": _gmail,
    "google_sheets": _google_sheets,
    "hubspot": _hubspot,
    "intercom": _intercom,
    "linkedin": _linkedin,
    "mailchimp": _mailchimp,
    "salesforce": _salesforce,
    "slack": _slack,
    "twitter": _twitter,
    "zoom": _zoom,
}


# Records


class _Named:
    """Records found by any of their names, compared as text; of a URL the last segment names it too."""

    def __init__(self, records: Iterable[Record], keys: tuple[str, ...]) -> None:
        self._found: dict[str, Record] = {}
        for record in records:
            for key in keys:
                for name in _spellings(record.get(key)):
                    self._found.setdefault(name, record)

    def of(self, record: Record, *keys: str) -> Record | None:
        """The record that the first telling one of the keys refers to."""
        references = (name for key in keys for name in _spellings(record.get(key)))
        return next((self._found[name] for name in references if name in self._found), None)


def _spellings(value: Any) -> list[str]:
    name = _name(value)
    if name is None:
        return []
    return [name, name.rstrip("/").rpartition("/")[2]] if "://" in name else [name]


def _name(value: Any) -> str | None:
    """What a record is called by, as text; None where the value is no name."""
    if isinstance(value, str):
        return value
    return number_text(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _names(values: Iterable[Any]) -> list[str]:
    return list(dict.fromkeys(name for value in values if (name := _name(value)) is not None))


def _list(record: Record, key: str) -> list[Any]:
    value = record.get(key)
    return list(value) if isinstance(value, list) else []


def _records(record: Record, key: str) -> Iterator[Record]:
    return (entry for entry in _list(record, key) if isinstance(entry, dict))


def _set_lists(app: Record, **lists: list[Any]) -> Record:
    """The app with these collections; one that is of another kind and gains nothing stays as it stands."""
    return {
        **app,
        **{key: new for key, new in lists.items() if new or isinstance(app.get(key, []), list)},
    }


def _with_each(app: Record, key: str, change: Callable[[Record], Record]) -> Record:
    return {**app, key: _each(app.get(key, []), change)}


def _each(records: Any, change: Callable[[Record], Record]) -> Any:
    if not isinstance(records, list):
        return records
    return [change(record) if isinstance(record, dict) else record for record in records]


def _taken_out(
    owners: list[Any], key: str, reference: str, ids: tuple[str, ...]
) -> tuple[list[Any], list[Record]]:
    """The owners without the list under a key, and its records, each with a reference to its owner."""
    left: list[Any] = []
    moved: list[Record] = []
    for owner in owners:
        if isinstance(owner, dict) and isinstance(owner.get(key), list):
            name = next((owner[one] for one in ids if owner.get(one) is not None), None)
            moved += [{**record, reference: name} for record in _records(owner, key)]
            owner = _without(owner, key)
        left.append(owner)
    return left, moved


def _filled(record: Record, **names: str) -> Record:
    """The record with each field that is absent or null taken from its other name."""
    given = {
        name: record[other]
        for name, other in names.items()
        if record.get(name) is None and record.get(other) is not None
    }
    return {**record, **given}


def _without(record: Record, *keys: str) -> Record:
    return {key: value for key, value in record.items() if key not in keys}


def _about(record: Record, *keys: str) -> Record:
    return {key: record[key] for key in keys if key in record}
