"""Goods that customers of the desk have bought, and their variants."""

from typing import NamedTuple

from hexathlon.tasks.bilingual import Language

__all__ = ["COLOURS", "GOODS", "DeskGoods", "goods_name"]


class DeskGoods(NamedTuple):
    """A kind of goods."""

    en: str
    zh: str
    cents: int
    device: bool = False
    """Whether it can be reset and keeps a log."""


GOODS: dict[str, DeskGoods] = {
    "kettle": DeskGoods("kettle", "电水壶", 3900),
    "lamp": DeskGoods("desk lamp", "台灯", 4600),
    "rucksack": DeskGoods("rucksack", "双肩包", 6200),
    "blanket": DeskGoods("blanket", "毛毯", 3500),
    "pan": DeskGoods("frying pan", "平底锅", 4100),
    "chair": DeskGoods("folding chair", "折叠椅", 5300),
    "clock": DeskGoods("wall clock", "挂钟", 2700),
    "towels": DeskGoods("set of towels", "毛巾套装", 2900),
    "bottle": DeskGoods("thermos bottle", "保温杯", 2400),
    "umbrella": DeskGoods("umbrella", "雨伞", 1900),
    "suitcase": DeskGoods("suitcase", "行李箱", 8900),
    "scarf": DeskGoods("scarf", "围巾", 2200),
    "robot": DeskGoods("robot vacuum", "扫地机器人", 18900, True),
    "headphones": DeskGoods("headphones", "耳机", 9900, True),
    "purifier": DeskGoods("air purifier", "空气净化器", 13900, True),
    "scale": DeskGoods("smart kitchen scale", "智能厨房秤", 3300, True),
}
"""All goods by slug."""

COLOURS: dict[str, tuple[str, str]] = {
    "grey": ("grey", "灰色"), "green": ("green", "绿色"), "blue": ("blue", "蓝色"),
    "red": ("red", "红色"), "black": ("black", "黑色"), "white": ("white", "白色"),
}  # fmt: skip


def goods_name(slug: str, language: Language) -> str:
    """Return the name of goods."""
    return GOODS[slug].zh if language == "zh" else GOODS[slug].en
