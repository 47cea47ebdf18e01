"""Faults of apps: each kind happens on a real phone as described, and can be worked around."""

import json
from dataclasses import replace

import pytest

from hexathlon.envs.gui.env import GUIEnv
from hexathlon.envs.gui.screen_text import screen_text
from hexathlon.envs.gui.simulator import PhoneDevice
from hexathlon.tasks.gui.operations.media import restore_file, trash_file
from hexathlon.tasks.gui.operations.money import note_entry, transfer
from hexathlon.tasks.gui.operations.operation import in_sequence
from hexathlon.tasks.gui.operations.planning import (
    add_event,
    add_task,
    change_event,
    change_task,
    delete_event,
    delete_task,
)
from hexathlon.tasks.gui.operations.writing import send_message
from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.gui.templates.shifts.occasions import HELD_OUT, LEAST_FAULTS, MOST_FAULTS
from hexathlon.tasks.gui.world.kit.looks import LOOKS, Appearance
from hexathlon.tasks.gui.world.phone.quirks import AppQuirk
from hexathlon.tasks.gui.world.system.phone import Phone
from hexathlon.tasks.gui.world.system.plan import PhonePlan
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import play

SOURCE = get_source("gui")
PLAN = PhonePlan(7, "train", "en", 4, "2026-03-05T09:00:00")
LIST = next(iter(PLAN.table("tasks.lists").values()))["name"]
PERSON = next(row for row in PLAN.table("contacts.contacts").values() if row["phone"])
THREAD = {"id": 900, "name": PERSON["name"], "number": PERSON["phone"], "muted": False,
          "blocked": False, "unread": False}  # fmt: skip
FILES = [row for row in PLAN.table("files.files").values() if not row["trashed"]][:2]
GONE = [("messages.threads", "drop", key) for key, row in PLAN.table("messages.threads").items()
        if row["number"] == PERSON["phone"]]  # fmt: skip
TASK, OTHER = "Varnish 41", "Bottle 42"
EVENT, LATER = "Audit 43", "Fair 44"
ACROSS = AppQuirk("linked", "tasks.tasks", {"title": TASK}, column="day", value=2,
                  other={"title": EVENT}, into="calendar.events")  # fmt: skip


class Episode:
    """A phone with faults, on which operations are carried out through the device."""

    def __init__(self, *quirks):
        plan = replace(PLAN, edits=(*GONE, ("messages.threads", "put", THREAD)), quirks=quirks)
        self.device = PhoneDevice()
        phone = Phone(plan, Appearance(next(iter(LOOKS.values()))))
        self.device.load((plan, phone.appearance, phone.save()))

    def screen(self):
        return screen_text(self.device.elements(), self.device.caption())

    def do(self, *operations):
        def respond(action):
            call = json.loads(action)
            self.device.act(call["name"], call["arguments"])
            return self.screen()

        play(in_sequence(*operations)(PhonePilot("en")), respond)

    def values(self, table, column, **columns):
        """The values of a column in the rows with these values of others."""
        return [row[column] for row in self.device.phone.core.table(table).values()
                if all(row[name] == value for name, value in columns.items())]  # fmt: skip


def event(title, day):
    return add_event(title=title, day=day, start="19:00", end="19:30", alarm="15")


def test_a_lost_record_is_not_kept_the_first_time():
    episode = Episode(AppQuirk("lost", "tasks.tasks", {"title": TASK}))
    task = add_task(title=TASK, list=LIST, due="2026-03-19")
    for expected in ([], ["2026-03-19"], ["2026-03-19"] * 2):
        episode.do(task)
        assert episode.values("tasks.tasks", "due", title=TASK) == expected


def test_a_lost_message_was_not_sent():
    episode = Episode(AppQuirk("lost", "messages.messages", {"thread": 900, "mine": True}, 1))
    for place, text in enumerate(("One", "Two", "Two")):
        episode.do(send_message(PERSON, text))
        # It is missing in the conversation, which is open now, and among what has left the phone.
        assert (f'"{text}"' in episode.screen() or f'"{text} |' in episode.screen()) is (place != 1)
    assert episode.values("messages.messages", "text", thread=900) == ["One", "Two"]
    assert [row["text"] for row in episode.device.phone.core.sent.values()] == ["One", "Two"]


