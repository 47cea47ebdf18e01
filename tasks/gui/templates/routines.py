"""Small everyday work in one app: replies, lists of cities, favourites, overdue tasks."""

from hexathlon.tasks.gui.operations.finding import found, tab
from hexathlon.tasks.gui.operations.operation import done, in_sequence
from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.gui.templates.correspondence import findable_mails
from hexathlon.tasks.gui.templates.draft import (
    GuiAnswer,
    GuiDraft,
    GuiScene,
    GuiTemplate,
    PhoneScript,
    UserFact,
    row_added,
    row_changed,
    row_removed,
    rows_together,
)
from hexathlon.tasks.gui.templates.scripts import answered, press, sent_mail, template
from hexathlon.tasks.gui.world.apps.clock.cities import CITIES, city_name
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.source import Script

__all__ = ["TEMPLATES"]


@template("mail_reply", "easy", "medium", apps=("mail",))
def reply_letter(scene: GuiScene) -> GuiDraft | None:
    """Reply to an email; at `medium`, only the user knows the number that it asks for."""
    plan = scene.plan()
    mails = findable_mails(scene, plan, "inbox")
    if len(mails) < 2:
        return None
    row, near = scene.sample(mails, 2)
    subjects = [each["subject"].startswith("Re: ") for each in (row, near)]
    if any(subjects) or row["address"] == near["address"]:
        return None
    number, wrong = scene.number(12, 60), scene.number(61, 99)
    medium = scene.level == "medium"
    text = scene.say(f"We will be {number}", f"我们一共{number}人")

    def solver(to: PhoneRow, said: str, *, ask: bool = False) -> PhoneScript:
        def run(pilot: PhonePilot) -> Script:
            yield from found("mail", to["subject"], to["name"])(pilot)
            if ask:
                yield from pilot.act(
                    "ask_user",
                    question=scene.say("How many people will you be?", "你们一共多少人？"),
                )
                yield from pilot.act("wait")
            yield from pilot.tap("button", pilot.words("mail", "reply"))
            yield from pilot.fill(pilot.words("mail", "text"), said)
            yield from pilot.press("mail", "send")
            yield from pilot.done()

        return run

    asked = scene.say(
        ' and say how many of us will come, in the form "We will be 5"'
        if medium
        else f' with the text "{text}"',
        "，告知我们一共多少人，格式为“我们一共5人”" if medium else f"，正文“{text}”",
    )
    return GuiDraft(
        plan,
        scene.say(f'Reply to the mail "{row["subject"]}" from {row["name"]}{asked}.',
                  f"回复{row['name']}的邮件“{row['subject']}”{asked}。"),
        solver(row, text, ask=medium),
        changes=sent_mail(scene, plan, row["address"], f"Re: {row['subject']}", text),
        facts=(UserFact(("how many", "number", "people", "多少", "几"),
                        scene.say(f"There will be {number} of us.", f"我们有{number}人。")),)
        if medium else (),
        alternatives={"unasked": solver(row, text)},
        mutants={"number": solver(row, text.replace(str(number), str(wrong))),
                 "other": solver(near, text), "silent": done},
        turns=50,
    )  # fmt: skip


@template("mail_clear_sender", "medium", apps=("mail",))
def clear_sender(scene: GuiScene) -> GuiDraft | None:
    """Move every email of one sender from the inbox into the bin, except starred ones."""
    plan = scene.plan()
    rows = [row for row in scene.rows(plan, "mail.mails") if row["folder"] == "inbox"]
    most = 8
    senders: dict[str, list[PhoneRow]] = {}
    for row in rows:
        senders.setdefault(row["name"], []).append(row)
    fit = [name for name, each in sorted(senders.items()) if 3 <= len(each) <= most]
    if not fit:
        return None
    name = scene.pick(fit)
    code, place = scene.number(100, 899), scene.number(0, len(senders[name]) - 1)
    letters: list[PhoneRow] = [
        {**row, "subject": f"{row['subject']} ({code + number})", "starred": number == place}
        for number, row in enumerate(senders[name])
    ]
    plan = plan.with_edits([("mail.mails", "put", row) for row in letters])
    gone = [row for row in letters if not row["starred"]]
    kept = [row for row in letters if row["starred"]]

    def bin_all(letters: list[PhoneRow], key: str = "delete") -> PhoneScript:
        return in_sequence(*(
            in_sequence(found("mail", row["subject"], name), press("mail", key)) for row in letters
        ), done)  # fmt: skip

    return GuiDraft(
        plan,
        scene.say(f"Put every mail of {name} that is in the inbox into the bin, except those with "
                  "a star. Mails in other folders stay where they are.",
                  f"把收件箱里{name}的邮件都移到回收站，加星标的除外。其他文件夹里的邮件不要动。"),
        bin_all(gone),
        changes=rows_together(*(row_changed("mail.mails", row["id"], folder="bin")
                                for row in gone)),
        alternatives={"backwards": bin_all(gone[::-1])},
        mutants={"all": bin_all([*gone, *kept]), "one_left": bin_all(gone[1:]),
                 "archived": bin_all(gone, "archive_it")},
        turns=80,
    )  # fmt: skip


