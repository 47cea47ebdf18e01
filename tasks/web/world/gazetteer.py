"""Places, buildings and sources of an invented region, shared by sites that write about it.

Names belong to one split, as those of people do.
"""

from typing import NamedTuple

from hexathlon.tasks.bilingual import BilingualText, Language
from hexathlon.tasks.drawn import own_share
from hexathlon.tasks.task import Split
from hexathlon.tasks.web.world.draws import DrawStream

__all__ = ["KINDS", "SOURCES", "FactKind", "BuildingKind", "Building", "draw_subjects", "places_of"]

_PLACES = tuple(
    """
    Larkfield=云雀原 Ostermoor=东沼 Fennbridge=芬桥 Halewick=黑尔威克 Stavenhall=斯塔文
    Corrimouth=科里茅斯 Dunmarsh=邓沼 Eastrey=东里 Gullhaven=鸥港 Thornby=荆镇
    Marlstead=泥灰庄 Ravensea=鸦海 Brackwell=蕨泉 Quarrydene=采石谷 Saltmere=盐湖
    Wexcombe=韦克谷 Alderholt=桤林 Pellworth=佩尔沃思 Inchcombe=因奇谷 Norhaven=北港
    Tilbrook=提尔溪 Underley=安德利 Vastern=瓦斯滕 Yarrowby=蓍镇 Kestrelsay=隼湾
    Millbourne=磨坊溪 Ashcombe=梣谷 Cawdrey=考德里 Drystone=干石 Emberley=余烬坡 Foxholt=狐林
    Greywater=灰水 Hartsea=鹿海 Ivinghoe=艾文霍 Juniper=杜松丘 Knapton=纳普顿 Lowestrand=低滩
    Moorcross=荒原口 Netherby=下比镇 Oxenhope=牛望 Penhallow=彭哈洛 Rookhurst=乌鸦林
    Sandwick=沙湾 Turnmill=转磨 Uphaven=上港 Wharfside=码头区 Westrey=西里 Applegarth=苹果园
    """.split()
)
_PREFIXES = tuple(
    BilingualText.parse(text)
    for text in ("|", "|", "|", "Old |旧", "Upper |上", "Lower |下", "North |北", "West |西")
)


class FactKind(NamedTuple):
    """One property of a building."""

    key: str
    label: BilingualText
    kind: str
    """`year`, `number` or `person`."""

    low: int = 0
    high: int = 0
    unit: BilingualText = BilingualText("", "")


class BuildingKind(NamedTuple):
    """One kind of building."""

    key: str
    name: BilingualText
    facts: tuple[FactKind, ...]
    category: BilingualText


class Building(NamedTuple):
    """One building."""

    name: str
    place: str
    kind: BuildingKind


def _kind(key: str, name: str, category: str, *facts: str) -> BuildingKind:
    """Read a kind; each fact is written `key;label;kind;low;high;unit`."""
    parsed = []
    for text in facts:
        own, label, kind, *rest = text.split(";")
        low, high = (int(each) for each in rest[:2]) if len(rest) > 1 else (0, 0)
        unit = BilingualText.parse(rest[2]) if len(rest) > 2 else BilingualText("", "")
        parsed.append(FactKind(own, BilingualText.parse(label), kind, low, high, unit))
    return BuildingKind(
        key, BilingualText.parse(name), tuple(parsed), BilingualText.parse(category)
    )


KINDS: dict[str, BuildingKind] = {
    kind.key: kind
    for kind in (
        _kind("bridge", "Bridge|桥", "Bridges|桥梁", "opened;Opened|通车年份;year;1810;1990",
              "length;Length|长度;number;62;480; m|米", "designer;Engineer|工程师;person",
              "spans;Spans|跨数;number;2;14;|孔"),
        _kind("lighthouse", "Lighthouse|灯塔", "Lighthouses|灯塔", "opened;First lit|首次点亮"
                                                               ";year;1780;1960",
              "height;Height|塔高;number;14;58; m|米", "designer;Builder|建造者;person",
              "range;Range|射程;number;8;27; nmi|海里"),
        _kind("mill", "Mill|磨坊", "Mills|磨坊", "opened;Built|建成年份;year;1690;1905",
              "height;Height|高度;number;9;24; m|米", "designer;Millwright|磨坊匠;person",
              "output;Output|日产量;number;2;19; t a day|吨"),
        _kind("museum", "Museum|博物馆", "Museums|博物馆", "opened;Founded|创立年份;year;1860;2012",
              "visitors;Visitors a year|年参观人数;number;4200;96000;|人", "designer;Founder|创办人"
                                                                     ";person",
              "rooms;Rooms|展厅;number;4;31;|间"),
        _kind("station", "Station|火车站", "Railway stations|火车站", "opened;Opened|启用年份"
                                                                ";year;1842;1985",
              "platforms;Platforms|站台;number;2;9;|座", "designer;Architect|建筑师;person",
              "passengers;Passengers a day|日客流;number;310;24500;|人次"),
        _kind("library", "Library|图书馆", "Libraries|图书馆", "opened;Opened|开馆年份;year;1850;2015",
              "volumes;Volumes|藏书;number;8200;240000;|册", "designer;Architect|建筑师;person",
              "seats;Reading seats|阅览座位;number;24;380;|个"),
        _kind("reservoir", "Reservoir|水库", "Reservoirs|水库", "opened;Completed|竣工年份"
                                                            ";year;1870;1998",
              "depth;Greatest depth|最大深度;number;11;74; m|米", "designer;Engineer|工程师;person",
              "area;Area|面积;number;18;640; ha|公顷"),
        _kind("theatre", "Theatre|剧院", "Theatres|剧院", "opened;Opened|开业年份;year;1820;2009",
              "seats;Seats|座位;number;140;1450;|个", "designer;Architect|建筑师;person",
              "stage;Stage width|台宽;number;7;22; m|米"),
    )
}  # fmt: skip
"""Kinds of buildings, with the properties of each."""

SOURCES: dict[str, BilingualText] = {
    key: BilingualText.parse(text)
    for key, text in {
        "survey": "County Survey Office|郡测绘处",
        "register": "Heritage Register|遗产名录",
        "courier": "The Shore Courier|《海岸信使报》",
        "board": "information board on site|现场说明牌",
        "book": "local history society|地方史学会",
    }.items()
}
"""Sources of figures."""


def places_of(split: Split, language: Language) -> list[str]:
    """Return the towns of a split."""
    return [text.split("=")[language == "zh"] for text in own_share(_PLACES, split)]


def draw_subjects(
    count: int, split: Split, language: Language, draws: DrawStream
) -> list[Building]:
    """Draw buildings with different names; many names differ in one word only."""
    subjects: dict[str, Building] = {}
    places = places_of(split, language)
    while len(subjects) < count:
        place, kind = draws.pick(places), draws.pick(list(KINDS.values()))
        prefix = draws.pick(_PREFIXES)[language]
        noun = kind.name[language]
        name = f"{place}{prefix}{noun}" if language == "zh" else f"{prefix}{place} {noun}"
        subjects.setdefault(name, Building(name, place, kind))
    return list(subjects.values())