def test_a_lost_column_is_kept_the_second_time():
    quirk = AppQuirk("lost", "tasks.tasks", {"title": TASK}, column="priority", value="")
    episode = Episode(quirk)
    episode.do(add_task(title=TASK, due="2026-03-19", priority="high"))
    assert episode.values("tasks.tasks", "priority", title=TASK) == [""]
    episode.do(change_task(TASK, priority="high"))
    assert episode.values("tasks.tasks", "priority", title=TASK) == ["high"]


@pytest.mark.parametrize("made", [True, False])
def test_a_late_fault_undoes_a_change_once(made):
    """By the next save of another record: a new record is gone, a changed one is as before."""
    episode = Episode(AppQuirk("late", "tasks.tasks", {"title": TASK}))
    task = add_task(title=TASK, due="2026-03-19")
    if not made:
        episode.do(task)
        task = change_task(TASK, due="2026-03-20")
    episode.do(task)
    kept = episode.values("tasks.tasks", "due", title=TASK)
    assert kept == ["2026-03-19" if made else "2026-03-20"]
    episode.do(add_task(title=OTHER))
    assert episode.values("tasks.tasks", "due", title=TASK) == ([] if made else ["2026-03-19"])
    episode.do(task, add_task(title="Third 45"))
    assert episode.values("tasks.tasks", "due", title=TASK) == kept


def test_a_late_fault_brings_a_deleted_record_back_once():
    episode = Episode(AppQuirk("late", "tasks.tasks", {"title": TASK}))
    episode.do(add_task(title=TASK), delete_task(TASK))
    for count in (1, 0):
        episode.do(add_task(title=f"{OTHER}{count}"))
        assert len(episode.values("tasks.tasks", "id", title=TASK)) == count
        assert len(episode.values("tasks.tasks", "id", title=f"{OTHER}{count}")) == 1
        if count:
            episode.do(delete_task(TASK))


def test_a_late_fault_takes_a_file_out_of_the_bin():
    one, two = FILES
    episode = Episode(AppQuirk("late", "files.files", {"name": one["name"]}))
    episode.do(trash_file(one), trash_file(two))
    assert episode.values("files.files", "trashed", id=one["id"]) == [False]
    episode.do(trash_file(one))
    assert episode.values("files.files", "trashed", id=one["id"]) == [True]
    assert episode.values("files.files", "trashed", id=two["id"]) == [True]


def test_a_late_fault_waits_for_the_save_of_one_other_record():
    quirk = AppQuirk("late", "tasks.tasks", {"title": TASK}, other={"title": OTHER})
    episode = Episode(quirk)
    episode.do(add_task(title=TASK), add_task(title="Third 45"))
    assert len(episode.values("tasks.tasks", "id", title=TASK)) == 1
    episode.do(add_task(title=OTHER))
    assert episode.values("tasks.tasks", "id", title=TASK) == []
    episode.do(add_task(title=TASK), change_task(OTHER, due="2026-03-20"))
    assert len(episode.values("tasks.tasks", "id", title=TASK)) == 1


def test_a_late_fault_of_a_note_leaves_the_transfer_as_it_is():
    """The list of entries shows no notes."""
    one, two = list(PLAN.table("bank.payees").values())[:2]
    known = [{"title": row["name"], "kind": "transfer", "reference": code}
             for row, code in ((one, "Order 41"), (two, "Order 42"))]  # fmt: skip
    quirk = AppQuirk("late", "bank.entries", known[0], column="note", other=known[1])
    episode = Episode(quirk)
    entry = {"title": one["name"], "amount": -1234, "note": ""}
    episode.do(transfer(one, 1234, "Order 41"), note_entry(entry, "Receipt 7"))
    assert episode.values("bank.entries", "note", **known[0]) == ["Receipt 7"]
    episode.do(transfer(two, 2345, "Order 42"))
    assert episode.values("bank.entries", "note", **known[0]) == [""]
    assert episode.values("bank.entries", "amount", **known[0]) == [-1234]
    episode.do(note_entry(entry, "Receipt 7"))
    assert episode.values("bank.entries", "note", **known[0]) == ["Receipt 7"]


