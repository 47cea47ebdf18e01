"""A drawn town: streets on a grid, a river, and places with hours, ratings and numbers."""

from hexathlon.tasks.gui.world.phone.app import ContentDraws

__all__ = ["KINDS", "TOWN_SIZE", "draw_town"]

TOWN_SIZE = 1000
"""Width and height of the town, in units of ten metres."""

KINDS = {
    "cafe": "sun", "restaurant": "shop", "pharmacy": "heart", "bank": "bank",
    "library": "bookmark", "bakery": "cake", "hotel": "home", "station": "repeat",
    "museum": "image", "cinema": "play", "garage": "gear", "gym": "scale",
}  # fmt: skip
"""Kinds of places, with their icons."""

_NAMES = {
    "cafe": ("Cafe {w}|{w}咖啡馆", "{w} Coffee House|{w}咖啡屋"),
    "restaurant": ("{w} Kitchen|{w}餐厅", "The {w} Table|{w}小馆"),
    "pharmacy": ("{w} Pharmacy|{w}药店", "Chemist {w}|{w}大药房"),
    "bank": ("{w} Savings Bank|{w}储蓄银行", "Bank of {w}|{w}银行"),
    "library": ("{w} Library|{w}图书馆", "{w} Reading Room|{w}阅览室"),
    "bakery": ("{w} Bakery|{w}面包房", "Bread of {w}|{w}烘焙坊"),
    "hotel": ("Hotel {w}|{w}酒店", "{w} Guesthouse|{w}宾馆"),
    "station": ("{w} Station|{w}站", "{w} Halt|{w}小站"),
    "museum": ("Museum of {w}|{w}博物馆", "{w} Gallery|{w}美术馆"),
    "cinema": ("{w} Cinema|{w}影院", "Lux {w}|{w}电影宫"),
    "garage": ("{w} Motors|{w}汽修", "Garage {w}|{w}车行"),
    "gym": ("{w} Gym|{w}健身房", "{w} Sports Hall|{w}体育馆"),
}  # fmt: skip
_WORDS = (
    "Alder|桤木", "Briar|石南", "Cygnet|小天鹅", "Damson|西梅", "Ember|余烬", "Falcon|猎鹰",
    "Garnet|石榴石", "Heather|欧石楠", "Indigo|靛蓝", "Jasmine|茉莉", "Kelp|海藻", "Lilac|丁香",
    "Mallard|绿头鸭", "Nutmeg|肉豆蔻", "Onyx|玛瑙", "Poplar|杨树", "Quartz|石英", "Rowan|花楸",
    "Saffron|藏红花", "Thistle|蓟花", "Umber|赭石", "Violet|紫罗兰", "Willow|柳树", "Yarrow|蓍草",
)  # fmt: skip
_STREETS = (
    "Abbey Street|修院街", "Barley Lane|大麦巷", "Chapel Road|教堂路", "Dyer Street|染坊街",
    "East Quay|东码头", "Forge Lane|铁匠巷", "Granary Road|粮仓路", "Hill Street|山街",
    "Inn Lane|客栈巷", "Jetty Road|栈桥路", "King's Walk|国王步道", "Lock Street|船闸街",
    "Market Street|集市街", "North Gate|北门", "Orchard Road|果园路", "Priory Lane|小修院巷",
)  # fmt: skip
_HOURS = ("07:00-15:00", "08:00-18:00", "09:00-17:30", "10:00-22:00", "11:00-23:00",
          "06:00-20:00", "09:30-19:00", "00:00-24:00")  # fmt: skip
LISTS = ("favourites", "want", "recommended")
"""Lists of saved places."""


def draw_town(draws: ContentDraws) -> None:
    """Fill the tables of places and saved places."""
    side = 1 if draws.language == "zh" else 0
    words = draws.own(_WORDS)
    streets = [text.split("|")[side] for text in draws.own(_STREETS)]
    streets += [draws.say(f"New {street}", f"新{street}") for street in streets]
    names: set[str] = set()
    for _ in range(40 + 24 * draws.scale):
        kind = draws.pick(tuple(KINDS))
        word = draws.pick(words).split("|")[side]
        name = draws.pick(_NAMES[kind]).split("|")[side].format(w=word)
        street_number = draws.between(0, 7)
        street = streets[street_number]
        if name in names:
            name = f"{name} ({street})" if side == 0 else f"{name}（{street}）"
        if name in names:
            continue
        names.add(name)
        number = draws.between(1, 160)
        # Odd streets run from west to east, even ones from north to south.
        along, across = 60 + number * 880 // 160, 60 + street_number * 110
        x, y = (along, across) if street_number % 2 else (across, along)
        draws.add(
            "places", name=name, kind=kind, x=x + draws.between(-12, 12),
            y=y + draws.between(-12, 12),
            address=draws.say(f"{number} {street}", f"{street}{number}号"),
            hours=draws.pick(_HOURS), closed=draws.pick(("", "", "7", "1", "67", "3")),
            rating=draws.between(24, 50), phone=f"555-{draws.between(100, 999)}-"
            f"{draws.between(1000, 9999)}", price=draws.between(1, 3),
            step_free=draws.chance(0.5),
        )  # fmt: skip
    places = draws.rows("places")
    for row in draws.sample(places, 4 + 3 * draws.scale):
        draws.add("saved", place=row["id"], list=draws.pick(LISTS), note="")
    home, work = draws.sample(places, 2)
    draws.add("prefs", id="home", value=home["id"])
    draws.add("prefs", id="work", value=work["id"])
    draws.add("prefs", id="units", value="km")
    draws.add("prefs", id="mode", value=draws.pick(("walk", "bus", "car")))
    draws.add("prefs", id="avoid_tolls", value=draws.chance(0.3))
    draws.add("here", id="here", x=draws.between(200, 800), y=draws.between(200, 800))
