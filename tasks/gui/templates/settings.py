"""Work in the settings, sometimes with information from other apps."""

from typing import Any, ClassVar

from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.gui.templates.draft import (
    GuiAnswer,
    GuiDraft,
    GuiScene,
    GuiTemplate,
    PhoneScript,
    row_added,
    row_changed,
    rows_together,
)
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level

__all__ = ["TEMPLATES"]

_RINGTONES = ("Aurora", "Breeze", "Cascade", "Ember", "Lark", "Meadow", "Pulse", "Tide")
_TIMEOUTS = {
    "15": "15 seconds|15秒",
    "30": "30 seconds|30秒",
    "60": "1 minutes|1分钟",
    "120": "2 minutes|2分钟",
    "300": "5 minutes|5分钟",
    "600": "10 minutes|10分钟",
}


class SetQuietPhone(GuiTemplate):
    """Change three settings on two pages."""

    name: ClassVar[str] = "settings_quiet"
    levels: ClassVar[tuple[Level, ...]] = ("easy",)
    apps: ClassVar[tuple[str, ...]] = ("settings",)

    def draw(self, scene: GuiScene) -> GuiDraft | None:
        """Draw a ringtone, a timeout and a switch."""
        plan = scene.plan()
        values = plan.table("settings.values")
        tone = scene.pick([each for each in _RINGTONES if each != values["ringtone"]["value"]])
        time = scene.pick([each for each in _TIMEOUTS if each != values["timeout"]["value"]])
        vibrate = not values["vibrate"]["value"]
        time_text = _TIMEOUTS[time].split("|")[1 if scene.language == "zh" else 0]

        def solver(chosen: str = tone, seconds: str = time, *, switch: bool = True) -> PhoneScript:
            def solve(pilot: PhonePilot) -> Script:
                yield from pilot.open("settings")
                yield from pilot.tap_entry(pilot.words("settings", "sound"))
                yield from pilot.choose(pilot.words("settings", "ringtone"), chosen)
                if switch:
                    yield from pilot.reveal("switch", pilot.words("settings", "vibrate"))
                    yield from pilot.tap("switch", pilot.words("settings", "vibrate"))
                yield from pilot.act("navigate_back")
                yield from pilot.tap_entry(pilot.words("settings", "display"))
                text = _TIMEOUTS[seconds].split("|")[1 if pilot.language == "zh" else 0]
                yield from pilot.choose(pilot.words("settings", "timeout"), text)
                yield from pilot.done()

            return solve

        def other_order(pilot: PhonePilot) -> Script:
            yield from pilot.open("settings")
            yield from pilot.tap_entry(pilot.words("settings", "display"))
            yield from pilot.choose(pilot.words("settings", "timeout"), time_text)
            yield from pilot.open("settings")
            yield from pilot.tap_entry(pilot.words("settings", "sound"))
            yield from pilot.reveal("switch", pilot.words("settings", "vibrate"))
            yield from pilot.tap("switch", pilot.words("settings", "vibrate"))
            yield from pilot.choose(pilot.words("settings", "ringtone"), tone)
            yield from pilot.done()

        state = scene.say("on" if vibrate else "off", "打开" if vibrate else "关闭")
        near = scene.pick([each for each in _TIMEOUTS
                           if each not in (time, values["timeout"]["value"])])  # fmt: skip
        return GuiDraft(
            plan,
            scene.say(f"Use the ringtone {tone}, turn vibration on calls {state}, and let the "
                      f"screen turn off after {time_text.replace('1 minutes', '1 minute')}.",
                      f"铃声用{tone}，{state}来电振动，并把自动熄屏设为{time_text}。"),
            solver(),
            changes=rows_together(
                row_changed("settings.values", "ringtone", value=tone),
                row_changed("settings.values", "vibrate", value=vibrate),
                row_changed("settings.values", "timeout", value=time),
            ),
            alternatives={"other_order": other_order},
            mutants={"no_switch": solver(switch=False), "other_time": solver(seconds=near),
                     "other_tone": solver(values["ringtone"]["value"])},
        )  # fmt: skip