def test_linked_records_of_another_app_change_as_well():
    episode = Episode(ACROSS)
    episode.do(add_task(title=TASK), event(EVENT, "2026-04-20"))
    assert episode.values("calendar.events", "day", title=EVENT) == ["2026-04-20"]
    episode.do(change_task(TASK, due="2026-04-01"))
    assert episode.values("calendar.events", "day", title=EVENT) == ["2026-04-22"]
    assert '"Task"' in episode.screen() and "Apr" not in episode.screen().replace("1 Apr", "")
    episode.do(change_event(EVENT, day="2026-04-20"))
    assert episode.values("calendar.events", "day", title=EVENT) == ["2026-04-20"]
    assert episode.values("tasks.tasks", "due", title=TASK) == ["2026-04-01"]


def test_a_linked_file_goes_into_the_bin_and_is_taken_out():
    one, two = FILES
    quirk = AppQuirk("linked", "files.files", {"name": one["name"]}, column="trashed", value=True,
                     other={"name": two["name"]})  # fmt: skip
    episode = Episode(quirk)
    episode.do(trash_file(one))
    assert episode.values("files.files", "trashed", id=two["id"]) == [True]
    episode.do(restore_file(two))
    assert episode.values("files.files", "trashed", id=two["id"]) == [False]


def test_linked_records_move_in_one_direction():
    quirk = AppQuirk("linked", "calendar.events", {"title": EVENT}, column="day", value=2,
                     other={"title": LATER})  # fmt: skip
    episode = Episode(quirk)
    episode.do(event(LATER, "2026-04-20"), event(EVENT, "2026-04-21"))
    assert episode.values("calendar.events", "day", title=LATER) == ["2026-04-22"]
    episode.do(change_event(LATER, day="2026-04-20"))
    assert episode.values("calendar.events", "day", title=LATER) == ["2026-04-20"]
    assert episode.values("calendar.events", "day", title=EVENT) == ["2026-04-21"]
    episode.do(change_event(EVENT, day="2026-04-24"))
    assert episode.values("calendar.events", "day", title=LATER) == ["2026-04-22"]


def test_a_form_resets_a_column_of_every_record_until_it_is_set_alone():
    episode = Episode(AppQuirk("form", "calendar.events", column="alarm", value="", cause="day"))
    for title in (EVENT, LATER):
        episode.do(event(title, "2026-04-20"), change_event(title, day="2026-04-23"))
        assert episode.values("calendar.events", "alarm", title=title) == [""]
        episode.do(change_event(title, alarm="15"))
        assert episode.values("calendar.events", "alarm", title=title) == ["15"]
        assert episode.values("calendar.events", "day", title=title) == ["2026-04-23"]


def test_a_record_is_stored_twice_once():
    episode = Episode(AppQuirk("twice", "calendar.events", {"title": EVENT}))
    for count in (2, 1):
        episode.do(event(EVENT, "2026-04-20"))
        assert len(episode.values("calendar.events", "id", title=EVENT)) == count
        episode.do(*[delete_event(EVENT)] * count)


# State ------------------------------------------------------------------------------------------

LATE = AppQuirk("late", "tasks.tasks", {"title": TASK})


def ready():
    """An episode in which the next save sets off the fault."""
    episode = Episode(LATE)
    episode.do(add_task(title=TASK, due="2026-03-19"))
    return episode


def test_a_copy_made_right_before_a_fault_gives_the_same_bytes():
    episode = ready()
    copy = Episode(LATE)
    copy.device.load(episode.device.save())
    screens = []
    for each in (episode, copy):
        each.do(add_task(title=OTHER))
        each.device.act("open_app", {"app_name": "tasks"})
        screens.append((each.screen(), each.device.final_state(), each.device.pixels().tobytes()))
        assert each.values("tasks.tasks", "id", title=TASK) == []
    assert screens[0] == screens[1]


def test_a_copy_made_before_another_app_is_changed_gives_the_same_bytes():
    episode, copy = Episode(ACROSS), Episode(ACROSS)
    episode.do(event(EVENT, "2026-04-20"))
    copy.device.load(episode.device.save())
    for each in (episode, copy):
        each.do(add_task(title=TASK))
        assert each.values("calendar.events", "day", title=EVENT) == ["2026-04-22"]
    assert episode.device.final_state() == copy.device.final_state()


def others_add(episode, title):
    """Let others add a task."""
    row = {"id": 5000, "list": 1, "title": title, "due": "", "time": "", "priority": "",
           "flagged": False, "done": False, "note": "", "changed": "2026-03-05 09:00"}  # fmt: skip
    episode.device.intervene({"edits": [("tasks.tasks", "put", row)]})


