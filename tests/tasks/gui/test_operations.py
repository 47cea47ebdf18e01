"""Operations: their effects on the expected state, and what tasks derive from them."""

import pytest

from hexathlon.tasks.gui.operations.expected import ExpectedPhone
from hexathlon.tasks.gui.operations.operation import PhoneOperation, outcome
from hexathlon.tasks.gui.operations.planning import add_event, add_task, change_event, delete_task
from hexathlon.tasks.gui.operations.writing import send_message
from hexathlon.tasks.gui.world.system.plan import PhonePlan

PLAN = PhonePlan(7, "train", "en", 2, "2026-03-05T09:00:00")


def nobody(rows):
    """The first contact without a conversation."""
    numbers = {row["number"] for row in PLAN.table("messages.threads").values()}
    return next(row for row in rows if row["phone"] not in numbers)


def test_a_first_message_adds_the_conversation_and_a_second_one_uses_it():
    person = nobody(PLAN.table("contacts.contacts").values())
    changes = outcome(PLAN, [send_message(person, "One"), send_message(person, "Two")])
    (thread,) = changes["messages.threads"]["added"]
    one, two = changes["messages.messages"]["added"]
    assert thread["number"] == person["phone"] and one["thread"] == two["thread"]
    assert one["thread"] == {"row": thread}


def test_a_row_that_is_added_and_removed_is_no_change():
    assert outcome(PLAN, [add_task(title="Brief"), delete_task("Brief")]) == {}


def test_values_that_return_to_the_first_ones_are_no_change():
    expected = ExpectedPhone(PLAN)
    (key, row), *_ = expected.table("tasks.tasks").items()
    expected.change("tasks.tasks", key, done=not row["done"])
    assert expected.changes() == {"tasks.tasks": {"changed": [[key, {"done": not row["done"]}]]}}
    expected.change("tasks.tasks", key, done=row["done"])
    assert expected.changes() == {} and expected.mark() == {("tasks.tasks", key)}


def test_guests_are_added_or_taken_off():
    first = add_event(title="Plan A", day="2026-03-09", start="10:00", end="11:00", guests="B, A")
    changes = outcome(PLAN, [first, change_event("Plan A", guests="A, C")])
    (event,) = changes["calendar.events"]["added"]
    assert event["guests"] == "B, C"


def test_an_impossible_operation_is_an_error():
    with pytest.raises(KeyError, match="no event"):
        outcome(PLAN, [change_event("Nothing of the kind", day="2026-03-09")])


def test_reading_has_no_effect():
    assert outcome(PLAN, [PhoneOperation(lambda pilot: pilot.open("notes"))]) == {}