@template("clock_cities", "easy", "medium", apps=("clock",))
def exchange_cities(scene: GuiScene) -> GuiDraft | None:
    """Add a city to the world clock and remove another one."""
    plan = scene.plan()
    rows = scene.rows(plan, "clock.cities")
    shown = {row["city"] for row in rows}
    new, near = scene.sample(sorted(set(CITIES) - shown), 2)
    gone, other = scene.sample(rows, 2)
    medium = scene.level == "medium"
    names = {key: city_name(key, scene.language) for key in CITIES}

    def add(key: str) -> PhoneScript:
        def run(pilot: PhonePilot) -> Script:
            yield from tab("clock", "world")(pilot)
            yield from pilot.create("clock", "add_city")
            yield from pilot.fill(pilot.words("clock", "search"), names[key])
            yield from pilot.tap_entry(names[key])

        return run

    def drop(row: PhoneRow) -> PhoneScript:
        def run(pilot: PhonePilot) -> Script:
            yield from tab("clock", "world")(pilot)
            words = [word.format(name=names[row["city"]])
                     for word in pilot.words("clock", "drop_city")]  # fmt: skip
            yield from pilot.tap_entry(words, "button")

        return run

    rest = drop(gone) if medium else in_sequence()
    more = scene.say(f", and remove {names[gone['city']]}" if medium else "",
                     f"，并移除{names[gone['city']]}" if medium else "")  # fmt: skip
    changes = [row_added("clock.cities", {"city": new})]
    if medium:
        changes.append(row_removed("clock.cities", gone["id"]))
    return GuiDraft(
        plan,
        scene.say(f"Add {names[new]} to the world clock{more}.",
                  f"在世界时钟中添加{names[new]}{more}。"),
        in_sequence(add(new), rest, done), changes=rows_together(*changes),
        alternatives={"other_order": in_sequence(rest, add(new), done)},
        mutants={"near": in_sequence(add(near), rest, done), "nothing": in_sequence(rest, done),
                 "one_more": in_sequence(add(new), rest, drop(other), done)},
        turns=40,
    )  # fmt: skip


@template("clock_difference", "medium", apps=("clock",))
def tell_difference(scene: GuiScene) -> GuiDraft | None:
    """Report the time in one city when it is a given time in another."""
    plan = scene.plan()
    rows = scene.rows(plan, "clock.cities")
    one, two = scene.sample(rows, 2)
    ahead = CITIES[two["city"]][1] - CITIES[one["city"]][1]
    if ahead == 0:
        return None
    first = scene.number(0, 23) * 60 + scene.number(0, 3) * 15
    second, wrong = (first + ahead) % 1440, (first - ahead) % 1440
    if second == wrong:
        return None
    text, right, reverse = (f"{at // 60:02d}:{at % 60:02d}" for at in (first, second, wrong))
    off = f"{(second + 60) % 1440 // 60:02d}:{second % 60:02d}"
    names = [city_name(row["city"], scene.language) for row in (one, two)]
    look = tab("clock", "world")
    return GuiDraft(
        plan,
        scene.say(f"When it is {text} in {names[0]}, what time is it in {names[1]}? Go by the "
                  "world clock, and answer in the form 15:05.",
                  f"{names[0]}{text}的时候，{names[1]}是几点？以世界时钟为准，回答格式如15:05。"),
        in_sequence(look, answered(right)), answer=GuiAnswer(data=(right,)),
        alternatives={"at_once": answered(right)},
        mutants={"reverse": answered(reverse), "off": answered(off),
                 "silent": in_sequence(look, done)},
    )  # fmt: skip


