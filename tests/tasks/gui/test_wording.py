"""Generated tasks read one way: times exist, messages are announced, dates are named."""

import re
from datetime import datetime

import pytest

from hexathlon.envs.gui.simulator import PhoneDevice
from hexathlon.tasks.gui.templates.draft import GuiScene
from hexathlon.tasks.gui.templates.errand import Errand, NoErrand
from hexathlon.tasks.gui.world.system.plan import PhonePlan
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.seeding import generator_for

SOURCE = get_source("gui")
TIME = re.compile(r"(?<![\d.:/])(\d{1,2}):(\d{2})(?![\d:])")
UNCLEAR = ("that day", "those days", "那天", "当天", " alike", "days of today", "天内")


def texts_in(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from texts_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts_in(each)


def texts_of(task):
    """All texts of a task: what is said, what is added to the phone, and what is expected."""
    return list(texts_in([task.instruction, task.params, [each.params for each in task.checks]]))


def wrong_times(texts):
    return [(text, found[0]) for text in texts for found in TIME.finditer(text)
            if int(found[1]) > 23 or int(found[2]) > 59]  # fmt: skip


def shifts(split, count):
    return [SOURCE.build(SOURCE.address(split, index, "hard")) for index in range(count)]


@pytest.fixture(scope="module")
def days():
    """Days of both languages."""
    tasks = shifts("dev", 12) + shifts("test", 6)
    languages = {task.params["world"]["language"] for task in tasks}
    assert languages == {"en", "zh"}
    return tasks


def check_days(tasks):
    for task in tasks:
        texts = texts_of(task)
        assert not wrong_times(texts), task.id
        assert not [text for text in texts for word in UNCLEAR if word in text], task.id
        check_notifications(task)
        check_orders(task)
        check_threads(task)


def check_notifications(task):
    """Every message that arrives is announced, in the order in which they arrive."""
    for request in task.params["requests"]:
        messages = [row for table, kind, row in request["edits"]
                    if (table, kind) == ("messages.messages", "put")]  # fmt: skip
        announced = [(each["text"], each["params"]["id"]) for each in request["notices"]]
        assert [(row["text"], row["thread"]) for row in messages] == announced, task.id


def check_orders(task):
    """If a list is bought in two orders, all units of a product are in one of them."""
    texts = [task.instruction, *(each["text"] for each in task.params["requests"])]
    buying = [text for text in texts if "lowest total" in text or "最低总价" in text]
    assert all("in the same order" in text or "放在同一单" in text for text in buying)
    changes = task.checks[0].params["changes"]
    products = [row["product"] for row in changes.get("shop.lines", {}).get("added", [])]
    assert bool(buying) is bool(products) and len(set(products)) == len(products)


def check_threads(task):
    """Messages of this morning are in the order of their numbers, and none is from the future."""
    plan = PhonePlan.from_json(task.params["world"])
    own = {row["id"] for table, kind, row in task.params["world"]["edits"]
           if (table, kind) == ("messages.messages", "put")}  # fmt: skip
    rows = sorted(plan.table("messages.messages").values(), key=lambda row: row["id"])
    newest = {}
    for row in rows:
        at = datetime.fromisoformat(row["time"])
        assert at <= datetime.fromisoformat(plan.start), (task.id, row)
        if row["id"] in own and not row["mine"]:
            assert at > newest.get(row["thread"], datetime.min), (task.id, row)
        newest[row["thread"]] = max(at, newest.get(row["thread"], datetime.min))


def test_days_read_one_way(days):
    check_days(days)


@pytest.mark.slow
@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_more_days_read_one_way(split):
    check_days(shifts(split, 120))


def test_some_message_that_changes_rules_arrives_with_another_one(days):
    """What made it easy to miss: the day's own message was announced, the change was not."""
    both = [request["notices"] for task in days for request in task.params["requests"]
            if len(request["notices"]) > 1]  # fmt: skip
    assert both
    assert all(any(part in notices[0]["text"] for part in ("From now on", "从现在起"))
               for notices in both)  # fmt: skip


def test_the_phone_shows_a_notification_for_each_message(days):
    task, request = next((task, request) for task in days for request in task.params["requests"]
                         if len(request["notices"]) > 1)  # fmt: skip
    device = PhoneDevice()
    device.open(task, generator_for("wording"))
    before = len(device.phone.core.table("system.notices"))
    device.intervene(request)
    shown = list(device.phone.core.table("system.notices").values())[before:]
    assert [row["text"] for row in shown] == [each["text"] for each in request["notices"]]


@pytest.mark.parametrize(("level", "count"), [("easy", 150), ("medium", 150)])
def test_times_of_other_levels_exist(level, count):
    tasks = [SOURCE.build(SOURCE.address(split, index, level))
             for split in ("train", "dev") for index in range(count)]  # fmt: skip
    assert {task.params["world"]["language"] for task in tasks} == {"en", "zh"}
    for task in tasks:
        texts = texts_of(task)
        assert not wrong_times(texts), task.id
        assert not [text for text in texts if "on that day" in text], task.id


@pytest.mark.parametrize("split", ["train", "dev"])
def test_times_of_the_initial_content_exist(split):
    for index in range(0, 64, 16):
        task = SOURCE.build(SOURCE.address(split, index, "easy"))
        plan = PhonePlan.from_json(task.params["world"])
        for app in ("calendar", "clock", "gallery", "mail", "messages", "notes", "phone", "tasks"):
            for name in APP_TABLES[app]:
                rows = [list(texts_in(row)) for row in plan.table(f"{app}.{name}").values()]
                assert not [each for row in rows for each in wrong_times(row)], (task.id, app, name)


APP_TABLES = {
    "calendar": ["events"], "clock": ["alarms"], "gallery": ["photos"], "mail": ["mails"],
    "messages": ["messages"], "notes": ["notes"], "phone": ["calls", "voicemails"],
    "tasks": ["tasks"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("last", "expected"),
    [("07:59", "08:00"), ("08:05", "08:06"), ("07:05", None), ("06:50", None)],
)
def test_a_message_is_newer_than_all_others_of_this_morning(last, expected):
    e = Errand(GuiScene(generator_for("tell", last), "hard", "train", "en", True, 7))
    thread = e.rows("messages.threads")[0]
    e.drop("messages.messages", *(row for row in e.rows("messages.messages")
                                  if row["thread"] == thread["id"]))  # fmt: skip
    e.put("messages.messages", None, thread=thread["id"], text="Hello", mine=True, file="",
          time=f"{e.today} {last}")  # fmt: skip
    e.tell(thread, "News")
    (row,) = [row for row in e.rows("messages.messages") if row["text"] == "News"]
    assert row["time"][11:] == expected or (expected is None and "07:10" <= row["time"][11:])


def test_no_message_comes_from_the_future():
    e = Errand(GuiScene(generator_for("tell"), "hard", "train", "en", True, 7))
    thread = e.rows("messages.threads")[0]
    e.put("messages.messages", None, thread=thread["id"], text="Hello", mine=True, file="",
          time=e.plan.start.replace("T", " ")[:16])  # fmt: skip
    with pytest.raises(NoErrand):
        e.tell(thread, "News")
