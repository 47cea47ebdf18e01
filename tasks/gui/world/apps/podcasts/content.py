"""Shows and episodes of a new phone."""

from hexathlon.tasks.gui.world.phone.app import ContentDraws

__all__ = ["PODCAST_TOPICS", "seed_podcasts"]

PODCAST_TOPICS = ("history", "science", "food", "cities", "money", "language")

_SHOWS = (
    ("Small Histories|小历史", "history"), ("Smaller Histories|更小的历史", "history"),
    ("The Archive Hour|档案一小时", "history"), ("Archive Half-Hour|档案半小时", "history"),
    ("Lab Notes|实验室笔记", "science"), ("Lab Nights|实验室之夜", "science"),
    ("Deep Field|深空", "science"), ("Deep Water|深水", "science"),
    ("Salt and Smoke|盐与烟", "food"), ("Salt and Stone|盐与石", "food"),
    ("Table for Nine|九人桌", "food"), ("Table for None|无人桌", "food"),
    ("Street Level|街面", "cities"), ("Street Lights|街灯", "cities"),
    ("Bridges and Lifts|桥与电梯", "cities"), ("Bridge Season|桥的季节", "cities"),
    ("Plain Money|明白钱", "money"), ("Plain Speaking|直说", "language"),
    ("The Ledger|账本", "money"), ("The Letter|信", "language"),
    ("Word for Word|逐字", "language"), ("Word of Mouth|口口相传", "language"),
    ("Coin Stories|硬币故事", "money"), ("Corner Stories|街角故事", "cities"),
    ("River Towns|河畔小镇", "cities"), ("River Science|河流科学", "science"),
    ("Bread Club|面包俱乐部", "food"), ("Broad Club|广谈俱乐部", "language"),
    ("Old Roads|古道", "history"), ("Old Roots|旧根", "food"),
    ("Slow Savings|慢储蓄", "money"), ("Slow Physics|慢物理", "science"),
)  # fmt: skip
_ABOUT = (
    "lighthouses|灯塔", "sourdough|酸面团", "clock towers|钟楼", "the first maps|最早的地图",
    "bees|蜜蜂", "salt roads|盐道", "pensions|养老金", "dialects|方言", "canals|运河",
    "magnets|磁铁", "spice ships|香料船", "rent|租金", "loanwords|外来词", "trams|有轨电车",
    "glaciers|冰川", "vinegar|醋", "paper money|纸币", "glass|玻璃", "night trains|夜行列车",
    "tea houses|茶馆",
)  # fmt: skip


def seed_podcasts(draws: ContentDraws) -> None:
    """Draw shows, subscribed and not, and their episodes, some in two parts."""
    side = 1 if draws.language == "zh" else 0
    people = draws.rows("contacts.contacts")
    shows = draws.sample(draws.own(_SHOWS), 5 + draws.scale // 2)
    for place, (name, topic) in enumerate(shows):
        show = draws.add("shows", title=name.split("|")[side], topic=topic,
                         host=draws.pick(people)["name"].split()[0] if side == 0
                         else draws.pick(people)["name"], subscribed=place < 2 + draws.scale // 2
                         and place < len(shows) - 2, speed=100, notify=draws.chance(0.5),
                         art=draws.between(1, 9999))  # fmt: skip
        number = draws.between(3, 90)
        day = -draws.between(40, 90)
        topics = draws.sample(_ABOUT, 2 + draws.scale)
        for about in topics:
            text = about.split("|")[side]
            parts = ("", "") if draws.chance(0.7) else draws.say(
                (", part one", ", part two"), ("（上）", "（下）"))  # fmt: skip
            for part in parts[: 2 if parts[0] else 1]:
                number += 1
                day = min(-1, day + draws.between(2, 9))
                draws.add("episodes", show=show, number=number, published=draws.day(day),
                          title=draws.say(f"About {text}{part}", f"谈谈{text}{part}"),
                          minutes=draws.between(14, 78), downloaded=draws.chance(0.2),
                          played=draws.chance(0.4))  # fmt: skip
    fresh = [row for row in draws.rows("episodes") if not row["played"]]
    for place, row in enumerate(draws.sample(fresh, 3)):
        draws.add("queue", episode=row["id"], place=place + 1)
    for name, value in (("skip", 30), ("wifi_only", True), ("remove_played", False)):
        draws.add("prefs", id=name, value=value)