@template("tasks_postpone", "medium", apps=("tasks",))
def postpone(scene: GuiScene) -> GuiDraft | None:
    """Give every overdue open task of a list a new due date; completed ones stay."""
    plan = scene.plan()
    today = scene.day(plan, 0)
    rows = scene.rows(plan, "tasks.tasks")
    most = 5
    fit = []
    for within in scene.rows(plan, "tasks.lists"):
        late = [row for row in rows if row["list"] == within["id"] and not row["done"]
                and "" < row["due"] < today]  # fmt: skip
        rest = [row for row in rows if row["list"] == within["id"] and not row["done"]
                and row["due"] >= today]  # fmt: skip
        unique = all(sum(row["title"] in each["title"] for each in rows) == 1 for row in late)
        if 1 <= len(late) <= most and rest and unique:
            fit.append((within, late, rest))
    if not fit:
        return None
    within, late, rest = scene.pick(fit)
    day = scene.day(plan, scene.number(3, 25))

    def move(tasks: list[PhoneRow], to: str = day) -> PhoneScript:
        def run(pilot: PhonePilot) -> Script:
            for row in tasks:
                yield from found("tasks", row["title"])(pilot)
                yield from pilot.press("tasks", "edit")
                yield from pilot.pick_day(pilot.words("tasks", "due"), to)
                yield from pilot.press("tasks", "save")
            yield from pilot.done()

        return run

    other = next(
        (
            row
            for row in rest
            if row["due"] != day and sum(row["title"] in each["title"] for each in rows) == 1
        ),
        None,
    )
    if other is None:
        return None
    return GuiDraft(
        plan,
        scene.say(f"Every task of the list {within['name']} that is open and was due before today "
                  f"is now due on {scene.day_words(day)}. Nothing else changes.",
                  f"把清单“{within['name']}”中今天之前到期的未完成任务都改到{scene.day_words(day)}，"
                  "其他不变。"),
        move(late),
        changes=rows_together(*(row_changed("tasks.tasks", row["id"], due=day) for row in late)),
        alternatives={"backwards": move(late[::-1])},
        mutants={"one_more": move([*late, other]), "one_less": move(late[1:]),
                 "other_day": move(late, today)},
        turns=90,
    )  # fmt: skip


@template("phone_count", "medium", apps=("phone",))
def count_calls(scene: GuiScene) -> GuiDraft | None:
    """Count the calls of one kind with a contact, and report when the last one was."""
    plan = scene.plan()
    rows = scene.rows(plan, "phone.calls")
    known = sorted({(row["name"], row["number"]) for row in rows if row["name"]})
    names = [row["name"] for row in scene.rows(plan, "contacts.contacts")]
    name, number = scene.pick(known)
    if sum(name in other for other in names) > 1:
        return None
    kind = scene.pick(("missed", "out", "in"))
    count = sum(row["number"] == number and row["kind"] == kind for row in rows)
    everything = sum(row["number"] == number for row in rows)
    if count == everything or count == 0:
        return None
    last = max(row["time"] for row in rows if row["number"] == number and row["kind"] == kind)
    when, latest = last[11:], max(row["time"] for row in rows if row["number"] == number)
    word = {"missed": ("did I miss from", "未接"), "out": ("did I make to", "呼出"),
            "in": ("did I take from", "已接")}[kind]  # fmt: skip
    look = found("phone", name)
    return GuiDraft(
        plan,
        scene.say(f"How many calls {word[0]} {name}, by the call history, and at what time was the "
                  "last of them? Answer with the number and the time, like 4; 18:05.",
                  f"通话记录里，与{name}的{word[1]}电话有几次？最近一次是几点？"
                  "请回答次数和时间，例如4；18:05。"),
        in_sequence(look, answered(count, when)), answer=GuiAnswer(data=(count, when)),
        alternatives={"at_once": answered(count, when)},
        mutants={"all": answered(everything, latest[11:]), "off": answered(count + 1, when),
                 "silent": in_sequence(look, done)},
    )  # fmt: skip


TEMPLATES: tuple[GuiTemplate, ...] = (
    reply_letter, clear_sender, exchange_cities, tell_difference, postpone, count_calls,
)  # fmt: skip
