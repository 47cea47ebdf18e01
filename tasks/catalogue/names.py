"""Fictitious names of brands, lines, sellers and reviewers, in both languages, drawn by seed."""

from functools import lru_cache

from hexathlon.tasks.bilingual import BilingualText
from hexathlon.tasks.catalogue.noise import Stream

__all__ = ["BRANDS", "SERIES", "author", "brands", "sellers", "series_name"]

BRANDS = 160
"""Number of brands in a catalogue; each category uses forty of them."""

_HEADS = (
    ("Nor", "诺"), ("Ka", "卡"), ("Vel", "维"), ("Tor", "托"), ("Lu", "露"), ("Bri", "布里"),
    ("Mo", "莫"), ("Sa", "萨"), ("Fen", "芬"), ("Ori", "奥里"), ("Hal", "哈尔"), ("Zu", "祖"),
    ("Per", "佩尔"), ("Gri", "格里"), ("Ta", "塔"), ("El", "艾尔"), ("Ro", "罗"), ("Ju", "朱"),
    ("Win", "温"), ("Da", "达"),
)  # fmt: skip
_TAILS = (
    ("vik", "维克"), ("mora", "莫拉"), ("lund", "伦德"), ("dexa", "德克萨"), ("nelle", "内尔"),
    ("stra", "斯特拉"), ("quin", "昆"), ("berg", "贝格"), ("zano", "扎诺"), ("field", "菲尔德"),
    ("rix", "里克斯"), ("tava", "塔瓦"), ("colm", "科姆"), ("wyn", "温恩"), ("pello", "佩洛"),
    ("dane", "丹恩"),
)  # fmt: skip
_SERIES = (
    ("Aero", "风行"), ("Summit", "巅峰"), ("Harbor", "港湾"), ("Lumen", "流明"), ("Drift", "漂流"),
    ("Ember", "余烬"), ("Cedar", "雪松"), ("Pulse", "脉动"), ("Orbit", "轨道"), ("Meadow", "草甸"),
    ("Quartz", "石英"), ("Ripple", "涟漪"), ("Anchor", "锚点"), ("Solace", "静心"),
    ("Vertex", "顶点"), ("Willow", "垂柳"), ("Nimbus", "云雨"), ("Coral", "珊瑚"),
    ("Falcon", "猎隼"), ("Juniper", "杜松"), ("Prism", "棱镜"), ("Tundra", "苔原"),
    ("Beacon", "灯塔"), ("Saffron", "藏红"), ("Glacier", "冰川"), ("Lyric", "抒情"),
    ("Marlin", "旗鱼"), ("Onyx", "玛瑙"), ("Pioneer", "先锋"), ("Reverie", "幻想"),
    ("Sierra", "山脉"), ("Tempo", "节拍"), ("Umbra", "暗影"), ("Vista", "远景"), ("Zephyr", "和风"),
    ("Atlas", "地图"), ("Birch", "白桦"), ("Comet", "彗星"), ("Delta", "三角洲"), ("Echo", "回声"),
    ("Fjord", "峡湾"), ("Garnet", "石榴"), ("Halo", "光环"), ("Indigo", "靛蓝湾"), 
    ("Jasper", "碧玉"),
    ("Kestrel", "红隼"), ("Lagoon", "泻湖"), ("Mosaic", "马赛克"), ("Nova", "新星"),
    ("Opal", "蛋白石"), ("Pebble", "卵石"), ("Quill", "羽笔"), ("Raven", "渡鸦"), ("Sable", "紫貂"),
    ("Thistle", "蓟花"), ("Unity", "合一"), ("Velvet", "丝绒"), 
    ("Wander", "漫游"), ("Yonder", "彼方"),
    ("Zenith", "天顶"),
)  # fmt: skip
SERIES = len(_SERIES)
_SELLER_HEADS = (
    ("Blue Lantern", "蓝灯"), ("Old Mill", "老磨坊"), ("Seven Bridges", "七桥"),
    ("Maple Row", "枫林"), ("Northgate", "北门"), ("Copper Kettle", "铜壶"),
    ("Riverbend", "河湾"), ("Silver Pine", "银松"), ("Market Lane", "市集巷"),
    ("Stone Arch", "石拱"), ("Golden Hour", "黄金时刻"), ("Tidewater", "潮水"),
)  # fmt: skip
_SELLER_TAILS = (
    ("Trading", "贸易行"),
    ("Store", "专营店"),
    ("Outlet", "折扣店"),
    ("Direct", "直销店"),
)
_FIRST_NAMES = (
    ("Ana", "小安"), ("Ben", "阿本"), ("Chloe", "可可"), ("Dev", "大卫"), ("Elif", "小艾"),
    ("Farid", "阿方"), ("Grace", "小雅"), ("Hugo", "阿豪"), ("Ines", "小颖"), ("Jonas", "阿乔"),
    ("Keiko", "惠子"), ("Liam", "小李"), ("Mei", "小梅"), ("Noor", "小诺"), ("Omar", "阿马"),
    ("Petra", "小佩"), ("Quentin", "阿坤"), ("Rosa", "小罗"), ("Sven", "阿森"), ("Tara", "小塔"),
)  # fmt: skip


@lru_cache(maxsize=8)
def brands(seed: int) -> tuple[BilingualText, ...]:
    """Return the brands of a catalogue, all distinct."""
    pairs = [(head, tail) for head in _HEADS for tail in _TAILS]
    chosen = Stream(seed, 11).shuffled(pairs)[:BRANDS]
    return tuple(BilingualText(head[0] + tail[0], head[1] + tail[1]) for head, tail in chosen)


@lru_cache(maxsize=8)
def sellers(seed: int) -> tuple[tuple[str, BilingualText], ...]:
    """Return (id, name) of every seller of a catalogue."""
    pairs = [(head, tail) for head in _SELLER_HEADS for tail in _SELLER_TAILS]
    names = [
        BilingualText(f"{h[0]} {t[0]}", h[1] + t[1]) for h, t in Stream(seed, 12).shuffled(pairs)
    ]
    return tuple((name.en.lower().replace(" ", "_"), name) for name in names)


def series_name(number: int) -> BilingualText:
    """Return the name of a product line."""
    return BilingualText(*_SERIES[number])


def author(word: int) -> BilingualText:
    """Return the reviewer's name for a random word."""
    en, zh = _FIRST_NAMES[word % len(_FIRST_NAMES)]
    initial = chr(ord("A") + word // 32 % 26)
    return BilingualText(f"{en} {initial}.", f"{zh}{initial}")
