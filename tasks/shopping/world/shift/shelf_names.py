"""Names of partner sellers, and what baskets are for, in both languages."""

from typing import NamedTuple

from hexathlon.tasks.bilingual import Language

__all__ = ["SELLERS", "THEMES", "BasketTheme"]

SELLERS: dict[Language, tuple[str, ...]] = {
    "en": ("Albrecht", "Bonfield", "Cormorant", "Dunmore", "Elsinore", "Fairway", "Grindal",
           "Holloway"),
    "zh": ("和丰商贸", "百汇优选", "海鹏商贸", "盛达优品", "信昌百货", "远帆商行", "鼎盛百货",
           "华利商城"),
}  # fmt: skip
"""Names of sellers by language."""


class BasketTheme(NamedTuple):
    """Something that needs goods of five kinds."""

    story: tuple[str, str]
    kinds: tuple[tuple[str, str], ...]


THEMES = (
    BasketTheme(
        ("a small workshop", "小工作间"),
        (("bench vice", "台虎钳"), ("dust extractor", "吸尘器"), ("clamp set", "夹具组"),
         ("work lamp", "工作灯"), ("tool rail", "工具挂轨")),
    ),
    BasketTheme(
        ("a desk at home", "家里书桌"),
        (("monitor arm", "显示器支架"), ("desk lamp", "台灯"), ("cable tray", "理线槽"),
         ("docking station", "扩展坞"), ("drawer unit", "抽屉柜")),
    ),
    BasketTheme(
        ("a balcony garden", "阳台花园"),
        (("planter box", "花箱"), ("drip watering kit", "滴灌套装"), ("trellis", "花架"),
         ("sun sail", "遮阳帆"), ("water butt", "集雨桶")),
    ),
    BasketTheme(
        ("a photo corner", "摄影角"),
        (("light stand", "灯架"), ("softbox", "柔光箱"), ("backdrop holder", "背景架"),
         ("flash trigger", "引闪器"), ("tripod head", "云台")),
    ),
)  # fmt: skip
