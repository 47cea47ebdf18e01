"""Attempts to score without doing the work, and actions that must not break the phone."""

import json
from dataclasses import replace

import pytest

from hexathlon.envs.gui.env import GUIEnv
from hexathlon.envs.gui.simulator import PhoneDevice
from hexathlon.tasks.gui.operations.finding import tab
from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.gui.templates.shifts import templates as shifts
from hexathlon.tasks.gui.templates.table import TEMPLATES
from hexathlon.tasks.gui.world.kit.looks import LOOKS, Appearance
from hexathlon.tasks.gui.world.system.phone import Phone
from hexathlon.tasks.gui.world.system.plan import PhonePlan, TimedEvent
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import play

SOURCE = get_source("gui")
PLAN = PhonePlan(5, "train", "en", 2, "2026-03-05T09:00:00")


def phone_of(**settings):
    return Phone(replace(PLAN, **settings), Appearance(next(iter(LOOKS.values()))))


def act(env, name, **arguments):
    return env.step(json.dumps({"name": name, "arguments": arguments}))


def task_of(template, level, split="train", place=0):
    names = list(SOURCE.templates_of(level))
    return SOURCE.build(SOURCE.address(split, 2 * names.index(template) + place, level))


def device_with(phone):
    device = PhoneDevice()
    device.load((phone.plan, phone.appearance, phone.save()))
    return device


SHIFTS = [("notes_morning", "medium"), ("errand_working_day", "medium")] + [
    (template.name, "hard") for template in shifts.TEMPLATES
]


def test_these_are_all_templates_with_several_requests():
    places = [(name, level) for name, each in TEMPLATES.items() for level in each.levels]
    assert set(SHIFTS) == {place for place in places if task_of(*place).params.get("requests")}


@pytest.mark.parametrize(("name", "level"), SHIFTS)
def test_all_work_of_a_shift_done_after_the_last_request_does_not_score(name, level):
    task, env = task_of(name, level), GUIEnv()
    env.reset(seed=0, options={"task": task.id})
    held, later = [], len(task.params["requests"])
    for _ in range(later):  # every request is reported unseen
        observation = act(env, "status", goal_status="complete")[0]

    def respond(action):
        if json.loads(action)["name"] == "status":
            held.append(action)
            return observation if len(held) <= later else env.step(action)[0]
        return env.step(action)[0]

    play(SOURCE.oracle(task), respond)
    verdict = env.verdict()
    assert len(held) == later + 1 and verdict.terms["changes"] and not verdict.score


@pytest.mark.parametrize(("name", "level"), SHIFTS)
def test_requests_of_a_shift_are_shown_one_by_one(name, level):
    task, env = task_of(name, level), GUIEnv()
    shown = env.reset(seed=0, options={"task": task.id})[0]
    for request in task.params["requests"]:
        assert request["text"] not in shown
        shown = act(env, "status", goal_status="complete")[0]
        assert request["text"] in shown


def batch(env, *names):
    return env.step(json.dumps([{"name": name, "arguments": {}} for name in names]))


def test_several_calls_in_a_turn_are_several_actions():
    env = GUIEnv(limits={"turns": 5})
    env.reset(seed=0, options={"task": task_of("notes_delete", "easy").id})
    assert not batch(env, *["wait"] * 3)[3]
    (copy,) = env.fork(1)
    for each in (env, copy):
        observation, _, terminated, truncated, info = batch(each, *["navigate_home"] * 3)
        assert not terminated and truncated and info["status"] == "truncated_turns"
        assert "already ended" in observation and each.device.phone.actions == 5


def test_a_report_within_the_budget_ends_the_episode():
    env = GUIEnv(limits={"turns": 3})
    env.reset(seed=0, options={"task": task_of("notes_delete", "easy").id})
    calls = [{"name": "wait", "arguments": {}}] * 2
    calls.append({"name": "status", "arguments": {"goal_status": "complete"}})
    terminated, truncated, info = env.step(json.dumps(calls))[2:]
    assert terminated and not truncated and info["status"] == "completed"


def playlist(name, *, made):
    """Create an empty playlist, or delete it."""

    def run(pilot):
        yield from tab("music", "playlists")(pilot)
        if made:
            yield from pilot.create("music", "new_playlist")
            yield from pilot.fill(pilot.words("music", "name"), name)
            yield from pilot.press("music", "save")
        else:
            yield from pilot.tap_entry(name)
            yield from pilot.press("music", "delete_playlist")
            yield from pilot.tap("button", pilot.words("music", "delete_playlist"))

    return run


def test_a_playlist_made_while_a_mistake_was_there_counts():
    """Keys of new rows depend on what was created before; they are not compared."""
    task, env = task_of("music_playlist", "medium"), GUIEnv(limits={"turns": 200})
    opening = env.reset(seed=0, options={"task": task.id})[0]
    pilot = PhonePilot(task.params["world"]["language"])
    pilot.screen = opening

    def respond(action):
        if json.loads(action)["name"] == "status":
            play(playlist("Mistake 1", made=False)(pilot), lambda each: env.step(each)[0])
        return env.step(action)[0]

    play(playlist("Mistake 1", made=True)(pilot), lambda each: env.step(each)[0])
    play(SOURCE.oracle(task), respond)
    (row,) = env.final_state()["changes"]["music.playlists"]["added"]
    assert row["id"] > max(env.device.phone.core.first["music.playlists"]) + 1
    assert env.verdict().score == 1


