"""Initial content of the calendar: rooms, colleagues, rules and events."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import TypeVar

from hexathlon.tasks.drawn import own_share
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.web.world.people import Person
from hexathlon.tasks.web.world.site import SiteBrief
from hexathlon.tasks.web.world.store import SiteStore

__all__ = ["populate"]

_Item = TypeVar("_Item")
_ROOMS = (
    "Cedar|雪松",
    "Maple|枫树",
    "Birch|白桦",
    "Rowan|花楸",
    "Aspen|山杨",
    "Hazel|榛树",
    "Alder|桤木",
    "Larch|落叶松",
    "Linden|椴树",
    "Poplar|白杨",
    "Spruce|云杉",
    "Walnut|胡桃",
    "Acacia|金合欢",
    "Cypress|柏树",
    "Juniper|刺柏",
    "Laurel|月桂",
    "Myrtle|桃金娘",
    "Olive|橄榄",
    "Plum|李树",
    "Quince|榅桲",
    "Sorrel|酸模",
    "Thorn|山楂",
    "Willow|垂柳",
    "Yew|红豆杉",
    "Fig|无花果",
    "Pear|梨树",
    "Almond|杏仁",
    "Cherry|樱桃",
    "Apple|苹果",
    "Peach|桃树",
    "Mango|芒果",
    "Lemon|柠檬",
)
_EQUIPMENT = (
    "screen|屏幕",
    "whiteboard|白板",
    "video system|视频系统",
    "projector|投影仪",
    "telephone|电话",
)
_DEPARTMENTS = (
    "Sales|销售",
    "Finance|财务",
    "Design|设计",
    "Service|服务",
    "Logistics|物流",
    "Legal|法务",
)
_CITIES = (
    ("London|伦敦", 0),
    ("Paris|巴黎", 60),
    ("Athens|雅典", 120),
    ("Dubai|迪拜", 240),
    ("Singapore|新加坡", 480),
    ("Lisbon|里斯本", 0),
    ("Nairobi|内罗毕", 180),
    ("Berlin|柏林", 60),
)
_TITLES = (
    "Budget review|预算评审",
    "Design walk-through|设计走查",
    "Supplier call|供应商电话会",
    "Interview|面试",
    "Contract talk|合同商谈",
    "Roadmap session|路线图讨论",
    "Customer visit|客户来访",
    "Training|培训",
    "Retrospective|回顾会",
    "Handover|交接",
    "Price round|价格讨论",
    "Quality check|质量检查",
    "Launch planning|发布筹备",
    "Safety round|安全巡查",
    "Data review|数据评审",
    "Press call|媒体电话会",
)
_SERIES = (
    "Team meeting|团队例会",
    "Status call|进度电话会",
    "One-to-one|一对一谈话",
    "Support hour|答疑时间",
    "Planning|计划会",
    "Report round|汇报会",
)
_RULES = (
    (
        "1-hours|Working hours|工作时间",
        "Meetings take place within the working hours of everybody who attends, in the "
        "attendee's own time zone. The page of people tells zones and hours.|会议须在所有与会者（"
        "按其所在时区）的工作时间内进行；时区与工作时间见人员页面。",
    ),
    (
        "2-rooms|Rooms|会议室",
        "A room must have a seat for everybody, the organiser included. Rooms have opening "
        "hours of their own; the system refuses what does not fit.|会议室座位须够所有人（含组织者"
        "）。会议室有各自的开放时间，不符合的预订会被拒绝。",
    ),
    (
        "3-courtesy|Courtesy|礼节",
        "Who cannot come answers the invitation. Meetings that are no longer needed are "
        "cancelled, not ignored.|不能参加者应答复邀请。不再需要的会议应取消，而不是置之不理。",
    ),
)
_SIZES = (4, 5, 6, 7, 8, 10, 12, 16, 20)
"""Seats of rooms; no two rooms have the same number, so that a single room is the smallest that fits."""

_WEEKS = (1, 2, 3, 4)
_PER_DAY = (2, 5, 12, 22)


def populate(store: SiteStore, brief: SiteBrief) -> None:
    """Fill the calendar: 4 to 14 rooms, 20 to 600 events."""
    _Filler(store, brief).fill()


class _Filler:
    def __init__(self, store: SiteStore, brief: SiteBrief) -> None:
        self.store, self.brief = store, brief
        self.zh = brief.language == "zh"
        self.rng = generator_for("calendar", brief.seed)
        self.busy: dict[str, list[tuple[datetime, datetime]]] = {}
        self.rows: list[list[object]] = []
        self.rooms: list[tuple[str, int, str, str]] = []
        self.open_days: dict[str, str] = {}

    def fill(self) -> None:
        brief = self.brief
        self.make_rooms()
        zones = dict(zip((person.login for person in brief.people), self.cities(), strict=True))
        for person in brief.people:
            city, zone = zones[person.login]
            early = person is brief.people[0] or self.rng.random() < 0.7
            self.store.insert(
                "_colleagues",
                login=person.login,
                department=self.pick_text(_DEPARTMENTS),
                city=city,
                zone=zone,
                starts="09:00" if early else "08:00",
                ends="17:00" if early else "16:00",
                note="",
            )
        for head, body in _RULES:
            name, *title = head.split("|")
            self.store.insert(
                "_rules", name=name, title=self.text("|".join(title)), body=self.text(body)
            )
        today = brief.clock.today
        monday = today - timedelta(days=today.weekday())
        weeks = _WEEKS[brief.scale - 1]
        days = [
            monday + timedelta(days=7 * week + day)
            for week in range(-1, weeks + 1)
            for day in range(5)
        ]
        self.make_series(days)
        for day in days:
            for _ in range(_PER_DAY[brief.scale - 1]):
                self.make_event(day)
        self.rows.sort(key=lambda row: (str(row[2]), str(row[1])))
        number = 200
        for row in self.rows:
            number += 1 + int(self.rng.integers(4))
            row[0] = number
        columns = (
            "id",
            "title",
            "start",
            "finish",
            "room",
            "organiser",
            "people",
            "note",
            "series",
        )
        self.store.insert_many("events", columns, self.rows)
        me, now = brief.people[0].login, brief.clock.stamp[:16]
        answered = [
            (row[0], person, "yes" if self.rng.random() < 0.85 else "maybe", "")
            for row in self.rows
            for person in str(row[6]).split(", ")
            if person
            and (person != me or str(row[2]) < now or self.rng.random() < 0.5)
            and self.rng.random() < 0.8
        ]
        self.store.insert_many("answers", ("event", "person", "answer", "remark"), answered)

    def make_rooms(self) -> None:
        names = own_share(_ROOMS, self.brief.split)
        count = (3, 4, 6, 8)[self.brief.scale - 1]
        sizes = [_SIZES[int(i)] for i in self.rng.permutation(len(_SIZES))[:count]]
        for place, capacity in zip(self.rng.permutation(len(names))[:count], sizes, strict=True):
            english = names[int(place)].partition("|")[0]
            opens, closes = self.pick(
                (
                    ("08:00", "18:00"),
                    ("08:00", "18:00"),
                    ("09:00", "17:00"),
                    ("08:00", "13:00"),
                    ("12:00", "18:00"),
                )
            )
            items = [self.text(_EQUIPMENT[int(i)]) for i in self.rng.permutation(5)[:2]]
            self.store.insert(
                "_rooms",
                code=english.lower(),
                name=self.text(names[int(place)]),
                floor=int(self.rng.integers(0, 6)),
                capacity=capacity,
                equipment=("、" if self.zh else ", ").join(items),
                opens=opens,
                closes=closes,
                days=self.pick(("12345", "12345", "1234", "2345")),
                rule="",
            )
        for row in self.store.rows("SELECT * FROM _rooms ORDER BY code"):
            self.open_days[row["code"]] = row["days"]
            self.rooms.append((row["code"], row["capacity"], row["opens"], row["closes"]))

    def cities(self) -> list[tuple[str, int]]:
        own = _CITIES[int(self.rng.integers(2))]
        places = []
        for _ in self.brief.people:
            home = self.rng.random() < 0.6
            city, zone = own if home else _CITIES[int(self.rng.integers(len(_CITIES)))]
            places.append((self.text(city), zone))
        places[0] = (self.text(own[0]), own[1])
        return places

    def make_series(self, days: Sequence[date]) -> None:
        """Add recurring events that the user organises."""
        names = own_share(_SERIES * 4, self.brief.split)
        order = self.rng.permutation(len(names))
        chosen = list(dict.fromkeys(names[int(i)] for i in order))[: 1 + self.brief.scale // 2]
        for series, title in enumerate(chosen, 1):
            weekday = series % 5
            hour = 9 + 2 * series
            others = self.people_but(self.brief.people[0], 2 + int(self.rng.integers(3)))
            for day in days:
                if day.weekday() == weekday:
                    start = datetime(day.year, day.month, day.day, hour)
                    self.add(self.text(title), start, 60, "", self.brief.people[0], others, series)

    def make_event(self, day: date) -> None:
        """Add an event if everybody is free."""
        start = datetime(day.year, day.month, day.day, 8) + timedelta(
            minutes=30 * int(self.rng.integers(0, 18))
        )
        length = int(self.pick((30, 30, 60, 60, 90)))
        me = self.brief.people[0]
        organiser = me if self.rng.random() < 0.12 else self.pick(self.brief.people[1:])
        others = self.people_but(organiser, int(self.rng.integers(1, 5)))
        if organiser is not me and me not in others and self.rng.random() < 0.1:
            others = [*others[:-1], me]
        code, capacity, opens, closes = self.pick(self.rooms)
        end = start + timedelta(minutes=length)
        fits = capacity > len(others) and opens <= f"{start:%H:%M}" and f"{end:%H:%M}" <= closes
        room = code if fits and self.rng.random() < 0.8 else ""
        self.add(self.pick_text(_TITLES), start, length, room, organiser, others, 0)

    def add(
        self,
        title: str,
        start: datetime,
        minutes: int,
        room: str,
        organiser: Person,
        others: Sequence[Person],
        series: int,
    ) -> None:
        end = start + timedelta(minutes=minutes)
        keys = [organiser.login, *(person.login for person in others)]
        if room:
            if str(start.isoweekday()) not in self.open_days[room]:
                return
            keys.append("room " + room)
        if any(a < end and b > start for key in keys for a, b in self.busy.get(key, ())):
            return
        for key in keys:
            self.busy.setdefault(key, []).append((start, end))
        people = ", ".join(sorted(person.login for person in others))
        self.rows.append(
            [
                0,
                title,
                start.strftime("%Y-%m-%d %H:%M"),
                end.strftime("%Y-%m-%d %H:%M"),
                room,
                organiser.login,
                people,
                "",
                series,
            ]
        )

    def people_but(self, organiser: Person, count: int) -> list[Person]:
        order = self.rng.permutation(len(self.brief.people))
        found = [self.brief.people[int(i)] for i in order[: count + 1]]
        return [person for person in found if person is not organiser][:count]

    def pick(self, items: Sequence[_Item]) -> _Item:
        return items[int(self.rng.integers(len(items)))]

    def pick_text(self, items: Sequence[str]) -> str:
        return self.text(self.pick(items))

    def text(self, pair: str) -> str:
        english, _, chinese = pair.partition("|")
        return chinese if self.zh else english
