"""Categories, conditions and pools of names, in English and Chinese."""

from hexathlon.tasks.bilingual import BilingualText, Language

__all__ = ["CATEGORIES", "DISTRICTS", "TERMS", "label_of"]

CATEGORIES = ("cafe", "restaurant", "museum", "hotel", "pharmacy", "gallery", "bookshop", "library")
DISTRICTS = ("old", "harbour", "mill", "garden", "station", "hill")
TERMS = ("flex", "semi", "fixed")

_LABELS = {
    key: BilingualText.parse(text)
    for key, text in {
        "cafe": "Café|咖啡馆", "restaurant": "Restaurant|餐厅", "museum": "Museum|博物馆",
        "hotel": "Hotel|酒店", "pharmacy": "Pharmacy|药店", "gallery": "Gallery|画廊",
        "bookshop": "Bookshop|书店", "library": "Library|图书馆",
        "old": "Old Town|老城", "harbour": "Harbour|港区", "mill": "Mill Quarter|磨坊区",
        "garden": "Gardens|花园区", "station": "Station Quarter|车站区", "hill": "Castle Hill|城堡山",
        "flex": "Free cancellation until 18:00 on the day before|可免费取消至前一日18:00",
        "semi": "Free cancellation until 18:00 five days before|可免费取消至五日前18:00",
        "fixed": "No free cancellation|不可免费取消",
        "table": "Free cancellation until 3 hours before|可免费取消至3小时前",
        "open": "Flexible fare, can be returned until departure|弹性票，发车前可退",
        "walk": "On foot|步行", "bike": "By bicycle|骑行", "car": "By car|驾车",
        "room": "Room|客房", "train": "Train|火车", "active": "Confirmed|已确认",
        "cancelled": "Cancelled|已取消", "blue": "Blue|蓝卡", "silver": "Silver|银卡", "gold": "Gold|金卡",
        "single": "Single room|单人间", "double": "Double room|双人间", "family": "Family room|家庭房",
        "studio": "Studio|公寓式客房",
    }.items()
}  # fmt: skip
_WEEKDAYS = ("Monday|星期一", "Tuesday|星期二", "Wednesday|星期三", "Thursday|星期四", "Friday|星期五",
             "Saturday|星期六", "Sunday|星期日")  # fmt: skip

NOUNS = (
    "Linden=菩提", "Anchor=锚", "Willow=柳", "Falcon=隼", "Copper=铜", "Lantern=灯笼", "Juniper=杜松",
    "Meridian=子午", "Orchard=果园", "Pebble=卵石", "Saffron=藏红", "Thistle=蓟", "Velvet=丝绒", "Walnut=胡桃",
    "Amber=琥珀", "Birch=桦", "Cedar=雪松", "Dolphin=海豚", "Ember=余烬", "Fennel=茴香", "Granite=花岗",
    "Heron=苍鹭", "Ivory=象牙", "Jasmine=茉莉", "Kestrel=红隼", "Laurel=月桂", "Marble=大理石", "Nettle=荨麻",
    "Olive=橄榄", "Poppy=罂粟", "Quartz=石英", "Raven=渡鸦", "Silver=银", "Tulip=郁金", "Umber=赭石",
    "Violet=紫罗兰", "Wicker=柳条", "Yarrow=蓍草", "Zephyr=西风", "Basil=罗勒",
)  # fmt: skip
PATTERNS = (
    ("{kind} {noun}", "{noun}{kind}"),
    ("The {noun} {kind}", "老{noun}{kind}"),
    ("{noun} & Son {kind}", "{noun}父子{kind}"),
    ("{kind} at the {noun}", "{noun}旁{kind}"),
    ("Little {noun} {kind}", "小{noun}{kind}"),
    ("New {noun} {kind}", "新{noun}{kind}"),
)
STREETS = (
    "Mill=磨坊", "Bridge=桥", "Market=集市", "Rope=绳", "Salt=盐", "Chapel=礼拜堂", "Weaver=织工", "Tanner=皮匠",
    "Cooper=箍桶匠", "Garden=花园", "Tower=塔楼", "Wall=城墙", "River=河", "Ferry=渡口", "Corn=谷物", "Linen=亚麻",
    "Orchard=果园", "Castle=城堡", "School=学校", "North=北", "South=南", "Queen=王后", "Bell=钟", "Well=井",
    "Dock=码头", "Smith=铁匠", "Glass=玻璃", "Paper=纸", "Brewer=酿酒", "Baker=面包师", "Fisher=渔夫", "Mason=石匠",
)  # fmt: skip
CITIES = (
    "Aldermoor=奥尔德莫尔", "Brackwater=布拉克沃特", "Corvany=科瓦尼", "Dunmarch=邓马奇", "Eastmere=伊斯特米尔",
    "Fairholt=费尔霍特", "Glenwick=格伦威克", "Hartsea=哈特西", "Inverley=因弗利", "Kingsford=金斯福德",
    "Lorne=洛恩", "Marlow Bay=马洛湾", "Norwell=诺韦尔", "Oakhaven=奥克黑文", "Penrith Vale=彭里斯谷",
    "Quayle=奎尔", "Rosemont=罗斯蒙特", "Stonebridge=石桥", "Tarn=塔恩", "Umberfield=翁伯菲尔德",
)  # fmt: skip


def label_of(value: str, language: Language) -> str:
    """Return the label of a value; the value itself if it has none."""
    label = _LABELS.get(value)
    return value if label is None else label[language]


def weekday_of(number: int, language: Language) -> str:
    """Return the name of a weekday, 0 for Monday."""
    return BilingualText.parse(_WEEKDAYS[number])[language]
