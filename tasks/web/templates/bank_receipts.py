"""Receipts of business expenses, with the reimbursable amount of each."""

from datetime import date
from typing import NamedTuple

from hexathlon.tasks.web.templates.draft import WebScene

__all__ = ["SORTS", "Receipt", "allowed_by_text", "draw_receipt"]

SORTS = ("hotel", "hotel_bar", "meal", "meal_wine", "train_first", "taxi", "course", "supplies")

_SELLERS = {
    "hotel": (
        ("Hotel Aurora", "极光酒店"),
        ("Gasthof Linde", "菩提客栈"),
        ("Station Inn", "车站旅馆"),
        ("Hotel Aurora Garden", "极光花园酒店"),
    ),
    "meal": (
        ("Trattoria Nonna", "外婆意餐"),
        ("Green Wok", "绿锅食府"),
        ("The Copper Pot", "铜锅餐馆"),
        ("Green Wok Express", "绿锅快餐"),
    ),
    "train": (("Transit Rail", "通达铁路"), ("Coast Lines", "海岸铁路")),
    "taxi": (("Taxi Bergmann", "山民出租"), ("City Cab", "城市出租")),
    "course": (("Academy North", "北方学院"), ("Skillhouse", "技能之家")),
    "supplies": (
        ("Paper & Pixel", "纸与像素"),
        ("Office Barn", "办公仓"),
        ("Cable Corner", "线材角"),
    ),
}
_CATEGORY = {"hotel": "hotel", "meal": "meal", "train": "travel", "taxi": "travel",
             "course": "training", "supplies": "supplies"}  # fmt: skip


class Receipt(NamedTuple):
    """A receipt."""

    sort: str
    seller: str
    city: str
    day: date
    category: str
    persons: int
    total: int
    """Amount paid, in cents."""

    allowed: int
    """Amount that the rules reimburse, in cents, apart from deadlines, projects and repetition."""

    text: str


def draw_receipt(
    scene: WebScene, sort: str, settings: dict[str, int], day: date, city: str, *, dear: bool
) -> Receipt:
    """Draw a receipt of a kind.

    Args:
        scene: The draw.
        sort: One of `SORTS`.
        settings: Numbers of the rules.
        day: Day of the receipt.
        city: City of the purchase.
        dear: Whether the city has the higher limit for hotels.
    """
    rng, stem = scene.rng, sort.partition("_")[0]
    seller = scene.say(*scene.pick(_SELLERS[stem]))
    lines: list[tuple[str, str]] = []
    persons, private = 1, 0
    if stem == "hotel":
        nights = int(rng.integers(1, 4))
        limit = settings["hotel_dear" if dear else "hotel_limit"]
        room = nights * (limit + int(rng.integers(-2_500, 3_500)))
        lines = [
            (scene.say("Nights", "晚数"), str(nights)),
            (scene.say("Room", "房费"), _money(room)),
        ]
        if sort == "hotel_bar":
            private = int(rng.integers(600, 3_000))
            lines.append((scene.say("Minibar", "迷你吧"), _money(private)))
        allowed, total = min(room, nights * limit), room + private
    elif stem == "meal":
        persons = int(rng.integers(1, 5))
        food = persons * (settings["meal_limit"] + int(rng.integers(-900, 1_100)))
        lines = [
            (scene.say("Persons", "人数"), str(persons)),
            (scene.say("Food", "餐费"), _money(food)),
        ]
        if sort == "meal_wine":
            private = int(rng.integers(700, 3_800))
            lines.append((scene.say("Wine and beer", "葡萄酒和啤酒"), _money(private)))
        allowed, total = min(food, persons * settings["meal_limit"]), food + private
    elif stem == "train":
        second = int(rng.integers(3_000, 16_000))
        total, allowed = second + int(rng.integers(1_500, 9_000)), second
        lines = [
            (scene.say("Class", "席别"), scene.say("first", "一等座")),
            (scene.say("Price in second class", "二等座价格"), _money(second)),
        ]
    else:
        total = int(rng.integers(2_600, 14_000))
        if stem == "supplies":
            total = settings["supplies_over"] + int(rng.integers(500, 9_000))
        allowed = total
        what = {
            "taxi": ("Ride", "乘车"),
            "course": ("One-day course", "一日课程"),
            "supplies": ("Cables, paper, adapters", "线材、纸张、转接头"),
        }[stem]
        lines = [(scene.say("Item", "项目"), scene.say(*what))]
    lines.append((scene.say("Total EUR", "合计欧元"), _money(total)))
    head = f"{seller}, {city}\n{scene.say('Date', '日期')}: {day.isoformat()}\n"
    text = head + "".join(f"{name}: {value}\n" for name, value in lines)
    return Receipt(sort, seller, city, day, _CATEGORY[stem], persons, total, allowed, text)


def allowed_by_text(text: str, settings: dict[str, int], dear_city: str) -> int:
    """The reimbursable amount, read from a receipt's text."""
    head, *rows = text.splitlines()
    facts = {name: value for name, _, value in (row.partition(": ") for row in rows)}

    def cents(*names: str) -> int | None:
        value = next((facts[name] for name in names if name in facts), None)
        return None if value is None else round(float(value) * 100)

    total = cents("Total EUR", "合计欧元") or 0
    total -= cents("Minibar", "迷你吧") or 0
    total -= cents("Wine and beer", "葡萄酒和啤酒") or 0
    if "Nights" in facts or "晚数" in facts:
        night = settings["hotel_dear" if head.endswith(dear_city) else "hotel_limit"]
        return min(total, night * int(facts.get("Nights") or facts["晚数"]))
    if "Persons" in facts or "人数" in facts:
        return min(total, settings["meal_limit"] * int(facts.get("Persons") or facts["人数"]))
    second = cents("Price in second class", "二等座价格")
    return total if second is None else min(total, second)


def _money(cents: int) -> str:
    return f"{cents / 100:.2f}"
