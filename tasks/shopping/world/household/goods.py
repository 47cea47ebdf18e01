"""Kinds of goods a household buys: packs, what they must fit, and what they may contain."""

from collections.abc import Sequence
from typing import NamedTuple

from hexathlon.tasks.bilingual import Language

__all__ = ["BRANDS", "CONTENTS", "GROUPS", "KINDS", "MarketKind", "SELLER_NAMES", "kinds_of"]


class MarketKind(NamedTuple):
    """A kind of goods."""

    slug: str
    group: str
    """`supply`, `wear`, `wish` or a set of goods that have to fit together."""

    en: str
    zh: str
    unit_en: str
    """What is counted in a pack, in the plural; empty if a pack is one piece."""

    unit_zh: str
    """Measure word."""

    fit_en: str
    """Name of the property that has to fit; empty if there is none."""

    fit_zh: str
    fits: tuple[str, ...]
    contents: tuple[str, ...]
    """Slugs of what some products contain."""

    cents: int
    """Usual price of one unit."""

    def name(self, language: Language) -> str:
        """Return the name in the plural, as people say it."""
        return self.zh if language == "zh" else self.en

    def fit_name(self, language: Language) -> str:
        """Return the name of the property that has to fit."""
        return self.fit_zh if language == "zh" else self.fit_en


CONTENTS: dict[str, tuple[str, str]] = {
    "fragrance": ("fragrance", "香精"),
    "nuts": ("nuts", "坚果"),
    "gluten": ("gluten", "麸质"),
    "lactose": ("lactose", "乳糖"),
    "sesame": ("sesame", "芝麻"),
    "latex": ("latex", "乳胶"),
    "wool": ("wool", "羊毛"),
    "nickel": ("nickel", "镍"),
}
"""What products may contain, in English and Chinese."""

_Piece = tuple[str, str, str, str, tuple[str, ...], int]
"""Slug, English and Chinese name, measure word, contents, price in cents."""


def _pieces(
    group: str, fit_en: str, fit_zh: str, fits: tuple[str, ...], pieces: Sequence[_Piece]
) -> list[MarketKind]:
    """Return kinds that are sold singly and must fit in the same respect."""
    return [
        MarketKind(slug, group, en, zh, "", unit, fit_en, fit_zh, fits, contents, cents)
        for slug, en, zh, unit, contents, cents in pieces
    ]


KINDS: dict[str, MarketKind] = {
    kind.slug: kind
    for kind in (
        MarketKind("mats", "supply", "mosquito mats", "电蚊香片", "mats", "片",
                   "type", "型号", ("T18", "T24", "T29"), ("fragrance",), 40),
        MarketKind("liners", "supply", "bin liners", "垃圾袋", "liners", "个",
                   "size", "规格", ("15L", "20L", "30L"), (), 18),
        MarketKind("papers", "supply", "coffee filter papers", "咖啡滤纸", "papers", "张",
                   "size", "尺寸", ("101", "102", "103"), (), 11),
        MarketKind("pads", "supply", "mop pads", "一次性拖布", "pads", "片",
                   "type", "型号", ("S1", "S4", "U2"), ("fragrance",), 90),
        MarketKind("capsules", "supply", "coffee capsules", "咖啡胶囊", "capsules", "粒",
                   "system", "机型", ("N4", "K20", "T6"), (), 38),
        MarketKind("detergent", "supply", "laundry capsules", "洗衣凝珠", "capsules", "颗",
                   "", "", (), ("fragrance",), 32),
        MarketKind("wipes", "supply", "cleaning wipes", "清洁湿巾", "wipes", "片",
                   "", "", (), ("fragrance",), 9),
        MarketKind("gloves", "supply", "disposable gloves", "一次性手套", "gloves", "只",
                   "", "", (), ("latex",), 14),
        MarketKind("plasters", "supply", "plasters", "创可贴", "plasters", "片",
                   "", "", (), ("latex",), 11),
        MarketKind("bars", "supply", "cereal bars", "谷物棒", "bars", "根",
                   "", "", (), ("nuts", "gluten", "lactose"), 75),
        MarketKind("crackers", "supply", "packets of crackers", "独立包装饼干", "packets", "包",
                   "", "", (), ("gluten", "sesame", "lactose"), 90),
        MarketKind("cups", "supply", "cups of pudding", "杯装布丁", "cups", "杯",
                   "", "", (), ("nuts", "lactose"), 110),
        *_pieces("wear", "size", "尺码", ("30", "31", "32", "33", "34"), (
            ("boots", "rain boots", "雨靴", "双", ("latex",), 2600),
            ("trainers", "gym shoes", "运动鞋", "双", ("latex",), 3900),
        )),
        *_pieces("wear", "size", "尺码", ("116", "122", "128", "134", "140"), (
            ("jacket", "a rain jacket", "雨衣", "件", ("latex",), 3400),
            ("jumper", "a warm jumper", "厚毛衣", "件", ("wool",), 3100),
            ("leggings", "thermal leggings", "保暖裤", "条", ("wool",), 1900),
        )),
        *_pieces("wish", "", "", (), (
            ("speaker", "a wireless speaker", "蓝牙音箱", "个", (), 6900),
            ("drone", "a small drone", "小型无人机", "架", (), 7400),
            ("board", "a skateboard", "滑板", "块", (), 8200),
            ("console", "a game controller", "游戏手柄", "个", (), 5600),
        )),
        *_pieces("kitchen", "rail", "导轨", ("R16", "R20", "R25"), (
            ("rack", "a spice rack", "调料架", "个", (), 1900),
            ("knives", "a knife holder", "刀架", "个", (), 2600),
            ("hooks", "a hook strip", "挂钩条", "条", ("nickel",), 1300),
            ("shelf", "a small shelf", "小搁板", "块", (), 3200),
            ("towel", "a paper towel holder", "厨房纸架", "个", ("nickel",), 1700),
        )),
        *_pieces("bike", "mount", "卡座", ("Clix", "Bayo", "Qlok"), (
            ("lamp", "a bike light", "自行车灯", "个", (), 2900),
            ("phone", "a phone holder", "手机支架", "个", ("latex",), 2100),
            ("pouch", "a handlebar bag", "车把包", "个", (), 3600),
            ("bell", "a bell", "车铃", "个", ("nickel",), 1100),
            ("mirror", "a mirror", "后视镜", "面", (), 1500),
        )),
    )
}  # fmt: skip
"""All kinds by slug."""

GROUPS = ("kitchen", "bike")
"""Sets of goods that have to fit together."""

BRANDS = ("Alma", "Borea", "Cirro", "Delta Home", "Elmo", "Fjord", "Granit", "Hilda", "Iris",
          "Juno", "Koral", "Lumo")  # fmt: skip
SELLER_NAMES: dict[Language, tuple[str, ...]] = {
    "en": ("Amber Lane", "Birch & Co", "Cobalt Store", "Dune Market", "Ember Trade",
           "Fennel House", "Gable Goods", "Harbour Mart"),
    "zh": ("琥珀小铺", "白桦百货", "蓝田商行", "丰收集市", "老街优选", "禾木生活",
           "好邻居", "海港超市"),
}  # fmt: skip
"""Names of sellers by language."""


def kinds_of(group: str) -> list[MarketKind]:
    """Return the kinds of a group."""
    return [kind for kind in KINDS.values() if kind.group == group]
