"""Shifts: several requests on one phone, with later ones building on earlier ones."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from hexathlon.tasks.gui.operations.finding import found, tab
from hexathlon.tasks.gui.operations.operation import done, in_sequence
from hexathlon.tasks.gui.operations.planning import add_event, add_task, change_event, set_alarm
from hexathlon.tasks.gui.operations.writing import send_mail
from hexathlon.tasks.gui.templates.appointments import (
    free_slot,
    later,
    new_event,
)
from hexathlon.tasks.gui.templates.draft import (
    GuiDraft,
    GuiRequest,
    GuiScene,
    GuiTemplate,
    PhoneScript,
    row_added,
    rows_together,
)
from hexathlon.tasks.gui.templates.household import first_list, new_task
from hexathlon.tasks.gui.templates.people import sent_message, unique_names
from hexathlon.tasks.gui.templates.scripts import change_alarm, press, sent_mail, template, text_to
from hexathlon.tasks.gui.world.system.plan import TimedEvent

__all__ = ["TEMPLATES"]


@template("errand_working_day", "medium", apps=("calendar", "mail", "messages", "tasks", "clock"))
def working_day(scene: GuiScene) -> GuiDraft | None:
    """A shift of ten requests: later ones change, withdraw or use what earlier ones did.

    In between, somebody calls, and two emails from a colleague affect earlier work.
    """
    plan = scene.plan()
    people = [row for row in unique_names(scene.rows(plan, "contacts.contacts")) if row["email"]]
    threads = [row for row in scene.rows(plan, "messages.threads") if row["name"]]
    if len(people) < 3 or not threads:
        return None
    one, two, three = scene.sample(people, 3)
    caller = scene.pick(people)
    call = {"name": caller["name"], "number": caller["phone"]}
    plan = replace(plan, events=(TimedEvent(after=scene.number(20, 80), call=call),))
    boss = scene.pick(threads)
    day, moved = scene.day(plan, scene.number(3, 20)), scene.day(plan, scene.number(21, 40))
    start, start2 = free_slot(scene, plan, day), free_slot(
        scene, plan, moved, minutes=150)  # fmt: skip
    if not start or not start2 or start == start2 or start2 < "08:30":
        return None
    number = scene.number(2, 90)
    title = scene.say(f"Audit {number}", f"审计{number}")
    first = {"title": title, "day": day, "start": start, "end": later(start, 60)}
    then = {"day": moved, "start": start2, "end": later(start2, 60)}
    start3 = later(start2, 30)
    final = {"start": start3, "end": later(start3, 60)}
    chore, gone = (scene.say(f"Print folder {number + 3}", f"打印{number + 3}号文件夹"),
                   scene.say(f"Book room {number + 5}", f"预订{number + 5}号会议室"))  # fmt: skip
    subject = scene.say(f"Papers for {title}", f"{title}的材料")
    body = scene.say(f"We meet on {scene.day_words(moved)} at {start2}.",
                     f"我们{scene.day_words(moved)} {start2}见。")  # fmt: skip
    newer = body.replace(start2, start3)
    form = scene.say("We meet on 3 May 2026 at 09:30.", "我们2026年5月3日 09:30见。")
    alarm, alarm3 = later(start2, -75), later(start3, -75)
    if any(row["time"] in (alarm, alarm3) for row in scene.rows(plan, "clock.alarms")):
        return None
    news = scene.say(f"{title} moves to {scene.day_words(moved)}, {start2}. Same length.",
                     f"{title}改到{scene.day_words(moved)} {start2}，时长不变。")  # fmt: skip
    news3 = scene.say(f"{title} begins half an hour later than I wrote. Still one hour.",
                      f"{title}比我之前说的晚半小时开始，仍是一小时。")  # fmt: skip
    key = scene.next_key(plan, "messages.messages")
    ring = scene.say(f"Ring {three['name']}", f"给{three['name']}打电话")
    eve = (date.fromisoformat(moved) - timedelta(days=1)).isoformat()
    told = sent_message(scene, plan, two, body)
    again = {**told["messages.messages"]["added"][0], "text": newer}
    prefs, within = plan.table("clock.prefs"), first_list(scene, plan)["id"]
    # `part` is the final result of a request, `then` the state that it asked for.
    moved_event = {"title": title, "day": moved, **final}
    event = new_event(plan, **moved_event, guests=one["name"])

    def alarm_at(time: str) -> dict[str, Any]:
        return row_added("clock.alarms", {
            "time": time, "days": "", "label": title, "on": True, "snooze":
            prefs["snooze"]["value"], "sound": prefs["sound"]["value"], "vibrate": True,
        })  # fmt: skip

    wake_up = alarm_at(alarm3)
    chores, calling = (new_task(list=within, title=chore),
                       new_task(list=within, title=ring, due=eve))  # fmt: skip
    mailed, second_time = (
        sent_mail(scene, plan, one["email"], subject, body),
        rows_together(sent_mail(scene, plan, one["email"], subject, newer),
                      row_added("messages.messages", again)))  # fmt: skip
    parts = (
        event, chores, event, mailed, wake_up, told, rows_together(event, wake_up), second_time,
        event, rows_together(event, calling),
    )  # fmt: skip
    incoming = row_added("messages.messages", *(
        {"thread": boss["id"], "text": text, "mine": False, "file": ""} for text in (news, news3)
    ))  # fmt: skip

    def news_of(text: str, number: int) -> dict[str, Any]:
        # The number leaves room for the messages that the agent sends in between.
        return {
            "edits": (("messages.messages", "put", {
                "id": number, "thread": boss["id"], "text": text, "mine": False, "time": "NOW",
                "file": ""}),),
            "notices": ({"app": "messages", "title": boss["name"], "text": text, "screen": "thread",
                         "params": {"id": boss["id"]}},),
        }  # fmt: skip

    drop = in_sequence(found("tasks", gone), press("tasks", "delete"),
                 lambda pilot: pilot.tap("button", pilot.words("tasks", "delete")))  # fmt: skip

    def solver(
        *, said: str = body, second: str = newer, facts: dict[str, str] = final,
        wake: str = alarm3, withdraw: bool = True, uninvite: bool = True,
    ) -> PhoneScript:  # fmt: skip
        return in_sequence(
            add_event(**first), done,
            add_task(title=chore), add_task(title=gone), done,
            change_event(title, **then), done,
            send_mail(one["email"], subject, said), *((drop,) if withdraw else ()), done,
            set_alarm(alarm, label=title), done,
            text_to(two["name"], said), done,
            change_event(title, **facts), change_alarm(alarm, wake), done,
            send_mail(one["email"], subject, second), text_to(two["name"], second), done,
            change_event(title, guests=f"{one['name']}, {three['name']}"), done,
            *((change_event(title, guests=three["name"]),) if uninvite else ()),
            add_task(title=ring, due=eve), done,
        )  # fmt: skip

    old = body.replace(scene.day_words(moved), scene.day_words(day)).replace(start2, start)
    say = scene.say
    requests = (
        GuiRequest(say(
            f'Put "{title}" into the calendar: {scene.day_words(day)}, {start}, one hour.',
            f"在日历中添加“{title}”：{scene.day_words(day)} {start}，一小时。"), part=parts[0],
            then=new_event(plan, **first)),
        GuiRequest(say(f'Add two tasks to the first list: "{chore}" and "{gone}".',
                       f"在第一个清单中添加两项任务：“{chore}”和“{gone}”。"), part=parts[1],
            then=rows_together(chores, new_task(list=within, title=gone))),
        GuiRequest(
            say(f"{boss['name']} has written about {title}. Correct the calendar.",
                f"{boss['name']}写信说了{title}的事，请更正日历。"),
            **news_of(news, key),
            part=parts[2], then=new_event(plan, title=title, **then)),
        GuiRequest(say(
            f'Mail {one["name"]}, subject "{subject}", when we meet, in the form "{form}". And '
            f'"{gone}" is not needed any more: delete that task.',
            f"给{one['name']}写邮件，主题“{subject}”，告知何时见面，格式为“{form}”。"
            f"另外“{gone}”不需要了，请删除该任务。"), part=parts[3]),
        GuiRequest(say(
            f'Set an alarm, once, 75 minutes before {title} begins, labelled "{title}".',
            f"在{title}开始前75分钟的时刻设一个仅一次的闹钟，标签“{title}”。"), part=parts[4],
            then=alarm_at(alarm)),
        GuiRequest(say(f"Send {two['name']} a message with the same text as in the mail, without "
                       "the signature if there is one.",
                       f"把邮件里的同一句话用信息发给{two['name']}，不要带签名。"), part=parts[5]),
        GuiRequest(
            say(f"{boss['name']} has written again. Put right what this changes on the phone; the "
                "alarm stays 75 minutes ahead.",
                f"{boss['name']}又来信了。请更正手机上受影响的内容，闹钟仍提前75分钟。"),
            **news_of(news3, key + 40), part=parts[6],
            then=rows_together(new_event(plan, **moved_event), wake_up)),
        GuiRequest(say(
            f"Tell {one['name']} and {two['name']} when we meet now, each the same way and in the "
            "same form as before.",
            f"请把现在的见面时间再告诉{one['name']}和{two['name']}，方式和格式与之前相同。"),
            part=parts[7]),
        GuiRequest(say(f"Invite {one['name']} and {three['name']} to {title}.",
                       f"邀请{one['name']}和{three['name']}参加{title}。"), part=parts[8],
            then=new_event(plan, **moved_event,
                           guests={"words": [one["name"], three["name"]]})),
        GuiRequest(say(
            f"{three['name']} cannot come after all: take this guest off, and add a task "
            f'"{ring}" to the first list, due on the day before {title}.',
            f"{three['name']}来不了了：请取消其邀请，并在第一个清单中添加任务“{ring}”，"
            f"截止日期为{title}的前一天。"), part=parts[9]),
    )  # fmt: skip
    return GuiDraft(
        plan,
        scene.say("Several things today, one after the other. Report the status after each.",
                  "今天有几件事，依次进行。每件做完请报告状态。"),
        solver(), changes=rows_together(
            event, wake_up, chores, calling, mailed, second_time, told, incoming),
        requests=requests,
        alternatives={"again": in_sequence(tab("calendar", "agenda"), solver())},
        mutants={"old_date": solver(said=old), "kept_task": solver(withdraw=False),
                 "old_alarm": solver(wake=alarm), "old_start": solver(facts=then),
                 "told_the_same": solver(second=body), "kept_guest": solver(uninvite=False)},
        turns=260,
    )  # fmt: skip


TEMPLATES: tuple[GuiTemplate, ...] = (working_day,)