def test_a_sent_message_that_is_deleted_stays_in_the_changes():
    phone = phone_of()
    thread = next(iter(phone.core.table("messages.threads").values()))["id"]
    phone._start("messages")
    phone._dispatch("messages", _event("go", "thread", id=thread))
    phone.core.set_value("text", "To the wrong person")
    phone._dispatch("messages", _event("do", "send", id=thread))
    (row,) = phone.changes()["messages.messages"]["added"]
    phone._dispatch("messages", _event("do", "delete_message", id=row["id"]))
    assert "messages.messages" not in phone.changes()
    (recalled,) = phone.changes()["system.recalled"]["added"]
    assert recalled["text"] == "To the wrong person"
    assert recalled["table"] == "messages.messages"
    copy = phone_of()
    copy.load(phone.save())
    assert copy.changes() == phone.changes()
    phone.core.set_value("text", "Another one")  # its id is not reused
    phone._dispatch("messages", _event("do", "send", id=thread))
    (other,) = phone.changes()["messages.messages"]["added"]
    assert other["id"] == row["id"] + 1 and len(phone.changes()["system.recalled"]["added"]) == 1


def test_received_rows_that_are_deleted_are_not_recalled():
    phone = phone_of()
    row = next(row for row in phone.core.table("messages.messages").values() if row["mine"])
    phone.core.erase("messages.messages", row["id"])
    assert list(phone.changes()) == ["messages.messages"]


def test_an_action_takes_effect_on_its_screen_before_a_call_comes_in():
    call = {"name": "Ada", "number": "555"}
    for app in ("settings", "contacts", "notes"):
        plain = phone_of(front=(app, "home", {}))
        for place in range(len(plain.nodes())):
            quiet = device_with(phone_of(front=(app, "home", {})))
            events = (TimedEvent(1, call=call),)
            rung = device_with(phone_of(front=(app, "home", {}), events=events))
            assert quiet.act("click", {"index": place}) == rung.act("click", {"index": place})
            assert rung.phone.core.top.name == "call" and rung.elements()
            rung.phone.core.pop()
            assert rung.phone.core.stack == quiet.phone.core.stack
            assert rung.phone.changes() == quiet.phone.changes()


def test_interventions_do_not_change_removed_rows():
    phone = phone_of()
    key = next(iter(phone.core.table("notes.notes")))
    phone.core.erase("notes.notes", key)
    phone.intervene([("notes.notes", "put", {"id": key, "text": "Changed elsewhere"})])
    phone.open_app("notes")
    assert phone.elements() and key not in phone.core.table("notes.notes")


def test_rows_added_by_others_do_not_replace_the_agents_rows():
    others = {"id": max(PLAN.table("notes.notes")) + 1, "title": "Theirs", "text": "", "label": "",
              "pinned": False, "archived": False, "changed": "NOW"}  # fmt: skip
    edit = ("notes.notes", "put", others)
    for settings in ({"coming": (edit,)}, {"events": (TimedEvent(9, edits=(edit,)),)}):
        phone = phone_of(**settings)
        key = phone.core.next_key("notes.notes")
        phone.core.write("notes.notes", {**others, "id": key, "title": "Ours"})
        phone.intervene([edit])
        added = phone.changes()["notes.notes"]["added"]
        assert [row["title"] for row in added] == ["Ours", "Theirs"]


@pytest.mark.parametrize("far", [10**400, -(10**400), -5], ids=("right", "left", "near"))
def test_swipes_end_at_the_edges_of_the_screen(far):
    for app in ("maps", "settings", "messages"):
        device = device_with(phone_of(front=(app, "home", {})))
        for index in range(len(device.elements())):
            for x, y in ((far, 300), (270, far)):
                swipe = {"direction": "left", "index": index, "x2": x, "y2": y}
                if index < len(device.elements()):
                    device.act("swipe", swipe)
        assert device.elements()


@pytest.mark.parametrize(
    ("question", "told"),
    [("In which year?", True), ("Which years do you mean", True), ("Which message?", False),
     ("Yearly?", False), ("是哪一年？", True), ("是谁？", False)],
)  # fmt: skip
def test_the_user_answers_only_what_was_asked(question, told):
    env = GUIEnv()
    task = next(
        task for place in range(40)
        if (task := task_of("contacts_birthday", "medium", place=place)).params.get("facts")
    )  # fmt: skip
    (fact,) = task.params["facts"]
    env.reset(seed=0, options={"task": task.id})
    assert (fact["text"] in act(env, "ask_user", question=question)[0]) == told


def _event(kind, name, **params):
    from hexathlon.tasks.gui.world.kit.events import PhoneEvent

    return PhoneEvent(kind, name, params)
