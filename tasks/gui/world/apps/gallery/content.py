"""Photos and albums of a new phone."""

from typing import Any

from hexathlon.tasks.gui.world.phone.app import ContentDraws
from hexathlon.tasks.gui.world.phone.money import plain_cents

__all__ = ["receipt_lines", "seed_gallery"]

_ALBUMS = (
    "Summer trip|夏日旅行", "Winter trip|冬日旅行", "Family|家人", "Family party|家庭聚会",
    "Recipes|菜谱", "Kitchen rebuild|厨房翻修", "Hiking|徒步", "Hiking club|徒步俱乐部",
    "Old flat|旧公寓", "New flat|新公寓", "Work trips|出差", "Work papers|工作文件",
    "Garden|花园", "Garden show|园艺展", "Concerts|音乐会", "Lake weekend|湖边周末",
)  # fmt: skip
_PLACES = (
    "Lisbon|里斯本", "Porto|波尔图", "Bergen|卑尔根", "Oslo|奥斯陆", "Vienna|维也纳", "Graz|格拉茨",
    "Lyon|里昂", "Nantes|南特", "Krakow|克拉科夫", "Gdansk|格但斯克", "Ghent|根特", "Bruges|布鲁日",
    "Turin|都灵", "Genoa|热那亚", "Tartu|塔尔图", "Riga|里加",
)  # fmt: skip
_CAPTIONS = {
    "landscape": ("View from the ridge|山脊远眺", "Evening light|傍晚的光", "Morning fog|晨雾"),
    "portrait": ("{p} laughing|{p}大笑", "{p} at the table|{p}在桌边", "{p} waving|{p}挥手"),
    "food": ("Sunday lunch|周日午餐", "First try of the cake|第一次做的蛋糕",
             "Market plate|集市拼盘"),
    "city": ("From the hotel window|酒店窗外", "Old quarter|老城区", "By the station|车站旁"),
    "sign": ("Street sign|路牌", "Where we parked|停车的地方", "Bus stop|公交站"),
}  # fmt: skip
_STREETS = ("ALDER ST", "BIRCH ST", "CEDAR RD", "DOCK LANE", "ELM ROW", "FERN WAY", "GATE 4",
            "HILL ST", "IRIS RD", "JETTY 2", "KILN ST", "LOCK LANE")  # fmt: skip
_ITEMS = ("Espresso|意式咖啡", "Soup|汤", "Bread|面包", "Tea|茶", "Salad|沙拉", "Juice|果汁",
          "Set|套餐", "Goods|商品", "Ticket|票", "Service|服务费")  # fmt: skip


def receipt_lines(
    draws: ContentDraws, firm: str, day: str, cents: int, language: str
) -> list[str]:  # fmt: skip
    """Return the lines of a receipt whose items add up to its total."""
    side = 1 if language == "zh" else 0
    count = min(draws.between(1, 3), cents)
    cuts = sorted(draws.between(1, cents - 1) for _ in range(count - 1)) if cents > count else []
    edges = [0, *cuts, cents]
    names = draws.sample(_ITEMS, len(edges) - 1)
    items = [f"{name.split('|')[side]}  {plain_cents(high - low)}"
             for name, low, high in zip(names, edges, edges[1:], strict=False)]  # fmt: skip
    total = "合计" if side else "TOTAL"
    return [firm, day, *items, f"{total}  {plain_cents(cents)}"]


def seed_gallery(draws: ContentDraws) -> None:
    """Draw albums, photos of several kinds, screenshots and receipts of card payments."""
    side = 1 if draws.language == "zh" else 0
    albums = [draws.add("albums", name=name.split("|")[side])
              for name in draws.sample(draws.own(_ALBUMS), 2 + draws.scale // 2)]  # fmt: skip
    people = draws.rows("contacts.contacts")
    places = draws.sample(draws.own(_PLACES), 3)
    found: list[dict[str, Any]] = []
    for _ in range(18 + 16 * draws.scale):
        kind = draws.pick(tuple(_CAPTIONS))
        person = draws.pick(people)["name"]
        lines = [f"{draws.pick(_STREETS)} {draws.between(2, 99)}"] if kind == "sign" else []
        caption = draws.pick(_CAPTIONS[kind]).split("|")[side].format(p=person)
        found.append({"kind": kind, "lines": lines,
                      "caption": caption if draws.chance(0.6) else "",
                      "place": draws.pick(places).split("|")[side] if draws.chance(0.7) else "",
                      "album": draws.pick(albums) if draws.chance(0.45) else 0,
                      "taken": draws.stamp(-draws.between(1, 90), draws.between(7, 21),
                                           draws.between(0, 59))})  # fmt: skip
    paid = [row for row in draws.rows("bank.entries") if row["kind"] == "card"
            and row["card"] and not row["reference"]]  # fmt: skip
    paid.sort(key=lambda row: (row["day"], row["id"]), reverse=True)
    for row in draws.sample(paid[: 6 + 2 * draws.scale], 3 + draws.scale):
        lines = receipt_lines(draws, row["title"], row["day"], -row["amount"], draws.language)
        found.append({"kind": "receipt", "lines": lines, "caption": "", "place": "", "album": 0,
                      "taken": f"{row['day']} {draws.between(9, 21):02d}:"
                               f"{draws.between(0, 59):02d}"})  # fmt: skip
    number = draws.between(1000, 7000)
    for row in sorted(found, key=lambda row: str(row["taken"])):
        number += draws.between(1, 4)
        prefix = "SCAN" if row["kind"] == "receipt" else "IMG"
        draws.add("photos", **row, name=f"{prefix}_{number}.jpg", art=draws.between(1, 99999),
                  liked=draws.chance(0.12), hidden=False, trashed=draws.chance(0.05),
                  edits=[])  # fmt: skip
    for name, value in (("columns", 3), ("ask", True)):
        draws.add("prefs", id=name, value=value)
