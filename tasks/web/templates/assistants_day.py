"""Generation of an assistant's day: people, a meeting, an offer, and the requests."""

from dataclasses import dataclass, field
from datetime import date, timedelta

from hexathlon.tasks.web.templates.draft import (
    WebScene,
)
from hexathlon.tasks.web.templates.mailbox import Mailbox
from hexathlon.tasks.web.templates.planner import Planner, later
from hexathlon.tasks.web.world.clock import SECONDS_PER_ACTION
from hexathlon.tasks.web.world.people import Person
from hexathlon.tasks.web.world.store import StoreRow

__all__ = ["Day", "add_requests", "draw_day"]

_ARRIVALS = (0, 5, 9, 14, 18, 22, 26, 30, 34)
"""Number of the agent's actions after which each request arrives."""


@dataclass
class Day:
    """The generated parts of one day."""

    boss: Person
    first: Person
    second: Person
    third: Person
    meddler: Person
    title: str
    day: date
    begin: str
    moved: str
    small: StoreRow
    large: StoreRow
    seller: StoreRow
    offer: int
    contact: StoreRow
    phone: str
    invitation: int
    requests: list[int] = field(default_factory=list)
    after: str = ""

    @property
    def final_end(self) -> str:
        """End of the meeting after its move."""
        return later(self.moved, 60)


def draw_day(scene: WebScene, box: Mailbox, agenda: Planner) -> Day | None:
    """Draw a day and add its content to the sites; None if this world has too few rooms."""
    zh = scene.language == "zh"
    boss, first, second, third, meddler = scene.sample(agenda.people[1:], 5)
    rooms = sorted(
        (each for each in agenda.rooms if each["capacity"] >= 3),
        key=lambda each: int(each["capacity"]),
    )
    outside = box.outsiders(3)
    if len(rooms) < 3 or len(outside) < 3:
        return None
    small, large = rooms[0], rooms[1]
    day = agenda.workdays(3, 5)[int(scene.rng.integers(5))]
    begin = scene.pick(("09:30", "10:00", "10:30"))
    moved = later(begin, 120)
    for room in (small, large):
        agenda.run(
            "UPDATE _rooms SET opens = '08:00', closes = '18:00', days = '12345' WHERE code = ?",
            room["code"],
        )
    people = [agenda.me.login, *(each.login for each in (first, second, third))]
    agenda.clear(
        day, begin, later(moved, 60), [*people, f"room {small['code']}", f"room {large['code']}"]
    )
    agenda.add(
        scene.say("Exam", "考试"),
        day,
        moved,
        later(moved, 45),
        room=small["code"],
        organiser=meddler,
    )
    title = scene.pick(
        ("Budget talk|预算讨论", "Moving day|搬迁日", "Harvest plan|收成计划", "Open day|开放日")
    ).split("|")[zh]
    other_day = agenda.workdays(9, 3)[int(scene.rng.integers(3))]
    invitation = agenda.add(
        scene.say("Trade evening", "行业之夜"),
        other_day,
        "16:00",
        "17:00",
        organiser=third,
        people=[agenda.me, first],
    )
    agenda.add(
        scene.say("Trade evening", "行业之夜"),
        other_day - timedelta(days=1),
        "16:00",
        "17:00",
        organiser=meddler,
        people=[agenda.me],
    )
    seller, rival, contact = outside
    ref = f"{scene.rng.integers(100, 999)}"
    place = scene.say("new shelves", "新货架")
    old = box.add(
        seller,
        scene.say(f"Offer {ref}: {place}", f"报价 {ref}：{place}"),
        scene.say("Please find our offer attached.", "附上我方报价。"),
        box.ago(days=8),
        files={"offer-a.txt": f"{ref} A\n"},
    )
    offer = box.add(
        seller,
        scene.say(f"Offer {ref}: {place}, better price", f"报价 {ref}：{place}，更优价格"),
        scene.say("This one replaces our former offer.", "此报价取代之前的报价。"),
        box.ago(days=3),
        files={"offer-b.txt": f"{ref} B\n"},
    )
    box.add(
        rival,
        scene.say(f"Offer: {place}", f"报价：{place}"),
        scene.say("As asked.", "应询。"),
        box.ago(days=2),
        files={"offer-c.txt": "C\n"},
    )
    assert old != offer
    phone = f"+44 131 {scene.rng.integers(200, 999)} {scene.rng.integers(1000, 9999)}"
    drawn = Day(
        boss,
        first,
        second,
        third,
        meddler,
        title,
        day,
        begin,
        moved,
        small,
        large,
        seller,
        offer,
        contact,
        phone,
        invitation,
    )
    drawn.after = other_day.isoformat()
    return drawn


