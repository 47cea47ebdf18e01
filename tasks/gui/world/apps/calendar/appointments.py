"""Initial content of the calendar: work, family and leisure appointments over eleven weeks."""

from datetime import timedelta

from hexathlon.tasks.gui.world.phone.app import ContentDraws

__all__ = ["ALARMS", "CALENDARS", "draw_events"]

CALENDARS = ("personal", "work", "family")
ALARMS = ("", "0", "5", "10", "15", "30", "60", "120", "1440")
"""Minutes from a reminder to its event; empty for no reminder."""

_TITLES = {
    "work": (
        "Budget review|预算评审", "Team breakfast|团队早餐", "Supplier call|供应商电话",
        "Design critique|设计评议", "Interview|面试", "Quarterly planning|季度规划",
        "Workshop on safety|安全培训", "Handover|工作交接", "Press briefing|新闻发布会",
        "Stock count|盘点库存", "Contract talk|合同洽谈", "Pilot evaluation|试点评估",
        "Visit to the plant|参观工厂", "Board meeting|董事会会议", "Archive day|档案日",
        "Printing deadline|付印截止",
    ),
    "personal": (
        "Dentist|看牙", "Haircut|理发", "Choir practice|合唱团排练", "Climbing|攀岩",
        "Car inspection|车检", "Pottery course|陶艺课", "Eye test|验光", "Book club|读书会",
        "Language class|语言课", "Swimming|游泳", "Flat viewing|看房", "Bike repair|修自行车",
        "Physiotherapy|理疗", "Chess evening|国际象棋之夜", "Blood donation|献血",
        "Bank appointment|银行预约",
    ),
    "family": (
        "School concert|学校音乐会", "Grandma's birthday|奶奶生日", "Parents' evening|家长会",
        "Zoo with the kids|带孩子去动物园", "Dinner with the cousins|和表亲吃晚饭",
        "Football match|足球赛", "Vet|看兽医", "Picnic|野餐", "Swimming lesson|游泳课",
        "Puppet theatre|木偶戏", "Piano move|搬钢琴", "Garden party|花园聚会",
        "Uncle's visit|舅舅来访", "Camping weekend|露营周末", "Play rehearsal|演出排练",
        "House cleaning|大扫除",
    ),
}  # fmt: skip
_PLACES = (
    "Room {n}|{n}号会议室", "Cafe Linnet|红雀咖啡馆", "Town hall|市政厅", "Online|线上",
    "Main entrance|正门", "Studio {n}|{n}号工作室", "Hall {n}|{n}号大厅", "Platform {n}|{n}号站台",
    "Riverside field|河边球场", "Clinic, room {n}|诊所{n}号诊室", "School hall|学校礼堂",
    "Reception|前台",
)  # fmt: skip
_NOTES = (
    "Bring the signed form|带上签好的表格", "Ring at the side door|请按侧门门铃",
    "Slides are in the shared folder|幻灯片在共享文件夹",
    "Tickets are {n} euros at the door|门票{n}元",
    "Parking behind the house|房后可停车", "Ask for desk {n}|请到{n}号柜台",
)  # fmt: skip


def draw_events(draws: ContentDraws) -> None:
    """Fill the table of events."""
    people = [row["name"] for row in draws.rows("contacts.contacts")]
    side = 1 if draws.language == "zh" else 0
    for _ in range(20 + 22 * draws.scale):
        kind = draws.pick(("personal", "work", "work", "family"))
        title = draws.pick(draws.own(_TITLES[kind])).split("|")[side]
        if draws.chance(0.3):
            title = f"{title} {draws.between(2, 9)}"
        whole = draws.chance(0.08)
        offset = draws.between(-21, 56)
        weekend = (draws.start + timedelta(days=offset)).weekday() >= 5
        if kind == "work" and weekend:
            offset += 2
        start = draws.between(16, 33 if kind == "work" else 39) * 30
        end = min(start + draws.pick((30, 45, 60, 60, 90, 120)), 23 * 60 + 30)
        guests = draws.sample(people, draws.between(1, 4)) if draws.chance(
            0.6 if kind == "work" else 0.25) else []  # fmt: skip
        number = draws.between(2, 40)
        place = draws.pick(_PLACES).split("|")[side].format(n=number)
        note = draws.pick(_NOTES).split("|")[side].format(n=draws.between(2, 30))
        draws.add(
            "events", title=title, day=draws.day(offset), all_day=whole,
            start="" if whole else _clock(start), end="" if whole else _clock(end),
            place=place if draws.chance(0.7) else "", guests=", ".join(sorted(guests)),
            calendar=kind, alarm=draws.pick(("", "10", "15", "30", "60")),
            repeat=draws.pick(("weekly", "monthly")) if draws.chance(0.06) else "",
            note=note if draws.chance(0.25) else "",
        )  # fmt: skip


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"