def test_what_others_do_does_not_change_another_app():
    episode = Episode(ACROSS)
    episode.do(event(EVENT, "2026-04-20"))
    others_add(episode, TASK)
    assert episode.values("calendar.events", "day", title=EVENT) == ["2026-04-20"]
    episode.do(change_task(TASK, priority="high"))
    assert episode.values("calendar.events", "day", title=EVENT) == ["2026-04-22"]


def test_a_fault_of_another_app_leaves_no_trace_before_it_happens():
    episodes = [Episode(ACROSS), Episode()]
    for each in episodes:
        each.do(event(EVENT, "2026-04-20"), add_task(title=OTHER))
    one, two = episodes
    assert one.screen() == two.screen()
    assert one.device.final_state() == two.device.final_state()
    assert (one.device.pixels() == two.device.pixels()).all()


def test_what_others_do_does_not_set_off_a_fault():
    episode = ready()
    others_add(episode, OTHER)
    assert len(episode.values("tasks.tasks", "id", title=OTHER)) == 1
    assert len(episode.values("tasks.tasks", "id", title=TASK)) == 1
    episode.do(add_task(title="Third 45"))
    assert episode.values("tasks.tasks", "id", title=TASK) == []


def test_faults_leave_no_trace_on_screens_or_among_changes():
    """Until one happens, a phone with faults looks and counts like one without."""
    one, two = ready(), Episode()
    two.do(add_task(title=TASK, due="2026-03-19"))
    assert one.screen() == two.screen()
    assert one.device.final_state() == two.device.final_state()
    assert (one.device.pixels() == two.device.pixels()).all()
    assert one.device.phone.core.memory != two.device.phone.core.memory


def test_a_plan_keeps_its_faults_as_json_and_others_have_none():
    plan = replace(PLAN, quirks=(LATE,))
    data = json.loads(json.dumps(plan.to_json()))
    assert PhonePlan.from_json(data).quirks == (LATE,)
    assert "quirks" not in PLAN.to_json()


# Days -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def days():
    """Four days of train and six of test."""
    places = [("train", number) for number in (0, 3, 5, 8)]
    places += [("test", number) for number in (0, 3, 5, 6, 8, 10)]
    return [SOURCE.build(SOURCE.address(split, number, "hard")) for split, number in places]


def kinds(task):
    return [each["kind"] for each in task.params["world"]["quirks"]]


def verdict_of(task, script):
    env = GUIEnv()
    env.reset(seed=3, options={"task": task.id})

    def respond(action):
        observation, _, terminated, truncated, _ = env.step(action)
        return None if terminated or truncated else observation

    play(script, respond)
    return env.verdict()


def hidden(quirk):
    """Whether the damage is in another app, in a field of a record's own page, or comes later."""
    own_page = {"tasks.tasks": {"note"}, "calendar.events": {"alarm", "calendar", "guests", "note"},
                "bank.entries": {"note"}}  # fmt: skip
    return (
        bool(quirk["into"])
        or quirk["kind"] == "late"
        or quirk["column"] in own_page.get(quirk["table"], ())
    )


def test_every_day_has_faults_of_three_kinds_and_train_not_all(days):
    for task in days:
        quirks = task.params["world"]["quirks"]
        assert LEAST_FAULTS <= len(quirks) <= MOST_FAULTS, task.id
        assert len(set(kinds(task))) >= 3, task.id
        assert sum(map(hidden, quirks)) * 2 >= len(quirks)
        assert task.limits.turns <= 290, task.id
        assert task.split == "test" or not set(kinds(task)) & set(HELD_OUT), task.id
    assert set(HELD_OUT) <= {kind for task in days for kind in kinds(task)}
    assert any(each["into"] for task in days for each in task.params["world"]["quirks"])


def test_a_day_is_right_with_every_fault_repaired_and_wrong_with_one_left(days):
    """Days of test are played in test_templates.py, with all of their mutants."""
    for task in days:
        unnoticed = {name: script for name, script in SOURCE.mutants(task).items()
                     if "unnoticed" in name or name == "never looked again"}  # fmt: skip
        assert len(unnoticed) == len(kinds(task)) + 1
        if task.split == "test":
            continue
        verdict = verdict_of(task, SOURCE.oracle(task))
        assert verdict.score == 1, (task.id, verdict.terms, verdict.evidence)
        for name, script in unnoticed.items():
            assert verdict_of(task, script).score == 0, (task.id, name)