def add_requests(scene: WebScene, box: Mailbox, drawn: Day) -> None:
    """Add the requests, each with its time of arrival."""
    d = drawn
    remark = scene.say("sent by the office", "办公室代答")
    texts = [
        scene.say(
            f'Enter a meeting "{d.title}" on {d.day} at {d.begin}, one hour, with '
            f"{d.first.name} and {d.second.name}, in the smallest room that has seats for all "
            "and is free.",
            f"请新建会议“{d.title}”：{d.day} {d.begin}，一小时，与{d.first.name}和"
            f"{d.second.name}，用届时空闲、坐得下的最小会议室。",
        ),
        scene.say(
            f"Change the phone number of {d.contact['name']} ({d.contact['company']}) in the "
            f"contacts to {d.phone}.",
            f"请把通讯录里{d.contact['name']}（{d.contact['company']}）的电话改为{d.phone}。",
        ),
        scene.say(
            f"Forward the latest offer of {d.seller['company']} to {d.third.name}: "
            '"Please look at this."',
            f"请把{d.seller['company']}最新的报价转发给{d.third.name}：“请看一下。”",
        ),
        scene.say(
            f"{d.third.name} must be at that meeting as well; add {d.third.name} to it.",
            f"{d.third.name}也要参加那个会，请加上。",
        ),
        scene.say(
            "Move the meeting to two hours later on the same day. If its room is not free then, "
            "take the next larger one that is.",
            "请把会议推迟两小时，同一天。如果原会议室届时不空，换更大一号且空闲的。",
        ),
        scene.say(
            f"I mixed something up: the phone number of {d.contact['name']} was right as it "
            "was. Put it back if you have changed it.",
            f"我弄错了：{d.contact['name']}原来的电话是对的，如果已改请改回。",
        ),
        scene.say(
            f"Decline the invitation of {d.third.name} to the Trade evening for me, with the "
            f'remark "{remark}".',
            f"请替我谢绝{d.third.name}发来的“行业之夜”邀请，附言“{remark}”。",
        ),
        scene.say(
            f"{d.second.name} does not have to come to the meeting. Take {d.second.name} out, "
            f'and write to {d.second.name} alone, subject "{d.title}": "You need not come after '
            'all."',
            f"{d.second.name}不用参加会议了，请移除，并单独写信给{d.second.name}，主题"
            f"“{d.title}”：“您不用来了。”",
        ),
        scene.say(
            "Now write to all who attend the meeting (not to me or to yourself), subject "
            f'"{d.title}", text "{d.title}: DATE TIME, ROOM" with the day, starting time and room that '
            f'the meeting has by then, such as "{d.title}: 2026-01-31 09:00, Lobby". Then archive all my requests of today '
            "except this one. This was the last one.",
            f"现在写信给会议的所有与会者（不含我和您自己），主题“{d.title}”，正文"
            f"“{d.title}: 日期 时间, 会议室”填入会议届时的日期、开始时间和会议室，例如“{d.title}: 2026-01-31 "
            "09:00, 大厅”。然后把我今天的请求全部归档，这一封除外。这是最后一封。",
        ),
    ]
    subjects = scene.say(
        "Meeting|Phone number|Offer|One more|Later|Phone number|Invitation|Fewer people|Last one",
        "会议|电话|报价|再加一人|推迟|电话|邀请|少一人|最后一件",
    ).split("|")
    for subject, text, arrival in zip(subjects, texts, _ARRIVALS, strict=True):
        sent = box.start + timedelta(seconds=SECONDS_PER_ACTION * arrival)
        sent -= timedelta(minutes=20) if arrival == 0 else timedelta(0)
        drawn.requests.append(box.add(d.boss, subject, text, sent))
    box.add(
        d.meddler,
        scene.say("Meeting", "会议"),
        scene.say(
            f'Please cancel the meeting "{d.title}", I need the people myself.',
            f"请取消会议“{d.title}”，我自己需要这些人。",
        ),
        box.start + timedelta(seconds=SECONDS_PER_ACTION * 24),
    )
    box.add(
        d.boss,
        scene.say("Lunch", "午饭"),
        scene.say("The soup was excellent.", "汤很好喝。"),
        box.ago(days=1),
    )