class JoinNetwork(GuiTemplate):
    """Connect to a network whose password is in a note, unless another note forbids the network."""

    name: ClassVar[str] = "settings_join"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)
    apps: ClassVar[tuple[str, ...]] = ("settings", "notes")
    twins: ClassVar[bool] = True

    def draw(self, scene: GuiScene) -> GuiDraft | None:
        """Draw a network, a note with its password, and a note with a rule about it."""
        plan = scene.plan()
        networks = scene.rows(plan, "settings.networks")
        network = next(row for row in networks if row["key"] and not row["saved"])
        used = next(row for row in networks if row["connected"])
        key = scene.next_key(plan, "notes.notes")
        day = scene.day(plan, -scene.number(2, 9))
        later = scene.day(plan, -1)
        name, secret = network["name"], network["key"]
        rule_title = scene.say(f"Networks {scene.number(2, 60)}", f"网络须知{scene.number(2, 60)}")
        other = networks[1]["name"]
        barred = name if not scene.feasible else other
        notes = [
            {"title": scene.say(f"Visit {scene.number(2, 60)}", f"来访{scene.number(2, 60)}"),
             "text": scene.say(f"{name}\nkey {secret}", f"{name}\n密码 {secret}"), "changed": day},
            {"title": rule_title,
             "text": scene.say(f"From today nobody may use {barred}: it is not safe.",
                               f"从今天起禁止使用{barred}：不安全。"), "changed": later},
        ]  # fmt: skip
        edits: list[tuple[str, str, Any]] = [
            ("notes.notes", "put", {"id": key + place, "label": "", "pinned": False,
                                    "archived": False, **note,
                                    "changed": f"{note['changed']} 10:20"})
            for place, note in enumerate(notes)
        ]  # fmt: skip
        plan = plan.with_edits(edits)

        def look_up(pilot: PhonePilot) -> Script:
            yield from pilot.open("notes")
            yield from pilot.press("notes", "search")
            yield from pilot.fill(pilot.words("notes", "search"), name)

        def solver(password: str = secret, *, force: bool = False) -> PhoneScript:
            def solve(pilot: PhonePilot) -> Script:
                yield from look_up(pilot)
                if not scene.feasible and not force:
                    yield from pilot.refuse(rule_title)
                    return
                yield from pilot.open("settings")
                yield from pilot.tap_entry(pilot.words("settings", "network"))
                yield from pilot.tap_entry(name)
                yield from pilot.fill(pilot.words("settings", "password"), password)
                yield from pilot.tap("button", pilot.words("settings", "connect"))
                yield from pilot.done()

            return solve

        def by_list(pilot: PhonePilot) -> Script:
            yield from pilot.open("notes")
            yield from pilot.tap_entry(rule_title)
            if not scene.feasible:
                yield from pilot.refuse(rule_title, "not_possible")
                return
            yield from solver()(pilot)

        def wrong_record(pilot: PhonePilot) -> Script:
            yield from look_up(pilot)
            yield from pilot.refuse(notes[0]["title"])

        return GuiDraft(
            plan,
            scene.say(
                f"Connect the phone to the network {name}; its key is in my notes. Keep to what "
                "the notes say about networks.",
                f"把手机连接到网络{name}，密码在我的笔记里。请遵守笔记中关于网络的规定。",
            ),
            solver(),
            changes=rows_together(
                row_changed("settings.networks", network["id"], connected=True, saved=True),
                row_changed("settings.networks", used["id"], connected=False),
            ) if scene.feasible else {},
            answer=GuiAnswer() if scene.feasible else GuiAnswer("infeasible", None, rule_title),
            alternatives={"by_list": by_list},
            mutants={"wrong_key": solver(f"{secret}x", force=True), "wrong_record": wrong_record,
                     "one_sided": solver(force=True) if not scene.feasible else wrong_record},
            turns=50,
        )  # fmt: skip


class RevokeAccess(GuiTemplate):
    """Revoke a permission from several apps."""

    name: ClassVar[str] = "settings_revoke"
    levels: ClassVar[tuple[Level, ...]] = ("easy", "medium")
    apps: ClassVar[tuple[str, ...]] = ("settings",)

    def draw(self, scene: GuiScene) -> GuiDraft | None:
        """Draw apps that have a permission; only those that have it may be touched."""
        names = ("messages", "contacts", "notes", "settings")
        count = 2 if scene.level == "easy" else 3
        permission = scene.pick(("location", "microphone", "camera"))
        held = scene.sample(names, count)
        plan = scene.plan(edits=tuple(
            ("settings.permissions", "put",
             {"id": f"{name}:{permission}", "app": name, "permission": permission,
              "state": "allowed"})
            for name in held
        ))  # fmt: skip

        def solver(chosen: list[str]) -> PhoneScript:
            def solve(pilot: PhonePilot) -> Script:
                yield from pilot.open("settings")
                yield from pilot.tap_entry(pilot.words("settings", "apps"))
                for name in names:
                    yield from pilot.tap_entry(pilot.words(name, "app_title"))
                    switch = pilot.find("switch", pilot.words("settings", permission))
                    if name in chosen and " on" in f"{switch.rest} ":
                        yield from pilot.act("click", index=switch.index)
                    yield from pilot.act("navigate_back")
                yield from pilot.done()

            return solve

        def flip_all(pilot: PhonePilot) -> Script:
            yield from pilot.open("settings")
            yield from pilot.tap_entry(pilot.words("settings", "apps"))
            for name in names:
                yield from pilot.tap_entry(pilot.words(name, "app_title"))
                yield from pilot.tap("switch", pilot.words("settings", permission))
                yield from pilot.act("navigate_back")
            yield from pilot.done()

        def backwards(pilot: PhonePilot) -> Script:
            yield from pilot.open("settings")
            yield from pilot.tap_entry(pilot.words("settings", "apps"))
            for name in reversed(held):
                yield from pilot.tap_entry(pilot.words(name, "app_title"))
                yield from pilot.tap("switch", pilot.words("settings", permission))
                yield from pilot.act("navigate_back")
            yield from pilot.done()

        word = scene.word("settings", permission).lower()
        return GuiDraft(
            plan,
            scene.say(f"No app may use the {word} any more: take the permission away wherever it "
                      "was given.", f"任何应用都不能再使用{word}：请在已授予的地方收回该权限。"),
            solver(held),
            changes=rows_together(*(
                row_changed("settings.permissions", f"{name}:{permission}", state="denied")
                for name in held
            )),
            alternatives={"backwards": backwards},
            mutants={"one_less": solver(held[1:]), "all": flip_all if len(held) < 4
                     else solver([]), "none": solver([])},
            turns=40,
        )  # fmt: skip


def denied(app: str, permission: str) -> dict[str, Any]:
    """Expect an undecided permission to be denied."""
    row = {"id": f"{app}:{permission}", "app": app, "permission": permission, "state": "denied"}
    return row_added("settings.permissions", row)


TEMPLATES: tuple[GuiTemplate, ...] = (SetQuietPhone(), JoinNetwork(), RevokeAccess())
